// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which routes the kernel should have: a host route for the overlay address of each reachable node
 * and routes for the prefixes that nodes announce, with the latency of the path as metric. Decides
 * what is accepted, who wins where several announce the same, and when a metric moves. Pure: it
 * gets members, addresses and `now`, and says what it wants;
 * daemon/host/kernel_routes.c makes it so.
 * Control thread. doc/decisions/009-routes.md has the reasons.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/conf.h"

#define EXPORT_ROUTES_MAX 16384
/* FRR takes the highest 8 bits of a kernel metric for the administrative distance. */
#define EXPORT_METRIC_MAX     0xffffffu
#define EXPORT_DISTANCE_SHIFT 24

/* A member other than this node. */
struct export_node {
	uint16_t slot;
	node_id_t id;
	uint32_t latency_us;	      /* smoothed, of the path in use */
	const struct msg_record *rec; /* of a reachable node only */
};

struct export_input {
	const struct conf *conf;
	unsigned n_nodes, n_own, n_connected, n_underlay;
	const struct export_node *node; /* reachable ones; none while routes must not exist */
	const struct ip_addr *own;	/* addresses of this host, sorted */
	const struct prefix *connected; /* networks on its other interfaces */
	const struct ip_addr *underlay; /* where nodes and peers are reached, sorted */
};

struct export_route {
	struct prefix dst;
	bool is_prefix;		/* announced as a prefix; false: an overlay address */
	struct ip_addr gateway; /* family 0: on the link */
	node_id_t node;
	uint32_t metric;
	uint8_t distance; /* of a prefix: that of `import`; 0: as routes of the kernel have */
	mono_t since;	  /* through this node */
};
static inline uint32_t export_kernel_metric(const struct export_route *r)
{
	return (uint32_t)r->distance << EXPORT_DISTANCE_SHIFT | r->metric;
}

/* Why something announced is not used. */
enum export_refusal {
	EXPORT_NOT_ACCEPTED, /* no rule of `import` allows it */
	EXPORT_FARTHER,	     /* another node announces the same prefix and is nearer */
	EXPORT_UNUSABLE,     /* loopback, link-local or multicast */
	EXPORT_OWN,	     /* an address or an announced prefix of this node */
	EXPORT_UNDERLAY,     /* would lead the underlay into the overlay */
	EXPORT_CONNECTED,    /* inside a network of another interface */
	EXPORT_CONFLICT,     /* another node announces the same address */
	EXPORT_NO_GATEWAY,   /* its node has no usable overlay address of that family */
	EXPORT_LIMIT,	     /* more than EXPORT_ROUTES_MAX */
};
const char *export_refusal_name(enum export_refusal r); /* "not-accepted" ... */
const char *export_refusal_text(enum export_refusal r); /* half a sentence */
/* True where an operator should look at it; false where a rule asks for it. */
bool export_refusal_is_trouble(enum export_refusal r);

struct export_refused {
	struct prefix dst;
	bool is_prefix;
	node_id_t node;
	enum export_refusal why;
};

enum export_news {
	EXPORT_ADDED,
	EXPORT_MOVED, /* through another node, or another gateway */
	EXPORT_METRIC,
	EXPORT_WITHDRAWN,
	N_EXPORT_NEWS,
};
/* `before` is NULL where it is new, `now` where it is gone. */
typedef void (*export_news_fn)(void *arg, enum export_news news, const struct export_route *before,
			       const struct export_route *now);
/* A refusal that is new. */
typedef void (*export_refused_fn)(void *arg, const struct export_refused *refused);

struct export_report {
	export_news_fn news;
	export_refused_fn refused;
	void *arg;
};

struct export;
struct export *export_new(void);
void export_free(struct export *x); /* NULL ok */
/* Decides anew. Call when something changed and a few times a second. */
void export_run(struct export *x, const struct export_input *in, const struct export_report *report,
		mono_t now);
/* Sorted by destination; valid until the next run. */
const struct export_route *export_routes(const struct export *x, unsigned *n);
const struct export_refused *export_refusals(const struct export *x, unsigned *n);
/* Is the address reached through one of the routes? */
bool export_covers(const struct export *x, const struct ip_addr *ip);

/* --- from wanted routes to steps for the kernel --- */

/* A route that the kernel has, or refused. */
struct export_installed {
	struct prefix dst;
	struct ip_addr gateway;
	uint32_t metric;
	int error;	 /* 0, or -errno with which the kernel refused it */
	bool gone;	 /* for who keeps the list: to be taken out of it */
	mono_t retry_at; /* of a refused one */
};
int export_installed_compare(const void *a, const void *b);

enum export_op {
	EXPORT_ADD,
	EXPORT_REPLACE, /* the same destination and metric with another gateway */
	EXPORT_DELETE,
	EXPORT_FORGET, /* refused and not wanted any more: the kernel need not know */
};
struct export_step {
	enum export_op op;
	struct export_installed route;
};
/*
 * Up to `max` steps from what is installed (sorted) to what is wanted: first destinations without
 * any wanted route are deleted, then each new route is added before the old one is deleted, so that
 * whoever watches never sees the destination vanish; but where only the distance changes, the old
 * one goes first and the new one is a step of the next plan. Returns their number.
 */
unsigned export_plan(const struct export *x, const struct export_installed *have, unsigned n_have,
		     mono_t now, struct export_step *step, unsigned max);
