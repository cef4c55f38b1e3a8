// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces gcm_mb.c in builds without intel-ipsec-mb (other processors than amd64, or the meson
 * option ipsec-mb). No context is created, because gcm_mb_load() returns false.
 */
#include <stdio.h>

#include "base/log.h"
#include "crypto/gcm_mb.h"

/* No function uses its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOT_LOADED() bug("ipsec-mb is used without gcm_mb_load()")

bool gcm_mb_load(char *why_not, size_t len)
{
	snprintf(why_not, len, "this leond was built without ipsec-mb");
	return false;
}

struct gcm_mb *gcm_mb_new(const uint8_t seal_key[AEAD_KEY_LEN],
			  const uint8_t open_key[AEAD_KEY_LEN])
{
	NOT_LOADED();
}

void gcm_mb_free(struct gcm_mb *g)
{
	if (g)
		NOT_LOADED();
}

void gcm_mb_seal(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out)
{
	NOT_LOADED();
}

void gcm_mb_open(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const void *in, size_t in_len, void *out,
		 uint8_t tag[AEAD_TAG_LEN])
{
	NOT_LOADED();
}
