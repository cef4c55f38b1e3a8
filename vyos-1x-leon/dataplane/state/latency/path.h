// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lowest-cost paths: Dijkstra over (node, relays used so far), so that the bound on relays is
 * exact, dense and without a heap. Pure function of the database. Control thread. Paper section
 * 4.2; design.md section 4 "Metric"; protocol section 6.
 *
 * Cost of a link in microseconds: rtt + variation / 4 + loss term. The loss term is loss / (1 -
 * loss) * 200 ms; 200 ms is the minimum retransmission time-out of Linux TCP (RFC 6298). The
 * long-term cost uses the long-term round-trip time (decision 023). If the reports of the two ends
 * contradict each other, the larger round-trip time counts (decision 020). The cost of a path is
 * the sum of its links plus relay_cost for each relay.
 *
 * A link between two other nodes exists only if the rows of both ends report the link up, and both
 * nodes sent messages recently. A single end may lie, and the last row of a dead node reports the
 * link up for ever. Decision 020 has the reasons; OSPF makes the same check (RFC 2328 section 16.1,
 * step 2b). For own links a node uses own measurements.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/latency/latdb.h"
#include "wire/datagram/leon.h"

#define COST_INFINITE UINT32_MAX

struct path {
	uint8_t n_hops;		     /* 0: no path */
	uint16_t hop[LEON_HOPS_MAX]; /* slots, destination last */
	uint32_t cost_us;
	uint32_t long_term_us; /* long-term cost */
	uint32_t noise_us;     /* sum of the variations of the links */
	uint32_t rtt_us;       /* sum of the short-term RTTs */
	uint32_t
		/* sum of the long-term RTTs, without loss terms and relay costs */
		long_term_rtt_us;
	uint16_t mtu;	  /* minimum of the link MTUs; 0 unknown */
	uint16_t loss_pm; /* combined loss of the links, 1/1000 */
	bool silent;	  /* at least one link is unresponsive (struct lat_entry) */
};

struct path_params {
	uint32_t maximum_relays; /* 0..LEON_HOPS_MAX-1 */
	uint32_t relay_cost_us;
	/* Nodes that must not relay (transit disabled, unreachable), indexed by slot; NULL:
	 * none. */
	const bool *no_relay;
	/* Nodes not received from recently, so that their rows do not count; NULL: none. */
	const bool *unreceived;
	/* Links reported broken by a path error; NULL: none. */
	bool (*link_broken)(void *arg, uint16_t from, uint16_t to);
	void *arg;
	bool by_long_term; /* path_compute() minimises the long-term cost */
};

/* Short-term cost of a link; down: COST_INFINITE. */
uint32_t link_cost(const struct lat_entry *e);
/* The share of the variation in either cost. */
uint32_t link_variation_cost(const struct lat_entry *e);
/* The link from -> to as paths use it, by the reports of both ends. */
struct lat_entry path_link(const struct latdb *db, const struct path_params *pp, uint16_t from,
			   uint16_t to);
/* Returns true if a path error reported the link as broken. */
bool path_link_broken(const struct path_params *pp, uint16_t from, uint16_t to);
/* Evaluates a given list of hops: cost, RTT and MTU; cost COST_INFINITE if it is broken. */
void path_evaluate(const struct latdb *db, const struct path_params *pp, uint16_t from,
		   struct path *p);
/* Computes the best path from `from` to each slot into out[0..n_slots); n_hops 0: none. */
void path_compute(const struct latdb *db, const struct path_params *pp, uint16_t from,
		  uint16_t n_slots, struct path *out);
/* Returns true if the path exists and all links work. */
static inline bool path_works(const struct path *p)
{
	return p->n_hops && p->cost_us != COST_INFINITE;
}
bool path_same(const struct path *a, const struct path *b); /* same hops */
