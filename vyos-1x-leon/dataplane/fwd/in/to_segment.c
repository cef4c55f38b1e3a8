// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames for the local segment, see receive.h. Workers.
 */
#include "fwd/in/receive.h"

#include <errno.h>

#include "base/defs.h"
#include "fwd/accel/divert.h"
#include "fwd/capture.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "wire/frame/csum.h"
#include "wire/frame/guard.h"

/* No honest node sends guard frames into the overlay; on the LAN it would look like a loop. */
static bool is_guard(const uint8_t *data, size_t len, const struct eth_view *v)
{
	struct guard_frame g;

	return v->ethertype < ETH_TYPE_MIN && guard_decode(data, len, &g) != -ENOMSG;
}

/* Also in blocked VLANs, so that a new forwarder knows the location of hosts. */
static void learn_while_blocked(struct worker *w, const uint8_t *data, size_t len,
				const struct eth_view *v, uint16_t slot)
{
	if (vlan_set_has(&w->snap->lan->blocked, v->vlan) && learn_source(w, v, slot) != FDB_FROZEN)
		neighbor_learn(w, data, len, v, slot);
	snoop_closed(w, data, len, v, slot);
}

void local_frame(struct worker *w, const struct arrived *a)
{
	bool partial = a->flags & LEON_F_CSUM_PARTIAL;
	uint16_t slot = a->slot;
	struct delivery d = { .data = a->data, .len = a->len };
	struct eth_view v;
	enum fdb_seen seen;
	uint8_t *data;
	size_t len;

	if (unlikely(!translate_in(w, &d, a->flags)))
		return;
	data = d.data;
	len = d.len;
	if (unlikely(eth_parse(data, len, &v) < 0)) {
		drop(w, DROP_bad_frame);
		return;
	}
	if (v.tag && unlikely(!tag_passes(w, &v)))
		return;
	if (unlikely(eth_is_link_local_control(v.dst) || is_guard(data, len, &v))) {
		drop(w, DROP_link_local_control);
		return;
	}
	if (unlikely(is_from_own_lan(w, slot, v.vlan)))
		return;
	if (unlikely(!lan_passes(w, v.vlan))) {
		learn_while_blocked(w, data, len, &v, slot);
		return;
	}
	if (unlikely(mac_is_multicast(v.dst)) &&
	    (is_looped(w, data, len, &v, slot) || snoop(w, data, len, &v, slot)))
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
	if (unlikely(partial && w->snap->no_offload.tap_checksum)) {
		checksum_complete(data, len, d.csum_start, d.csum_offset);
		d.csum_start = d.csum_offset = 0;
	}
	if (unlikely(w->snap->capture.on))
		capture_frame(w, CAPTURE_TO_TAP, w->snap->node[slot].id, data, len);
	deliver_add(w, &d, &v);
}
