// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hexadecimal text: two lower-case digits a byte, the form of keys in files, configuration and
 * answers. Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HEX_LEN(bytes) (2 * (bytes))

/* Writes HEX_LEN(n) digits and a NUL to `out`, which has room for HEX_LEN(n) + 1 bytes. Returns
 * out. */
char *hex_format(const uint8_t *bytes, size_t n, char *out);
/* Reads exactly 2 n digits from text and ignores the bytes behind them. Returns 0, or -EINVAL if a
 * character is no hexadecimal digit. */
int hex_parse(const char *text, uint8_t *bytes, size_t n);
