// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Key agreement with X25519 and P-256, and signatures with Ed25519, over libcrypto. Without state;
 * any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_KEY_LEN    32 /* secret and public key of X25519, P-256 and Ed25519 */
#define SIGNATURE_LEN 64

/*
 * Diffie-Hellman with X25519 (RFC 7748) or P-256 (SP 800-56A). A public key of P-256 is the
 * x-coordinate of the point, which determines the result (RFC 6090 section 4.2). Values of the key
 * `encryption curve`.
 */
enum dh_curve { DH_X25519, DH_P256 };
void dh_generate(enum dh_curve curve, uint8_t secret[DH_KEY_LEN], uint8_t public[DH_KEY_LEN]);
/* Returns 0, or -EBADMSG if `theirs` is all zero, is on no point of the curve, or makes the result
 * zero for every secret. */
int dh_shared(enum dh_curve curve, const uint8_t secret[DH_KEY_LEN],
	      const uint8_t theirs[DH_KEY_LEN], uint8_t out[DH_KEY_LEN]);

/* Ed25519 (RFC 8032). The secret is any random 32 bytes. */
void sign_public(const uint8_t secret[DH_KEY_LEN], uint8_t out[DH_KEY_LEN]);
void sign_make(const uint8_t secret[DH_KEY_LEN], const void *data, size_t len,
	       uint8_t out[SIGNATURE_LEN]);
bool sign_verify(const uint8_t public[DH_KEY_LEN], const void *data, size_t len,
		 const uint8_t signature[SIGNATURE_LEN]);

/* Primitives that the configuration of libcrypto can refuse, such as default_properties = fips=yes.
 * The functions of this header and of aead.h abort without their primitive, so callers ask
 * first. */
enum primitive {
	PRIMITIVE_AES_256_GCM,
	PRIMITIVE_HMAC_SHA_256,
	PRIMITIVE_X25519,
	PRIMITIVE_P256,
	PRIMITIVE_ED25519,
	PRIMITIVE_CHACHA20_POLY1305,
	PRIMITIVE_SCRYPT,
	PRIMITIVE_PBKDF2,
};
bool primitive_is_permitted(enum primitive p);
const char *primitive_name(enum primitive p);
