// SPDX-License-Identifier: GPL-2.0-or-later
/* Two paths for critical frames. Control thread. */
#include "proto/core.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/view.h"

/* Interval of full evaluations: each costs time in proportion to the square of the members. */
#define LOOK_EVERY_MS 2000
/* Debounce of events: a state must last this long, and each state is reported at most once per
 * interval and node. */
#define NOTIFY_AFTER_MS 10000
#define NOTIFY_EVERY_MS 60000

struct pairs_state {
	bool *no_copies; /* nodes without relaying of copies, by slot */
	uint32_t cap;
	bool any;      /* a policy existed at the last check */
	mono_t looked; /* last evaluation of all nodes */
};

void pairs_init(struct overlay *o)
{
	o->pairs = x_new(struct pairs_state);
}

int64_t overlay_pairs_every_ms(const struct overlay *o)
{
	return overlay_stretch(o, LOOK_EVERY_MS);
}

/* Excludes relays of older versions, which would drop copies. */
static void mark_relays(struct overlay *o, const struct path_params *pp, uint16_t n_slots)
{
	o->pairs->no_copies = x_grow(o->pairs->no_copies, &o->pairs->cap, n_slots, sizeof(bool));
	for (uint16_t i = 0; i < n_slots; i++) {
		const struct node *n = nodedb_at(o->nodes, i);

		o->pairs->no_copies[i] =
			pp->no_relay[i] || !n || !(n->rec.flags & RECORD_TAKES_COPIES);
	}
}

static bool look(struct overlay *o, struct peer *p, const struct path_params *pp, uint16_t n_slots,
		 bool all, mono_t now)
{
	const struct node *n = nodedb_at(o->nodes, p->slot);
	unsigned needs = RECORD_TAKES_COPIES;

	needs |= o->conf->policy.parity ? RECORD_TAKES_PARITY : 0u;
	if (!policy_uses_pairs(&o->conf->policy))
		return pair_end(&p->pair, PAIR_OFF, now);
	if (!n || !n->has_record || (n->rec.flags & needs) != needs)
		return pair_end(&p->pair, PAIR_UNKNOWN, now);
	if (!all && p->pair.state != PAIR_OFF && pair_holds(&p->pair, o->lat, pp))
		return false;
	return pair_run(&p->pair, o->lat, pp, n_slots, p->slot, &p->choice.path, &o->conf->policy,
			now);
}

static bool is_single_path(enum pair_state s)
{
	return s == PAIR_NO_SECOND || s == PAIR_TOO_SLOW || s == PAIR_UNKNOWN;
}

static void notify(struct overlay *o, struct peer *p, mono_t now)
{
	const struct node *n = nodedb_at(o->nodes, p->slot);
	bool once = is_single_path(p->pair.state);
	struct pair_notified *t = &p->pair_notified;

	if (p->pair.state == PAIR_OFF)
		t->once = once;
	if (!n || n->state != NODE_REACHABLE || once == t->once) {
		t->other_since = MONO_NEVER;
		return;
	}
	if (mono_is_never(t->other_since))
		t->other_since = now;
	if (mono_sub_ms(now, t->other_since) < NOTIFY_AFTER_MS ||
	    mono_is_recent(t->at, NOTIFY_EVERY_MS, now))
		return;
	*t = (struct pair_notified){ .once = once, .at = now };
	overlay_emit(o, once ? EV_CRITICAL_SINGLE_PATH : EV_CRITICAL_DUPLICATED, n->id,
		     NODE_ID_NONE, 0, pair_state_text(p->pair.state));
}

bool pairs_run(struct overlay *o, const struct path_params *pp, uint16_t n_slots, mono_t now)
{
	bool all = mono_is_never(o->pairs->looked) ||
		   mono_sub_ms(now, o->pairs->looked) >= overlay_pairs_every_ms(o);
	struct path_params own = *pp;
	bool changed = false;

	if (!policy_uses_pairs(&o->conf->policy) && !o->pairs->any)
		return false;
	if (all)
		o->pairs->looked = now;
	mark_relays(o, pp, n_slots);
	own.no_relay = o->pairs->no_copies;
	for (uint16_t i = SLOT_SELF + 1; i < n_slots; i++) {
		struct peer *p = peer_at(o, i);

		if (!p)
			continue;
		changed |= look(o, p, &own, n_slots, all, now);
		notify(o, p, now);
	}
	o->pairs->any = policy_uses_pairs(&o->conf->policy);
	return changed;
}

mono_t pairs_next(const struct overlay *o)
{
	return policy_uses_pairs(&o->conf->policy)
		       ? mono_add_ms(o->pairs->looked, overlay_stretch(o, LOOK_EVERY_MS))
		       : MONO_NEVER;
}

void pairs_apply_conf(struct overlay *o)
{
	o->pairs->looked = MONO_NEVER;
}

void pairs_free(struct overlay *o)
{
	free(o->pairs->no_copies);
	free(o->pairs);
}
