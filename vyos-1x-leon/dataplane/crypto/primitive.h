// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Primitives that the configuration of libcrypto can refuse, such as default_properties = fips=yes.
 * The functions of aead.h and public_key.h abort without their primitive, so callers ask first.
 * Without state; any thread.
 */
#pragma once

#include <stdbool.h>

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
