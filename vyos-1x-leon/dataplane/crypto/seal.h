// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sealing of data end to end: the keys that two nodes share for the frames between them, one for
 * each direction, with the counters that make nonces and the windows that refuse replays. One
 * object belongs to one session; it is made and counted by the control thread (the session and
 * each snapshot that shows it to workers hold a reference) and used by all workers at once: each
 * has AEAD contexts and a counter of its own, and only the replay windows are shared, without
 * locks. doc/protocol.md section 2.5.
 *
 * Behind the LEON header (and the link value, where there is one):
 *   nonce field (64): epoch (4), worker of the sender (8), counter (52, from 1) | text | tag (128)
 * The nonce is four zero bytes and the nonce field; a nonce is never used twice with a key, because
 * each worker counts for itself. What else is authenticated (the LEON header as the protocol says)
 * is given by the caller.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/aead.h"

/* SEAL_NONE: the data of this session is not sealed; only its link values are used. */
enum seal_cipher { SEAL_NONE, SEAL_AES_256_GCM, SEAL_CHACHA20_POLY1305 };
const char *seal_cipher_name(enum seal_cipher c); /* "none", "aes256gcm", "chacha20poly1305" */

/* What a node says of its data in the handshake; both ends make the same of the two. */
enum seal_choice { SEAL_CHOICE_AUTO, SEAL_CHOICE_AES_256_GCM, SEAL_CHOICE_CHACHA20_POLY1305 };
/* disable: this node does not ask for sealing. One byte, as it goes into HELLO. */
uint8_t seal_offer(enum seal_choice choice, bool disable, bool aes_is_fast);
/* Sealed where either asks for it; with the cipher that either configured (ChaCha20 where they
 * differ); else AES where both have it in hardware. Symmetric. Bits not known are ignored. */
enum seal_cipher seal_agree(uint8_t offer, uint8_t other);

#define SEAL_NONCE_LEN	 8
#define SEAL_OVERHEAD	 (SEAL_NONCE_LEN + AEAD_TAG_LEN)
#define SEAL_WORKERS_MAX 8    /* of a sender: as many as a node may have */
#define SEAL_WINDOW	 4064 /* counters of one worker that may arrive out of order, at least */
/* Counters that a replay window can tell apart. At a million datagrams a second, half a year. */
#define SEAL_COUNTER_MAX ((1ULL << 44) - 1)

struct seal_secrets {
	uint8_t tx_key[AEAD_KEY_LEN], rx_key[AEAD_KEY_LEN];
	/* Link values of the direct link, one for each direction; 0: none. */
	uint64_t tx_link, rx_link;
};

struct seal;

/* --- control thread --- */
/* One reference, the caller's. epoch: 0..15, of the session. */
struct seal *seal_new(const struct seal_secrets *s, enum seal_cipher cipher, uint8_t epoch,
		      unsigned n_workers);
struct seal *seal_ref(struct seal *s); /* NULL ok; returns s */
void seal_unref(struct seal *s);       /* NULL ok; wipes with the last reference */
/* Datagrams sealed so far, for rekeying by volume. */
uint64_t seal_sent(const struct seal *s);

/* --- any thread that holds a reference or a snapshot --- */
enum seal_cipher seal_cipher(const struct seal *s);
uint8_t seal_epoch(const struct seal *s);
uint64_t seal_tx_link(const struct seal *s);
uint64_t seal_rx_link(const struct seal *s);

/* --- worker --- */
/*
 * Seals the pieces, one text in order, into out: nonce field, ciphertext, tag, SEAL_OVERHEAD bytes
 * more than the text. out may lie in front of a single piece so that the text stays where it is.
 * Returns the length; -EKEYEXPIRED: counters used up; -EIO: too long, or SEAL_NONE.
 */
int seal_data(struct seal *s, unsigned worker, const void *aad, size_t aad_len,
	      const struct aead_piece *in, unsigned n_in, uint8_t *out);
/*
 * Opens data (nonce field, ciphertext, tag) in place: the text is at data + SEAL_NONCE_LEN. Returns
 * its length; -EBADMSG: not authentic, or not of this epoch; -EALREADY: replayed, or too old to
 * tell. `worker` is the one that opens. What is not authentic changes nothing but the bytes.
 */
int seal_open(struct seal *s, unsigned worker, const void *aad, size_t aad_len, uint8_t *data,
	      size_t len);
/* Epoch of sealed data of at least SEAL_NONCE_LEN bytes. */
static inline uint8_t seal_data_epoch(const uint8_t *data)
{
	return data[0] >> 4;
}
