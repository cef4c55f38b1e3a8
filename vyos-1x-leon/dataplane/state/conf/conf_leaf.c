// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The leaves of conf.def: defaults, reading, and differences between two configurations. Rules
 * between leaves (a value that must not exceed another) are in the files that read sections. Called
 * by conf.c and conf_diff.c; pure; control thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "state/conf/conf_section.h"

#define WORD_MAX 32

enum leaf_kind { LEAF_NUMBER, LEAF_FLAG, LEAF_OBJECT, LEAF_CHOICE };

struct leaf {
	const char *path; /* words separated by blanks */
	const char *unit; /* unit of a number */
	enum leaf_kind kind;
	size_t offset, size; /* position of the field in struct conf */
	uint32_t scale, low, high, initial;
	const char *names, *chosen; /* names of a choice; `low` is the value of the first */
	enum conf_change change;
};

#define FIELD(f) .offset = offsetof(struct conf, f), .size = sizeof(((struct conf *)NULL)->f)

static const struct leaf leaves[] = {
#define NUMBER(field, words, type, times, least, most, otherwise, of, part, ...)                   \
	{ .path = words,                                                                           \
	  .unit = of,                                                                              \
	  .kind = LEAF_NUMBER,                                                                     \
	  FIELD(field),                                                                            \
	  .scale = times,                                                                          \
	  .low = least,                                                                            \
	  .high = most,                                                                            \
	  .initial = otherwise,                                                                    \
	  .change = CONF_##part },
#define FLAG(field, words, given, part, ...)                                                       \
	{ .path = words,                                                                           \
	  .kind = LEAF_FLAG,                                                                       \
	  FIELD(field),                                                                            \
	  .scale = 1,                                                                              \
	  .initial = !(given),                                                                     \
	  .change = CONF_##part },
#define OBJECT(field, words, part, ...)                                                            \
	{ .path = words, .kind = LEAF_OBJECT, FIELD(field), .scale = 1, .change = CONF_##part },
#define CHOICE(field, words, type, first, all, otherwise, part, ...)                               \
	{ .path = words,                                                                           \
	  .kind = LEAF_CHOICE,                                                                     \
	  FIELD(field),                                                                            \
	  .low = first,                                                                            \
	  .names = all,                                                                            \
	  .chosen = otherwise,                                                                     \
	  .change = CONF_##part },
#include "state/conf/conf.def"
};

static void store(struct conf *c, const struct leaf *l, uint32_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	const void *from = l->size == 1 ? (void *)&v8 : l->size == 2 ? (void *)&v16 : (void *)&v;

	memcpy((char *)c + l->offset, from, l->size);
}

static uint32_t load(const struct conf *c, const struct leaf *l)
{
	const void *from = (const char *)c + l->offset;

	if (l->size == 1)
		return *(const uint8_t *)from;
	return l->size == 2 ? *(const uint16_t *)from : *(const uint32_t *)from;
}

/* Returns the position of a word of this length among the names, or -1. */
static int find_name(const char *names, const char *word)
{
	size_t len = strlen(word), n;
	int at = 0;

	for (const char *s = names; *s; s += n, s += *s == ' ', at++) {
		n = strcspn(s, " ");
		if (n == len && strncmp(s, word, n) == 0)
			return at;
	}
	return -1;
}

void conf_default_leaves(struct conf *c)
{
	for (size_t i = 0; i < array_size(leaves); i++) {
		const struct leaf *l = &leaves[i];

		if (l->kind == LEAF_CHOICE)
			store(c, l, l->low + (uint32_t)find_name(l->names, l->chosen));
		else
			store(c, l, l->initial * l->scale);
	}
}

/* --- reading --- */

/* Returns the object that contains a leaf, or NULL, and the last word of the leaf's path. */
static struct jsonr_node *object_of(struct jsonr_node *root, const char *path, const char **key)
{
	const char *blank;

	while ((blank = strchr(path, ' ')) != NULL) {
		char word[WORD_MAX];

		snprintf(word, sizeof(word), "%.*s", (int)(blank - path), path);
		root = jsonr_object(root, word);
		path = blank + 1;
	}
	*key = path;
	return root;
}

/* Writes the permitted values, such as "set or unset" or "auto, aes256gcm or chacha20poly1305". */
static void refuse_name(struct jsonr_node *obj, const char *key, const char *names)
{
	char text[128];
	size_t at = 0;

	for (const char *s = names; *s && at < sizeof(text);) {
		size_t n = strcspn(s, " ");
		const char *next = s + n + (s[n] == ' ');
		const char *between = !*next ? "" : strchr(next, ' ') ? ", " : " or ";

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s%s", (int)n, s, between);
		s = next;
	}
	jsonr_fail_key(obj, key, "must be %s", text);
}

static void read_choice(struct jsonr_node *obj, const char *key, const struct leaf *l,
			struct conf *c)
{
	const char *s;
	int at;

	if (!jsonr_str(obj, key, &s))
		return;
	at = find_name(l->names, s);
	if (at < 0)
		refuse_name(obj, key, l->names);
	else
		store(c, l, l->low + (uint32_t)at);
}

static bool get_number(struct jsonr_node *obj, const char *key, const struct leaf *l, uint32_t *v)
{
	if (strcmp(l->unit, CONF_RATE_UNIT) == 0)
		return conf_get_rate(obj, key, l->low, l->high, v);
	return conf_get_u32(obj, key, l->low, l->high, v);
}

static void read_leaf(struct jsonr_node *root, const char *path, const struct leaf *l,
		      struct conf *c)
{
	const char *key;
	struct jsonr_node *obj = object_of(root, path, &key);
	uint32_t v;
	bool given;

	switch (l->kind) {
	case LEAF_NUMBER:
		if (get_number(obj, key, l, &v))
			store(c, l, v * l->scale);
		break;
	case LEAF_FLAG:
		if (jsonr_bool(obj, key, &given))
			store(c, l, given ? !l->initial : l->initial);
		break;
	case LEAF_OBJECT:
		store(c, l, jsonr_object(obj, key) != NULL);
		break;
	case LEAF_CHOICE:
		read_choice(obj, key, l, c);
		break;
	}
}

/* Leaves with another name in version 0.2.0. Files of 0.2.0 must stay valid. On VyOS the migration
 * script 3-to-4 renames them. */
static const struct {
	const char *former, *path;
} renamed[] = {
	{ "measurement lasting-time", "measurement long-term-time" },
	{ "path lasting-threshold", "path long-term-threshold" },
	{ "path noise-margin", "path variation-margin" },
};

static const char *former_name(const char *path)
{
	for (size_t i = 0; i < array_size(renamed); i++)
		if (strcmp(path, renamed[i].path) == 0)
			return renamed[i].former;
	return NULL;
}

/* Reads a leaf that the document has by the former name. */
static void read_former(struct jsonr_node *root, const char *former, const struct leaf *l,
			struct conf *c)
{
	const char *key, *key_now;
	struct jsonr_node *obj = object_of(root, former, &key);

	object_of(root, l->path, &key_now);
	if (!jsonr_has(obj, key))
		return;
	if (jsonr_has(obj, key_now))
		jsonr_fail_key(obj, key, "is the former name of \"%s\", which is set too", key_now);
	else
		read_leaf(root, former, l, c);
}

void conf_read_leaves(struct jsonr_node *root, struct conf *c)
{
	for (size_t i = 0; i < array_size(leaves); i++) {
		const char *former = former_name(leaves[i].path);

		read_leaf(root, leaves[i].path, &leaves[i], c);
		if (former)
			read_former(root, former, &leaves[i], c);
	}
}

const char *conf_next_number(const struct conf *c, const char *section, size_t *at, uint32_t *value)
{
	size_t len = strlen(section);

	while (*at < array_size(leaves)) {
		const struct leaf *l = &leaves[(*at)++];

		if (l->kind != LEAF_NUMBER || strncmp(l->path, section, len) != 0 ||
		    l->path[len] != ' ')
			continue;
		*value = load(c, l) / l->scale;
		return l->path + len + 1;
	}
	return NULL;
}

/* --- differences --- */

static bool leaf_differs(const struct leaf *l, const struct conf *a, const struct conf *b)
{
	return memcmp((const char *)a + l->offset, (const char *)b + l->offset, l->size) != 0;
}

unsigned conf_diff_leaves(const struct conf *a, const struct conf *b)
{
	unsigned changes = CONF_SAME;

	for (size_t i = 0; i < array_size(leaves); i++)
		if (leaf_differs(&leaves[i], a, b))
			changes |= leaves[i].change;
	return changes;
}

const char *conf_next_restart_leaf(const struct conf *a, const struct conf *b, size_t *at)
{
	while (*at < array_size(leaves)) {
		const struct leaf *l = &leaves[(*at)++];

		if (l->change == CONF_RESTART && leaf_differs(l, a, b))
			return l->path;
	}
	return NULL;
}
