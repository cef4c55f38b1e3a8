// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contents of a keyring, and the sealing of a control message, for the files of keys.h (keys.c,
 * session.c). Control thread.
 */
#pragma once

#include <string.h>

#include "crypto/keys.h"

#define LABEL_MAX 16

/* Keys derived from one secret. */
struct secret_keys {
	uint32_t id;
	uint8_t hello[AEAD_KEY_LEN], session[AEAD_KEY_LEN], guard[AEAD_KEY_LEN];
};

struct keyring {
	uint32_t vni;
	unsigned n;				/* 0: clear mode */
	struct secret_keys secret[SECRETS_MAX]; /* the own secret is first */
	uint8_t offer;				/* seal_offer() of this node */
	unsigned n_workers;			/* 0: no data channel */
};

/* The key set with this name, or NULL. */
const struct secret_keys *keyring_secret(const struct keyring *k, uint32_t id);

/* HKDF info: the characters of the label, then the values in big-endian order. */
static inline size_t label_info(uint8_t *info, const char *label)
{
	size_t len = strlen(label);

	memcpy(info, label, len);
	return len;
}

/* --- envelope --- */

/* Checks common to every received datagram: size and mode (sealed or clear). */
bool envelope_is_openable(const uint8_t *buf, size_t hdr_len, size_t len, size_t envelope_len,
			  bool sealed);
/* Returns the length of the complete datagram, or -ENOSPC. */
int envelope_sealed_len(size_t hdr_len, size_t envelope_len, size_t msg_len, size_t buf_len,
			bool sealed);
/* Seals and opens the message in place behind header and envelope with the given nonce and key. */
int envelope_seal(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t msg_len);
int envelope_open(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t len);
