// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hosts by VLAN and MAC: a bitmap of the hosts of all tracked connections, and the list of moved
 * hosts, as reported by leond. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/siphash.h"

/* A move of another host needs no search of the connections. A bit may be of several hosts, or of a
 * forgotten connection. */
struct hosts {
	uint64_t bits[8192];
};

struct conn;
/* Called at each change of the MACs of the connection. */
void hosts_note(const struct conn *c);
/* Returns false if no connection has the host. */
bool hosts_may_have(const struct hosts *h, const struct hash_key *key, uint16_t vlan,
		    struct mac mac);

/* The list of moved hosts has a fixed size and drops the oldest host. */
#define MOVED_MAX 4096

struct moved_host;
struct moved {
	struct moved_host *hosts; /* The last element is the latest. */
};

void moved_add(struct moved *m, uint16_t vlan, struct mac mac);
bool moved_has(const struct moved *m, uint16_t vlan, struct mac mac);
void moved_free(struct moved *m);
