// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses JSON with json-c, strictly, and names the place of an error. Finds a key that is twice in
 * one object. Called by jsonr.c.
 */
#pragma once

#include <json-c/json.h>
#include <stddef.h>

/* Returns the document, which the caller puts; NULL for the word null and after an error. error is
 * empty, or a sentence with line and column. The nesting limit is 32. */
struct json_object *json_parse(const char *text, size_t len, char *error, size_t error_len);

/* Nesting that is examined for double keys. Deeper text has no finding. */
#define JSON_TWICE_DEPTH 40

/* The text is valid JSON. Returns a key that its object has already, without its quotes, and its
 * length, or NULL. json-c keeps the last value without an error. Keys are compared byte by byte, so
 * another escape of one character is another key. */
const char *json_twice(const char *text, size_t len, size_t *key_len);
