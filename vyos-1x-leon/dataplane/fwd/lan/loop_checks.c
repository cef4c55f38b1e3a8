// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks against loops that include a LAN, for frames in both directions. Workers. */
#include "fwd/lan/lan_steps.h"

#include <errno.h>

#include "base/defs.h"
#include "fwd/worker.h"
#include "wire/frame/guard.h"

bool tag_passes(struct worker *w, const struct eth_view *v)
{
	const struct snap_lan *lan = w->snap->lan;

	if (eth_hides_tag(v))
		return drop(w, DROP_second_tag);
	if (likely(!lan || !lan->tag || lan->tag == v->tag))
		return true;
	return drop(w, DROP_foreign_tag);
}

bool guard_taken(struct worker *w, const struct frame *f)
{
	struct guard_frame g;

	if (guard_decode(f->data, f->len, &g) == -ENOMSG)
		return false;
	/* A host on an untagged port must not choose the VLAN of a guard. */
	if (!f->v.tag || tag_passes(w, &f->v))
		report_guard(w, f->data, f->len);
	return true;
}

bool lan_passes(struct worker *w, uint16_t vlan)
{
	const struct snap_lan *lan = w->snap->lan;

	if (likely(!lan || (vlan_set_has(&lan->open, vlan) && !w->lan_is_old)))
		return true;
	if (vlan_set_has(&lan->open, vlan))
		return drop(w, DROP_lan_stalled);
	if (!vlan_set_has(&lan->served, vlan))
		return drop(w, DROP_vlan_not_served);
	if (vlan_set_has(&lan->blocked, vlan))
		return drop(w, DROP_loop_blocked);
	drop(w, DROP_lan_listening);
	report_of_vlan(w, FWD_VLAN, vlan);
	return false;
}

bool is_from_own_lan(struct worker *w, uint16_t slot, uint16_t vlan)
{
	const struct vlan_set *same = w->snap->node[slot].same_lan;

	if (likely(!same) || !vlan_set_has(same, vlan))
		return false;
	drop(w, DROP_same_lan);
	return true;
}

bool is_looped(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	       uint16_t slot)
{
	struct flood_dedup *r = w->fwd->flood_dedup;
	enum flood_dedup_verdict verdict;

	if (!w->snap->lan || !w->snap->lan->guarded)
		return false;
	verdict = flood_dedup_check(r, flood_dedup_hash(r, data, len, v), slot, w->now);
	if (likely(verdict == FLOOD_DEDUP_FIRST))
		return false;
	report_of_vlan(w, FWD_REPETITION, v->vlan);
	if (verdict == FLOOD_DEDUP_AGAIN)
		return false;
	drop(w, verdict == FLOOD_DEDUP_HELD ? DROP_repeated : DROP_flood_looped);
	return true;
}
