// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LAN changes of other nodes, announced in their records: in some VLANs the forwarder changed, and
 * hosts must be relearned. Each change costs every member a walk through its tables and floods
 * until the hosts are known again.
 *
 * A change of the hosts behind the announcing node itself harms no other node. It is accepted at
 * once, at the rate of an honest node. A change of hosts behind other nodes on its LAN has the
 * lower rate of an honest LAN that is cut and healed repeatedly. Further changes are merged and
 * deferred; one walk serves many changes (decisions/029). Called by member.c and periodic.c;
 * control thread.
 */
#include "proto/session/membership.h"

/* Sustained rate and burst. The announcing side batches for OWN_NS. */
#define OWN_NS	       (200 * NS_PER_MS)
#define OWN_BURST      8
#define OTHERS_NS      (2 * NS_PER_S)
#define OTHERS_BURST   30
#define NOTIFY_AGAIN_S 60

static bool names_back(const struct node *other, const struct peer *p)
{
	return other && other->slot != SLOT_SELF && record_lan_names(&other->rec.lan, p->id);
}

/* Only the node that replaces a dead forwarder announces the change. Two nodes share a LAN only if
 * each names the other. */
static void forget_behind_others(struct overlay *o, const struct peer *p, uint64_t classes)
{
	const struct node *n = nodedb_find(o->nodes, p->id);

	for (unsigned i = 0; n && i < n->rec.lan.n; i++) {
		const struct node *other = nodedb_find(o->nodes, n->rec.lan.node[i]);

		if (names_back(other, p))
			o->ops.lan_changed(o->arg, other->slot, classes);
	}
}

static bool has_others(struct overlay *o, const struct peer *p)
{
	const struct node *n = nodedb_find(o->nodes, p->id);

	for (unsigned i = 0; n && i < n->rec.lan.n; i++)
		if (names_back(nodedb_find(o->nodes, n->rec.lan.node[i]), p))
			return true;
	return false;
}

/* Returns the classes that may be processed now; the others are deferred to DUE_LAN. */
static uint64_t take_token(struct peer *p, struct lan_share *share, mono_t now, int64_t cost_ns,
			   int64_t burst)
{
	uint64_t classes = share->waits;

	if (!classes)
		return 0;
	if (bucket_pass(&share->bucket, now, cost_ns, burst * cost_ns)) {
		share->waits = 0;
		return classes;
	}
	p->due[DUE_LAN] = mono_earlier(p->due[DUE_LAN],
				       bucket_next(&share->bucket, cost_ns, burst * cost_ns));
	return 0;
}

static void notify(struct overlay *o, struct peer *p, mono_t now)
{
	if (mono_is_recent(p->lan.notified, NOTIFY_AGAIN_S * 1000, now))
		return;
	p->lan.notified = now;
	overlay_emit(o, EV_LAN_FLAPPING, p->id, NODE_ID_NONE, 0, NULL);
}

static void act(struct overlay *o, struct peer *p, mono_t now)
{
	uint64_t own, others;

	own = take_token(p, &p->lan.own, now, OWN_NS, OWN_BURST);
	if (!has_others(o, p))
		p->lan.others.waits = 0;
	others = take_token(p, &p->lan.others, now, OTHERS_NS, OTHERS_BURST);
	if (own)
		o->ops.lan_changed(o->arg, p->slot, own);
	if (others)
		forget_behind_others(o, p, others);
	if (p->lan.own.waits | p->lan.others.waits)
		notify(o, p, now);
}

void lan_classes_changed(struct overlay *o, struct peer *p, uint64_t classes)
{
	if (!o->ops.lan_changed || !classes)
		return;
	p->lan.own.waits |= classes;
	p->lan.others.waits |= classes;
	p->due[DUE_LAN] = MONO_NEVER;
	act(o, p, overlay_now(o));
}

void lan_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (schedule_take(p, DUE_LAN, now))
		act(o, p, now);
}
