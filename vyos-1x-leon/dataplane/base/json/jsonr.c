// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The typed JSON reader, the only user of json-c. Owns the parsed document, its nodes and the first
 * error. The children of a node are created at its first access, so a large document costs little
 * more than json-c needs. Control thread, leonctl.
 *
 * A key with the value null counts as absent: the JSON contract defines unknown as null. An error
 * quotes the found value only if a number was expected. If a string was expected, the error names
 * only the type, because the string may be a secret.
 */
#include "base/json/jsonr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/json_parse.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define ERROR_MAX     576
#define PATH_TEXT_MAX 256
#define FOUND_MAX     48

struct jsonr_node {
	struct jsonr *doc;
	struct jsonr_node *parent;
	struct json_object *value; /* borrowed from the document; NULL for JSON null */
	const char *key;	   /* NULL for an array element and for the root */
	size_t index;
	size_t n_children;
	struct jsonr_node *children;
	bool expanded;
	bool known;
	char **absent; /* strict: keys that getters did not find */
	size_t n_absent;
};

struct jsonr {
	struct json_object *json;
	struct jsonr_node root;
	bool failed, strict;
	char error[ERROR_MAX];
};

attr_printf(3, 0) static void set_error(struct jsonr *r, const char *where, const char *fmt,
					va_list ap)
{
	char text[ERROR_MAX - PATH_TEXT_MAX - 4];

	if (r->failed)
		return;
	r->failed = true;
	vsnprintf(text, sizeof(text), fmt, ap);
	snprintf(r->error, sizeof(r->error), "%s: %s", where, text);
	/* Keys are case-sensitive. */
	log_mask(r->error);
}

struct jsonr *jsonr_parse(const char *text, size_t len, size_t max)
{
	struct jsonr *r = x_new(struct jsonr);

	r->root.doc = r;
	r->root.known = true;
	if (len > max) {
		r->failed = true;
		snprintf(r->error, sizeof(r->error), "document is larger than %zu MiB", max >> 20);
		return r;
	}
	r->json = json_parse(text, len, r->error, sizeof(r->error));
	r->failed = r->error[0] != '\0';
	r->root.value = r->json;
	return r;
}

static void free_children(struct jsonr_node *n)
{
	for (size_t i = 0; i < n->n_children; i++)
		free_children(&n->children[i]);
	free(n->children);
	for (size_t i = 0; i < n->n_absent; i++)
		free(n->absent[i]);
	free(n->absent);
}

/* The reader cannot tell which strings are secrets, so it clears all of them. */
static void wipe_strings(struct json_object *o)
{
	switch (json_object_get_type(o)) {
	case json_type_string:
		x_wipe((char *)json_object_get_string(o), (size_t)json_object_get_string_len(o));
		break;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(o); i++)
			wipe_strings(json_object_array_get_idx(o, i));
		break;
	case json_type_object: {
		struct json_object_iterator at = json_object_iter_begin(o);
		struct json_object_iterator end = json_object_iter_end(o);

		for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
			wipe_strings(json_object_iter_peek_value(&at));
		break;
	}
	case json_type_null:
	case json_type_boolean:
	case json_type_double:
	case json_type_int:
		break;
	}
}

void jsonr_free(struct jsonr *r)
{
	if (!r)
		return;
	free_children(&r->root);
	wipe_strings(r->json);
	json_object_put(r->json);
	free(r);
}

const char *jsonr_error(const struct jsonr *r)
{
	return r->failed ? r->error : NULL;
}

/* Builds "peer.west.address" or "peers[3].name" from the root down, truncated at the end of the
 * buffer. */
static void node_path(const struct jsonr_node *n, char *buf, size_t len)
{
	size_t at;

	if (!n->parent) {
		buf[0] = '\0';
		return;
	}
	node_path(n->parent, buf, len);
	at = strlen(buf);
	if (n->key)
		snprintf(buf + at, len - at, "%s%s", at ? "." : "", n->key);
	else
		snprintf(buf + at, len - at, "[%zu]", n->index);
}

void jsonr_fail(struct jsonr_node *n, const char *fmt, ...)
{
	char path[PATH_TEXT_MAX];
	va_list ap;

	if (!n)
		return;
	node_path(n, path, sizeof(path));
	va_start(ap, fmt);
	set_error(n->doc, path[0] ? path : "top level", fmt, ap);
	va_end(ap);
}

