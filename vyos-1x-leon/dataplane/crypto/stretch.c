// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stretched secret, see stretch.h. Control thread; never logs.
 */
#include "crypto/stretch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/aead.h"
#include "wire/bytes.h"

#define SALT_MAX  32
#define KNOWN_MAX 8 /* secrets in use and of a pending change */

struct known {
	uint8_t name[AEAD_KEY_LEN]; /* name of derivation, secret and VNI; all zero: free */
	uint8_t master[MASTER_KEY_LEN];
};

struct stretcher {
	/* random key of the names, so a name reveals nothing about a secret */
	uint8_t key[AEAD_KEY_LEN];
	struct known known[KNOWN_MAX];
	unsigned next; /* index of the next replacement */
};

/* The salt contains the VNI, so a table of guesses is valid for one overlay only. FIPS providers
 * require 16 bytes for PBKDF2. Returns the length. */
static size_t salt_of(enum stretch_kind kind, uint32_t vni, uint8_t salt[SALT_MAX])
{
	const char *word = kind == STRETCH_PBKDF2 ? "LEON 1 PBKDF2-SHA-256" : "LEON 1";
	size_t len = strlen(word);

	memcpy(salt, word, len);
	put_u24(salt + len, vni);
	return len + 3;
}

void stretch_secret(enum stretch_kind kind, const char *secret, uint32_t vni,
		    uint8_t master[MASTER_KEY_LEN])
{
	uint8_t salt[SALT_MAX];
	size_t len = salt_of(kind, vni, salt);

	stretch(kind, secret, strlen(secret), salt, len, master);
}

struct stretcher *stretcher_new(void)
{
	struct stretcher *s = x_new(struct stretcher);

	random_bytes(s->key, sizeof(s->key));
	return s;
}

void stretcher_free(struct stretcher *s)
{
	if (!s)
		return;
	x_wipe(s, sizeof(*s));
	free(s);
}

/* A fast keyed hash suffices for the name: a reader of the memory finds the master key too. */
static void name_of(const struct stretcher *s, enum stretch_kind kind, const char *secret,
		    uint32_t vni, uint8_t name[AEAD_KEY_LEN])
{
	uint8_t salt[SALT_MAX];
	size_t len = salt_of(kind, vni, salt);

	kdf(secret, strlen(secret), s->key, sizeof(s->key), salt, len, name, AEAD_KEY_LEN);
}

void stretcher_master(struct stretcher *s, enum stretch_kind kind, const char *secret, uint32_t vni,
		      uint8_t master[MASTER_KEY_LEN])
{
	struct known *k;
	uint8_t name[AEAD_KEY_LEN];

	name_of(s, kind, secret, vni, name);
	for (k = s->known; k < s->known + KNOWN_MAX; k++)
		if (memcmp(k->name, name, sizeof(name)) == 0)
			break;
	if (k == s->known + KNOWN_MAX) {
		k = &s->known[s->next++ % KNOWN_MAX];
		stretch_secret(kind, secret, vni, k->master);
		memcpy(k->name, name, sizeof(name));
	}
	memcpy(master, k->master, MASTER_KEY_LEN);
}
