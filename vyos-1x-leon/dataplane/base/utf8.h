// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UTF-8 according to RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF. Any thread;
 * no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of the valid sequence at s, which is before end; 0 if there is none. */
size_t utf8_len(const char *s, const char *end);
/* Returns the code point of the valid sequence of this length. */
uint32_t utf8_code(const char *s, size_t len);
/* Returns true if all characters are printable ASCII other than a space. */
bool ascii_is_word(const char *s, size_t len);
