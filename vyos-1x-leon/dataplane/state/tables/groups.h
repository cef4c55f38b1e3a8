// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast groups with listeners on the LAN of this node, from the messages of hosts and routers
 * (decisions/077). Each VLAN has a domain for IPv4 and one for IPv6. Only domains with known
 * listeners are announced; the node receives all groups of other domains. Control thread; no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "state/tables/segments.h"

/* Limits of groups. Above them a domain is full: it receives all groups. */
#define GROUPS_PER_DOMAIN 256
#define GROUPS_MAX	  1024

/* RFC 3376 section 8.4, RFC 3810 section 9.4: the group membership interval with default values:
 * robustness 2, query interval 125 s, response time 10 s. */
#define GROUPS_LIFETIME_MS 260000u
/* The longest interval that a query can state: a forged query may state days. */
#define GROUPS_LIFETIME_MOST_MS 1800000u
/* General queries after which the listeners of a domain are known: the robustness variable, because
 * one report may be lost (RFC 3376 section 8.1). */
#define GROUPS_QUERIES 2
/* Added to a maximum response time: for queueing, and for the interval of groups_expire(). */
#define GROUPS_MARGIN_MS 1000
/* A worker reports equal joins once in REPORT_HOLD_NS, so the answer to a query this soon after a
 * join may be missing. A querier without an answer sends its query again after a second. */
#define GROUPS_HOLD_MS 500

enum groups_state {
	GROUPS_NO_QUERIER, /* no router queries the hosts, so listeners would expire unnoticed */
	GROUPS_LEARNING,   /* the hosts have not answered enough queries yet */
	GROUPS_KNOWN,
	GROUPS_ROUTER, /* a multicast router on the LAN receives all groups */
	GROUPS_FULL,   /* more groups than the limits permit */
};
const char *groups_state_name(enum groups_state s);

struct groups;
struct groups *groups_new(void);
void groups_free(struct groups *g); /* NULL ok */

struct groups_query {
	struct ip_addr source;
	struct ip_addr group; /* family 0: general query */
	bool keeps_timer;
	bool on_lan;			   /* from the LAN of this node, so a router is there */
	uint32_t response_ms, lifetime_ms; /* lifetime 0: not stated */
};
void groups_query(struct groups *g, uint16_t vlan, uint8_t family, const struct groups_query *q,
		  mono_t now);
/* A multicast router has sent a message other than a query. */
void groups_router(struct groups *g, uint16_t vlan, const struct ip_addr *source, bool on_lan,
		   mono_t now);
/* A host on the LAN of this node listens. */
void groups_join(struct groups *g, uint16_t vlan, const struct ip_addr *group, mono_t now);
/* A host on the LAN of this node has left the group. */
void groups_left(struct groups *g, uint16_t vlan, const struct ip_addr *group, mono_t now);
/* The querier of this node. Returns true if the caller must send a general query now. The querier
 * is silent while another querier is active, and counts its own queries as queries. */
bool groups_query_due(struct groups *g, uint16_t vlan, uint8_t family, mono_t now);
/* The next general query of this node is due. The first two keep their distance, because they count
 * only apart. */
void groups_query_soon(struct groups *g);
/* Calls fn for each group that hosts left and that the querier of this node must query now. Called
 * each second. */
typedef void (*groups_ask_fn)(void *arg, uint16_t vlan, const struct ip_addr *group);
void groups_ask(struct groups *g, mono_t now, groups_ask_fn fn, void *arg);
/* Reports may be missing, or hosts may have moved. The domains of these VLANs (NULL: of all) are
 * not known until the hosts have answered again. */
void groups_relearn(struct groups *g, const struct vlan_set *vlans);
/* Called each second. */
void groups_expire(struct groups *g, mono_t now);

/* Writes the announcement of this node: entries of state/tables/listeners.h. A domain that does not
 * fit is left out. Returns the number of entries. */
unsigned groups_announced(const struct groups *g, const struct segments *map, mono_t now,
			  uint64_t *out, unsigned max);

/* --- queries --- */
struct group {
	struct ip_addr ip;
	mono_t until, joined; /* joined: time of the last report */
	uint8_t n_asks;	      /* queries for the group that the querier of this node still sends */
};
struct groups_domain {
	uint16_t vlan;
	uint8_t family;
	uint8_t n_queries; /* general queries with answers, up to GROUPS_QUERIES */
	mono_t answered;   /* end of the response time of the last counted query */
	mono_t querier_until, router_until, full_until; /* never: none */
	struct ip_addr querier;				/* source of the last general query */
	struct ip_addr router; /* source of the last message of a router on the LAN */
	uint32_t lifetime_ms;  /* group membership interval */
	mono_t other_until;    /* another querier is active */
	mono_t own_next;       /* next general query of this node; never: at once */
	uint8_t n_own;	       /* its general queries so far, up to GROUPS_QUERIES */
	uint32_t n, capacity;
	struct group *group; /* sorted by address */
};
enum groups_state groups_state(const struct groups_domain *d, mono_t now);
/* Iterates the domains by VLAN and family; *iter starts at 0. NULL at the end. */
const struct groups_domain *groups_next(const struct groups *g, uint32_t *iter);
