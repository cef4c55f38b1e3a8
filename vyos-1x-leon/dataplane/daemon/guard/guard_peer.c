// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other nodes of the loop guard, see loop_guard.h. Pure; control thread.
 */
#include "daemon/guard/loop_guard.h"

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

static void begin_window(struct guard_peer *p, const struct guard_frame *f)
{
	for (unsigned i = 0; i < array_size(p->seen); i++)
		p->seen[i] = 0;
	p->incarnation = f->incarnation;
	p->top = f->sequence;
}

static void move_window(struct guard_peer *p, uint64_t sequence)
{
	uint64_t n = min_of(sequence - p->top, (uint64_t)GUARD_WINDOW);

	/* Counts n instead of a limit: the sequence number is chosen by the sender, and 0 follows
	 * 2^64 - 1. */
	for (uint64_t s = sequence; n; n--, s--)
		p->seen[s % GUARD_WINDOW / 64] &= ~(1ULL << s % 64);
	p->top = sequence;
}

bool guard_peer_takes(struct guard_peer *p, const struct guard_frame *f, bool in_session,
		      bool is_live)
{
	uint64_t *word = &p->seen[f->sequence % GUARD_WINDOW / 64], bit = 1ULL << f->sequence % 64;
	bool same_run = f->incarnation == p->incarnation, above = f->sequence > p->top;
	bool ahead = same_run && above && f->sequence - p->top > GUARD_STEP;
	bool below = same_run && !above && p->top - f->sequence >= GUARD_WINDOW;
	bool older = below || f->incarnation < p->incarnation;

	if (!in_session && (older || (ahead && is_live)))
		return false;
	if (!same_run || ahead || below)
		begin_window(p, f);
	else if (above)
		move_window(p, f->sequence);
	if (*word & bit)
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
