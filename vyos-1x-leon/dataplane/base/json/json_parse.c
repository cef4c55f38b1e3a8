// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text to a document of json-c, see json_parse.h. Called by jsonr.c; control thread, leonctl.
 */
#include "base/json/json_parse.h"

#include <inttypes.h>
#include <json-c/printbuf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define DEPTH_MAX 32

struct parse {
	struct json_object *json;
	char *error;
	size_t error_len;
};

/* Number of bytes of the escaped text for a character of `len` bytes. */
static size_t escaped_width(size_t len)
{
	return len == 1 ? 1 : len < 4 ? 6 : 12;
}

/* Writes a character as a JSON escape; a character above U+FFFF becomes two surrogates. */
static void escape_put(char *to, const char *s, size_t len)
{
	uint32_t code = utf8_code(s, len);
	char buf[16];

	if (len == 1) {
		*to = *s;
		return;
	}
	if (code < 0x10000)
		snprintf(buf, sizeof(buf), "\\u%04" PRIx32, code);
	else
		snprintf(buf, sizeof(buf), "\\u%04" PRIx32 "\\u%04" PRIx32,
			 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
	memcpy(to, buf, escaped_width(len));
}

/* Maps an offset of the escaped text to an offset of the text. */
static size_t unescaped_at(const char *text, size_t len, size_t at)
{
	size_t i = 0, seen = 0;

	while (i < len) {
		size_t n = utf8_len(text + i, text + len);

		seen += escaped_width(n);
		if (seen > at)
			break;
		i += n;
	}
	return i;
}

/* Converts the tokener's offset to line and column, as editors show them. */
static void fail_syntax(struct parse *p, const char *text, size_t at, const char *what)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	snprintf(p->error, p->error_len, "line %zu, column %zu: not valid JSON (%s)", line, column,
		 what);
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return false;
	}
	return true;
}

/*
 * Converts the document to ASCII with JSON escapes. Returns NULL and sets the error if the document
 * is not UTF-8. Strict json-c 0.18 refuses every non-ASCII string, and releases differ in their
 * errors for malformed UTF-8. json-c therefore receives ASCII only.
 */
static char *escape_all(struct parse *p, const char *text, size_t len, size_t *escaped)
{
	char *out = x_calloc(3 * len, 1);
	size_t at = 0, n;

	for (size_t i = 0; i < len; i += n) {
		bool is_pair = text[i] == '\\' && i + 1 < len;

		n = is_pair ? 2 : utf8_len(text + i, text + len);
		/* An escape behind a backslash would change the meaning of the backslash. */
		if (n == 0 || (is_pair && (unsigned char)text[i + 1] >= 0x80)) {
			fail_syntax(p, text, i, n ? "unknown escape sequence" : "invalid UTF-8");
			x_wipe(out, 3 * len);
			free(out);
			return NULL;
		}
		if (is_pair)
			memcpy(out + at, text + i, n);
		else
			escape_put(out + at, text + i, n);
		at += is_pair ? n : escaped_width(n);
	}
	*escaped = at;
	return out;
}

/* Parses the text with json-c. The original document serves only for error positions. */
static void parse_escaped(struct parse *p, const char *escaped, size_t escaped_len,
			  const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	enum json_tokener_error err;

	if (!tok)
		bug("out of memory for a JSON parser");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	p->json = json_tokener_parse_ex(tok, escaped, (int)escaped_len);
	err = json_tokener_get_error(tok);
	if (err == json_tokener_continue) {
		/* The terminating NUL ends a bare number or word at the root. */
		p->json = json_tokener_parse_ex(tok, "", 1);
		err = json_tokener_get_error(tok);
		if (err != json_tokener_success)
			fail_syntax(p, text, len, "the text ends too early");
	} else if (err != json_tokener_success) {
		fail_syntax(p, text, unescaped_at(text, len, json_tokener_get_parse_end(tok)),
			    json_tokener_error_desc(err));
	}
	/* Clears the tokener's copy of the last string, which may be a secret. */
	if (tok->pb && tok->pb->buf)
		x_wipe(tok->pb->buf, (size_t)tok->pb->size);
	json_tokener_free(tok);
}

static void parse(struct parse *p, const char *text, size_t len)
{
	size_t room = 3 * len, n;
	char *escaped;

	if (is_ascii(text, len)) {
		parse_escaped(p, text, len, text, len);
		return;
	}
	escaped = escape_all(p, text, len, &n);
	if (!escaped)
		return;
	parse_escaped(p, escaped, n, text, len);
	/* The buffer may hold a secret. */
	x_wipe(escaped, room);
	free(escaped);
}

struct json_object *json_parse(const char *text, size_t len, char *error, size_t error_len)
{
	struct parse p = { .error = error, .error_len = error_len };
	const char *nul = len ? memchr(text, '\0', len) : NULL;

	error[0] = '\0';
	if (nul)
		fail_syntax(&p, text, (size_t)(nul - text), "NUL character");
	else
		parse(&p, text, len);
	return p.json;
}

/* --- keys that are twice in one object --- */

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
