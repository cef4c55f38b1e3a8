// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM, ChaCha20-Poly1305, HMAC and HKDF with SHA-256, scrypt, PBKDF2, X25519, P-256 and
 * Ed25519 over libcrypto, and random bytes from the kernel. No other file includes OpenSSL.
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

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
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
#define P256_GROUP	  "P-256"
#define P256_COMPRESSED	  2 /* form of a point that has x only (SEC 1 section 2.3.3) */

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

static EVP_PKEY *private_key(int type, const uint8_t secret[DH_KEY_LEN])
{
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(type, NULL, secret, DH_KEY_LEN);

	if (!key)
		bug("libcrypto has no %s", OBJ_nid2sn(type));
	return key;
}

static void public_of(int type, const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	EVP_PKEY *key = private_key(type, secret);
	size_t len = DH_KEY_LEN;

	if (!EVP_PKEY_get_raw_public_key(key, out, &len) || len != DH_KEY_LEN)
		bug("libcrypto gives no public key");
	EVP_PKEY_free(key);
}

/* --- Diffie-Hellman --- */

/* Makes a key of P-256 from the parameter `value`. */
static EVP_PKEY *p256_key(int selection, OSSL_PARAM value)
{
	char group[] = P256_GROUP;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group,
								 0),
				value, OSSL_PARAM_construct_end() };
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	EVP_PKEY *key = NULL;

	if (!ctx || EVP_PKEY_fromdata_init(ctx) <= 0 ||
	    EVP_PKEY_fromdata(ctx, &key, selection, params) <= 0)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static EVP_PKEY *p256_private(const uint8_t secret[DH_KEY_LEN])
{
	BIGNUM *number = BN_bin2bn(secret, DH_KEY_LEN, NULL);
	uint8_t native[DH_KEY_LEN];
	EVP_PKEY *key;

	if (!number || BN_bn2nativepad(number, native, sizeof(native)) < 0)
		bug("libcrypto cannot convert a number");
	key = p256_key(EVP_PKEY_KEYPAIR,
		       OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native, sizeof(native)));
	BN_clear_free(number);
	x_wipe(native, sizeof(native));
	return key;
}

/* Any of the two points with the x-coordinate gives the same result. NULL if absent, or for zero,
 * which means that a message has no key. */
static EVP_PKEY *p256_public(const uint8_t x[DH_KEY_LEN])
{
	static const uint8_t none[DH_KEY_LEN];
	uint8_t point[1 + DH_KEY_LEN] = { P256_COMPRESSED };

	if (memcmp(x, none, sizeof(none)) == 0)
		return NULL;
	memcpy(point + 1, x, DH_KEY_LEN);
	return p256_key(EVP_PKEY_PUBLIC_KEY,
			OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point,
							  sizeof(point)));
}

static void copy_number(const EVP_PKEY *key, const char *name, uint8_t out[DH_KEY_LEN])
{
	BIGNUM *number = NULL;

	if (!EVP_PKEY_get_bn_param(key, name, &number) ||
	    BN_bn2binpad(number, out, DH_KEY_LEN) != DH_KEY_LEN)
		bug("libcrypto gives no key");
	BN_clear_free(number);
}

void dh_generate(enum dh_curve curve, uint8_t secret[DH_KEY_LEN], uint8_t public[DH_KEY_LEN])
{
	EVP_PKEY *key;

	if (curve == DH_X25519) {
		random_bytes(secret, DH_KEY_LEN);
		public_of(EVP_PKEY_X25519, secret, public);
		return;
	}
	/* Generation is a part of the approved algorithm. */
	key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", P256_GROUP);
	if (!key)
		bug("libcrypto has no P-256");
	copy_number(key, OSSL_PKEY_PARAM_PRIV_KEY, secret);
	copy_number(key, OSSL_PKEY_PARAM_EC_PUB_X, public);
	EVP_PKEY_free(key);
}

static EVP_PKEY *dh_private(enum dh_curve curve, const uint8_t secret[DH_KEY_LEN])
{
	return curve == DH_P256
		       ? p256_private(secret)
		       : EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, DH_KEY_LEN);
}

