// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The joining token: one string with the seeds, the VNI and the secret that a machine needs to
 * become a member. A one-time token has an invitation value in place of the secret. Converts text
 * to struct and back (protocol.md section 8.1). state/conf validates the values. Pure; any
 * thread.
 *
 * Tokens are copied from mails, tickets and user-data: white space is ignored, and a checksum
 * detects lost or mistyped characters. Errors of token_decode() never quote the token, because any
 * part may be the secret.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_PREFIX	 "leon1." /* no expiry */
#define TOKEN_EXPIRING	 "leon2."
#define TOKEN_ONE_TIME	 "leon3." /* with an invitation value in place of the secret */
#define TOKEN_P256	 "leon4." /* the same, in an overlay with the curve P-256 */
#define TOKEN_SEEDS_MAX	 8
#define TOKEN_HOST_MAX	 253
#define TOKEN_SECRET_MIN 8
#define TOKEN_SECRET_MAX 128
#define TOKEN_VALUE_LEN	 32
/* Buffer size of the longest token with its NUL. Longer text, without white space, is refused. */
#define TOKEN_TEXT_MAX 3072

struct token_seed {
	char host[TOKEN_HOST_MAX + 1]; /* IP address or DNS name */
	uint16_t port;
};

struct token {
	uint32_t expires; /* seconds since 1970; 0: never */
	uint32_t vni;
	unsigned n_seeds; /* at least one */
	struct token_seed seed[TOKEN_SEEDS_MAX];
	bool one_time;
	bool p256;			   /* only one-time tokens carry it */
	uint8_t value[TOKEN_VALUE_LEN];	   /* of a one-time token */
	char secret[TOKEN_SECRET_MAX + 1]; /* empty in a one-time token until a member sends it */
	bool pbkdf2; /* derivation of a secret that a member sent; not part of the text */
};

/* Returns NULL, or a sentence that describes the error; *out is complete or unchanged. */
const char *token_decode(const char *text, size_t len, struct token *out);
/* Writes at most TOKEN_TEXT_MAX bytes. Returns false if a value is out of range. */
bool token_encode(const struct token *t, char text[TOKEN_TEXT_MAX]);
/* Returns true if the bytes may be a secret: length, UTF-8 and no control characters. */
bool token_is_secret(const char *s, size_t len);
/* Returns true if the text begins like a token; it is then a token, possibly damaged, and no file
 * name. */
bool token_is_one(const char *text);
