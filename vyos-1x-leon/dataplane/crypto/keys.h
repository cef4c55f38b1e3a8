// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of the control channel: keys derived from the stretched secret, and sessions between two
 * nodes with their replay windows. Control thread. doc/protocol.md section 3.
 *
 * Envelope of every control message, behind the LEON header.
 *
 *   HELLO:    session 0 (64) | salt (16 bytes)           | message | tag (16)
 *   others:   session   (64) | counter (64)              | message | tag (16)
 *
 * Without a secret the tag is absent, the message is in clear, and LEON_F_SEALED is not set. The
 * associated data is the LEON header with `at` as zero, and the envelope.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "crypto/aead.h"
#include "crypto/public_key.h"
#include "crypto/seal.h"
#include "crypto/stretch.h"

#define SECRET_MIN	   8
#define SECRET_MAX	   128
#define SECRETS_MAX	   4 /* the own secret and the additionally accepted secrets */
#define ENVELOPE_HELLO_LEN 24
#define ENVELOPE_LEN	   16
#define REPLAY_WINDOW	   1024 /* counters with arrival out of order */

/* Derives the keys of one overlay from the master key (the stretched secret, crypto/stretch.h) and
 * the VNI. NULL: clear mode. */
struct keyring;
struct keyring *keyring_new(const uint8_t master[MASTER_KEY_LEN], uint32_t vni);
/* Accepts one more secret for received HELLOs and guard frames; not in the clear mode, at most
 * SECRETS_MAX - 1. */
void keyring_accept(struct keyring *k, const uint8_t master[MASTER_KEY_LEN]);
/* Writes the names of the secrets, 0 for an empty slot. Two nodes with an equal secret have an
 * equal name for it. */
void keyring_ids(const struct keyring *k, uint32_t id[SECRETS_MAX]);
void keyring_free(struct keyring *k); /* NULL ok; wipes */
bool keyring_sealed(const struct keyring *k);
/* Configures the data channel of future sessions: this node's offer (seal_offer()) and the number
 * of workers. Without this call sessions have no data keys. */
void keyring_set_data(struct keyring *k, uint8_t offer, unsigned n_workers);
void keyring_copy_data(struct keyring *k, const struct keyring *from);
void keyring_set_offer(struct keyring *k, uint8_t offer);
uint8_t keyring_offer(const struct keyring *k);
/* Curve of the ephemeral keys, a part of the offer. */
enum dh_curve keyring_curve(const struct keyring *k);
/* Authenticator of a loop-guard frame; all zero in the clear mode. */
void keyring_guard_auth(const struct keyring *k, const void *data, size_t len, uint8_t out[16]);
/* Returns true if a node with one of our secrets made the authenticator. */
bool keyring_guard_check(const struct keyring *k, const void *data, size_t len,
			 const uint8_t auth[16]);

/* Replay window over 64-bit counters that start at 1 (RFC 4303 section 3.4.3, larger). */
struct replay {
	uint64_t highest;
	uint64_t seen[REPLAY_WINDOW / 64];
};
/* Returns true if the counter is new. Call the check before opening and the note after it. */
bool replay_check(const struct replay *r, uint64_t counter);
void replay_note(struct replay *r, uint64_t counter);

/*
 * Key pair of a session value, of the curve of the overlay. It exists from the offer until the
 * value is paired or withdrawn. All zero: no key.
 */
struct ephemeral {
	uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN];
};
void ephemeral_new(struct ephemeral *e, enum dh_curve curve);
void ephemeral_wipe(struct ephemeral *e);

/*
 * A session: the pair of values that two nodes chose for each other (protocol 3.2). A pair must not
 * be opened twice: its keys would repeat, and the counter, which is the nonce, would restart. The
 * protocol pairs each own value once.
 */
struct session;
/* Handshake values of both sides. The clear mode ignores the keys. */
struct session_terms {
	node_id_t self, peer;
	uint64_t mine, theirs;
	const struct ephemeral *ephemeral; /* key pair offered with `mine` */
	const uint8_t *their_public;	   /* public key offered with `theirs`, DH_KEY_LEN bytes */
	uint8_t their_offer;		   /* seal_offer() of the peer */
	uint32_t their_ids[SECRETS_MAX];   /* keyring_ids() of the peer */
};
/* Returns NULL if the curves differ, the peer's public key is invalid, the nodes have no common
 * secret, or libcrypto refuses the common cipher. Call the function only for a peer that echoed
 * `mine`, because a call costs one DH operation. */
struct session *session_new(const struct keyring *k, const struct session_terms *t);
/* The bits of an own session value in this node's part of the data epoch. */
uint8_t session_epoch_mask(node_id_t self, node_id_t peer);
void session_free(struct session *s); /* NULL ok; wipes */
uint64_t session_mine(const struct session *s);
uint64_t session_theirs(const struct session *s);
/* Returns keys and link values of the data channel; the session keeps the reference. NULL in the
 * clear mode and without workers. */
struct seal *session_data(const struct session *s);
/* Number of sealed datagrams, control and data. */
uint64_t session_sent(const struct session *s);

/*
 * Completes a datagram in place. buf holds the LEON header (hdr_len bytes, with LEON_F_SEALED set
 * if keyring_sealed()), room for the envelope, then msg_len bytes of message at hdr_len +
 * ENVELOPE_LEN. Returns the datagram's length or -ENOSPC.
 */
int session_seal(struct session *s, uint8_t *buf, size_t hdr_len, size_t msg_len, size_t buf_len);
/*
 * Opens a datagram in place; *msg points into buf. Returns 0; -EBADMSG: not authentic or malformed;
 * -EALREADY: replayed.
 */
int session_open(struct session *s, uint8_t *buf, size_t hdr_len, size_t len, uint8_t **msg,
		 size_t *msg_len);

/*
 * Seals and opens a HELLO, which has no session yet: ENVELOPE_HELLO_LEN and a fresh key per
 * message. `secret` names the secret; the own one seals for 0 and for an unknown name.
 */
int hello_seal(const struct keyring *k, uint32_t secret, uint8_t *buf, size_t hdr_len,
	       size_t msg_len, size_t buf_len);
/* Costs at most one HMAC and one AES pass per accepted secret. */
int hello_open(const struct keyring *k, uint32_t *secret, uint8_t *buf, size_t hdr_len, size_t len,
	       uint8_t **msg, size_t *msg_len);

/* Reads the first 8 bytes behind the LEON header: 0 for HELLO. Returns false if the datagram is too
 * short. */
bool envelope_session(const uint8_t *buf, size_t hdr_len, size_t len, uint64_t *session);
