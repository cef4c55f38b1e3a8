// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The routing information base: which routes the kernel should have. A host route for the overlay
 * address of each reachable node and routes for the prefixes that nodes announce, with the latency
 * of the path as metric. Decides what is accepted, who wins where several announce the same, and
 * when a metric moves. Pure: it gets members, addresses and `now`, and says what it wants;
 * daemon/host/kernel_routes.c makes it so. Control thread. doc/decisions/009-routes.md has the
 * reasons.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/conf.h"

#define RIB_ROUTES_MAX 16384
/* FRR takes the highest 8 bits of a kernel metric for the administrative distance. */
#define RIB_METRIC_MAX	   0xffffffu
#define RIB_DISTANCE_SHIFT 24

/* A member other than this node. */
struct rib_node {
	uint16_t slot;
	node_id_t id;
	uint32_t latency_us;	      /* smoothed, of the path in use */
	const struct msg_record *rec; /* of a reachable node only */
};

struct rib_input {
	const struct conf *conf;
	unsigned n_nodes, n_own, n_connected, n_underlay;
	const struct rib_node *node;	/* reachable ones; none while routes must not exist */
	const struct ip_addr *own;	/* addresses of this host, sorted */
	const struct prefix *connected; /* networks on its other interfaces */
	const struct ip_addr *underlay; /* where nodes and peers are reached, sorted */
};

struct rib_route {
	struct prefix dst;
	bool is_prefix;		/* announced as a prefix; false: an overlay address */
	struct ip_addr gateway; /* family 0: on the link */
	node_id_t node;
	uint32_t metric;
	uint8_t distance; /* of a prefix: that of `import`; 0: as routes of the kernel have */
	mono_t since;	  /* through this node */
};
static inline uint32_t rib_kernel_metric(const struct rib_route *r)
{
	return (uint32_t)r->distance << RIB_DISTANCE_SHIFT | r->metric;
}

/* Why something announced is not used. */
enum rib_refusal {
	RIB_NOT_ACCEPTED, /* no rule of `import` allows it */
	RIB_FARTHER,	  /* another node announces the same prefix and is nearer */
	RIB_UNUSABLE,	  /* loopback, link-local or multicast */
	RIB_OWN,	  /* an address or an announced prefix of this node */
	RIB_UNDERLAY,	  /* would lead the underlay into the overlay */
	RIB_CONNECTED,	  /* inside a network of another interface */
	RIB_CONFLICT,	  /* another node announces the same address */
	RIB_NO_GATEWAY,	  /* its node has no usable overlay address of that family */
	RIB_LIMIT,	  /* more than RIB_ROUTES_MAX */
};
const char *rib_refusal_name(enum rib_refusal r); /* "not-accepted" ... */
const char *rib_refusal_text(enum rib_refusal r); /* half a sentence */
/* True where an operator should look at it; false where a rule asks for it. */
bool rib_refusal_is_trouble(enum rib_refusal r);

struct rib_refused {
	struct prefix dst;
	bool is_prefix;
	node_id_t node;
	enum rib_refusal why;
};

enum rib_change {
	RIB_ADDED,
	RIB_MOVED, /* through another node, or another gateway */
	RIB_METRIC,
	RIB_WITHDRAWN,
	N_RIB_CHANGES,
};
/* `before` is NULL where it is new, `now` where it is gone. */
typedef void (*rib_change_fn)(void *arg, enum rib_change change, const struct rib_route *before,
			      const struct rib_route *now);
/* A refusal that is new. */
typedef void (*rib_refused_fn)(void *arg, const struct rib_refused *refused);

struct rib_report {
	rib_change_fn change;
	rib_refused_fn refused;
	void *arg;
};

struct rib;
struct rib *rib_new(void);
void rib_free(struct rib *x); /* NULL ok */
/* Decides anew. Call when something changed and a few times a second. */
void rib_run(struct rib *x, const struct rib_input *in, const struct rib_report *report,
	     mono_t now);
/* Sorted by destination; valid until the next run. */
const struct rib_route *rib_routes(const struct rib *x, unsigned *n);
const struct rib_refused *rib_refusals(const struct rib *x, unsigned *n);
/* Is the address reached through one of the routes? */
bool rib_covers(const struct rib *x, const struct ip_addr *ip);

/* --- from wanted routes to steps for the kernel --- */

/* A route that the kernel has, or refused. */
struct rib_installed {
	struct prefix dst;
	struct ip_addr gateway;
	uint32_t metric;
	int error;	 /* 0, or -errno with which the kernel refused it */
	bool gone;	 /* for who keeps the list: to be taken out of it */
	mono_t retry_at; /* of a refused one */
};
int rib_installed_compare(const void *a, const void *b);

enum rib_op {
	RIB_ADD,
	RIB_REPLACE, /* the same destination and metric with another gateway */
	RIB_DELETE,
	RIB_FORGET, /* refused and not wanted any more: the kernel need not know */
};
struct rib_step {
	enum rib_op op;
	struct rib_installed route;
};
/*
 * Up to `max` steps from what is installed (sorted) to what is wanted: first destinations without
 * any wanted route are deleted, then each new route is added before the old one is deleted, so that
 * whoever watches never sees the destination vanish; but where only the distance changes, the old
 * one goes first and the new one is a step of the next plan. Returns their number.
 */
unsigned rib_plan(const struct rib *x, const struct rib_installed *have, unsigned n_have,
		  mono_t now, struct rib_step *step, unsigned max);
