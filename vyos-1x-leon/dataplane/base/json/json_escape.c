// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON escapes, see json_escape.h.
 */
#include "base/json/json_escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

size_t json_escaped_width(size_t len)
{
	return len == 1 ? 1 : len < 4 ? 6 : 12;
}

void json_escape_put(char *to, const char *s, size_t len)
{
	uint32_t code = utf8_code(s, len);
	char buf[16];

	if (len == 1) {
		*to = *s;
		return;
	}
	if (code < 0x10000)
		snprintf(buf, sizeof(buf), "\\u%04" PRIx32, code);
	else
		snprintf(buf, sizeof(buf), "\\u%04" PRIx32 "\\u%04" PRIx32,
			 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
	memcpy(to, buf, json_escaped_width(len));
}

size_t json_unescaped_at(const char *text, size_t len, size_t at)
{
	size_t i = 0, seen = 0;

	while (i < len) {
		size_t n = utf8_len(text + i, text + len);

		seen += json_escaped_width(n);
		if (seen > at)
			break;
		i += n;
	}
	return i;
}