void jsonr_fail_key(struct jsonr_node *obj, const char *key, const char *fmt, ...)
{
	char path[PATH_TEXT_MAX];
	size_t at;
	va_list ap;

	if (!obj)
		return;
	node_path(obj, path, sizeof(path));
	at = strlen(path);
	snprintf(path + at, sizeof(path) - at, "%s%s", at ? "." : "", key);
	va_start(ap, fmt);
	set_error(obj->doc, path, fmt, ap);
	va_end(ap);
}

static const char *type_words(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_boolean:
		return "true or false";
	case json_type_double:
	case json_type_int:
		return "a number";
	case json_type_object:
		return "an object";
	case json_type_array:
		return "a list";
	case json_type_string:
		return "a string";
	case json_type_null:
		break;
	}
	return "null";
}

static void fail_type(struct jsonr_node *n, const char *expected)
{
	jsonr_fail(n, "expected %s, found %s", expected, type_words(n->value));
}

static void expand_object(struct jsonr_node *n)
{
	size_t i = 0;

	n->n_children = (size_t)json_object_object_length(n->value);
	n->children = x_calloc(n->n_children, sizeof(*n->children));
	json_object_object_foreach(n->value, key, value)
	{
		n->children[i++] = (struct jsonr_node){
			.doc = n->doc, .parent = n, .value = value, .key = key
		};
	}
}

static void expand_array(struct jsonr_node *n)
{
	n->n_children = json_object_array_length(n->value);
	n->children = x_calloc(n->n_children, sizeof(*n->children));
	for (size_t i = 0; i < n->n_children; i++) {
		n->children[i] = (struct jsonr_node){
			.doc = n->doc,
			.parent = n,
			.value = json_object_array_get_idx(n->value, i),
			.index = i,
			.known = true,
		};
	}
}

/* Checks that n has the wanted type and creates its children. Returns NULL and sets the error on
 * another type. */
static struct jsonr_node *as_container(struct jsonr_node *n, enum json_type type)
{
	if (!n || n->doc->failed)
		return NULL;
	if (!json_object_is_type(n->value, type)) {
		fail_type(n, type == json_type_object ? "an object" : "a list");
		return NULL;
	}
	if (!n->expanded) {
		n->expanded = true;
		if (type == json_type_object)
			expand_object(n);
		else
			expand_array(n);
	}
	return n;
}

struct jsonr_node *jsonr_root(struct jsonr *r)
{
	return as_container(&r->root, json_type_object);
}

/* The nearest of these keys is the suggestion for an unknown key. */
static void remember_absent(struct jsonr_node *obj, const char *key)
{
	obj->absent = x_realloc(obj->absent, obj->n_absent + 1, sizeof(*obj->absent));
	obj->absent[obj->n_absent++] = x_strdup(key);
}

/* Marks the member as known and returns it. Returns NULL if it is absent or null, or after an
 * error. */
static struct jsonr_node *member(struct jsonr_node *obj, const char *key)
{
	if (!as_container(obj, json_type_object))
		return NULL;
	for (size_t i = 0; i < obj->n_children; i++) {
		struct jsonr_node *child = &obj->children[i];

		if (strcmp(child->key, key) == 0) {
			child->known = true;
			return child->value ? child : NULL;
		}
	}
	if (obj->doc->strict)
		remember_absent(obj, key);
	return NULL;
}

struct jsonr_node *jsonr_object(struct jsonr_node *obj, const char *key)
{
	return as_container(member(obj, key), json_type_object);
}

struct jsonr_node *jsonr_array(struct jsonr_node *obj, const char *key)
{
	return as_container(member(obj, key), json_type_array);
}

static bool get_string(struct jsonr_node *n, const char **out)
{
	const char *s;

	if (!n || n->doc->failed)
		return false;
	if (!json_object_is_type(n->value, json_type_string)) {
		fail_type(n, "a string");
		return false;
	}
	s = json_object_get_string(n->value);
	/* Refuses an embedded NUL: the caller would see a shorter string than other code
	 * checked. */
	if (strlen(s) != (size_t)json_object_get_string_len(n->value)) {
		jsonr_fail(n, "string contains a NUL character");
		return false;
	}
	*out = s;
	return true;
}

bool jsonr_str(struct jsonr_node *obj, const char *key, const char **out)
{
	return get_string(member(obj, key), out);
}

