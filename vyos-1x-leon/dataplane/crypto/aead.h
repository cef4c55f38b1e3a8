// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM, ChaCha20-Poly1305, HKDF/HMAC-SHA-256, scrypt and PBKDF2 over libcrypto, AES-256-GCM
 * also over intel-ipsec-mb, and random bytes from the kernel. Contexts are not shared between
 * threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AEAD_KEY_LEN   32
#define AEAD_NONCE_LEN 12
#define AEAD_TAG_LEN   16

struct aead;

enum aead_cipher { AEAD_AES_256_GCM, AEAD_CHACHA20_POLY1305 };

/* Libraries for AES-256-GCM. Values of the key `system cipher-library`. */
enum cipher_library { CIPHER_LIBRARY_AUTOMATIC, CIPHER_LIBRARY_LIBCRYPTO, CIPHER_LIBRARY_IPSEC_MB };
/* Loads ipsec-mb, and returns true if ipsec-mb may be used. Otherwise writes the reason: a build
 * without it, FIPS, the processor, the library. Control thread. */
bool aead_may_use_ipsec_mb(char *why_not, size_t len);
/* Selects the library of new contexts. true needs a positive answer of aead_may_use_ipsec_mb().
 * Without this call libcrypto is used. Control thread. */
void aead_use_ipsec_mb(bool use);
const char *aead_library(void); /* "libcrypto" or "ipsec-mb" */

/* AES-256-GCM with one key for both directions. */
struct aead *aead_new(const uint8_t key[AEAD_KEY_LEN]);
/* Creates contexts to seal with one key and open with the other. */
struct aead *aead_new_pair(enum aead_cipher cipher, const uint8_t seal_key[AEAD_KEY_LEN],
			   const uint8_t open_key[AEAD_KEY_LEN]);
/* Returns true if the processor has AES-GCM instructions. Without them ChaCha20 is several times
 * faster, and it uses no tables with timing side channels. */
bool aead_aes_is_fast(void);
void aead_free(struct aead *a); /* NULL ok; wipes */

/* Text in one or several pieces. */
struct aead_piece {
	const void *data;
	size_t len;
};
/* Seals all pieces into out, which has room for them and AEAD_TAG_LEN. out may overlap the input
 * only if there is a single piece. Returns 0 or -EIO. */
int aead_seal_pieces(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		     size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out);
/* Seals a piece; out may equal in. */
static inline int aead_seal(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
			    size_t aad_len, const void *in, size_t in_len, void *out)
{
	const struct aead_piece piece = { in, in_len };

	return aead_seal_pieces(a, nonce, aad, aad_len, &piece, 1, out);
}
/* Opens a message. in_len includes the tag; out has room for in_len - AEAD_TAG_LEN. Returns 0, or
 * -EBADMSG if the message is not authentic. */
int aead_open(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad, size_t aad_len,
	      const void *in, size_t in_len, void *out);

/* HKDF-SHA-256 (RFC 5869). out_len at most 64. */
void kdf(const void *secret, size_t secret_len, const void *salt, size_t salt_len, const void *info,
	 size_t info_len, void *out, size_t out_len);
/*
 * Derivation from a secret that people choose, with 32 bytes of output. scrypt (RFC 7914) with
 * N = 2^14, r = 8, p = 1: each guess of a secret costs about 80 ms and 16 MiB. PBKDF2 (RFC 8018)
 * with HMAC-SHA-256 and 600,000 iterations: FIPS providers have it, and a guess needs no memory.
 */
enum stretch_kind { STRETCH_SCRYPT, STRETCH_PBKDF2 };
void stretch(enum stretch_kind kind, const void *secret, size_t secret_len, const void *salt,
	     size_t salt_len, uint8_t out[AEAD_KEY_LEN]);
/* SHA-256 of head and tail, 32 bytes. */
void sha256(const void *head, size_t head_len, const void *tail, size_t tail_len,
	    uint8_t out[AEAD_KEY_LEN]);
/* HMAC-SHA-256, first out_len (at most 32) bytes. */
void keyed_hash(const uint8_t key[AEAD_KEY_LEN], const void *data, size_t len, void *out,
		size_t out_len);

/* Fills a buffer with random bytes; aborts if the kernel provides none. */
void random_bytes(void *out, size_t len);
uint64_t random_u64_nonzero(void);
