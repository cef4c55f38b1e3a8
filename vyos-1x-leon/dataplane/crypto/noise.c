// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NNpsk0, see noise.h. The names are those of the Noise specification, section 5.2. Each key seals
 * one message, so every nonce is zero.
 */
#include "crypto/noise.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

static const uint8_t first_nonce[AEAD_NONCE_LEN];

static void mix_hash(struct noise *n, const void *data, size_t len)
{
	sha256(n->hash, sizeof(n->hash), data, len, n->hash);
}

/* Returns the key of the next text. `input` has 32 bytes. */
static void mix_key(struct noise *n, const uint8_t *input, uint8_t key[AEAD_KEY_LEN])
{
	uint8_t out[2 * AEAD_KEY_LEN];

	kdf(input, AEAD_KEY_LEN, n->chain, sizeof(n->chain), NULL, 0, out, sizeof(out));
	memcpy(n->chain, out, AEAD_KEY_LEN);
	memcpy(key, out + AEAD_KEY_LEN, AEAD_KEY_LEN);
	x_wipe(out, sizeof(out));
}

/* The third output of HKDF is left out: the token "e" would replace this key before any use. */
static void mix_key_and_hash(struct noise *n, const uint8_t psk[NOISE_PSK_LEN])
{
	uint8_t key[AEAD_KEY_LEN];

	mix_key(n, psk, key);
	mix_hash(n, key, sizeof(key));
	x_wipe(key, sizeof(key));
}

/* The token "e" of a handshake with a psk. */
static void mix_public(struct noise *n, const uint8_t public[DH_KEY_LEN], uint8_t key[AEAD_KEY_LEN])
{
	mix_hash(n, public, DH_KEY_LEN);
	mix_key(n, public, key);
}

static void seal_and_hash(struct noise *n, const uint8_t key[AEAD_KEY_LEN], const void *text,
			  size_t len, uint8_t *out)
{
	struct aead *a = aead_new(key);

	if (aead_seal(a, first_nonce, n->hash, sizeof(n->hash), text, len, out))
		bug("a handshake cannot be sealed");
	aead_free(a);
	mix_hash(n, out, len + AEAD_TAG_LEN);
}

static int open_and_hash(struct noise *n, const uint8_t key[AEAD_KEY_LEN], const uint8_t *in,
			 size_t len, void *text)
{
	struct aead *a = aead_new(key);
	int r = aead_open(a, first_nonce, n->hash, sizeof(n->hash), in, len, text);

	aead_free(a);
	if (r == 0)
		mix_hash(n, in, len);
	return r;
}

void noise_begin(struct noise *n, enum dh_curve curve, const uint8_t psk[NOISE_PSK_LEN],
		 const void *prologue, size_t len)
{
	/* A name of up to 32 characters is its own hash, with zeros behind it. */
	static const char name[][AEAD_KEY_LEN + 1] = {
		[DH_X25519] = "Noise_NNpsk0_25519_AESGCM_SHA256",
		[DH_P256] = "Noise_NNpsk0_P256_AESGCM_SHA256",
	};

	n->curve = curve;
	memcpy(n->hash, name[curve], sizeof(n->hash));
	memcpy(n->chain, n->hash, sizeof(n->chain));
	mix_hash(n, prologue, len);
	mix_key_and_hash(n, psk);
}

void noise_request(struct noise *n, const struct ephemeral *own, const void *text, size_t len,
		   uint8_t *out)
{
	uint8_t key[AEAD_KEY_LEN];

	memcpy(out, own->public, DH_KEY_LEN);
	mix_public(n, own->public, key);
	seal_and_hash(n, key, text, len, out + DH_KEY_LEN);
	x_wipe(key, sizeof(key));
}

int noise_open_request(struct noise *n, const uint8_t *in, size_t len, void *text)
{
	uint8_t key[AEAD_KEY_LEN];
	int r;

	if (len < NOISE_OVERHEAD)
		return -EBADMSG;
	mix_public(n, in, key);
	r = open_and_hash(n, key, in + DH_KEY_LEN, len - DH_KEY_LEN, text);
	x_wipe(key, sizeof(key));
	return r;
}

/* The tokens "e, ee". Returns 0 or -EBADMSG. */
static int mix_shared(struct noise *n, const uint8_t public[DH_KEY_LEN],
		      const struct ephemeral *own, const uint8_t theirs[DH_KEY_LEN],
		      uint8_t key[AEAD_KEY_LEN])
{
	uint8_t shared[DH_KEY_LEN];
	int r = dh_shared(n->curve, own->secret, theirs, shared);

	if (r == 0) {
		mix_public(n, public, key);
		mix_key(n, shared, key);
	}
	x_wipe(shared, sizeof(shared));
	return r;
}

int noise_answer(struct noise *n, const struct ephemeral *own, const uint8_t theirs[DH_KEY_LEN],
		 const void *text, size_t len, uint8_t *out)
{
	uint8_t key[AEAD_KEY_LEN];
	int r = mix_shared(n, own->public, own, theirs, key);

	if (r < 0)
		return r;
	memcpy(out, own->public, DH_KEY_LEN);
	seal_and_hash(n, key, text, len, out + DH_KEY_LEN);
	x_wipe(key, sizeof(key));
	return 0;
}

int noise_open_answer(struct noise *n, const struct ephemeral *own, const uint8_t *in, size_t len,
		      void *text)
{
	struct noise before = *n;
	uint8_t key[AEAD_KEY_LEN] = { 0 };
	int r = len < NOISE_OVERHEAD ? -EBADMSG : mix_shared(n, in, own, in, key);

	if (r == 0)
		r = open_and_hash(n, key, in + DH_KEY_LEN, len - DH_KEY_LEN, text);
	if (r < 0)
		*n = before; /* a stranger may have sent the message, and the answer may follow */
	x_wipe(key, sizeof(key));
	x_wipe(&before, sizeof(before));
	return r;
}
