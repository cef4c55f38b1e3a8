// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See text.h.
 */
#include "base/text.h"

#include <errno.h>
#include <string.h>

#include "base/defs.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *hex_format(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
	return out;
}

int hex_parse(const char *text, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);

		if (low < 0)
			return -EINVAL;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

/* --- UTF-8 --- */

static size_t len_by_first_byte(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

size_t utf8_len(const char *text, const char *end)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = len_by_first_byte(s[0]);
	unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */

	if (len > (size_t)(end - text))
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (len > 1 && (s[1] < low || s[1] > high))
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return len;
}

uint32_t utf8_code(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	/* The upper bits of the first byte encode the length. */
	uint32_t code = len == 1 ? s[0] : s[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

bool ascii_is_word(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return false;
	return true;
}

/* --- optimal string alignment distance for "did you mean" --- */

unsigned nearest_distance(const char *a, const char *b)
{
	unsigned row[3][NEAREST_LEN_MAX + 1] = { { 0 } };
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_LEN_MAX || m > NEAREST_LEN_MAX)
		return NEAREST_LEN_MAX;
	for (size_t k = 0; k <= m; k++)
		row[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			unsigned one_more = 1 + min_of(last[k], now[k - 1]);

			now[k] = min_of(last[k - 1] + (a[i - 1] != b[k - 1]), one_more);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = min_of(now[k], before[k - 2] + 1);
		}
	}
	return row[n % 3][m];
}

bool nearest_is_near(const char *typed, unsigned distance)
{
	size_t len = strlen(typed);

	return distance <= max_of((size_t)1, len / 3) && distance < len;
}
