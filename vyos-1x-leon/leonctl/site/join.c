// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl join`: makes this machine a node of an overlay by a token of `leonctl invite`. With a
 * one-time token, requests the secret from a member (redeem.c). Writes the configuration and starts
 * the unit. leonctl only.
 */
#include "run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"
#include "site/site.h"

/* White space makes a file longer than the token in the file. */
#define TOKEN_FILE_MAX 16384

static ssize_t read_token(const char *from, char *text)
{
	if (strcmp(from, "-") == 0)
		return file_read(STDIN_FILENO, text, TOKEN_FILE_MAX);
	return file_load(from, true, text, TOKEN_FILE_MAX, NULL);
}

/* The error does not quote an unreadable file name, because it may be a mistyped token. */
static const char *get_token(const char *from, struct token *t)
{
	static char why[160];
	char text[TOKEN_FILE_MAX];
	const char *error;
	ssize_t len;

	if (token_is_one(from))
		return token_decode(from, strlen(from), t);
	len = read_token(from, text);
	if (len < 0) {
		snprintf(why, sizeof(why),
			 "the argument is neither a token nor a readable file: %s",
			 file_error((int)len));
		return why;
	}
	error = token_decode(text, (size_t)len, t);
	x_wipe(text, sizeof(text));
	return error;
}

/* Arguments of a process are visible to other users. */
static void hide(const char *from)
{
	if (token_is_one(from))
		memset((char *)from, '*', strlen(from));
}

static bool is_valid_now(const struct target *t, const struct token *token)
{
	time_t now = time(NULL), end = (time_t)token->expires;
	char when[32];
	struct tm tm;

	if (token->expires == 0 || now <= end)
		return true;
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&end, &tm));
	target_complain(t, "the token expired at %s; make a new one on a member: leonctl invite",
			when);
	return false;
}

static void report(const struct token *token, const struct site *s)
{
	printf("%s: node %s joins VNI %u through", s->path, site_label(s), token->vni);
	for (unsigned i = 0; i < token->n_seeds; i++)
		printf("%s %s port %u", i ? "," : "", token->seed[i].host, token->seed[i].port);
	fputc('\n', stdout);
}

/* A request uses the token, so all other obstacles are found before it. */
static int get_secret(const struct target *t, struct token *token)
{
	int code = site_check(t, token);

	return code ? code : redeem_token(t, token);
}

int join_run(struct target *t, const char *from)
{
	struct token token;
	const char *error = get_token(from, &token);
	struct site s;
	int code = EXIT_REFUSED;

	hide(from);
	if (error) {
		target_complain(t, "%s", error);
		return EXIT_REFUSED;
	}
	if (token.one_time)
		code = get_secret(t, &token);
	else if (is_valid_now(t, &token))
		code = 0;
	if (code == 0)
		code = site_write(t, &token, &s);
	x_wipe(token.secret, sizeof(token.secret));
	x_wipe(token.value, sizeof(token.value));
	if (code || target_option(t, "print", NULL))
		return code;
	if (!t->json)
		report(&token, &s);
	return site_start(t, &s);
}
