// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The handshakes Noise_NNpsk0_25519_AESGCM_SHA256 and Noise_NNpsk0_P256_AESGCM_SHA256
 * (noiseprotocol.org, revision 34, and DH functions of crypto/aead.h): two messages between two
 * sides that share 32 random bytes. Both ephemeral keys protect the second message, so
 * the shared value alone opens no recorded handshake. Pure, except that the caller draws the
 * ephemeral keys. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "crypto/keys.h"

#define NOISE_PSK_LEN  32
#define NOISE_OVERHEAD (DH_KEY_LEN + AEAD_TAG_LEN) /* of each message */

/* The state between the two messages. The owner wipes it. */
struct noise {
	uint8_t chain[AEAD_KEY_LEN], hash[AEAD_KEY_LEN];
	enum dh_curve curve;
};

/* The prologue is data that both sides must have in common. */
void noise_begin(struct noise *n, enum dh_curve curve, const uint8_t psk[NOISE_PSK_LEN],
		 const void *prologue, size_t len);

/* --- the initiator --- */
/* Writes len + NOISE_OVERHEAD bytes: public key, text, tag. */
void noise_request(struct noise *n, const struct ephemeral *own, const void *text, size_t len,
		   uint8_t *out);
/* `len` includes NOISE_OVERHEAD. Returns 0, or -EBADMSG, which leaves *n unchanged. */
int noise_open_answer(struct noise *n, const struct ephemeral *own, const uint8_t *in, size_t len,
		      void *text);

/* --- the responder --- */
/* Costs three HMAC pairs and one AES pass, and no DH operation. Returns 0 or -EBADMSG. */
int noise_open_request(struct noise *n, const uint8_t *in, size_t len, void *text);
/* Returns 0, or -EBADMSG if the public key of the request is invalid. */
int noise_answer(struct noise *n, const struct ephemeral *own, const uint8_t theirs[DH_KEY_LEN],
		 const void *text, size_t len, uint8_t *out);
