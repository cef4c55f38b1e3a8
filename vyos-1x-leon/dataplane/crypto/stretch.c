// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stretched secret, see stretch.h. Control thread; never logs.
 */
#include "crypto/stretch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/aead.h"

#define SALT_WORD "LEON 1"
#define SALT_LEN  (sizeof(SALT_WORD) - 1 + 3)
#define KNOWN_MAX 8 /* secrets in use, and those of a pending change */

struct known {
	uint8_t name[AEAD_KEY_LEN]; /* name of secret and VNI; all zero: free */
	uint8_t master[MASTER_KEY_LEN];
};

struct stretcher {
	/* random key of the names, so that a name reveals nothing about its secret */
	uint8_t key[AEAD_KEY_LEN];
	struct known known[KNOWN_MAX];
	unsigned next; /* index of the next replacement */
};

/* The salt contains the VNI, so a table of guesses is valid for one overlay only. */
static void salt_of(uint32_t vni, uint8_t salt[SALT_LEN])
{
	memcpy(salt, SALT_WORD, SALT_LEN - 3);
	salt[SALT_LEN - 3] = (uint8_t)(vni >> 16);
	salt[SALT_LEN - 2] = (uint8_t)(vni >> 8);
	salt[SALT_LEN - 1] = (uint8_t)vni;
}

void stretch_secret(const char *secret, uint32_t vni, uint8_t master[MASTER_KEY_LEN])
{
	uint8_t salt[SALT_LEN];

	salt_of(vni, salt);
	stretch(secret, strlen(secret), salt, sizeof(salt), master);
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

/* A fast keyed hash suffices for the name: a reader of this memory finds the master key beside
 * it. */
static void name_of(const struct stretcher *s, const char *secret, uint32_t vni,
		    uint8_t name[AEAD_KEY_LEN])
{
	uint8_t salt[SALT_LEN];

	salt_of(vni, salt);
	kdf(secret, strlen(secret), s->key, sizeof(s->key), salt, sizeof(salt), name, AEAD_KEY_LEN);
}

void stretcher_master(struct stretcher *s, const char *secret, uint32_t vni,
		      uint8_t master[MASTER_KEY_LEN])
{
	struct known *k;
	uint8_t name[AEAD_KEY_LEN];

	name_of(s, secret, vni, name);
	for (k = s->known; k < s->known + KNOWN_MAX; k++)
		if (memcmp(k->name, name, sizeof(name)) == 0)
			break;
	if (k == s->known + KNOWN_MAX) {
		k = &s->known[s->next++ % KNOWN_MAX];
		stretch_secret(secret, vni, k->master);
		memcpy(k->name, name, sizeof(name));
	}
	memcpy(master, k->master, MASTER_KEY_LEN);
}
