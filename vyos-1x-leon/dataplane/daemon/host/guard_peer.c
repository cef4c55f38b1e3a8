// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nodes heard by the loop guard, see guard_peer.h. Pure; control thread.
 */
#include "daemon/host/guard_peer.h"

#include "base/defs.h"

unsigned guard_peer_of(struct guard_peer peer[GUARD_PEERS], node_id_t node)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < GUARD_PEERS; i++) {
		const struct guard_peer *p = &peer[i], *o = &peer[oldest];

		if (p->node == node)
			return i;
		if (mono_is_never(p->at) || (!mono_is_never(o->at) && mono_before(p->at, o->at)))
			oldest = i;
	}
	peer[oldest] = (struct guard_peer){ .node = node };
	return oldest;
}

bool guard_peer_takes(struct guard_peer *p, const struct guard_frame *f)
{
	uint64_t *word = &p->seen[f->sequence % GUARD_WINDOW / 64], bit = 1ULL << f->sequence % 64;

	if (f->incarnation < p->incarnation)
		return false;
	if (f->incarnation > p->incarnation) {
		for (unsigned i = 0; i < array_size(p->seen); i++)
			p->seen[i] = 0;
		p->incarnation = f->incarnation;
		p->top = f->sequence;
	}
	if (f->sequence > p->top) {
		uint64_t n = min_of(f->sequence - p->top, (uint64_t)GUARD_WINDOW);

		/* Counts n: a stranger chose the sequence, and behind 2^64 - 1 comes 0. */
		for (uint64_t s = f->sequence; n; n--, s--)
			p->seen[s % GUARD_WINDOW / 64] &= ~(1ULL << s % 64);
		p->top = f->sequence;
	}
	if (p->top - f->sequence >= GUARD_WINDOW || (*word & bit))
		return false;
	*word |= bit;
	return true;
}

bool guard_peer_shares_lan(const struct guard_peer peer[GUARD_PEERS])
{
	for (unsigned i = 0; i < GUARD_PEERS; i++)
		if (peer[i].n_shared)
			return true;
	return false;
}
