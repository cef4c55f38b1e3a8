// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routes for the kernel, as state/rib.h plans them. Control thread.
 */
#pragma once

#include "daemon/leond.h"
#include "state/rib.h"

#define ROUTE_PROTOCOL 76
void routes_start(struct leond *d);
/* Takes them all back; the daemon stops. */
void routes_stop(struct leond *d);
void routes_free(struct leond *d);
void routes_soon(struct leond *d); /* paths, members, configuration or the loop guard changed */
void routes_changed(struct leond *d, const struct nl_event *ev); /* host/watch.c */
void routes_device_changed(struct leond *d);
void routes_addresses_changed(struct leond *d);
/* Would a datagram to this address go into the overlay? Counted as withheld where it would. */
bool routes_withhold(struct leond *d, const struct ip_addr *to);
/* Is the address inside what this node announces? */
bool routes_announces(const struct conf *c, const struct ip_addr *ip);
struct routes_view {
	const struct rib *plan;
	const struct rib_installed *installed; /* sorted */
	unsigned n_installed;
	bool usable;	    /* false: there are none, and `reason` says why */
	const char *reason; /* static */
	uint64_t added, changed, withdrawn, repaired, failed, withheld; /* since the start */
};
void routes_view(const struct leond *d, struct routes_view *v);
