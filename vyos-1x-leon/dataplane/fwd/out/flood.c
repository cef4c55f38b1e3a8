// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: head-end replication, a copy to every reachable node along the best path (paper section
 * 4.3). Workers.
 */
#include "fwd/out/from_tap.h"

#include "fwd/send/send_steps.h"
#include "fwd/worker.h"
#include "state/tables/listeners.h"
#include "wire/frame/mcast.h"

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
	return drop(w, reason[kind]);
}

static bool vlan_allows(struct worker *w, struct vlan_flood *vlan)
{
	if (storm_pass(&vlan->storm, w->snap->storm_per_vlan, w->fwd->n_workers, w->now))
		return true;
	stats_add(&vlan->limited, 1);
	return drop(w, DROP_storm_vlan);
}

/* No node has a path. If the destination host is behind a known node, the counter says so. */
static enum drop_reason nobody(const struct snap *s, const struct frame *f)
{
	bool known =
		!mac_is_multicast(f->v.dst) && fdb_lookup(s->fdb, f->v.vlan, f->v.dst) != SLOT_NONE;

	return known ? DROP_no_path : DROP_no_nodes;
}

/* Sends a copy to each node that serves the VLAN. Returns the number. */
static unsigned flood_to_members(struct worker *w, struct frame *f)
{
	const struct snap_members *m = w->snap->members;
	uint16_t slot = snap_flood_next(m, f->v.vlan, 0);
	unsigned sent = 0;

	for (uint16_t next; slot != SLOT_NONE; slot = next, sent++) {
		next = snap_flood_next(m, f->v.vlan, slot + 1u);
		send_unicast(w, f, slot, true, next == SLOT_NONE);
	}
	return sent;
}

static unsigned flood_to_all(struct worker *w, struct frame *f)
{
	const struct snap *s = w->snap;

	for (uint16_t i = 0; i < s->n_flood; i++)
		send_unicast(w, f, s->flood[i], true, i + 1 == s->n_flood);
	return s->n_flood;
}

/* Sets the group of a frame that only nodes with listeners receive. */
static bool is_limited(const struct worker *w, const struct frame *f, uint64_t *wanted)
{
	const struct snap *s = w->snap;
	uint32_t group;
	uint8_t family;

	if (!s->listeners)
		return false;
	family = mcast_group_of(f->data, f->len, &f->v, &group);
	*wanted = listener_entry(segments_id(s->segments, f->v.vlan), family, group);
	return family != 0;
}

/* Returns the index in snap.flood of the next node that receives the group, or n_flood. */
static uint16_t next_listener(const struct snap *s, uint16_t vlan, uint64_t wanted, uint16_t i)
{
	for (; i < s->n_flood; i++)
		if ((!s->members ||
		     snap_flood_next(s->members, vlan, s->flood[i]) == s->flood[i]) &&
		    listeners_want(s->listeners, s->flood[i], wanted))
			break;
	return i;
}

static void flood_to_listeners(struct worker *w, struct frame *f, struct vlan_flood *vlan,
			       uint64_t wanted)
{
	const struct snap *s = w->snap;
	uint16_t i = next_listener(s, f->v.vlan, wanted, 0);
	size_t len = f->len;
	unsigned sent = 0;

	/* A local stream uses no credit of the storm limits. */
	if (i == s->n_flood)
		drop(w, DROP_no_listener);
	else if (!vlan_allows(w, vlan) || !rate_allows(w, f))
		return;
	for (uint16_t next; i < s->n_flood; i = next, sent++) {
		next = next_listener(s, f->v.vlan, wanted, i + 1);
		send_unicast(w, f, s->flood[i], true, next == s->n_flood);
	}
	queue_flooded(&w->queue, len, sent);
	stats_add(&vlan->flooded, sent > 0);
	stats_add(&vlan->pruned, s->n_flood - sent);
	count(w, CNT_multicast_pruned, s->n_flood - sent);
}

void flood(struct worker *w, struct frame *f)
{
	struct vlan_flood *vlan = &w->vlan[f->v.vlan % VLAN_IDS];
	const struct snap *s = w->snap;
	size_t len = f->len;
	uint64_t wanted;
	unsigned sent;

	if (!s->n_flood) {
		drop(w, nobody(s, f));
		return;
	}
	if (is_limited(w, f, &wanted)) {
		flood_to_listeners(w, f, vlan, wanted);
		return;
	}
	/* The limit of the VLAN comes first: refused frames use no credit of the others. */
	if (!vlan_allows(w, vlan) || !rate_allows(w, f))
		return;
	if (!mac_is_multicast(f->v.dst))
		count(w, CNT_unknown_tx, 1);
	sent = s->members ? flood_to_members(w, f) : flood_to_all(w, f);
	queue_flooded(&w->queue, len, sent);
	stats_add(&vlan->flooded, 1);
	stats_add(&vlan->pruned, s->n_flood - sent);
	count(w, CNT_flood_pruned, s->n_flood - sent);
	if (!sent)
		drop(w, DROP_vlan_no_node);
}
