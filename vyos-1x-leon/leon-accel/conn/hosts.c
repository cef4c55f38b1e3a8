// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bitmap of the hosts of all tracked connections, see hosts.h.
 */
#include "conn/hosts.h"

#include "base/defs.h"
#include "conn/conn_state.h"

static uint64_t hash_of(const struct hash_key *key, uint16_t vlan, struct mac mac)
{
	return siphash_u64(key, mac_to_u64(mac) | (uint64_t)vlan << 48);
}

static void add(struct engine *e, uint16_t vlan, struct mac mac)
{
	uint64_t hash = hash_of(&e->hash_key, vlan, mac);

	e->hosts.bits[hash / 64 % array_size(e->hosts.bits)] |= 1ULL << hash % 64;
}

void hosts_note(const struct conn *c)
{
	const struct flow *f = &c->flow;

	add(c->e, f->key.vlan, f->near.mac);
	add(c->e, f->key.vlan, f->far.mac);
}

bool hosts_may_have(const struct hosts *h, const struct hash_key *key, uint16_t vlan,
		    struct mac mac)
{
	uint64_t hash = hash_of(key, vlan, mac);

	return h->bits[hash / 64 % array_size(h->bits)] >> hash % 64 & 1;
}
