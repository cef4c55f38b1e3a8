// SPDX-License-Identifier: GPL-2.0-or-later
/* Configurations for test_conf*.c: accepted documents, and documents that are refused with a
 * sentence. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "state/conf/conf.h"

#define ERR_LEN 700

/* Makes a document with version, interface and further text, with ' in place of quotes. Unless the
 * text configures authentication, the document states that there is none. A key of the text
 * replaces that of the document, because a key may not be there twice. */
static char *document(const char *more)
{
	size_t len = strlen(more) + 128;
	char *text = x_calloc(len, 1);

	snprintf(text, len, "{ %s%s%s%s }", strstr(more, "'version':") ? "" : "'version': 1, ",
		 strstr(more, "'interface':") ? "" : "'interface': 'leon0', ",
		 strstr(more, "'authentication'") ? "" : "'authentication': { 'disable': true }, ",
		 more[0] ? more : "'peer': {}");
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	return text;
}

static struct conf *parse(const char *more, char err[ERR_LEN])
{
	char *text = document(more);
	struct conf *c;

	err[0] = '\0';
	c = conf_parse(text, strlen(text), err, ERR_LEN);
	free(text);
	return c;
}

static struct conf *good(const char *more)
{
	char err[ERR_LEN];
	struct conf *c = parse(more, err);

	if (!c)
		fail_msg("%s: %s", more, err);
	return c;
}

/* An invalid document, the key of the error, and the text of the error. */
struct refusal {
	const char *text, *path, *says;
};

static void all_are_refused(const struct refusal *cases, size_t n)
{
	char err[ERR_LEN];

	for (size_t i = 0; i < n; i++) {
		struct conf *c = parse(cases[i].text, err);
		size_t len = strlen(cases[i].path);

		if (c)
			fail_msg("accepted: %s", cases[i].text);
		if (strncmp(err, cases[i].path, len) != 0 || err[len] != ':' ||
		    !strstr(err, cases[i].says))
			fail_msg("%s: refused with: %s", cases[i].text, err);
	}
}

/* Each of these configurations equals itself and differs from the others by `how` (CONF_...). */
static inline void all_differ(const char *const all[], size_t n, unsigned how)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			struct conf *a = good(all[i]), *b = good(all[k]);

			assert_int_equal(conf_diff(a, b), i == k ? CONF_SAME : how);
			conf_free(a);
			conf_free(b);
		}
}
