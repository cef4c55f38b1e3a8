// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses JSON with json-c, strictly, and names the place of an error. Called by jsonr.c.
 */
#pragma once

#include <json-c/json.h>
#include <stddef.h>

/* Returns the document, which the caller puts; NULL for the word null and after an error. error is
 * empty, or a sentence with line and column. The nesting limit is 32. */
struct json_object *json_parse(const char *text, size_t len, char *error, size_t error_len);