int dh_shared(enum dh_curve curve, const uint8_t secret[DH_KEY_LEN],
	      const uint8_t theirs[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	EVP_PKEY *own = dh_private(curve, secret);
	EVP_PKEY *peer = curve == DH_P256 ? p256_public(theirs)
					  : EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL,
									theirs, DH_KEY_LEN);
	EVP_PKEY_CTX *ctx = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
	size_t len = DH_KEY_LEN;
	bool ok;

	if (!ctx || EVP_PKEY_derive_init(ctx) <= 0)
		bug("libcrypto has no X25519 or no P-256");
	/* libcrypto refuses a public key of small order, which makes the result zero. */
	ok = peer && EVP_PKEY_derive_set_peer(ctx, peer) > 0 &&
	     EVP_PKEY_derive(ctx, out, &len) > 0 && len == DH_KEY_LEN;
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(peer);
	EVP_PKEY_free(own);
	return ok ? 0 : -EBADMSG;
}

/* --- signatures --- */

void sign_public(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN])
{
	public_of(EVP_PKEY_ED25519, secret, out);
}

void sign_make(const uint8_t secret[DH_KEY_LEN], const void *data, size_t len,
	       uint8_t out[SIGNATURE_LEN])
{
	EVP_PKEY *key = private_key(EVP_PKEY_ED25519, secret);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = SIGNATURE_LEN;

	if (!ctx || !EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) ||
	    !EVP_DigestSign(ctx, out, &n, data, len))
		bug("libcrypto has no Ed25519");
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
}

bool sign_verify(const uint8_t public[DH_KEY_LEN], const void *data, size_t len,
		 const uint8_t signature[SIGNATURE_LEN])
{
	EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public, DH_KEY_LEN);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = key && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) > 0 &&
		  EVP_DigestVerify(ctx, signature, SIGNATURE_LEN, data, len) > 0;

	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
}

static bool has_cipher(const char *name)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, NULL);

	EVP_CIPHER_free(c);
	return c;
}

static bool has_kdf(const char *name)
{
	EVP_KDF *k = EVP_KDF_fetch(NULL, name, NULL);

	EVP_KDF_free(k);
	return k;
}

static bool has_hmac(void)
{
	uint8_t hash[HASH_LEN];

	return HMAC(EVP_sha256(), "", 0, hash, 0, hash, NULL);
}

/* A provider may have the key and not its operation, so the operation itself is tried. */
static bool has_dh(enum dh_curve curve)
{
	static const uint8_t secret[DH_KEY_LEN] = { 1 };
	EVP_PKEY *key = dh_private(curve, secret);
	EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
	bool ok = ctx && EVP_PKEY_derive_init(ctx) > 0;

	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
}

static bool has_ed25519(void)
{
	static const uint8_t secret[DH_KEY_LEN] = { 1 };
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, DH_KEY_LEN);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = key && ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) > 0;

	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
}

bool primitive_is_permitted(enum primitive p)
{
	switch (p) {
	case PRIMITIVE_AES_256_GCM:
		return has_cipher("AES-256-GCM");
	case PRIMITIVE_HMAC_SHA_256:
		return has_hmac();
	case PRIMITIVE_X25519:
		return has_dh(DH_X25519);
	case PRIMITIVE_P256:
		return has_dh(DH_P256);
	case PRIMITIVE_ED25519:
		return has_ed25519();
	case PRIMITIVE_CHACHA20_POLY1305:
		return has_cipher("ChaCha20-Poly1305");
	case PRIMITIVE_SCRYPT:
		return has_kdf("SCRYPT");
	case PRIMITIVE_PBKDF2:
		return has_kdf("PBKDF2");
	}
	return false;
}

const char *primitive_name(enum primitive p)
{
	static const char *const name[] = {
		"AES-256-GCM", "HMAC-SHA-256",	    "X25519", "P-256",
		"Ed25519",     "ChaCha20-Poly1305", "scrypt", "PBKDF2"
	};

	return name[p];
}
