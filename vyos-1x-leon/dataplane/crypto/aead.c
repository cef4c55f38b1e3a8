// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM, ChaCha20-Poly1305, HMAC and HKDF with SHA-256, scrypt and PBKDF2 over libcrypto, and
 * random bytes from the kernel. Only this file and public_key.c include OpenSSL.
 * ipsec-mb computes AES-256-GCM instead if the control thread selected it (gcm_mb.h). crypto/keys.c
 * calls this file on the control thread, crypto/seal.c also on the workers. An aead belongs to a
 * single thread. Never logs; a failure of libcrypto itself is a bug.
 */
#include "crypto/aead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#include "base/log.h"
#include "base/mem.h"
#include "crypto/gcm_mb.h"

#define HASH_LEN     32
#define KDF_INFO_MAX 128
/* The parameters are part of the protocol: all nodes of an overlay must derive the same key. */
#define SCRYPT_N	  16384
#define SCRYPT_R	  8
#define SCRYPT_P	  1
#define SCRYPT_MEMORY_MAX (32u << 20)
#define PBKDF2_ITERATIONS 600000
#define KDF_OUT_MAX	  (2 * HASH_LEN)
#define AEAD_INPUT_MAX	  (1u << 20) /* far above any datagram, far below INT_MAX */

/* One context per direction with an expanded key; a message sets the nonce only. */
struct aead {
	EVP_CIPHER_CTX *seal, *open; /* NULL if mb is set */
	struct gcm_mb *mb;
};

/* The library of new contexts for AES-256-GCM. Control thread. */
static bool use_ipsec_mb;

static EVP_CIPHER_CTX *context_new(enum aead_cipher cipher, const uint8_t *key, int encrypt)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	const EVP_CIPHER *evp =
		cipher == AEAD_AES_256_GCM ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();

	if (!ctx || !EVP_CipherInit_ex(ctx, evp, NULL, key, NULL, encrypt))
		bug("libcrypto has no AES-256-GCM or no ChaCha20-Poly1305");
	return ctx;
}

struct aead *aead_new_pair(enum aead_cipher cipher, const uint8_t seal_key[AEAD_KEY_LEN],
			   const uint8_t open_key[AEAD_KEY_LEN])
{
	struct aead *a = x_new(struct aead);

	if (use_ipsec_mb && cipher == AEAD_AES_256_GCM) {
		a->mb = gcm_mb_new(seal_key, open_key);
		return a;
	}
	a->seal = context_new(cipher, seal_key, 1);
	a->open = context_new(cipher, open_key, 0);
	return a;
}

struct aead *aead_new(const uint8_t key[AEAD_KEY_LEN])
{
	return aead_new_pair(AEAD_AES_256_GCM, key, key);
}

bool aead_aes_is_fast(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
	return (getauxval(AT_HWCAP) & (HWCAP_AES | HWCAP_PMULL)) == (HWCAP_AES | HWCAP_PMULL);
#else
	return false;
#endif
}

void aead_free(struct aead *a)
{
	if (!a)
		return;
	/* libcrypto cleanses the expanded key. */
	EVP_CIPHER_CTX_free(a->seal);
	EVP_CIPHER_CTX_free(a->open);
	gcm_mb_free(a->mb);
	free(a);
}

/* Refuses lengths that are too large for the libraries. */
static bool is_too_long(size_t aad_len, const struct aead_piece *in, unsigned n_in)
{
	for (unsigned i = 0; i < n_in; i++)
		if (in[i].len > AEAD_INPUT_MAX)
			return true;
	return aad_len > AEAD_INPUT_MAX;
}

/* Passes nonce and associated data to either context; returns false if libcrypto fails. */
static bool begin(EVP_CIPHER_CTX *ctx, const uint8_t *nonce, const void *aad, size_t aad_len)
{
	int n;

	if (!EVP_CipherInit_ex(ctx, NULL, NULL, NULL, nonce, -1))
		return false;
	return !aad_len || EVP_CipherUpdate(ctx, NULL, &n, aad, (int)aad_len);
}

/* Processes the next bytes of the text. */
static bool run(EVP_CIPHER_CTX *ctx, const void *in, size_t in_len, void *out)
{
	int n;

	return !in_len || EVP_CipherUpdate(ctx, out, &n, in, (int)in_len);
}

