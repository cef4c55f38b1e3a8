// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Key agreement and signatures over libcrypto, see public_key.h. crypto/session.c and
 * crypto/noise.c agree on keys, proto/handshake/sign.c signs; control thread. Never logs; a failure
 * of libcrypto itself is a bug.
 */
#include "crypto/public_key.h"

#include <errno.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/mem.h"
#include "crypto/aead.h"

#define P256_GROUP	"P-256"
#define P256_COMPRESSED 2 /* form of a point that has x only (SEC 1 section 2.3.3) */

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

/* A provider may have the key and not its operation, so the operation itself is tried. */
static bool dh_is_permitted(enum dh_curve curve)
{
	static const uint8_t secret[DH_KEY_LEN] = { 1 };
	EVP_PKEY *key = dh_private(curve, secret);
	EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
	bool ok = ctx && EVP_PKEY_derive_init(ctx) > 0;

	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
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

static bool sign_is_permitted(void)
{
	static const uint8_t secret[DH_KEY_LEN] = { 1 };
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, DH_KEY_LEN);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = key && ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) > 0;

	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	return ok;
}

/* --- what libcrypto permits on this host --- */

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
	uint8_t hash[EVP_MAX_MD_SIZE];

	return HMAC(EVP_sha256(), "", 0, hash, 0, hash, NULL);
}

bool primitive_is_permitted(enum primitive p)
{
	switch (p) {
	case PRIMITIVE_AES_256_GCM:
		return has_cipher("AES-256-GCM");
	case PRIMITIVE_HMAC_SHA_256:
		return has_hmac();
	case PRIMITIVE_X25519:
		return dh_is_permitted(DH_X25519);
	case PRIMITIVE_P256:
		return dh_is_permitted(DH_P256);
	case PRIMITIVE_ED25519:
		return sign_is_permitted();
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
