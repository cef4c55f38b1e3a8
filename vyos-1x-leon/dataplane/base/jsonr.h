// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Typed JSON reader over json-c (its only user). Every error names the path and what was
 * expected: `path.threshold.minimum: expected a number from 0 to 10000000, found "x"`.
 * Unknown keys are errors too (jsonr_finish). Control thread, start-up and reload.
 *
 * A reader holds one document and the first error; after an error all getters return false
 * and leave their target alone, so callers check once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonr;	   /* a document */
struct jsonr_node; /* a value in it, owned by the document */

/* What people write is smaller by far. */
#define JSONR_USUAL_MAX ((size_t)16 << 20)
/* Never NULL; a syntax error, or more than `max` bytes, is the document's error. Nesting is limited
 * to 32. `max` is at most 256 MiB. */
struct jsonr *jsonr_parse(const char *text, size_t len, size_t max);
/* Overwrites every string of the document, since any may be a secret. NULL ok. */
void jsonr_free(struct jsonr *r);

/* NULL where all is well so far. */
const char *jsonr_error(const struct jsonr *r);
/* Records an error at a node: "path: text". First one wins. */
void jsonr_fail(struct jsonr_node *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same about a key of an object, which may be absent: "path.key: text". */
void jsonr_fail_key(struct jsonr_node *obj, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct jsonr_node *jsonr_root(struct jsonr *r); /* must be an object, else error and NULL */

/* Member access; each marks the key as known. Absent: false/NULL, no error. Wrong type: error. */
struct jsonr_node *jsonr_object(struct jsonr_node *obj, const char *key);
struct jsonr_node *jsonr_array(struct jsonr_node *obj, const char *key);
/* The string is owned by the document. */
bool jsonr_str(struct jsonr_node *obj, const char *key, const char **out);
bool jsonr_u64(struct jsonr_node *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out);
bool jsonr_bool(struct jsonr_node *obj, const char *key, bool *out);
bool jsonr_has(struct jsonr_node *obj, const char *key);
bool jsonr_is_str(struct jsonr_node *obj, const char *key);

/* Array elements. */
size_t jsonr_len(const struct jsonr_node *arr);
struct jsonr_node *jsonr_at(struct jsonr_node *arr, size_t i);	       /* as object */
bool jsonr_str_at(struct jsonr_node *arr, size_t i, const char **out); /* as string */

/* Objects used as maps (peer NAME { ... }): the i-th key and its object; marks it as known. */
size_t jsonr_n_members(const struct jsonr_node *obj);
struct jsonr_node *jsonr_member(struct jsonr_node *obj, size_t i, const char **name);

/* The i-th key of an object, whatever its value is; NULL past the last. For showing documents. */
const char *jsonr_key(const struct jsonr_node *obj, size_t i);

/* Errors on the first key of any visited object that nobody asked for. */
void jsonr_finish(struct jsonr *r);
