// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The nodes received in a VLAN, see guard_parts.h. Pure; control thread.
 */
#include "daemon/guard/guard_parts.h"

#include <string.h>

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
