// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Primitives that libcrypto has on this host, see primitive.h. Called for a configuration, a token
 * and a session; control thread.
 */
#include "crypto/primitive.h"

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#include "crypto/public_key.h"

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
