// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other nodes of the loop guard, see loop_guard.h and guard_parts.h. Pure; control thread.
 */
#include <string.h>

#include "base/defs.h"
#include "daemon/guard/guard_parts.h"

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

/* --- nodes received in a VLAN --- */

struct guard_peer *guard_neighbor_peer(struct guard *g, const struct guard_neighbor *h)
{
	struct guard_peer *p = &g->peer[h->peer];

	return p->node == h->node ? p : NULL;
}

void guard_neighbor_remove(struct guard_vlan *v, unsigned i)
{
	memmove(&v->received[i], &v->received[i + 1],
		(--v->n_received - i) * sizeof(v->received[0]));
}

unsigned guard_neighbor_find(const struct guard_vlan *v, node_id_t node)
{
	unsigned i = 0;

	while (i < v->n_received && v->received[i].node != node)
		i++;
	return i;
}

/* A node without a session has the last places, because its node-id may be forged. */
static bool precedes(const struct guard_neighbor *a, const struct guard_neighbor *b)
{
	return a->in_session != b->in_session ? a->in_session : guard_outranks(&a->rank, &b->rank);
}

bool guard_neighbor_insert(struct guard_vlan *v, const struct guard_neighbor *h)
{
	unsigned i = 0;

	while (i < v->n_received && precedes(&v->received[i], h))
		i++;
	if (i == GUARD_RECEIVED_MAX)
		return false;
	if (v->n_received == GUARD_RECEIVED_MAX)
		v->n_received--;
	memmove(&v->received[i + 1], &v->received[i], (v->n_received - i) * sizeof(v->received[0]));
	v->n_received++;
	v->received[i] = *h;
	return true;
}

bool guard_neighbor_is_overtaken(const struct guard_neighbor *h, const struct guard_frame *f)
{
	return h->incarnation == f->incarnation && h->sequence > f->sequence &&
	       h->sequence - f->sequence < GUARD_WINDOW;
}

void guard_count_shared(struct guard *g)
{
	for (unsigned i = 0; i < GUARD_PEERS; i++)
		g->peer[i].n_shared = g->peer[i].n_mutual = 0;
	for (unsigned i = 0; i < g->n_used; i++) {
		const struct guard_vlan *v = g->vlan[g->used[i]];

		for (unsigned k = 0; k < v->n_received; k++) {
			struct guard_peer *p = guard_neighbor_peer(g, &v->received[k]);

			if (!p)
				continue;
			p->n_shared++;
			p->n_mutual += v->received[k].hears_us;
		}
	}
}

void guard_find_silent(struct guard *g)
{
	for (unsigned i = 0; i < GUARD_PEERS; i++) {
		struct guard_peer *p = &g->peer[i];
		int64_t silence_ns = mono_sub_ns(g->effective, p->at);

		if (p->silent || !p->n_mutual ||
		    silence_ns <= GUARD_FAST_MISSED * GUARD_FAST_MS * NS_PER_MS)
			continue;
		p->silent = true;
		g->n_silenced++;
	}
}
