// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The joining token: one string with all that a machine needs to become a member, which is where
 * others are, which overlay, and the secret. Text to struct and back (protocol.md section 8);
 * whether the values make a configuration is for state/conf to say. Pure; any thread.
 *
 * Token text comes out of mails, tickets and user-data: white space in it means nothing, and a
 * character that is lost or mistyped is found by a checksum. What token_decode() says names no
 * character of the token, since that may be part of the secret.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_PREFIX	 "leon1."
#define TOKEN_SEEDS_MAX	 8
#define TOKEN_HOST_MAX	 253
#define TOKEN_SECRET_MIN 8
#define TOKEN_SECRET_MAX 128
/* Room for the longest token and its NUL; longer text is refused, white space apart. */
#define TOKEN_TEXT_MAX 3072

struct token_seed {
	char host[TOKEN_HOST_MAX + 1]; /* IP address or DNS name */
	uint16_t port;
};

struct token {
	uint32_t vni;
	unsigned n_seeds; /* at least one */
	struct token_seed seed[TOKEN_SEEDS_MAX];
	char secret[TOKEN_SECRET_MAX + 1];
};

/* NULL, or one sentence that says what is wrong with the text; *out is whole or untouched. */
const char *token_decode(const char *text, size_t len, struct token *out);
/* Writes at most TOKEN_TEXT_MAX bytes. False where a value is out of its range. */
bool token_encode(const struct token *t, char text[TOKEN_TEXT_MAX]);
/* Does the text begin as a token does? Then it is one, if a damaged one, and no name of a file. */
bool token_is_one(const char *text);