/* Passes a tag by the parameter of EVP_CIPHER_CTX_ctrl(), without the overhead. */
static OSSL_PARAM *tag_params(OSSL_PARAM params[2], uint8_t *tag)
{
	params[0] =
		OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, AEAD_TAG_LEN);
	params[1] = OSSL_PARAM_construct_end();
	return params;
}

/* Seals by libcrypto. */
static int seal_evp(struct aead *a, const uint8_t *nonce, const void *aad, size_t aad_len,
		    const struct aead_piece *in, unsigned n_in, void *out)
{
	uint8_t *tag = out;
	OSSL_PARAM params[2];
	int n;

	if (!begin(a->seal, nonce, aad, aad_len))
		return -EIO;
	for (unsigned i = 0; i < n_in; tag += in[i].len, i++)
		if (!run(a->seal, in[i].data, in[i].len, tag))
			return -EIO;
	if (!EVP_CipherFinal_ex(a->seal, tag, &n) ||
	    !EVP_CIPHER_CTX_get_params(a->seal, tag_params(params, tag)))
		return -EIO;
	return 0;
}

int aead_seal_pieces(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		     size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out)
{
	if (is_too_long(aad_len, in, n_in))
		return -EIO;
	if (!a->mb)
		return seal_evp(a, nonce, aad, aad_len, in, n_in, out);
	gcm_mb_seal(a->mb, nonce, aad, aad_len, in, n_in, out);
	return 0;
}

static bool open_evp(struct aead *a, const uint8_t *nonce, const void *aad, size_t aad_len,
		     const void *in, size_t in_len, void *out, uint8_t *tag)
{
	uint8_t none[AEAD_TAG_LEN];
	OSSL_PARAM params[2];
	int n;

	return begin(a->open, nonce, aad, aad_len) && run(a->open, in, in_len, out) &&
	       EVP_CIPHER_CTX_set_params(a->open, tag_params(params, tag)) &&
	       EVP_CipherFinal_ex(a->open, none, &n);
}

static bool open_mb(struct gcm_mb *mb, const uint8_t *nonce, const void *aad, size_t aad_len,
		    const void *in, size_t in_len, void *out, const uint8_t *tag)
{
	uint8_t computed[AEAD_TAG_LEN];

	/* Differs from the tag if the library refused its arguments and wrote nothing. */
	for (unsigned i = 0; i < AEAD_TAG_LEN; i++)
		computed[i] = (uint8_t)~tag[i];
	gcm_mb_open(mb, nonce, aad, aad_len, in, in_len, out, computed);
	return CRYPTO_memcmp(computed, tag, AEAD_TAG_LEN) == 0;
}

int aead_open(struct aead *a, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad, size_t aad_len,
	      const void *in, size_t in_len, void *out)
{
	const struct aead_piece text = { in, in_len };
	uint8_t tag[AEAD_TAG_LEN];

	if (in_len < AEAD_TAG_LEN)
		return -EBADMSG;
	in_len -= AEAD_TAG_LEN;
	memcpy(tag, (const uint8_t *)in + in_len, AEAD_TAG_LEN);
	if (!is_too_long(aad_len, &text, 1) &&
	    (a->mb ? open_mb(a->mb, nonce, aad, aad_len, in, in_len, out, tag)
		   : open_evp(a, nonce, aad, aad_len, in, in_len, out, tag)))
		return 0;
	/* Decrypted text that is not authentic must not reach the caller. */
	memset(out, 0, in_len);
	return -EBADMSG;
}

/* --- the library of AES-256-GCM --- */

/* Returns true if ipsec-mb opens a message of libcrypto. A library with another layout fails here
 * and not on packets. */
static bool ipsec_mb_agrees(void)
{
	static const uint8_t key[AEAD_KEY_LEN] = { 1, 2, 3 }, nonce[AEAD_NONCE_LEN] = { 4 };
	uint8_t text[300] = { 5 }, sealed[sizeof(text) + AEAD_TAG_LEN];
	struct aead *a = aead_new(key);
	struct gcm_mb *mb = gcm_mb_new(key, key);
	bool ok = aead_seal(a, nonce, key, sizeof(key), text, sizeof(text), sealed) == 0 &&
		  open_mb(mb, nonce, key, sizeof(key), sealed, sizeof(text), sealed,
			  sealed + sizeof(text)) &&
		  memcmp(sealed, text, sizeof(text)) == 0;

	gcm_mb_free(mb);
	aead_free(a);
	return ok;
}

