// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bitmap of the hosts of all tracked connections. A move of another host needs no search of the
 * connections. A bit may be of several hosts, or of a forgotten connection. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/siphash.h"

struct conn;
struct hosts {
	uint64_t bits[8192];
};

/* Called at each change of the MACs of the connection. */
void hosts_note(const struct conn *c);
/* Returns false if no connection has the host. */
bool hosts_may_have(const struct hosts *h, const struct hash_key *key, uint16_t vlan,
		    struct mac mac);
