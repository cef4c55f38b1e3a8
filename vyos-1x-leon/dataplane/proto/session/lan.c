// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LAN behind another node changed, as the flags of its record say: hosts there are to be
 * learned anew. Each time costs every member a walk through its tables and floods until the hosts
 * are known again, and what is forgotten can be claimed by others. So each node may cause it a few
 * times only; further changes are put together and wait for their turn. Called by member.c and
 * upkeep.c; control thread.
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

void lan_flags_changed(struct overlay *o, struct peer *p)
{
	/* What waits already covers this change too. */
	if (!o->ops.lan_changed || !mono_is_never(p->due[DUE_LAN]))
		return;
	if (may_change(o, p, overlay_now(o)))
		o->ops.lan_changed(o->arg, p->slot);
}

void lan_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (mono_is_never(p->due[DUE_LAN]) || mono_before(now, p->due[DUE_LAN]))
		return;
	if (!may_change(o, p, now))
		return;
	p->due[DUE_LAN] = MONO_NEVER;
	o->ops.lan_changed(o->arg, p->slot);
}
