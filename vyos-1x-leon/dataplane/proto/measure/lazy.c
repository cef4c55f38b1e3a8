// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links with few PINGs. In a large overlay, most links carry no data and are no candidates for a
 * path. Such a link is lazy. Links of the nearest nodes and of some random nodes are not, and find
 * a dead node. Their rows make all other nodes send a PING (rows.c). Called by probe.c; control
 * thread. Protocol 6, decision 081.
 */
#include "proto/measure/measure.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/core.h"

/* PINGs and PONGs of a node with fewer members take less than 20 kB/s. */
#define LAZY_MEMBERS 64u
#define EAGER_LINKS  8u /* nearest nodes, and on average as many random nodes */

static int by_us(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the largest long-term round-trip time among the nearest nodes. */
static int64_t nearest_us(const struct overlay *o)
{
	int64_t *us = x_calloc(o->cap_slots + 1, sizeof(*us)), bound;
	uint32_t n = 0;

	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (p->probe.up)
			us[n++] = p->probe.filter.long_term_us;
	qsort(us, n, sizeof(*us), by_us);
	bound = us[min_of(n, EAGER_LINKS) - (n > 0)];
	free(us);
	return bound;
}

/* Both ends of a link agree. */
static bool is_random_choice(const struct overlay *o, const struct peer *p, uint32_t members)
{
	uint64_t low = min_of(o->self, p->id), high = max_of(o->self, p->id);

	return hash_mix64(low << 32 | high) / EAGER_LINKS < UINT64_MAX / members;
}

static bool is_recent(mono_t now, mono_t since)
{
	return mono_is_recent(since, LAZY_MS, now);
}

/* Returns true if the link has many PINGs for its own sake. The averages of a new link settle
 * first, data may flow again soon, and the loss is an average over answers, not over time. */
static bool is_eager(const struct overlay *o, const struct peer *p, uint32_t members,
		     int64_t near_us, mono_t now)
{
	const struct probing *pr = &p->probe;

	return !pr->up || pr->filter.long_term_us <= near_us || is_recent(now, pr->up_since) ||
	       is_recent(now, pr->used_until) || is_recent(now, pr->missing) ||
	       is_random_choice(o, p, members);
}

static void set_lazy(struct overlay *o, struct peer *p, bool lazy, mono_t now)
{
	bool ends = p->probe.lazy && !lazy;

	p->probe.lazy = lazy;
	if (lazy && !p->probe.misses)
		p->probe.lazy_at = now;
	if (ends)
		schedule_probe(o, p);
}

bool lazy_permitted(const struct overlay *o)
{
	return nodedb_members(o->nodes) > LAZY_MEMBERS;
}

int64_t lazy_idle_ms(const struct overlay *o, const struct peer *p)
{
	int64_t ms = overlay_stretch(o, o->conf->interval_ms);

	return p->probe.lazy ? max_of(ms, (int64_t)LAZY_MS) : ms;
}

void lazy_choose(struct overlay *o, mono_t now)
{
	uint32_t members = nodedb_members(o->nodes);
	bool many = lazy_permitted(o), *eager = x_calloc(o->cap_slots + 1, sizeof(bool));
	int64_t near_us = many ? nearest_us(o) : 0;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		eager[p->slot] |= !many || is_eager(o, p, members, near_us, now);
		/* The first link of a path with relays. */
		if (p->choice.path.n_hops > 1)
			eager[p->choice.path.hop[0]] = true;
	}
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		set_lazy(o, p, !eager[p->slot], now);
	free(eager);
}
