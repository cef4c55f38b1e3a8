// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams that redeem an invitation (protocol.md section 8.2): a machine with a one-time token
 * requests the secret, and the inviting member answers. Both are Noise messages (crypto/noise.h)
 * of kind LEON_INVITATION with equal lengths, so an answer is never larger than its request. Pure,
 * except that requests and answers draw ephemeral keys. Called by proto/ and by leonctl.
 *
 *   LEON header (one hop) | id (64) | ephemeral public key (256) | text, sealed | tag (128)
 *
 * Everything in front of the public key of the request is the prologue.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/noise.h"
#include "wire/datagram/leon.h"
#include "wire/message/token.h"

#define INVITATION_ID_LEN   8
#define INVITATION_TEXT_LEN 192
#define INVITATION_AT_ID    LEON_HDR_LEN(1)
#define INVITATION_AT_NOISE (INVITATION_AT_ID + INVITATION_ID_LEN)
#define INVITATION_LEN	    (INVITATION_AT_NOISE + INVITATION_TEXT_LEN + NOISE_OVERHEAD)

/* The id is public and names an invitation; the value is the secret of its token. */
void invitation_id(const uint8_t value[TOKEN_VALUE_LEN], uint8_t id[INVITATION_ID_LEN]);

enum invitation_status {
	INVITATION_GRANTED,
	INVITATION_USED_UP, /* other machines have used the invitation; there is no secret */
};
struct invitation_text {
	enum invitation_status status;
	bool pbkdf2; /* derivation of the secret */
	char secret[TOKEN_SECRET_MAX + 1];
};

/* --- the joining machine --- */
struct invitation_request {
	struct noise noise;
	struct ephemeral own;
	uint8_t datagram[INVITATION_LEN]; /* repeated unchanged until the answer */
};
void invitation_request(struct invitation_request *r, const struct token *t);
/* Opens an answer. Returns 0, or -EBADMSG if the datagram is no authentic answer. */
int invitation_open_answer(struct invitation_request *r, const uint8_t *data, size_t len,
			   struct invitation_text *out);

/* --- the inviting member --- */
/* Opens a request of INVITATION_LEN bytes. Returns 0 or -EBADMSG. The request is authentic if the
 * sender has the value, in a token of this curve; it may be a replay. */
int invitation_open_request(struct noise *n, enum dh_curve curve,
			    const uint8_t value[TOKEN_VALUE_LEN], const uint8_t *data);
/* The ephemeral public key of a request. */
static inline const uint8_t *invitation_key(const uint8_t *data)
{
	return data + INVITATION_AT_NOISE;
}
/* Writes the answer of node `self` to an opened request, under a new ephemeral key. Returns 0 or
 * -EBADMSG. */
int invitation_answer(struct noise *n, node_id_t self, const uint8_t *request,
		      const struct invitation_text *t, uint8_t out[INVITATION_LEN]);
