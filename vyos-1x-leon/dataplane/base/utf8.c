// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See utf8.h.
 */
#include "utf8.h"

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
