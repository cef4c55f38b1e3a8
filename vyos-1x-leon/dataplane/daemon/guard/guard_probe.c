// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guards that are sent at once after an apparent move of a host, or a returned flooded frame
 * (fwd/lan/flood_dedup.h), see loop_guard.h. Two LANs may have been connected somewhere behind the
 * switches. Without these guards, the connection would be detected an interval later. Pure; control
 * thread.
 */
#include "daemon/guard/loop_guard.h"

static bool is_older(mono_t now, mono_t then, int64_t ms)
{
	return !mono_is_recent(then, ms, now);
}

unsigned guard_probe(struct guard *g, uint16_t vlan, mono_t now)
{
	struct guard_vlan *v = g->vlan[vlan % VLAN_IDS];

	if (!v || !is_older(now, v->asked, GUARD_PROBE_MS) ||
	    !is_older(now, g->asked, GUARD_ALL_PROBE_MS))
		return GUARD_NOTHING;
	g->asked = v->asked = now;
	v->urgent = true;
	return GUARD_URGENT;
}
