// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moved hosts, see moved.h.
 */
#include "conn/moved.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"

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
