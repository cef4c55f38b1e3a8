// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clocks of nodes relative to this node, from the clocks that each link compares (one_way_clock()).
 * The offset of a node is the sum along the links with the smallest round-trip times. Half of a
 * round trip bounds the error of its link. Pure; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct clock_link {
	node_id_t from, to;
	uint32_t offset_us; /* clock of `to` less clock of `from`, modulo 2^32 */
	uint32_t rtt_us;
};

struct clock_of_node {
	node_id_t node; /* set by the caller */
	bool known;
	uint32_t offset_us; /* clock of the node less the own clock, modulo 2^32 */
	uint32_t error_us;  /* bound: half of the round trips */
};

/* Sets the clocks of the nodes. The node `self` has offset 0, and may be in the list. */
void clocks_solve(const struct clock_link *link, size_t n_links, node_id_t self,
		  struct clock_of_node *node, size_t n_nodes);
