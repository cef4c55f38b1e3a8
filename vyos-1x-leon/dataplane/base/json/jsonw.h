// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streaming JSON writer for all JSON output of leond and leonctl. Appends to a growing buffer, so a
 * table of 50,000 rows needs memory for its text only. Writes commas, nesting and escapes (RFC
 * 8259); invalid UTF-8 becomes U+FFFD. Control thread. Key NULL: element of an array. Misuse (value
 * without key in an object, unbalanced end) is a bug() and aborts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonw;

struct jsonw *jsonw_new(void);
struct jsonw *jsonw_new_indented(void); /* one key a line, for files that people edit */
void jsonw_free(struct jsonw *w);	/* NULL ok */

void jsonw_object(struct jsonw *w, const char *key);
void jsonw_array(struct jsonw *w, const char *key);
void jsonw_end(struct jsonw *w); /* closes the innermost object or array */

void jsonw_str(struct jsonw *w, const char *key, const char *value); /* NULL writes null */
void jsonw_u64(struct jsonw *w, const char *key, uint64_t value);
/* Writes %.6g; NaN and infinities become null. */
void jsonw_double(struct jsonw *w, const char *key, double value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);
/* Writes a value that is JSON already. The caller has parsed it. */
void jsonw_json(struct jsonw *w, const char *key, const char *text, size_t len);

/* Returns the complete text (NUL-terminated), owned by the writer. All containers must be
 * closed. */
const char *jsonw_text(const struct jsonw *w, size_t *len);
