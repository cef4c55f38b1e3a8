// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: head-end replication, see flood.h. Workers.
 */
#include "fwd/flood.h"

#include "fwd/critical.h"
#include "fwd/worker.h"

#define MAC_BROADCAST 0xffffffffffffULL

static bool rate_allows(struct worker *w, const struct frame *f)
{
	static const enum drop_reason reason[N_STORM] = { [STORM_BROADCAST] = DROP_storm_broadcast,
							  [STORM_MULTICAST] = DROP_storm_multicast,
							  [STORM_UNKNOWN] = DROP_storm_unknown };
	const struct snap *s = w->snap;
	enum storm_kind kind = STORM_UNKNOWN;
	uint32_t rate = s->storm_unknown;

	if (mac_to_u64(f->v.dst) == MAC_BROADCAST) {
		kind = STORM_BROADCAST;
		rate = s->storm_broadcast;
	} else if (mac_is_multicast(f->v.dst)) {
		kind = STORM_MULTICAST;
		rate = s->storm_multicast;
	}
	if (storm_pass(&w->storm[kind], rate, w->fwd->n_workers, w->now))
		return true;
	drop(w, reason[kind]);
	return false;
}

/* No path leads to any node; where the frame is for a host behind one that is known,
 * this says so. */
static enum drop_reason nobody(const struct snap *s, const struct frame *f)
{
	bool known =
		!mac_is_multicast(f->v.dst) && fdb_lookup(s->fdb, f->v.vlan, f->v.dst) != SLOT_NONE;

	return known ? DROP_no_path : DROP_no_nodes;
}

void flood(struct worker *w, struct frame *f)
{
	const struct snap *s = w->snap;

	if (!s->n_flood) {
		drop(w, nobody(s, f));
		return;
	}
	if (!rate_allows(w, f))
		return;
	if (!mac_is_multicast(f->v.dst))
		count(w, CNT_unknown_tx, 1);
	for (uint16_t i = 0; i < s->n_flood; i++)
		critical_or_not(w, f, s->flood[i], true, i + 1 == s->n_flood);
}
