// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scanner for duplicate keys, see json_parse.h. Keeps the keys of all open objects in one array.
 * The end of an object removes its keys.
 */
#include "base/json/json_parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct json_key {
	const char *at;
	size_t len;
};

struct scan {
	struct json_key *key;
	size_t n, size;
	size_t first[JSON_TWICE_DEPTH]; /* index of the first key of each open container */
	unsigned depth;
};

/* Returns the position of the closing quote. */
static const char *end_of_string(const char *at, const char *end)
{
	for (; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at;
}

/* True if a colon follows the string, so that the string is a key. */
static bool is_key(const char *at, const char *end)
{
	while (at < end && strchr(" \t\r\n", *at))
		at++;
	return at < end && *at == ':';
}

/* Returns false if the innermost object has the key already. */
static bool add(struct scan *s, const char *at, size_t len)
{
	for (size_t i = s->depth ? s->first[s->depth - 1] : 0; i < s->n; i++)
		if (s->key[i].len == len && memcmp(s->key[i].at, at, len) == 0)
			return false;
	if (s->n == s->size) {
		s->size = s->size ? 2 * s->size : 64;
		s->key = x_realloc(s->key, s->size, sizeof(*s->key));
	}
	s->key[s->n++] = (struct json_key){ at, len };
	return true;
}

/* Returns false if the nesting is too deep. */
static bool bracket(struct scan *s, char c)
{
	if (c == '{' || c == '[') {
		if (s->depth == JSON_TWICE_DEPTH)
			return false;
		s->first[s->depth++] = s->n;
	} else if ((c == '}' || c == ']') && s->depth) {
		s->n = s->first[--s->depth];
	}
	return true;
}

const char *json_twice(const char *text, size_t len, size_t *key_len)
{
	const char *end = text + len, *found = NULL;
	struct scan s = { 0 };

	for (const char *at = text; at < end && !found; at++) {
		const char *begin = at + 1;

		if (*at != '"') {
			if (!bracket(&s, *at))
				break;
			continue;
		}
		at = end_of_string(begin, end);
		*key_len = (size_t)(at - begin);
		if (is_key(at + 1, end) && !add(&s, begin, *key_len))
			found = begin;
	}
	free(s.key);
	return found;
}
