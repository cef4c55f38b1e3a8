// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames for the local segment, see to_segment.h. Workers.
 */
#include "fwd/in/to_segment.h"

#include <errno.h>

#include "base/defs.h"
#include "fwd/accel/divert.h"
#include "fwd/checksum.h"
#include "fwd/lan/reports.h"
#include "fwd/lan/suppress.h"
#include "fwd/lan/translate.h"
#include "fwd/send/clamp.h"
#include "fwd/send/marking.h"
#include "fwd/tap/deliver.h"
#include "fwd/worker.h"
#include "wire/guard.h"

/* No honest node sends guard frames into the overlay; on the LAN it would look like a loop. */
static bool is_guard(const uint8_t *data, size_t len, const struct eth_view *v)
{
	struct guard_frame g;

	return v->ethertype < ETH_TYPE_MIN && guard_decode(data, len, &g) != -ENOMSG;
}

bool lan_passes(struct worker *w, uint16_t vlan)
{
	const struct snap_lan *lan = w->snap->lan;

	if (likely(!lan || (vlan_set_has(&lan->open, vlan) && !w->lan_is_old)))
		return true;
	if (vlan_set_has(&lan->open, vlan)) {
		drop(w, DROP_lan_stalled);
		return false;
	}
	if (!vlan_set_has(&lan->served, vlan)) {
		drop(w, DROP_vlan_not_served);
		return false;
	}
	if (vlan_set_has(&lan->blocked, vlan)) {
		drop(w, DROP_loop_blocked);
		return false;
	}
	drop(w, DROP_lan_listening);
	report_vlan(w, vlan);
	return false;
}

/* Split horizon by LAN: a frame from another node of the local LAN was on this LAN already. The
 * rule ends every loop, independent of the forwarder. */
static bool comes_from_elsewhere(struct worker *w, uint16_t slot, uint16_t vlan)
{
	const struct vlan_set *same = w->snap->node[slot].same_lan;

	if (likely(!same) || !vlan_set_has(same, vlan))
		return true;
	drop(w, DROP_same_lan);
	return false;
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
	report_repetition(w, v->vlan);
	if (verdict == FLOOD_DEDUP_AGAIN)
		return false;
	drop(w, verdict == FLOOD_DEDUP_HELD ? DROP_repeated : DROP_flood_looped);
	return true;
}

/* Also in blocked VLANs, so that a new forwarder knows the location of hosts. */
static void learn_while_blocked(struct worker *w, const uint8_t *data, size_t len,
				const struct eth_view *v, uint16_t slot)
{
	if (vlan_set_has(&w->snap->lan->blocked, v->vlan) && learn_source(w, v, slot) != FDB_FROZEN)
		neighbor_learn(w, data, len, v, slot);
}

void local_frame(struct worker *w, const struct arrived *a, uint8_t *data, size_t len)
{
	bool partial = a->flags & LEON_F_CSUM_PARTIAL;
	uint16_t slot = a->slot;
	struct delivery d = { .data = data, .len = len };
	struct eth_view v;
	enum fdb_seen seen;

	if (unlikely(!translate_in(w, &d, a->flags)))
		return;
	data = d.data;
	len = d.len;
	if (unlikely(eth_parse(data, len, &v) < 0)) {
		drop(w, DROP_bad_frame);
		return;
	}
	if (unlikely(eth_hides_tag(&v))) {
		drop(w, DROP_second_tag);
		return;
	}
	if (unlikely(eth_is_link_local_control(v.dst) || is_guard(data, len, &v))) {
		drop(w, DROP_link_local_control);
		return;
	}
	if (unlikely(!comes_from_elsewhere(w, slot, v.vlan)))
		return;
	if (unlikely(!lan_passes(w, v.vlan))) {
		learn_while_blocked(w, data, len, &v, slot);
		return;
	}
	if (unlikely(mac_is_multicast(v.dst)) && is_looped(w, data, len, &v, slot))
		return;
	if (unlikely(!marking_arrives(w, data, len, &v, a->ecn)))
		return;
	if (partial) {
		size_t at = checksum_place(&v, len);

		if (unlikely(!at)) {
			drop(w, DROP_bad_frame);
			return;
		}
		d.csum_start = v.l4_offset;
		d.csum_offset = (uint16_t)(at - v.l4_offset);
	}
	seen = learn_source(w, &v, slot);
	if (unlikely(seen == FDB_FROZEN))
		return;
	neighbor_learn(w, data, len, &v, slot);
	if (unlikely(w->snap->accelerator) && accel_from_node(w, slot, &d, &v, seen))
		return;
	clamp(w, data, len, &v, partial, slot);
	deliver_add(w, &d, &v);
}
