// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing above U+10FFFF. For the JSON
 * reader and writer. Any thread; no state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence that begins at s, which is before end; 0 where none does. */
size_t utf8_len(const char *s, const char *end);
/* The code point of the valid sequence of this length. */
uint32_t utf8_code(const char *s, size_t len);
