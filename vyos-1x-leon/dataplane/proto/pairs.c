// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two paths for critical frames, see pairs.h. Control thread.
 */
#include "proto/pairs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/peer.h"
#include "proto/service.h"

/* A look costs time in proportion to the members for each of them. */
#define LOOK_EVERY_MS 2000

/* Relays that know copies: an older version would drop them. */
static void mark_relays(struct overlay *o, const struct path_params *pp, uint16_t n_slots)
{
	if (n_slots > o->pairs.cap) {
		o->pairs.cap = (n_slots / 16u + 1) * 16;
		o->pairs.no_copies = x_realloc(o->pairs.no_copies, o->pairs.cap, sizeof(bool));
	}
	for (uint16_t i = 0; i < n_slots; i++) {
		const struct node *n = nodedb_at(o->nodes, i);

		o->pairs.no_copies[i] =
			pp->no_relay[i] || !n || !(n->rec.flags & RECORD_TAKES_COPIES);
	}
}

static bool look(struct overlay *o, struct peer *p, const struct path_params *pp, uint16_t n_slots,
		 bool all, mono_t now)
{
	const struct node *n = nodedb_at(o->nodes, p->slot);

	if (!o->conf->policy.duplicate)
		return pair_end(&p->pair, PAIR_OFF);
	if (!n || !n->has_record || !(n->rec.flags & RECORD_TAKES_COPIES))
		return pair_end(&p->pair, PAIR_UNKNOWN);
	if (!all && p->pair.state != PAIR_OFF && pair_holds(&p->pair, o->lat, pp))
		return false;
	return pair_run(&p->pair, o->lat, pp, n_slots, p->slot, &p->choice.path, &o->conf->policy,
			now);
}

bool pairs_run(struct overlay *o, const struct path_params *pp, uint16_t n_slots, mono_t now)
{
	bool all = mono_is_never(o->pairs.looked) ||
		   mono_sub_ms(now, o->pairs.looked) >= overlay_stretch(o, LOOK_EVERY_MS);
	struct path_params own = *pp;
	bool changed = false;

	if (!o->conf->policy.duplicate && !o->pairs.any)
		return false;
	if (all)
		o->pairs.looked = now;
	mark_relays(o, pp, n_slots);
	own.no_relay = o->pairs.no_copies;
	for (uint16_t i = SLOT_SELF + 1; i < n_slots; i++) {
		struct peer *p = peer_at(o, i);

		if (p)
			changed |= look(o, p, &own, n_slots, all, now);
	}
	o->pairs.any = o->conf->policy.duplicate;
	return changed;
}

void pairs_apply_conf(struct overlay *o)
{
	o->pairs.looked = MONO_NEVER;
}

void pairs_free(struct overlay *o)
{
	free(o->pairs.no_copies);
}
