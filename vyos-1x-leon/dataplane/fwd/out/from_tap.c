// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames from the TAP to the overlay, see from_tap.h. Workers.
 */
#include "fwd/out/from_tap.h"

#include "base/defs.h"
#include "fwd/accel/divert.h"
#include "fwd/capture.h"
#include "fwd/forwarding_lookup.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/worker.h"

/* Handles frames without forwarding. Returns true for such a frame. */
static bool stays_local(struct worker *w, const struct frame *f)
{
	/* A blocked node must receive guards. */
	if (unlikely(f->v.ethertype < ETH_TYPE_MIN) && guard_taken(w, f))
		return true;
	if (f->v.tag && unlikely(!tag_passes(w, &f->v)))
		return true;
	if (unlikely(eth_is_link_local_control(f->v.dst))) {
		drop(w, DROP_link_local_control);
		return true;
	}
	if (likely(lan_passes(w, f->v.vlan)))
		return false;
	/* A node that becomes the forwarder must know the listeners. */
	snoop_closed(w, f->data, f->len, &f->v, SLOT_SELF);
	/* If the segment carries the VLAN nevertheless, the loop guard must learn of it. */
	if (!vlan_set_has(&w->snap->lan->served, f->v.vlan))
		report_of_vlan(w, FWD_VLAN, f->v.vlan);
	return true;
}

void from_tap_frame(struct worker *w, struct frame *f)
{
	const struct snap *s = w->snap;
	uint16_t slot;

	if (stays_local(w, f))
		return;
	if (unlikely(s->capture.on))
		capture_frame(w, CAPTURE_FROM_TAP, s->self, f->data, f->len);
	slot = forwarding_lookup(s, f);
	if (slot == SLOT_NONE) {
		if (is_looped(w, f->data, f->len, &f->v, SLOT_SELF))
			return;
		snoop(w, f->data, f->len, &f->v, SLOT_SELF);
	}
	if (unlikely(learn_source(w, &f->v, SLOT_SELF) == FDB_FROZEN))
		return;
	neighbor_learn(w, f->data, f->len, &f->v, SLOT_SELF);
	if (neighbor_answer(w, f))
		return;
	if (slot == SLOT_SELF) {
		drop(w, DROP_local_destination);
		if (unlikely(s->accelerator))
			accel_sees(w, f);
		return;
	}
	if (unlikely(s->flow_sampling))
		sample(w, f, slot);
	if (unlikely(s->accelerator) && accel_from_tap(w, f, slot))
		return;
	f->class = marking_of_frame(s, f);
	if (unlikely(!translate_out(w, f)))
		return;
	clamp(w, f->data, f->len, &f->v, f->partial || f->gso != FRAME_PLAIN, slot);
	f->critical = critical_is(w, f);
	if (slot == SLOT_NONE) {
		flood(w, f);
		return;
	}
	send_unicast(w, f, slot, false, true);
}

/* Without bulk in the TAP: processes a batch directly. */
static bool straight(struct worker *w, int fd)
{
	struct tap_rx_result r = tap_rx_read(&w->tap_rx, fd);

	count(w, CNT_tap_rx_frames, w->tap_rx.n + r.bad);
	w->inputs += w->tap_rx.n;
	count(w, CNT_tap_rx_bytes, r.bytes);
	count(w, CNT_tap_rx_super, r.super);
	drop_many(w, DROP_bad_frame, r.bad);
	for (unsigned i = 0; i < w->tap_rx.n; i++)
		from_tap_frame(w, &w->tap_rx.frame[i]);
	if (unlikely(r.more && r.super))
		queue_begin(&w->queue);
	return r.more;
}

static bool queued(struct worker *w, int fd)
{
	bool more = queue_intake(w, fd);
	struct frame *f;

	while ((f = queue_next(w)))
		if (unlikely(f->to != NODE_ID_NONE))
			accel_send(w, f);
		else
			from_tap_frame(w, f);
	return queue_goes_on(w, more);
}

bool from_tap(struct worker *w, int fd)
{
	return unlikely(queue_in_use(w)) ? queued(w, fd) : straight(w, fd);
}
