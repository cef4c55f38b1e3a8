// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of the control channel: what the stretched secret becomes, and the sessions between two
 * nodes with their replay windows. Control thread. doc/protocol.md section 3.
 *
 * Envelope of every control message, behind the LEON header:
 *   HELLO:    session 0 (64) | salt (16 bytes)           | message | tag (16)
 *   others:   session   (64) | counter (64)              | message | tag (16)
 * Without a secret the tag is absent, the message is in clear, and LEON_F_SEALED is not set.
 * Authenticated with it: the LEON header with `at` as zero, and the envelope.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "crypto/aead.h"
#include "crypto/seal.h"
#include "crypto/stretch.h"

#define SECRET_MIN	   8
#define SECRET_MAX	   128
#define SECRETS_MAX	   4 /* that of this node and those it accepts besides */
#define ENVELOPE_HELLO_LEN 24
#define ENVELOPE_LEN	   16
#define REPLAY_WINDOW	   1024 /* counters that may arrive out of order */

/* Keys of one overlay derived from the master key that a secret was stretched to (crypto/stretch.h)
 * and the VNI; NULL: the clear mode. */
struct keyring;
struct keyring *keyring_new(const uint8_t master[MASTER_KEY_LEN], uint32_t vni);
/* One more secret under which HELLOs and guard frames of others are accepted; not in the clear
 * mode, at most SECRETS_MAX - 1. */
void keyring_accept(struct keyring *k, const uint8_t master[MASTER_KEY_LEN]);
/* Names of the secrets, 0 where there is none: equal on two nodes where the secret is. */
void keyring_ids(const struct keyring *k, uint32_t id[SECRETS_MAX]);
void keyring_free(struct keyring *k); /* NULL ok; wipes */
bool keyring_sealed(const struct keyring *k);
/* How the data of sessions made from now on is sealed: what this node offers (seal_offer()) and how
 * many workers seal and open. Without a call there is no data, and sessions have no keys for it. */
void keyring_set_data(struct keyring *k, uint8_t offer, unsigned n_workers);
void keyring_copy_data(struct keyring *k, const struct keyring *from);
void keyring_set_offer(struct keyring *k, uint8_t offer);
uint8_t keyring_offer(const struct keyring *k);
/* Authenticator of a loop-guard frame; all zero in the clear mode. */
void keyring_guard_auth(const struct keyring *k, const void *data, size_t len, uint8_t out[16]);
/* Is it that of a node with one of our secrets? */
bool keyring_guard_check(const struct keyring *k, const void *data, size_t len,
			 const uint8_t auth[16]);

/* Replay window over 64-bit counters that start at 1 (RFC 4303 section 3.4.3, larger). */
struct replay {
	uint64_t highest;
	uint64_t seen[REPLAY_WINDOW / 64];
};
/* True where the counter is new; checked before opening, noted after. */
bool replay_check(const struct replay *r, uint64_t counter);
void replay_note(struct replay *r, uint64_t counter);

/*
 * An X25519 key pair that lives from the offer of a session value until it is paired or withdrawn.
 * All zero: none.
 */
struct ephemeral {
	uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN];
};
void ephemeral_new(struct ephemeral *e);
void ephemeral_wipe(struct ephemeral *e);

/*
 * A session: the pair of values two nodes chose for each other (protocol 3.2). Never open the same
 * pair twice: keys would be the same and the counter, which is the nonce, would start again. The
 * protocol sees to it by pairing each of its own values once.
 */
struct session;
/* What both sides said in the handshake. The clear mode does not look at the keys. */
struct session_terms {
	node_id_t self, peer;
	uint64_t mine, theirs;
	const struct ephemeral *ephemeral; /* offered with `mine` */
	const uint8_t *their_public;	   /* offered with `theirs`, DH_KEY_LEN bytes */
	uint8_t their_offer;		   /* seal_offer() of the peer */
	uint32_t their_ids[SECRETS_MAX];   /* keyring_ids() of the peer */
};
/* NULL where their public key is none, or where there is no common secret. Costs one DH: only for
 * who echoed `mine`. */
struct session *session_new(const struct keyring *k, const struct session_terms *t);
/* The bits of our value that are our part of the epoch by which data tells sessions apart. */
uint8_t session_epoch_mask(node_id_t self, node_id_t peer);
void session_free(struct session *s); /* NULL ok; wipes */
uint64_t session_mine(const struct session *s);
uint64_t session_theirs(const struct session *s);
/* Keys of the data and link values of this session, the session's own reference; NULL in the clear
 * mode and where there are no workers. */
struct seal *session_data(const struct session *s);
/* Datagrams sealed so far: control and data. */
uint64_t session_sent(const struct session *s);

/*
 * Completes a datagram in place: buf holds the LEON header (hdr_len bytes, flags already with
 * LEON_F_SEALED where keyring_sealed()), room for the envelope, then msg_len bytes of message at
 * hdr_len + ENVELOPE_LEN. Returns the datagram's length or -ENOSPC.
 */
int session_seal(struct session *s, uint8_t *buf, size_t hdr_len, size_t msg_len, size_t buf_len);
/*
 * Opens a datagram in place; *msg points into buf. 0; -EBADMSG not authentic or malformed;
 * -EALREADY replayed.
 */
int session_open(struct session *s, uint8_t *buf, size_t hdr_len, size_t len, uint8_t **msg,
		 size_t *msg_len);

/*
 * The same for HELLO, which has no session yet: ENVELOPE_HELLO_LEN, a fresh key per message.
 * secret: which one, by its name; sealing with 0 or with one we do not have: our own.
 */
int hello_seal(const struct keyring *k, uint32_t secret, uint8_t *buf, size_t hdr_len,
	       size_t msg_len, size_t buf_len);
/* Costs at most one HMAC and one pass of AES for each secret that is accepted. */
int hello_open(const struct keyring *k, uint32_t *secret, uint8_t *buf, size_t hdr_len, size_t len,
	       uint8_t **msg, size_t *msg_len);

/* First 8 bytes behind the LEON header: 0 for HELLO. False where too short. */
bool envelope_session(const uint8_t *buf, size_t hdr_len, size_t len, uint64_t *session);