bool aead_may_use_ipsec_mb(char *why_not, size_t len)
{
	if (use_ipsec_mb)
		return true;
	if (EVP_default_properties_is_fips_enabled(NULL))
		snprintf(why_not, len, "OpenSSL of this host permits approved algorithms only");
	else if (!aead_aes_is_fast())
		snprintf(why_not, len, "the processor has no AES instructions");
	else if (!gcm_mb_load(why_not, len))
		return false;
	else if (!ipsec_mb_agrees())
		snprintf(why_not, len, "results differ from those of libcrypto");
	else
		return true;
	return false;
}

void aead_use_ipsec_mb(bool use)
{
	use_ipsec_mb = use;
}

const char *aead_library(void)
{
	return use_ipsec_mb ? "ipsec-mb" : "libcrypto";
}

static void hmac(const void *key, size_t key_len, const void *data, size_t len,
		 uint8_t out[HASH_LEN])
{
	/* HMAC() interprets a null pointer as the previous key, so an empty key needs an
	 * address. */
	if (!HMAC(EVP_sha256(), key_len ? key : "", (int)key_len, data, len, out, NULL))
		bug("libcrypto has no HMAC-SHA-256");
}

void kdf(const void *secret, size_t secret_len, const void *salt, size_t salt_len, const void *info,
	 size_t info_len, void *out, size_t out_len)
{
	/* Block i of the output is HMAC(prk, block i-1 | info | i); block 0 is empty. */
	uint8_t prk[HASH_LEN], block[HASH_LEN], input[HASH_LEN + KDF_INFO_MAX + 1];
	size_t at = 0, before = 0;

	if (info_len > KDF_INFO_MAX || out_len > KDF_OUT_MAX)
		bug("kdf: %zu bytes of info, %zu bytes wanted", info_len, out_len);
	hmac(salt, salt_len, secret, secret_len, prk);
	for (uint8_t i = 1; at < out_len; i++) {
		size_t n = min_of(out_len - at, (size_t)HASH_LEN);

		memcpy(input, block, before);
		if (info_len)
			memcpy(input + before, info, info_len);
		input[before + info_len] = i;
		hmac(prk, sizeof(prk), input, before + info_len + 1, block);
		memcpy((uint8_t *)out + at, block, n);
		before = HASH_LEN;
		at += n;
	}
	x_wipe(prk, sizeof(prk));
	x_wipe(block, sizeof(block));
	x_wipe(input, sizeof(input));
}

void sha256(const void *head, size_t head_len, const void *tail, size_t tail_len,
	    uint8_t out[AEAD_KEY_LEN])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) ||
	    !EVP_DigestUpdate(ctx, head, head_len) || !EVP_DigestUpdate(ctx, tail, tail_len) ||
	    !EVP_DigestFinal_ex(ctx, out, NULL))
		bug("libcrypto has no SHA-256");
	EVP_MD_CTX_free(ctx);
}

void stretch(enum stretch_kind kind, const void *secret, size_t secret_len, const void *salt,
	     size_t salt_len, uint8_t out[AEAD_KEY_LEN])
{
	if (kind == STRETCH_PBKDF2) {
		if (!PKCS5_PBKDF2_HMAC(secret, (int)secret_len, salt, (int)salt_len,
				       PBKDF2_ITERATIONS, EVP_sha256(), AEAD_KEY_LEN, out))
			bug("libcrypto has no PBKDF2");
		return;
	}
	if (!EVP_PBE_scrypt(secret, secret_len, salt, salt_len, SCRYPT_N, SCRYPT_R, SCRYPT_P,
			    SCRYPT_MEMORY_MAX, out, AEAD_KEY_LEN))
		bug("libcrypto has no scrypt, or memory for scrypt is lacking");
}

void keyed_hash(const uint8_t key[AEAD_KEY_LEN], const void *data, size_t len, void *out,
		size_t out_len)
{
	uint8_t hash[HASH_LEN];

	if (out_len > HASH_LEN)
		bug("keyed_hash: %zu bytes wanted", out_len);
	hmac(key, AEAD_KEY_LEN, data, len, hash);
	memcpy(out, hash, out_len);
	x_wipe(hash, sizeof(hash));
}

void random_bytes(void *out, size_t len)
{
	uint8_t *p = out;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			bug("getrandom: %s", strerror(errno));
		p += n;
		len -= (size_t)n;
	}
}

uint64_t random_u64_nonzero(void)
{
	uint64_t v;

	do
		random_bytes(&v, sizeof(v));
	while (v == 0);
	return v;
}
