// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lowest-cost paths: Dijkstra over (node, relays used so far), so that the bound on relays is
 * exact, dense and without a heap. Pure function of the database. Control thread.
 * Paper section 4.2; design.md section 4 "Metric"; protocol section 6.
 *
 * Cost of a link, in microseconds:
 *   rtt + variation / 4 + loss term, where loss term = loss / (1 - loss) * 200 ms
 *   (what a TCP sender waits at least for a lost segment, RFC 6298 and Linux's RTO minimum);
 * its lasting cost is the same of its round-trip time in the long run (decision 023);
 * where the two ends of a link contradict each other, of the larger round-trip time (decision 011);
 * a path costs the sum of its links + relay_cost for each relay.
 *
 * A link between two other nodes exists only where the rows of both ends have it up, and something
 * was received from both lately: what one end alone reports may be a lie, and the last row of a
 * node that died has it up for ever (decision 020; OSPF checks the same, RFC 2328 section 16.1,
 * step 2b). Of this node's own links its own measurement is taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "state/latdb.h"
#include "wire/leon.h"

#define COST_INFINITE UINT32_MAX

struct path {
	uint8_t n_hops;		     /* 0: no path */
	uint16_t hop[LEON_HOPS_MAX]; /* slots, destination last */
	uint32_t cost_us;
	uint32_t lasting_us;	 /* the cost in the long run */
	uint32_t noise_us;	 /* sum of the links' variations */
	uint32_t rtt_us;	 /* sum of the links' RTTs now */
	uint32_t lasting_rtt_us; /* and in the long run: no price of loss in it, no relay's cost */
	uint16_t mtu;		 /* smallest link MTU on it, 0 unknown */
	uint16_t loss_pm;	 /* of the links together, 1/1000 */
	bool silent;		 /* a link on it is silent (struct lat_entry) */
};

struct path_params {
	uint32_t maximum_relays; /* 0..LEON_HOPS_MAX-1 */
	uint32_t relay_cost_us;
	/* Slots that must not relay (transit disabled, unreachable); by slot; NULL: none. */
	const bool *no_relay;
	/* Slots of nodes of which nothing came lately, so their rows prove nothing; NULL: none. */
	const bool *unheard;
	/* Links reported broken by a notice; NULL: none. */
	bool (*link_broken)(void *arg, uint16_t from, uint16_t to);
	void *arg;
	bool by_lasting; /* path_compute(): the cheapest in the long run */
};

/* Cost of one link now, COST_INFINITE where it is down. */
uint32_t link_cost(const struct lat_entry *e);
/* The part of either cost that its variation makes up. */
uint32_t link_variation_cost(const struct lat_entry *e);
/* Is there a link from -> to, by the rows of both ends? */
bool path_link_exists(const struct latdb *db, const struct path_params *pp, uint16_t from,
		      uint16_t to);
/* Cost, RTT and MTU of a given list of hops under the database now; cost
 * COST_INFINITE where broken. */
void path_evaluate(const struct latdb *db, const struct path_params *pp, uint16_t from,
		   struct path *p);
/* Fills out[0..n_slots) with the best path from `from` to each slot (n_hops 0: none). */
void path_compute(const struct latdb *db, const struct path_params *pp, uint16_t from,
		  uint16_t n_slots, struct path *out);
/* There is one, and all its links work. */
static inline bool path_works(const struct path *p)
{
	return p->n_hops && p->cost_us != COST_INFINITE;
}
bool path_same(const struct path *a, const struct path *b); /* same hops */
