// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See flows.h. A hash table with chains; the keys come from hosts, so the hash is keyed.
 */
#include "state/tables/flows.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

struct entry {
	struct sampled_flow flow; /* packets 0: free */
	struct entry *next;	  /* of the bucket, or of the free entries */
};

struct flows {
	struct hash_key key;
	flow_ended_fn ended;
	void *arg;
	struct entry *free;
	unsigned victim;    /* next entry to end in a full table */
	unsigned expire_at; /* first entry of the next turn */
	struct entry *bucket[FLOWS_MAX];
	struct entry entry[FLOWS_MAX];
};
_Static_assert((FLOWS_MAX & (FLOWS_MAX - 1)) == 0, "a power of two");

struct flows *flows_new(const struct hash_key *key, flow_ended_fn fn, void *arg)
{
	struct flows *t = x_new(struct flows);

	t->key = *key;
	t->ended = fn;
	t->arg = arg;
	for (unsigned i = FLOWS_MAX; i-- > 0;) {
		t->entry[i].next = t->free;
		t->free = &t->entry[i];
	}
	return t;
}

void flows_free(struct flows *t)
{
	free(t);
}

/* Returns the pointer to the entry of the key, or to the end of its chain. */
static struct entry **find(struct flows *t, const struct flow_key *k)
{
	struct entry **e = &t->bucket[siphash(&t->key, k, sizeof(*k)) % FLOWS_MAX];

	while (*e && memcmp(&(*e)->flow.key, k, sizeof(*k)) != 0)
		e = &(*e)->next;
	return e;
}

static void end_flow(struct flows *t, struct entry *e, enum flow_end why)
{
	struct entry **at = find(t, &e->flow.key);

	t->ended(t->arg, &e->flow, why);
	*at = e->next;
	e->flow.packets = 0;
	e->next = t->free;
	t->free = e;
}

void flows_add(struct flows *t, const struct sampled_flow *sample)
{
	struct entry **at, *e;

	if (!t->free && !*find(t, &sample->key)) {
		end_flow(t, &t->entry[t->victim], FLOW_NO_ROOM);
		t->victim = (t->victim + 1) % FLOWS_MAX;
	}
	at = find(t, &sample->key);
	if (*at) {
		e = *at;
		e->flow.packets += sample->packets;
		e->flow.octets += sample->octets;
		e->flow.last = sample->last;
		return;
	}
	e = t->free;
	t->free = e->next;
	*e = (struct entry){ .flow = *sample };
	*at = e;
}

void flows_expire(struct flows *t, mono_t now)
{
	unsigned until = min_of(t->expire_at + FLOWS_MAX / FLOWS_TURNS + 1, (unsigned)FLOWS_MAX);

	for (unsigned i = t->expire_at; i < until; i++) {
		struct entry *e = &t->entry[i];

		if (!e->flow.packets)
			continue;
		if (mono_sub_ms(now, e->flow.last) >= FLOWS_IDLE_MS)
			end_flow(t, e, FLOW_IDLE);
		else if (mono_sub_ms(now, e->flow.first) >= FLOWS_ACTIVE_MS)
			end_flow(t, e, FLOW_ACTIVE);
	}
	t->expire_at = until % FLOWS_MAX;
}

void flows_end_all(struct flows *t)
{
	for (unsigned i = 0; i < FLOWS_MAX; i++)
		if (t->entry[i].flow.packets)
			end_flow(t, &t->entry[i], FLOW_FORCED);
}
