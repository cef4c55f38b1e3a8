// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM, ChaCha20-Poly1305, HKDF/HMAC-SHA-256, scrypt, X25519, Ed25519 and random bytes over
 * libcrypto; the only user of OpenSSL. Contexts are not shared between threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AEAD_KEY_LEN   32
#define AEAD_NONCE_LEN 12
#define AEAD_TAG_LEN   16
#define DH_KEY_LEN     32 /* of X25519 and Ed25519, secret and public */
#define SIGNATURE_LEN  64

struct aead;

enum aead_cipher { AEAD_AES_256_GCM, AEAD_CHACHA20_POLY1305 };

/* AES-256-GCM with one key for both directions. */
struct aead *aead_new(const uint8_t key[AEAD_KEY_LEN]);
/* Seals with one key, opens with the other. */
struct aead *aead_new_pair(enum aead_cipher cipher, const uint8_t seal_key[AEAD_KEY_LEN],
			   const uint8_t open_key[AEAD_KEY_LEN]);
/* True where this processor has instructions for AES-GCM; without, ChaCha20 is several times
 * faster, and has no tables whose use could be timed. */
bool aead_aes_is_fast(void);
void aead_free(struct aead *a); /* NULL ok; wipes */

/* Text that lies in one place or in several. */
struct aead_piece {
	const void *data;
	size_t len;
};
/* out has room for all pieces and AEAD_TAG_LEN, and may be the memory of the first piece only where
 * there is no other. Returns 0 or -EIO. */
int aead_seal_pieces(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		     size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out);
/* The same of one piece; out may be the same memory as in. */
static inline int aead_seal(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
			    size_t aad_len, const void *in, size_t in_len, void *out)
{
	const struct aead_piece piece = { in, in_len };

	return aead_seal_pieces(a, nonce, aad, aad_len, &piece, 1, out);
}
/* in_len includes the tag; out has room for in_len - AEAD_TAG_LEN. 0, or
 * -EBADMSG: not authentic. */
int aead_open(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad, size_t aad_len,
	      const void *in, size_t in_len, void *out);

/* HKDF-SHA-256 (RFC 5869). out_len at most 64. */
void kdf(const void *secret, size_t secret_len, const void *salt, size_t salt_len, const void *info,
	 size_t info_len, void *out, size_t out_len);
/* scrypt (RFC 7914) with N = 2^14, r = 8, p = 1: some 80 ms and 16 MiB, for whoever knows the input
 * and for whoever guesses. 32 bytes. */
void stretch(const void *secret, size_t secret_len, const void *salt, size_t salt_len,
	     uint8_t out[AEAD_KEY_LEN]);
/* HMAC-SHA-256, first out_len (at most 32) bytes. */
void keyed_hash(const uint8_t key[AEAD_KEY_LEN], const void *data, size_t len, void *out,
		size_t out_len);

/* X25519 (RFC 7748). The secret is any random 32 bytes. */
void dh_public(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN]);
/* 0; -EBADMSG: `theirs` is a key that makes the result zero whatever the secret. */
int dh_shared(const uint8_t secret[DH_KEY_LEN], const uint8_t theirs[DH_KEY_LEN],
	      uint8_t out[DH_KEY_LEN]);

/* Ed25519 (RFC 8032). The secret is any random 32 bytes. */
void sign_public(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN]);
void sign_make(const uint8_t secret[DH_KEY_LEN], const void *data, size_t len,
	       uint8_t out[SIGNATURE_LEN]);
bool sign_verify(const uint8_t public[DH_KEY_LEN], const void *data, size_t len,
		 const uint8_t signature[SIGNATURE_LEN]);

/* Aborts where the kernel gives none. */
void random_bytes(void *out, size_t len);
uint64_t random_u64_nonzero(void);
