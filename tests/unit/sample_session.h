// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions without a handshake, for tests of sealed data. The ephemeral secret of a node is its
 * node-id, repeated eight times. test_keys and the fuzz targets call this header.
 */
#pragma once

#include "crypto/keys.h"
#include "sample_dh.h"

/* Returns the master key, stretched once in each process. NULL: the clear mode. */
static inline const uint8_t *sample_master(const char *secret, uint32_t vni)
{
	static struct stretcher *s;
	static uint8_t master[4][MASTER_KEY_LEN]; /* several are in use at a time */
	static unsigned next;

	if (!secret)
		return NULL;
	if (!s)
		s = stretcher_new();
	stretcher_master(s, STRETCH_SCRYPT, secret, vni, master[next++ % 4]);
	return master[(next - 1) % 4];
}

static inline struct keyring *sample_keyring(const char *secret, uint32_t vni)
{
	return keyring_new(sample_master(secret, vni), vni);
}

static inline void sample_ephemeral(node_id_t node, enum dh_curve curve, struct ephemeral *e)
{
	for (unsigned i = 0; i < DH_KEY_LEN; i++)
		e->secret[i] = (uint8_t)(node >> (24 - i % 4 * 8));
	sample_public(curve, e->secret, e->public);
}

static inline struct session *sample_session(const struct keyring *k, node_id_t self,
					     node_id_t peer, uint64_t mine, uint64_t theirs)
{
	struct ephemeral own, other;
	struct session_terms t = { .self = self,
				   .peer = peer,
				   .mine = mine,
				   .theirs = theirs,
				   .ephemeral = &own,
				   .their_public = other.public,
				   .their_offer = keyring_offer(k) };

	sample_ephemeral(self, keyring_curve(k), &own);
	sample_ephemeral(peer, keyring_curve(k), &other);
	keyring_ids(k, t.their_ids);
	return session_new(k, &t);
}
