// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON escapes of characters above ASCII, and the offsets of the text without them. Called by
 * jsonr.c. Pure; any thread.
 */
#pragma once

#include <stddef.h>

/* Number of bytes of the escaped text for a character of `len` bytes. */
size_t json_escaped_width(size_t len);
/* Writes a character as a JSON escape; a character above U+FFFF becomes two surrogates. */
void json_escape_put(char *to, const char *s, size_t len);
/* Maps an offset of the escaped text to an offset of the text. */
size_t json_unescaped_at(const char *text, size_t len, size_t at);
