// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames for the local segment, see to_segment.h. Workers.
 */
#include "fwd/to_segment.h"

#include <errno.h>

#include "base/defs.h"
#include "fwd/checksum.h"
#include "fwd/clamp.h"
#include "fwd/deliver.h"
#include "fwd/reports.h"
#include "fwd/suppress.h"
#include "fwd/worker.h"
#include "wire/guard.h"

/* No honest node sends one into the overlay; out on the LAN it would look like a loop. */
static bool is_guard(const uint8_t *data, size_t len, const struct eth_view *v)
{
	struct guard_frame g;

	return v->ethertype == GUARD_TYPE && guard_decode(data, len, &g) != -ENOMSG;
}

void local_frame(struct worker *w, uint16_t slot, uint8_t *data, size_t len, uint8_t flags)
{
	bool partial = flags & LEON_F_CSUM_PARTIAL;
	struct delivery d = { .data = data, .len = len };
	struct eth_view v;

	if (unlikely(w->snap->blocked)) {
		drop(w, DROP_loop_blocked);
		return;
	}
	if (unlikely(eth_parse(data, len, &v) < 0)) {
		drop(w, DROP_bad_frame);
		return;
	}
	if (unlikely(eth_is_link_local_control(v.dst) || is_guard(data, len, &v))) {
		drop(w, DROP_link_local_control);
		return;
	}
	if (partial) {
		size_t at = checksum_place(&v, len);

		if (unlikely(!at)) {
			drop(w, DROP_bad_frame);
			return;
		}
		d.csum_start = v.l4_offset;
		d.csum_offset = (uint16_t)(at - v.l4_offset);
	}
	if (unlikely(!event_source(w, &v, slot)))
		return;
	neighbor_learn(w, data, len, &v, slot);
	clamp(w, data, len, &v, partial, slot);
	deliver_add(w, &d, &v);
}
