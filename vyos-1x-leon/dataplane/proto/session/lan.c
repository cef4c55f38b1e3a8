// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LAN behind another node changed, as its record says: in some VLANs another node forwards, and
 * hosts there are to be learned anew. Each time costs every member a walk through its tables and
 * floods until the hosts are known again, and what is forgotten can be claimed by others. So each
 * node may cause it a few times only; further changes are put together and wait for their turn.
 * Called by member.c and upkeep.c; control thread.
 */
#include "proto/session/lan.h"

#include "proto/core.h"
#include "proto/service.h"

#define LAN_COST_NS  (10 * NS_PER_S)
#define LAN_BURST_NS (4 * LAN_COST_NS)

static bool may_change(struct overlay *o, struct peer *p, mono_t now)
{
	if (bucket_pass(&p->lan, now, LAN_COST_NS, LAN_BURST_NS))
		return true;
	if (mono_is_never(p->due[DUE_LAN]))
		overlay_emit(o, EV_LAN_FLAPPING, p->id, NODE_ID_NONE, 0, NULL);
	p->due[DUE_LAN] = mono_add_ns(now, LAN_COST_NS - p->lan.credit_ns);
	return false;
}

/* A node that took over from one that died is the only one to say so. Only those that name each
 * other are on one LAN. */
static void forget_behind(struct overlay *o, struct peer *p)
{
	const struct node *n = nodedb_find(o->nodes, p->id);
	uint64_t classes = p->lan_classes;

	p->lan_classes = 0;
	o->ops.lan_changed(o->arg, p->slot, classes);
	for (unsigned i = 0; n && i < n->rec.lan.n; i++) {
		const struct node *other = nodedb_find(o->nodes, n->rec.lan.node[i]);

		if (other && other->slot != SLOT_SELF && record_lan_names(&other->rec.lan, p->id))
			o->ops.lan_changed(o->arg, other->slot, classes);
	}
}

void lan_classes_changed(struct overlay *o, struct peer *p, uint64_t classes)
{
	if (!o->ops.lan_changed || !classes)
		return;
	p->lan_classes |= classes;
	/* What waits takes this change along. */
	if (mono_is_never(p->due[DUE_LAN]) && may_change(o, p, overlay_now(o)))
		forget_behind(o, p);
}

void lan_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (mono_is_never(p->due[DUE_LAN]) || mono_before(now, p->due[DUE_LAN]))
		return;
	if (!may_change(o, p, now))
		return;
	p->due[DUE_LAN] = MONO_NEVER;
	forget_behind(o, p);
}
