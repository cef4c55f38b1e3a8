// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds a key that is twice in one object of a JSON text. json-c keeps the last value without an
 * error. Pure.
 */
#pragma once

#include <stddef.h>

/* Nesting that is examined. Deeper text has no finding. */
#define JSON_TWICE_DEPTH 40

/* The text is valid JSON. Returns the second key without its quotes, and its length, or NULL. Keys
 * are compared byte by byte, so another escape of one character is another key. */
const char *json_twice(const char *text, size_t len, size_t *key_len);