/* Writes the value as JSON text for an error message and truncates a long one. */
static void fail_number(struct jsonr_node *n, uint64_t min, uint64_t max)
{
	const char *text = json_object_to_json_string_ext(
		n->value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	bool is_long = strlen(text) > FOUND_MAX;

	jsonr_fail(n, "expected a number from %" PRIu64 " to %" PRIu64 ", found %.*s%s", min, max,
		   FOUND_MAX, text, is_long ? "..." : "");
}

bool jsonr_u64(struct jsonr_node *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out)
{
	struct jsonr_node *n = member(obj, key);
	uint64_t value;

	if (!n)
		return false;
	/* get_uint64() converts a negative number to 0, so the sign is tested first. */
	if (!json_object_is_type(n->value, json_type_int) || json_object_get_int64(n->value) < 0) {
		fail_number(n, min, max);
		return false;
	}
	value = json_object_get_uint64(n->value);
	if (value < min || value > max) {
		fail_number(n, min, max);
		return false;
	}
	*out = value;
	return true;
}

bool jsonr_bool(struct jsonr_node *obj, const char *key, bool *out)
{
	struct jsonr_node *n = member(obj, key);

	if (!n)
		return false;
	if (!json_object_is_type(n->value, json_type_boolean)) {
		fail_type(n, "true or false");
		return false;
	}
	*out = json_object_get_boolean(n->value);
	return true;
}

bool jsonr_has(struct jsonr_node *obj, const char *key)
{
	return member(obj, key) != NULL;
}

bool jsonr_is_str(struct jsonr_node *obj, const char *key)
{
	struct jsonr_node *n = member(obj, key);

	return n && json_object_is_type(n->value, json_type_string);
}

bool jsonr_is_number(struct jsonr_node *obj, const char *key)
{
	struct jsonr_node *n = member(obj, key);

	return n && json_object_is_type(n->value, json_type_int);
}

size_t jsonr_len(const struct jsonr_node *n)
{
	return n && !n->doc->failed ? n->n_children : 0;
}

struct jsonr_node *jsonr_at(struct jsonr_node *arr, size_t i)
{
	if (i >= jsonr_len(arr))
		return NULL;
	return as_container(&arr->children[i], json_type_object);
}

bool jsonr_str_at(struct jsonr_node *arr, size_t i, const char **out)
{
	return i < jsonr_len(arr) && get_string(&arr->children[i], out);
}

struct jsonr_node *jsonr_member(struct jsonr_node *obj, size_t i, const char **name)
{
	struct jsonr_node *child;

	if (i >= jsonr_len(obj))
		return NULL;
	child = &obj->children[i];
	child->known = true;
	if (!as_container(child, json_type_object))
		return NULL;
	*name = child->key;
	return child;
}

const char *jsonr_key(const struct jsonr_node *obj, size_t i)
{
	return i < jsonr_len(obj) ? obj->children[i].key : NULL;
}

/* Keeps the candidate that is nearest to the typed key. */
static void keep_nearest(const char *typed, const char *candidate, const char **nearest,
			 unsigned *least)
{
	unsigned d = nearest_distance(typed, candidate);

	if (d >= *least)
		return;
	*least = d;
	*nearest = candidate;
}

static void fail_unknown(const struct jsonr_node *obj, struct jsonr_node *child)
{
	const char *nearest = NULL;
	unsigned least = NEAREST_LEN_MAX;

	for (size_t i = 0; obj->doc->strict && i < obj->n_children; i++)
		if (obj->children[i].known)
			keep_nearest(child->key, obj->children[i].key, &nearest, &least);
	for (size_t i = 0; i < obj->n_absent; i++)
		keep_nearest(child->key, obj->absent[i], &nearest, &least);
	if (nearest && nearest_is_near(child->key, least))
		jsonr_fail(child, "unknown key; did you mean \"%s\"?", nearest);
	else
		jsonr_fail(child, "unknown key");
}

static void check_known(struct jsonr_node *n)
{
	for (size_t i = 0; i < n->n_children; i++) {
		if (!n->children[i].known)
			fail_unknown(n, &n->children[i]);
		else
			check_known(&n->children[i]);
	}
}

void jsonr_finish(struct jsonr *r)
{
	check_known(&r->root);
}

void jsonr_strict(struct jsonr *r, const char *text, size_t len)
{
	size_t line = 1, key_len;
	const char *key;

	if (r->failed)
		return;
	r->strict = true;
	key = json_twice(text, len, &key_len);
	if (!key)
		return;
	for (const char *at = text; at < key; at++)
		line += *at == '\n';
	r->failed = true;
	snprintf(r->error, sizeof(r->error), "line %zu: the key \"%.*s\" is twice in one object",
		 line, (int)min_of(key_len, (size_t)PATH_TEXT_MAX), key);
	log_mask(r->error);
}
