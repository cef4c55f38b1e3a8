// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The streaming JSON writer. Owns one growing buffer and a small stack of open containers.
 * Control thread, leonctl.
 */
#include "base/json/jsonw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define DEPTH_MAX 32

struct level {
	char closer; /* '}' or ']' */
	bool has_items;
};

struct jsonw {
	char *text;
	size_t len;
	size_t room;
	unsigned depth;
	bool has_root, indented;
	struct level level[DEPTH_MAX];
};

struct jsonw *jsonw_new(void)
{
	struct jsonw *w = x_new(struct jsonw);

	w->room = 1024;
	w->text = x_calloc(w->room, 1);
	return w;
}

struct jsonw *jsonw_new_indented(void)
{
	struct jsonw *w = jsonw_new();

	w->indented = true;
	return w;
}

void jsonw_free(struct jsonw *w)
{
	if (!w)
		return;
	free(w->text);
	free(w);
}

static void put(struct jsonw *w, const char *s, size_t len)
{
	/* One byte stays free for the NUL, so that jsonw_text() accepts a const writer. */
	if (w->room - w->len <= len) {
		while (w->room - w->len <= len)
			w->room *= 2;
		w->text = x_realloc(w->text, w->room, 1);
	}
	memcpy(w->text + w->len, s, len);
	w->len += len;
	w->text[w->len] = '\0';
}

static void put_char(struct jsonw *w, char c)
{
	put(w, &c, 1);
}

static void new_line(struct jsonw *w)
{
	if (!w->indented)
		return;
	put_char(w, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		put(w, "  ", 2);
}

static void put_escape(struct jsonw *w, unsigned char c)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	char buf[8];

	for (size_t i = 0; i + 1 < sizeof(shorts); i += 2) {
		if (c == (unsigned char)shorts[i]) {
			put_char(w, '\\');
			put_char(w, shorts[i + 1]);
			return;
		}
	}
	put(w, buf, (size_t)snprintf(buf, sizeof(buf), "\\u%04x", c));
}

static void put_string(struct jsonw *w, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	const char *end = value + strlen(value);

	put_char(w, '"');
	while (*s) {
		size_t plain = 0, len = 0;

		/* A run of ordinary characters is copied at once. */
		while (s[plain] >= 0x20 && s[plain] != '"' && s[plain] != '\\' &&
		       (len = utf8_len((const char *)s + plain, end)) != 0)
			plain += len;
		put(w, (const char *)s, plain);
		s += plain;
		if (!*s)
			break;
		if (*s < 0x80)
			put_escape(w, *s);
		else
			put(w, "\xef\xbf\xbd", 3);
		s++;
	}
	put_char(w, '"');
}

/* Writes the prefix of a value: comma and key. */
static void begin_value(struct jsonw *w, const char *key)
{
	struct level *in = w->depth ? &w->level[w->depth - 1] : NULL;

	if (!in) {
		if (w->has_root || key)
			bug("JSON: second value or a key at top level");
		w->has_root = true;
		return;
	}
	if ((in->closer == '}') != (key != NULL))
		bug("JSON: %s", key ? "key in an array" : "value without key in an object");
	if (in->has_items)
		put_char(w, ',');
	in->has_items = true;
	new_line(w);
	if (key) {
		put_string(w, key);
		put(w, ": ", w->indented ? 2 : 1);
	}
}

static void open_level(struct jsonw *w, const char *key, char opener, char closer)
{
	begin_value(w, key);
	if (w->depth == DEPTH_MAX)
		bug("JSON: nested deeper than %d", DEPTH_MAX);
	w->level[w->depth++] = (struct level){ .closer = closer };
	put_char(w, opener);
}

void jsonw_object(struct jsonw *w, const char *key)
{
	open_level(w, key, '{', '}');
}

void jsonw_array(struct jsonw *w, const char *key)
{
	open_level(w, key, '[', ']');
}

void jsonw_end(struct jsonw *w)
{
	if (!w->depth)
		bug("JSON: nothing to close");
	if (w->level[--w->depth].has_items)
		new_line(w);
	put_char(w, w->level[w->depth].closer);
}

void jsonw_str(struct jsonw *w, const char *key, const char *value)
{
	if (!value) {
		jsonw_null(w, key);
		return;
	}
	begin_value(w, key);
	put_string(w, value);
}

void jsonw_u64(struct jsonw *w, const char *key, uint64_t value)
{
	char buf[24];

	begin_value(w, key);
	put(w, buf, (size_t)snprintf(buf, sizeof(buf), "%" PRIu64, value));
}

void jsonw_double(struct jsonw *w, const char *key, double value)
{
	char buf[32], *comma;
	int len;

	if (!isfinite(value)) {
		jsonw_null(w, key);
		return;
	}
	begin_value(w, key);
	len = snprintf(buf, sizeof(buf), "%.6g", value);
	/* JSON requires a decimal point in every locale. */
	comma = strchr(buf, ',');
	if (comma)
		*comma = '.';
	put(w, buf, (size_t)len);
}

void jsonw_bool(struct jsonw *w, const char *key, bool value)
{
	begin_value(w, key);
	put(w, value ? "true" : "false", value ? 4 : 5);
}

void jsonw_null(struct jsonw *w, const char *key)
{
	begin_value(w, key);
	put(w, "null", 4);
}

void jsonw_json(struct jsonw *w, const char *key, const char *text, size_t len)
{
	begin_value(w, key);
	put(w, text, len);
}

const char *jsonw_text(const struct jsonw *w, size_t *len)
{
	if (w->depth || !w->has_root)
		bug("JSON: text asked for with %u containers open", w->depth);
	if (len)
		*len = w->len;
	return w->text;
}
