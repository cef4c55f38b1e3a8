// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hosts of connections, and moved hosts, see hosts.h.
 */
#include "conn/hosts.h"

#include <stdlib.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "conn/conn_state.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

struct moved_host {
	uint64_t key;
	UT_hash_handle hh;
};

static uint64_t key_of(uint16_t vlan, struct mac mac)
{
	return mac_to_u64(mac) | (uint64_t)vlan << 48;
}

/* --- hosts of connections --- */

static void add(struct engine *e, uint16_t vlan, struct mac mac)
{
	uint64_t hash = siphash_u64(&e->hash_key, key_of(vlan, mac));

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
	uint64_t hash = siphash_u64(key, key_of(vlan, mac));

	return h->bits[hash / 64 % array_size(h->bits)] >> hash % 64 & 1;
}

/* --- moved hosts --- */

static struct moved_host *find(const struct moved *m, uint64_t key)
{
	struct moved_host *h;

	HASH_FIND(hh, m->hosts, &key, sizeof(key), h);
	return h;
}

static void forget(struct moved *m, struct moved_host *h)
{
	HASH_DEL(m->hosts, h);
	free(h);
}

void moved_add(struct moved *m, uint16_t vlan, struct mac mac)
{
	uint64_t key = key_of(vlan, mac);
	struct moved_host *h = find(m, key);

	if (h)
		forget(m, h);
	else if (HASH_COUNT(m->hosts) == MOVED_MAX)
		forget(m, m->hosts);
	h = x_new(struct moved_host);
	h->key = key;
	HASH_ADD(hh, m->hosts, key, sizeof(h->key), h);
}

bool moved_has(const struct moved *m, uint16_t vlan, struct mac mac)
{
	return find(m, key_of(vlan, mac)) != NULL;
}

void moved_free(struct moved *m)
{
	while (m->hosts)
		forget(m, m->hosts);
}
