// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes as text, two lower-case hexadecimal digits each: how keys are written in files, in the
 * configuration and in answers. Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HEX_LEN(bytes) (2 * (bytes))

/* `out` has room for HEX_LEN(n) + 1. Returns out. */
char *hex_format(const uint8_t *bytes, size_t n, char *out);
/* Exactly 2 n digits from text; 0, or -EINVAL where one is none. What is behind them is
 * not looked at. */
int hex_parse(const char *text, uint8_t *bytes, size_t n);
