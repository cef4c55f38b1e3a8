// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the configured prefixes that this node announces: those with a route outside the overlay.
 * Decides when a prefix is withheld and when it returns. Pure, with results of kernel lookups and
 * `now` as arguments. daemon/routes/announcer.c queries the kernel and changes the own record.
 * Control thread. doc/decisions/009.
 */
#pragma once

#include <stdbool.h>

#include "base/mono.h"
#include "state/conf/conf.h"

/* Hold time before a withheld prefix is announced again. Each change goes to all nodes and moves
 * their routes. A flapping LAN link or routing protocol must not cause a change each time. Nor must
 * a carrier in front of a switch that does not forward yet. */
#define ANNOUNCE_RETURN_MS 2000

/* Result of the route lookup for a prefix. */
enum announce_reach {
	ANNOUNCE_UNKNOWN, /* the lookup failed; nothing changes */
	ANNOUNCE_ROUTE,
	ANNOUNCE_NO_ROUTE,
	ANNOUNCE_DEFAULT_ONLY, /* only the default route matches */
	/* the route leads into the overlay; announcing it would cause a loop */
	ANNOUNCE_OVERLAY,
	ANNOUNCE_LINK_DOWN,
};

struct announced {
	struct prefix prefix;
	bool announced;
	enum announce_reach reach;
	mono_t since;	    /* time of the last announcement or withdrawal */
	mono_t route_since; /* age of the present route; never: no route */
};

struct announce {
	bool unconditional;
	unsigned n;
	struct announced entry[MSG_PREFIXES_MAX]; /* in the order of the configuration: sorted */
};

/* Adopts the prefixes of a configuration. Remaining prefixes keep the state. */
void announce_configure(struct announce *a, const struct conf *c);
/* Enters a lookup result for one prefix. The first result announces or withholds the prefix at
 * once. Returns true after a change. */
bool announce_note(struct announce *a, unsigned i, enum announce_reach reach, mono_t now);
/* Writes the prefixes to announce; returns the number. */
unsigned announce_list(const struct announce *a, struct prefix out[MSG_PREFIXES_MAX]);

/* Returns a clause with the reason why an entry is announced or withheld. */
const char *announce_reason(const struct announce *a, const struct announced *e);
