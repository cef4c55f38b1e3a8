// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The routing information base: the routes that the kernel should have. A host route for the
 * overlay address of each reachable node, and routes for announced prefixes, with the path latency
 * as metric. Decides acceptance, the winner among equal announcements, and metric changes. Pure: it
 * receives members, addresses and `now`; daemon/routes/kernel_routes.c changes the kernel. Control
 * thread. doc/decisions/009-routes.md has the reasons.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/conf/conf.h"

#define RIB_ROUTES_MAX 16384
/* FRR uses the highest 8 bits of a kernel metric as administrative distance. */
#define RIB_METRIC_MAX	   0xffffffu
#define RIB_DISTANCE_SHIFT 24

/* A member other than this node. */
struct rib_node {
	uint16_t slot;
	node_id_t id;
	uint32_t latency_us;		 /* smoothed latency of the path in use */
	const struct msg_record *rec;	 /* record of a reachable node */
	struct ip_addr line[LINE_PAIRS]; /* sources of its PINGs by pair of lines, or family 0 */
};

struct rib_input {
	const struct conf *conf;
	unsigned n_nodes, n_own, n_connected, n_underlay, n_tcp;
	const struct rib_node *node;	/* reachable nodes; none while routes must not exist */
	const struct ip_addr *own;	/* addresses of this host, sorted */
	const struct prefix *connected; /* networks of this host's other interfaces */
	const struct ip_addr *underlay; /* underlay addresses of nodes and peers, sorted */
	const struct ip_addr *tcp;	/* far ends of TCP connections, sorted */
};

struct rib_route {
	struct prefix dst;
	bool is_prefix;		/* announced as a prefix; false: overlay address */
	struct ip_addr gateway; /* family 0: on-link */
	node_id_t node;
	uint32_t metric;
	uint8_t distance; /* distance of a prefix by `import`; 0: default of kernel routes */
	mono_t since;	  /* time since the route uses this node */
};
static inline uint32_t rib_kernel_metric(const struct rib_route *r)
{
	return (uint32_t)r->distance << RIB_DISTANCE_SHIFT | r->metric;
}

/* Reason why an announcement is not used. */
enum rib_refusal {
	RIB_NOT_ACCEPTED, /* no rule of `import` permits it */
	RIB_FARTHER,	  /* another node announces the prefix and is nearer */
	RIB_UNUSABLE,	  /* loopback, link-local or multicast */
	RIB_OWN,	  /* an address or an announced prefix of this node */
	RIB_UNDERLAY,	  /* the route would send underlay traffic into the overlay */
	RIB_CONNECTED,	  /* inside a network of another interface of this host */
	RIB_CONFLICT,	  /* another node announces the same address */
	RIB_NO_GATEWAY,	  /* its node has no usable overlay address of this family */
	RIB_LIMIT,	  /* more than RIB_ROUTES_MAX */
};
/* By enum rib_refusal: "not-accepted" ..., and a clause for people. */
extern const struct rib_refusal_text {
	const char *name, *text;
} rib_refusal_texts[];
/* Returns true if an operator should act; false if a rule demands the refusal. */
bool rib_refusal_is_trouble(enum rib_refusal r);

struct rib_refused {
	struct prefix dst;
	bool is_prefix;
	node_id_t node;
	enum rib_refusal why;
};

enum rib_change {
	RIB_ADDED,
	RIB_MOVED, /* moved to another node or gateway */
	RIB_METRIC,
	RIB_WITHDRAWN,
	N_RIB_CHANGES,
};
/* `before` is NULL for a new route, `now` for a removed one. */
typedef void (*rib_change_fn)(void *arg, enum rib_change change, const struct rib_route *before,
			      const struct rib_route *now);
/* Reports a new refusal. */
typedef void (*rib_refused_fn)(void *arg, const struct rib_refused *refused);

struct rib_report {
	rib_change_fn change;
	rib_refused_fn refused;
	void *arg;
};

struct rib;
struct rib *rib_new(void);
void rib_free(struct rib *x); /* NULL ok */
/* Runs the planner. Called after changes and a few times a second. */
void rib_run(struct rib *x, const struct rib_input *in, const struct rib_report *report,
	     mono_t now);
/* Routes sorted by destination; valid until the next run. */
const struct rib_route *rib_routes(const struct rib *x, unsigned *n);
const struct rib_refused *rib_refusals(const struct rib *x, unsigned *n);
/* Returns true if one of the routes covers the address. */
bool rib_covers(const struct rib *x, const struct ip_addr *ip);

/* --- plan: changes of the kernel's routes --- */

/* A route installed in the kernel, or refused by it. */
struct rib_installed {
	struct prefix dst;
	struct ip_addr gateway;
	uint32_t metric;
	int error;	 /* 0, or the kernel's -errno */
	bool gone;	 /* the owner of the list removes it */
	mono_t retry_at; /* next attempt after a refusal */
};
int rib_installed_compare(const void *a, const void *b);

enum rib_op {
	RIB_ADD,
	RIB_REPLACE, /* changes the gateway of this destination and metric */
	RIB_DELETE,
	RIB_FORGET, /* refused and no longer wanted; no kernel request needed */
};
struct rib_step {
	enum rib_op op;
	struct rib_installed route;
};
/*
 * Plans up to `max` steps from the installed routes (sorted) to the wanted ones. First the plan
 * deletes destinations without a wanted route. Then the plan adds each new route before the
 * deletion of the old route (make before break). If only the distance changes, the old route is
 * deleted first and the next plan adds the new one. Returns the number of steps.
 */
unsigned rib_plan(const struct rib *x, const struct rib_installed *have, unsigned n_have,
		  mono_t now, struct rib_step *step, unsigned max);

/* --- rib_rules.c ---
 * Rules for announced addresses and prefixes: import rules, own addresses, addresses of the
 * underlay. Called by rib.c. Pure; control thread.
 */

/* Checks an address of a node as next-hop: with a route of its own, or as gateway. Sets *why on a
 * refusal, as the other functions do. */
bool rib_address_is_safe(const struct rib_input *in, const struct ip_addr *ip,
			 const struct rib_node *n, enum rib_refusal *why);
/* Checks the import rules. A configured list is used as it is. Without a list only private networks
 * are accepted, and none that this host is connected to. */
bool rib_address_is_accepted(const struct rib_input *in, const struct ip_addr *ip,
			     const struct rib_node *n, enum rib_refusal *why);
bool rib_prefix_is_usable(const struct rib_input *in, const struct prefix *p,
			  const struct rib_node *n, enum rib_refusal *why);
