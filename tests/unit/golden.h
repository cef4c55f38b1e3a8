// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test vectors from doc/protocol.md, so that document and code agree. A vector is a fenced block
 * that opens with ```hex NAME. A # begins a comment. The unit tests of wire/ and crypto/ include
 * this header after cmocka.
 */
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef GOLDEN_DOCUMENT /* a test may name another document */
#define GOLDEN_DOCUMENT SOURCE_ROOT "/vyos-1x-leon/doc/protocol.md"
#endif
#define GOLDEN_MAX 1500

static inline int golden_digit(int c)
{
	return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

/* Reads the hexadecimal digits of one line. A pair of digits is a byte without a space inside.
 * Returns the number of bytes. */
static inline size_t golden_line(const char *line, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (const char *p = line; *p && *p != '#'; p++) {
		if (isspace((unsigned char)*p))
			continue;
		assert_true(golden_digit(p[0]) >= 0 && golden_digit(p[1]) >= 0 && n < room);
		out[n++] = (uint8_t)(golden_digit(p[0]) << 4 | golden_digit(p[1]));
		p++;
	}
	return n;
}

/* Fails the test if the document has no such block. */
static inline size_t golden(const char *name, uint8_t out[GOLDEN_MAX])
{
	FILE *f = fopen(GOLDEN_DOCUMENT, "r");
	char line[256], opening[80];
	bool inside = false, closed = false;
	size_t n = 0;

	if (!f)
		fail_msg("cannot open " GOLDEN_DOCUMENT);
	snprintf(opening, sizeof(opening), "```hex %s\n", name);
	while (!closed && fgets(line, sizeof(line), f)) {
		if (!inside)
			inside = !strcmp(line, opening);
		else if (!strncmp(line, "```", 3))
			closed = true;
		else
			n += golden_line(line, out + n, GOLDEN_MAX - n);
	}
	fclose(f);
	if (!closed || n == 0)
		fail_msg("no block %s in " GOLDEN_DOCUMENT, name);
	return n;
}

/* Compares bytes with a block, and prints the bytes if they differ. */
static inline void assert_golden(const char *name, const void *made, size_t len)
{
	uint8_t want[GOLDEN_MAX];
	size_t want_len = golden(name, want);

	if (want_len == len && !memcmp(want, made, len))
		return;
	print_error("%s: the code makes", name);
	for (size_t i = 0; i < len; i++)
		print_error(" %02x", ((const uint8_t *)made)[i]);
	fail_msg("%s differs from the document", name);
}
