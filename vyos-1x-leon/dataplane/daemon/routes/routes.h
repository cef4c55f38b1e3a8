// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel routes as planned by state/routes/rib.h, and announced prefixes. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/netlink/netlink.h"
#include "state/routes/announce.h"
#include "state/routes/rib.h"

struct conf;
struct leond;

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

/* --- announcer.c: prefixes with a route outside the overlay (state/routes/announce.h) --- */
void announcer_start(struct leond *d); /* called before other nodes know this one */
void announcer_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void announcer_apply_conf(struct leond *d);
const struct announce *announcer_view(const struct leond *d);

/* --- state of the kernel routes: kernel_routes.c writes; others but route_*.c only read --- */
#define ROUTE_BATCH	   1000 /* zebra falls behind if much more changes at once */
#define ROUTE_STRAYS_MAX   64
#define ROUTE_RESYNC_MS	   30000
#define ROUTE_RETRY_MS	   5000
#define ROUTE_ADDRS_MAX	   1024
#define ROUTE_NOTIFIED_MAX 8 /* events of one kind and run; more are merged into one */

/* Events of one kind. */
struct route_count {
	unsigned n;
	struct rib_route route[ROUTE_NOTIFIED_MAX];
};

struct routes {
	struct leond *d;
	struct rib *plan;
	struct timer *timer;
	mono_t ran, resync_at, metrics_reported;
	uint32_t table;		 /* table of `have` */
	uint32_t underlay_table; /* routing table of datagrams to other nodes */
	bool stopping;
	bool loss_is_known; /* the link changed or lost an address, which removes routes */

	struct rib_installed *have; /* sorted */
	unsigned n_have, cap_have;
	unsigned n_strays;
	struct nl_route_change stray[ROUTE_STRAYS_MAX]; /* routes in wrong tables */
	struct rib_step step[ROUTE_BATCH];
	struct nl_route_change change[ROUTE_BATCH];

	struct rib_node *node;
	unsigned cap_nodes, n_own, n_connected;
	struct ip_addr own[ROUTE_ADDRS_MAX];
	struct prefix connected[ROUTE_ADDRS_MAX];
	struct ip_addr *underlay, *tcp;
	unsigned n_underlay, cap_underlay, n_tcp;

	struct route_count tally[N_RIB_CHANGES];
	unsigned n_refused;
	struct rib_refused refused[ROUTE_NOTIFIED_MAX];
	uint64_t count[N_RIB_CHANGES], repaired, failed, withheld;
};

/* --- route_facts.c --- */
/* Returns the reason why no routes may exist; NULL: they may. */
const char *routes_why_unusable(const struct leond *d);
/* Returns true in a VRF other than the underlay's, which our routes cannot affect. */
bool routes_are_apart(const struct routes *r);
void routes_gather_underlay(struct routes *r);
unsigned routes_gather_nodes(struct routes *r); /* returns their number */
void routes_gather_own(struct routes *r);

/* --- route_table.c --- */
/* Dumps the kernel's routes; the next plan corrects deviations. */
void routes_resync(struct routes *r, mono_t now);
/* Returns the number of steps. */
unsigned routes_bring_up_to_date(struct routes *r, mono_t now);
