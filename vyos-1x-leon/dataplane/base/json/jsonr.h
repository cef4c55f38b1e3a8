// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Typed JSON reader over json-c, its only user. Every error names the path and the expectation:
 * `path.threshold.minimum: expected a number from 0 to 10000000, found "x"`. Unknown keys are
 * errors too (jsonr_finish). Control thread, start-up and reload.
 *
 * A reader holds one document and the first error. After an error all getters return false and do
 * not write their target, so callers check once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonr;	   /* a document */
struct jsonr_node; /* a value of the document, owned by the document */

/* Limit for files that people write; a configuration is far smaller. */
#define JSONR_USUAL_MAX ((size_t)16 << 20)
/* Never returns NULL. A syntax error, or a document of more than `max` bytes, becomes the error of
 * the document. The nesting limit is 32. `max` is at most 256 MiB. */
struct jsonr *jsonr_parse(const char *text, size_t len, size_t max);
/* Overwrites every string of the document, because any may be a secret. NULL ok. */
void jsonr_free(struct jsonr *r);

/* For documents of people: refuses a key that is twice in an object, and suggests the nearest known
 * key for an unknown one. `text` is the parsed text. Call it before the getters. */
void jsonr_strict(struct jsonr *r, const char *text, size_t len);

/* Returns the first error, or NULL if there is none. */
const char *jsonr_error(const struct jsonr *r);
/* Records an error at a node as "path: text". Only the first error is kept. */
void jsonr_fail(struct jsonr_node *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Records an error at a key of an object as "path.key: text". The key may be absent. */
void jsonr_fail_key(struct jsonr_node *obj, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct jsonr_node *jsonr_root(struct jsonr *r); /* error and NULL if it is no object */

/* Member access; each marks the key as known. An absent key returns false or NULL without error. A
 * wrong type is an error. */
struct jsonr_node *jsonr_object(struct jsonr_node *obj, const char *key);
struct jsonr_node *jsonr_array(struct jsonr_node *obj, const char *key);
/* The string is owned by the document. */
bool jsonr_str(struct jsonr_node *obj, const char *key, const char **out);
bool jsonr_u64(struct jsonr_node *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out);
bool jsonr_bool(struct jsonr_node *obj, const char *key, bool *out);
bool jsonr_has(struct jsonr_node *obj, const char *key);
bool jsonr_is_str(struct jsonr_node *obj, const char *key);
bool jsonr_is_number(struct jsonr_node *obj, const char *key);

/* Array elements. Behind the last, or after an error, an element is NULL or false. */
size_t jsonr_len(const struct jsonr_node *n); /* elements, or members of an object */
struct jsonr_node *jsonr_at(struct jsonr_node *arr, size_t i);	       /* an object element */
bool jsonr_str_at(struct jsonr_node *arr, size_t i, const char **out); /* a string element */

/* Iterates objects used as maps (peer NAME { ... }): returns the i-th key and its object and marks
 * the key as known. */
struct jsonr_node *jsonr_member(struct jsonr_node *obj, size_t i, const char **name);

/* Returns the i-th key of an object for any type of value; NULL behind the last. For display of
 * documents. */
const char *jsonr_key(const struct jsonr_node *obj, size_t i);

/* Sets an error at the first key of a visited object that no getter has marked as known. */
void jsonr_finish(struct jsonr *r);
