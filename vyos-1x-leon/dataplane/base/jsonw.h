// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streaming JSON writer: all JSON output of leond and leonctl. Appends to a growing buffer, so a
 * table of 50,000 rows costs its text and nothing else. Commas, nesting and escaping (RFC 8259,
 * invalid UTF-8 replaced by U+FFFD) are its job. Control thread. Key NULL: element of an array.
 * Misuse (value without key in an object, unbalanced end) is a bug() and aborts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonw;

struct jsonw *jsonw_new(void);
void jsonw_free(struct jsonw *w); /* NULL ok */

void jsonw_object(struct jsonw *w, const char *key);
void jsonw_array(struct jsonw *w, const char *key);
void jsonw_end(struct jsonw *w); /* closes the innermost object or array */

void jsonw_str(struct jsonw *w, const char *key, const char *value); /* NULL writes null */
void jsonw_u64(struct jsonw *w, const char *key, uint64_t value);
/* %.6g; NaN and infinities write null */
void jsonw_double(struct jsonw *w, const char *key, double value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);

/* Complete text (NUL-terminated), owned by the writer; everything must be closed. */
const char *jsonw_text(const struct jsonw *w, size_t *len);
