// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See clocks.h. The algorithm is that of Bellman and Ford: there are few nodes, and no weight is
 * negative.
 */
#include "state/latency/clocks.h"

static struct clock_of_node *find(struct clock_of_node *node, size_t n, node_id_t id)
{
	for (size_t i = 0; i < n; i++)
		if (node[i].node == id)
			return &node[i];
	return NULL;
}

/* Uses the link from a node with a known clock. Returns true if the other clock got better. */
static bool relax(const struct clock_of_node *from, struct clock_of_node *to, uint32_t offset_us,
		  uint32_t rtt_us)
{
	uint64_t error_us = (uint64_t)from->error_us + rtt_us / 2;

	if (!from->known || error_us > UINT32_MAX || (to->known && to->error_us <= error_us))
		return false;
	to->known = true;
	to->offset_us = from->offset_us + offset_us;
	to->error_us = (uint32_t)error_us;
	return true;
}

static bool use(const struct clock_link *l, node_id_t self, struct clock_of_node *node, size_t n)
{
	struct clock_of_node own = { .node = self, .known = true };
	struct clock_of_node *from = find(node, n, l->from), *to = find(node, n, l->to);
	bool better = false;

	if (l->from == self)
		from = &own;
	if (l->to == self)
		to = &own;
	if (!from || !to)
		return false;
	better |= to != &own && relax(from, to, l->offset_us, l->rtt_us);
	better |= from != &own && relax(to, from, 0u - l->offset_us, l->rtt_us);
	return better;
}

void clocks_solve(const struct clock_link *link, size_t n_links, node_id_t self,
		  struct clock_of_node *node, size_t n_nodes)
{
	bool better = true;

	for (size_t i = 0; i < n_nodes; i++)
		node[i] = (struct clock_of_node){ .node = node[i].node,
						  .known = node[i].node == self };
	for (size_t turn = 0; turn <= n_nodes && better; turn++) {
		better = false;
		for (size_t i = 0; i < n_links; i++)
			better |= use(&link[i], self, node, n_nodes);
	}
}
