// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hexadecimal text, UTF-8, and the distance of words. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hexadecimal: two lower-case digits a byte, the form of keys in files, configuration and
 * answers. */
#define HEX_LEN(bytes) (2 * (bytes))

/* Writes HEX_LEN(n) digits and a NUL to `out`, which has room for HEX_LEN(n) + 1 bytes. Returns
 * out. */
char *hex_format(const uint8_t *bytes, size_t n, char *out);
/* Reads exactly 2 n digits from text and ignores the bytes behind them. Returns 0, or -EINVAL if a
 * character is no hexadecimal digit. */
int hex_parse(const char *text, uint8_t *bytes, size_t n);

/* UTF-8 according to RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF. */
/* Returns the length of the valid sequence at s, which is before end; 0 if there is none. */
size_t utf8_len(const char *s, const char *end);
/* Returns the code point of the valid sequence of this length. */
uint32_t utf8_code(const char *s, size_t len);
/* Returns true if all characters are printable ASCII other than a space. */
bool ascii_is_word(const char *s, size_t len);

/* --- edit distance between a typed word and a known word --- */
#define NEAREST_LEN_MAX 40 /* longer words match nothing */

/* Returns the number of insertions, deletions, replacements and exchanges of adjacent
 * characters. */
unsigned nearest_distance(const char *a, const char *b);
/* Returns true if at most a third of the characters differ, or one character. */
bool nearest_is_near(const char *typed, unsigned distance);
