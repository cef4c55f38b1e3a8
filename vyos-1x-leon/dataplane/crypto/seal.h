// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sealing of data end to end: the keys of two nodes for their frames, one per direction, the
 * counters for nonces, and the replay windows. One object belongs to one session. The control
 * thread creates and reference-counts the object; the session and each snapshot hold a reference.
 * All workers use the object concurrently, with separate AEAD contexts and counters. Only the
 * replay windows are shared, without locks. doc/protocol.md section 2.5.
 *
 * Behind the LEON header, and the link value if present.
 *
 *   nonce field (64): epoch (4), worker of the sender (8), counter (52, from 1) | text | tag (128)
 *
 * The nonce is four zero bytes and the nonce field. No nonce is used twice with a key, because each
 * worker has its own counter. The caller supplies the associated data (the LEON header as the
 * protocol defines it).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/aead.h"
#include "crypto/public_key.h"

/* SEAL_NONE: the data of the session is not sealed; only the link values are used. */
enum seal_cipher { SEAL_NONE, SEAL_AES_256_GCM, SEAL_CHACHA20_POLY1305 };
const char *seal_cipher_name(enum seal_cipher c); /* "none", "aes256gcm", "chacha20poly1305" */

/* Cipher offer of a node in the handshake; both ends derive the same cipher from the two offers. */
enum seal_choice { SEAL_CHOICE_AUTO, SEAL_CHOICE_AES_256_GCM, SEAL_CHOICE_CHACHA20_POLY1305 };
/* Encodes the offer as one byte of HELLO. disable: this node does not require sealing. The curve of
 * the ephemeral keys is a part, so both ends mix both curves into the keys. */
uint8_t seal_offer(enum seal_choice choice, enum dh_curve curve, bool disable, bool aes_is_fast);
enum dh_curve seal_offer_curve(uint8_t offer);
/* Selects the cipher from two offers, symmetrically. Data is sealed if either node requires it. A
 * configured cipher of either node is used, ChaCha20 if the two differ; without one, AES if both
 * have it in hardware. Unknown bits are ignored. */
enum seal_cipher seal_agree(uint8_t offer, uint8_t other);

#define SEAL_NONCE_LEN	 8
#define SEAL_OVERHEAD	 (SEAL_NONCE_LEN + AEAD_TAG_LEN)
#define SEAL_WORKERS_MAX 8    /* workers of a sender, the limit of workers per node */
#define SEAL_WINDOW	 4064 /* out-of-order counters per worker, minimum */
/* Range of counters of a replay window; lasts half a year at a million datagrams a second. */
#define SEAL_COUNTER_MAX ((1ULL << 44) - 1)

struct seal_secrets {
	uint8_t tx_key[AEAD_KEY_LEN], rx_key[AEAD_KEY_LEN];
	/* Link values of the direct link per direction, or 0. */
	uint64_t tx_link, rx_link;
};

struct seal;

/* --- control thread --- */
/* Returns an object with a reference, owned by the caller. epoch: 0..15, of the session. */
struct seal *seal_new(const struct seal_secrets *s, enum seal_cipher cipher, uint8_t epoch,
		      unsigned n_workers);
struct seal *seal_ref(struct seal *s); /* NULL ok; returns s */
void seal_unref(struct seal *s);       /* NULL ok; wipes with the last reference */
/* Number of sealed datagrams, for rekeying by volume. */
uint64_t seal_sent(const struct seal *s);

/* --- any thread that holds a reference or a snapshot --- */
enum seal_cipher seal_cipher(const struct seal *s);
uint8_t seal_epoch(const struct seal *s);
uint64_t seal_tx_link(const struct seal *s);
uint64_t seal_rx_link(const struct seal *s);

/* --- worker --- */
/*
 * Seals the pieces as one text into out: nonce field, ciphertext, tag; SEAL_OVERHEAD bytes more
 * than the text. out may begin in front of a single piece so that the text stays in place. Returns
 * the length; -EKEYEXPIRED: the counters are used up; -EIO: too long, or SEAL_NONE.
 */
int seal_data(struct seal *s, unsigned worker, const void *aad, size_t aad_len,
	      const struct aead_piece *in, unsigned n_in, uint8_t *out);
/*
 * Opens data (nonce field, ciphertext, tag) in place; the text begins at data + SEAL_NONCE_LEN.
 * `worker` is the calling worker. Returns the text length; -EBADMSG: not authentic, or another
 * epoch; -EALREADY: replayed, or too old to check. Data that is not authentic changes no state.
 */
int seal_open(struct seal *s, unsigned worker, const void *aad, size_t aad_len, uint8_t *data,
	      size_t len);
/* Returns the epoch of sealed data of at least SEAL_NONCE_LEN bytes. */
static inline uint8_t seal_data_epoch(const uint8_t *data)
{
	return data[0] >> 4;
}
/* Returns the nonce field: epoch and worker of the sender in the upper 12 bits, and the counter. */
uint64_t seal_data_counter(const uint8_t *data);
