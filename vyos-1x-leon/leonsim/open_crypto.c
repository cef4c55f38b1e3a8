// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A replacement of crypto/aead.c and public_key.c for overlays inside one process.
 * Sealed text stays readable, and a secret equals its public key. The simulation needs no secrecy,
 * and libcrypto would take most of the time of a replay (an overlay of 490 nodes creates 120,000
 * sessions). The properties that the protocol relies on hold. Lengths are equal. Text that was
 * sealed with another key or was modified does not open. Both ends derive equal shared secrets. A
 * signature matches only the key and text. Linked only into leonsim and tests. One thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "crypto/aead.h"
#include "crypto/public_key.h"

/* Content of a struct aead in leonsim. */
struct open_keys {
	uint8_t seal[AEAD_KEY_LEN], open[AEAD_KEY_LEN];
};

static struct open_keys *keys_of(struct aead *a)
{
	return (void *)a;
}

/* Hashes the first 16 bytes of the key. */
static uint64_t digest(const uint8_t *key, const void *data, size_t len)
{
	struct hash_key k;

	memcpy(&k, key, sizeof(k));
	return siphash(&k, data, len);
}

/* Expands one number to any number of bytes. */
static void expand(uint64_t from, void *out, size_t len)
{
	uint8_t *p = out;
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++, word >>= 8) {
		if (i % 8 == 0)
			word = hash_mix64(from + i / 8);
		p[i] = (uint8_t)word;
	}
}

struct aead *aead_new_pair(enum aead_cipher cipher attr_unused,
			   const uint8_t seal_key[AEAD_KEY_LEN],
			   const uint8_t open_key[AEAD_KEY_LEN])
{
	struct open_keys *k = x_new(struct open_keys);

	memcpy(k->seal, seal_key, AEAD_KEY_LEN);
	memcpy(k->open, open_key, AEAD_KEY_LEN);
	return (void *)k;
}

struct aead *aead_new(const uint8_t key[AEAD_KEY_LEN])
{
	return aead_new_pair(AEAD_AES_256_GCM, key, key);
}

bool aead_aes_is_fast(void)
{
	return true;
}

void aead_free(struct aead *a)
{
	free(a);
}

#define LANES 4

static uint64_t add_word(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 32;
}

/* A checksum that detects any change of the text. The last word is padded with zeros. Words go to
 * alternating lanes, so that no addition depends on the previous addition. */
static uint64_t sum_up(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t lane[LANES] = { sum, 1, 2, 3 }, word[LANES];
	size_t at = 0;

	for (; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(word, p + at, sizeof(word));
		for (unsigned i = 0; i < LANES; i++)
			lane[i] = add_word(lane[i], word[i]);
	}
	memset(word, 0, sizeof(word));
	memcpy(word, p + at, len - at);
	for (unsigned i = 0; i < LANES; i++)
		sum = add_word(sum, add_word(lane[i], word[i]));
	return sum + len;
}

static void tag_of(const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_len,
		   const void *text, size_t len, uint8_t tag[AEAD_TAG_LEN])
{
	uint64_t sum = sum_up(sum_up(0, key, AEAD_KEY_LEN), nonce, AEAD_NONCE_LEN);

	if (aad_len)
		sum = sum_up(sum, aad, aad_len);
	if (len)
		sum = sum_up(sum, text, len);
	expand(hash_mix64(sum), tag, AEAD_TAG_LEN);
}

int aead_seal_pieces(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		     size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out)
{
	uint8_t *end = out;

	for (unsigned i = 0; i < n_in; end += in[i].len, i++)
		if (in[i].len)
			memmove(end, in[i].data, in[i].len);
	tag_of(keys_of(a)->seal, nonce, aad, aad_len, out, (size_t)(end - (uint8_t *)out), end);
	return 0;
}

