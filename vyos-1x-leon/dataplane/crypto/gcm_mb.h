// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM by the library intel-ipsec-mb ("ipsec-mb"), which is loaded at run time.
 * crypto/aead.c is the only caller and has the contract of seal and open. The control thread loads
 * the library and creates contexts; a context belongs to a single thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/aead.h"

/* Loads the library once. Returns false if the library is absent or unsuitable, with the reason.
 * The caller has checked that the processor has AES instructions. */
bool gcm_mb_load(char *why_not, size_t len);

struct gcm_mb;
/* Precondition of all calls: gcm_mb_load() returned true. */
struct gcm_mb *gcm_mb_new(const uint8_t seal_key[AEAD_KEY_LEN],
			  const uint8_t open_key[AEAD_KEY_LEN]);
void gcm_mb_free(struct gcm_mb *g); /* NULL ok; wipes */
/* Cannot fail: the caller limits all lengths to far less than the library does. */
void gcm_mb_seal(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out);
/* Decrypts `in`, without a tag, and computes the tag. The text is not authentic before the caller
 * has compared the tags. */
void gcm_mb_open(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const void *in, size_t in_len, void *out,
		 uint8_t tag[AEAD_TAG_LEN]);
