// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the files that carry out state/rib.h share: kernel_routes.c (when), route_facts.c (what
 * the planner has to know), route_table.c (what the kernel has, and bringing it to the plan), and
 * route_events.c (what people are told). Nobody else includes it. Control thread.
 */
#pragma once

#include "daemon/host/kernel_routes.h"

#define ROUTE_BATCH	 1000 /* zebra falls behind where much more changes at once */
#define ROUTE_STRAYS_MAX 64
#define ROUTE_RESYNC_MS	 30000
#define ROUTE_RETRY_MS	 5000
#define ROUTE_ADDRS_MAX	 1024
#define ROUTE_TOLD_MAX	 8 /* events of one kind and run; more become one sentence */

/* What is to be told of one kind. */
struct route_tally {
	unsigned n;
	struct rib_route route[ROUTE_TOLD_MAX];
};

struct routes {
	struct leond *d;
	struct rib *plan;
	struct timer *timer;
	mono_t ran, resync_at, metrics_reported;
	uint32_t table;		 /* that `have` is about */
	uint32_t underlay_table; /* that datagrams to other nodes are routed by */
	bool stopping;
	bool loss_is_known; /* the link changed or lost an address: the kernel drops routes then */

	struct rib_installed *have; /* sorted */
	unsigned n_have, cap_have;
	unsigned n_strays;
	struct nl_route_change stray[ROUTE_STRAYS_MAX]; /* in tables that they do not belong to */
	struct rib_step step[ROUTE_BATCH];
	struct nl_route_change change[ROUTE_BATCH];

	struct rib_node *node;
	unsigned cap_nodes, n_own, n_connected;
	struct ip_addr own[ROUTE_ADDRS_MAX];
	struct prefix connected[ROUTE_ADDRS_MAX];
	struct ip_addr *underlay;
	unsigned n_underlay, cap_underlay;

	struct route_tally tally[N_RIB_CHANGES];
	unsigned n_refused;
	struct rib_refused refused[ROUTE_TOLD_MAX];
	uint64_t count[N_RIB_CHANGES], repaired, failed, withheld;
};

/* --- route_facts.c --- */
/* NULL: routes may exist. */
const char *routes_why_unusable(const struct leond *d);
/* In a VRF that the underlay is not in: whatever our routes say, it does not go by them. */
bool routes_are_apart(const struct routes *r);
void routes_gather_underlay(struct routes *r);
unsigned routes_gather_nodes(struct routes *r); /* returns their number */
void routes_gather_own(struct routes *r);

/* --- route_table.c --- */
/* Looks at the kernel's routes; what is not as it should be is for the next plan. */
void routes_resync(struct routes *r, mono_t now);
/* Returns the number of steps. */
unsigned routes_bring_up_to_date(struct routes *r, mono_t now);

/* --- route_events.c --- */
/* For rib_run(). */
void routes_on_change(void *arg, enum rib_change change, const struct rib_route *before,
		      const struct rib_route *now);
void routes_on_refused(void *arg, const struct rib_refused *refused);
void routes_tell_all(struct routes *r, mono_t now);
void routes_tell_repair(struct routes *r, unsigned n);
void routes_tell_failure(struct routes *r, const struct rib_installed *e, int error);