int aead_open(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad, size_t aad_len,
	      const void *in, size_t in_len, void *out)
{
	uint8_t tag[AEAD_TAG_LEN];

	if (in_len < AEAD_TAG_LEN)
		return -EBADMSG;
	in_len -= AEAD_TAG_LEN;
	tag_of(keys_of(a)->open, nonce, aad, aad_len, in, in_len, tag);
	if (memcmp(tag, (const uint8_t *)in + in_len, AEAD_TAG_LEN) != 0)
		return -EBADMSG;
	if (in_len)
		memmove(out, in, in_len);
	return 0;
}

/* --- keys --- */

static uint64_t of_two(const void *a, size_t a_len, const void *b, size_t b_len)
{
	static const uint8_t key[16] = { 1 };

	return hash_mix64(a_len ? digest(key, a, a_len) : 1) + (b_len ? digest(key, b, b_len) : 2);
}

void kdf(const void *secret, size_t secret_len, const void *salt, size_t salt_len, const void *info,
	 size_t info_len, void *out, size_t out_len)
{
	uint64_t sum = of_two(secret, secret_len, salt, salt_len);

	expand(hash_mix64(sum) + of_two(info, info_len, NULL, 0), out, out_len);
}

void stretch(enum stretch_kind kind attr_unused, const void *secret, size_t secret_len,
	     const void *salt, size_t salt_len, uint8_t out[AEAD_KEY_LEN])
{
	expand(of_two(secret, secret_len, salt, salt_len), out, AEAD_KEY_LEN);
}

void keyed_hash(const uint8_t key[AEAD_KEY_LEN], const void *data, size_t len, void *out,
		size_t out_len)
{
	expand(of_two(key, AEAD_KEY_LEN, data, len), out, out_len);
}

static void public_of(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	expand(of_two(secret, DH_KEY_LEN, "dh", 2), out, DH_KEY_LEN);
}

void dh_generate(enum dh_curve curve attr_unused, uint8_t secret[DH_KEY_LEN],
		 uint8_t public[DH_KEY_LEN])
{
	random_bytes(secret, DH_KEY_LEN);
	public_of(secret, public);
}

int dh_shared(enum dh_curve curve attr_unused, const uint8_t secret[DH_KEY_LEN],
	      const uint8_t theirs[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	static const uint8_t zero[DH_KEY_LEN];
	uint8_t mine[DH_KEY_LEN];

	if (memcmp(theirs, zero, DH_KEY_LEN) == 0)
		return -EBADMSG;
	public_of(secret, mine);
	/* Symmetric: both ends compute equal values. */
	expand(of_two(mine, DH_KEY_LEN, NULL, 0) ^ of_two(theirs, DH_KEY_LEN, NULL, 0), out,
	       DH_KEY_LEN);
	return 0;
}

void sign_public(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	expand(of_two(secret, DH_KEY_LEN, "sign", 4), out, DH_KEY_LEN);
}

void sign_make(const uint8_t secret[DH_KEY_LEN], const void *data, size_t len,
	       uint8_t out[SIGNATURE_LEN])
{
	uint8_t public[DH_KEY_LEN];

	sign_public(secret, public);
	expand(of_two(public, DH_KEY_LEN, data, len), out, SIGNATURE_LEN);
}

bool sign_verify(const uint8_t public[DH_KEY_LEN], const void *data, size_t len,
		 const uint8_t signature[SIGNATURE_LEN])
{
	uint8_t expected[SIGNATURE_LEN];

	expand(of_two(public, DH_KEY_LEN, data, len), expected, SIGNATURE_LEN);
	return memcmp(expected, signature, SIGNATURE_LEN) == 0;
}

void sha256(const void *head, size_t head_len, const void *tail, size_t tail_len,
	    uint8_t out[AEAD_KEY_LEN])
{
	expand(of_two(head, head_len, tail, tail_len), out, AEAD_KEY_LEN);
}

/* --- unique numbers --- */

void random_bytes(void *out, size_t len)
{
	static uint64_t n;

	expand(hash_mix64(++n), out, len);
}

uint64_t random_u64_nonzero(void)
{
	uint64_t v;

	do
		random_bytes(&v, sizeof(v));
	while (v == 0);
	return v;
}

bool primitive_is_permitted(enum primitive p attr_unused)
{
	return true;
}
