// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel routes as planned by state/routes/rib.h, and announced prefixes. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/routes/announce.h"
#include "state/routes/rib.h"

struct conf;
struct ip_addr;
struct leond;
struct nl_event;

/* --- kernel_routes.c: kernel routes --- */
#define ROUTE_PROTOCOL 76
void routes_start(struct leond *d);
/* Removes all routes when the daemon stops. */
void routes_stop(struct leond *d);
void routes_free(struct leond *d);
void routes_soon(struct leond *d); /* paths, members, configuration or the loop guard changed */
void routes_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void routes_device_changed(struct leond *d);
void routes_addresses_changed(struct leond *d);
/* Returns true if a datagram to this address would enter the overlay; counts it as withheld
 * then. */
bool routes_withhold(struct leond *d, const struct ip_addr *to);
/* Returns true if the address is inside an announced prefix of this node. */
bool routes_announces(const struct conf *c, const struct ip_addr *ip);
struct routes_view {
	const struct rib *plan;
	const struct rib_installed *installed; /* sorted */
	unsigned n_installed;
	bool usable;	    /* false: no routes, for `reason` */
	const char *reason; /* static */
	uint64_t added, changed, withdrawn, repaired, failed, withheld; /* since the start */
};
void routes_view(const struct leond *d, struct routes_view *v);

/* --- announcer.c: prefixes with a route outside the overlay (state/routes/announce.h) --- */
void announcer_start(struct leond *d); /* called before other nodes know this one */
void announcer_free(struct leond *d);
void announcer_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void announcer_apply_conf(struct leond *d);
const struct announce *announcer_view(const struct leond *d);
