// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: one frame to one node. Workers. */
#include "fwd/send/send_steps.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/send/send_state.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "wire/datagram/leon.h"

/* A segment above the path MTU: a segment of a UDP super-frame. */
static bool split_segment(struct worker *w, const struct tso *t, unsigned i,
			  const struct lane *lane, uint8_t flags)
{
	uint8_t head[TSO_HDR_MAX];
	struct pieces p = tso_segment(t, i, head);
	struct lane own = *lane;

	own.counter += i;
	return frag_send(w, &own, &p, flags);
}

static bool send_super(struct worker *w, const struct frame *f, const struct lane *lane)
{
	uint8_t flags = frame_flags(f) | LEON_F_CSUM_PARTIAL;
	bool all = true;
	struct tso t;

	if (f->gso == FRAME_UNKNOWN_GSO || tso_open(&t, f, lane->room) < 0)
		return drop(w, DROP_offload_unsupported);
	for (unsigned i = f->first_lost; i < t.n; i++) {
		size_t left = t.payload_len - i * t.size;
		size_t len = t.hdr_len + min_of(t.size, left);
		struct outgoing o = { .node = lane->node,
				      .twice = lane->twice,
				      .counter = lane->counter + i,
				      .block = lane->block,
				      .bulk = lane->bulk,
				      .kind = f->accel ? LEON_ACCEL : LEON_FRAME,
				      .flags = flags,
				      .frames = !lane->twice,
				      .head_len = t.hdr_len,
				      .body_len = len - t.hdr_len };
		struct pieces p;
		uint8_t *head;

		if (unlikely(f->accel && len > lane->room)) {
			drop(w, DROP_accel_too_big);
			all = false;
			continue;
		}
		if (unlikely(len > lane->room)) {
			all &= split_segment(w, &t, i, lane, flags);
			continue;
		}
		if (unlikely(lane->block))
			protect_begin_frame(w, lane->block, 1);
		head = outgoing_begin(w, &o);
		if (!head)
			return false;
		p = tso_segment(&t, i, head);
		all &= outgoing_end(w, &o, p.body);
	}
	return all;
}

static bool send_whole(struct worker *w, const struct frame *f, const struct lane *lane,
		       uint8_t flags, bool own)
{
	struct outgoing o = { .node = lane->node,
			      .twice = true,
			      .counter = lane->counter,
			      .block = lane->block,
			      .kind = LEON_FRAME,
			      .flags = flags,
			      .body_len = f->len };

	if (!lane->twice)
		return outgoing_frame(w, lane->node, flags, f->data, f->len, own, lane->bulk);
	if (lane->block)
		protect_begin_frame(w, lane->block, 1);
	return outgoing_begin(w, &o) && outgoing_end(w, &o, f->data);
}

bool encap_alone(struct worker *w, const struct frame *f, const struct lane *lane, bool own)
{
	uint8_t flags = frame_flags(f);
	struct pieces whole = { .body = f->data, .body_len = f->len };

	w->tx.class = f->class;
	if (f->gso != FRAME_PLAIN)
		return send_super(w, f, lane);
	if (likely(f->len <= lane->room))
		return send_whole(w, f, lane, flags, own);
	return frag_send(w, lane, &whole, flags);
}

/* Frames between accelerators are neither bundled nor split; their TCP adapts to the path MTU. */
void encap_accel(struct worker *w, const struct frame *f, uint16_t slot)
{
	const struct snap_node *node = &w->snap->node[slot];
	struct lane lane = { .node = node, .room = node->room, .bulk = true };
	struct outgoing o = { .node = node,
			      .bulk = f->len >= SPREAD_FRAME,
			      .kind = LEON_ACCEL,
			      .flags = f->partial ? LEON_F_CSUM_PARTIAL : 0,
			      .frames = 1,
			      .body_len = f->len };

	w->tx.class = f->class;
	stats_add(&w->traffic[node->first].directed, 1);
	if (f->gso != FRAME_PLAIN)
		send_super(w, f, &lane);
	else if (f->len > node->room)
		drop(w, DROP_accel_too_big);
	else if (outgoing_begin(w, &o))
		outgoing_end(w, &o, f->data);
}

void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last)
{
	const struct snap_node *node = &w->snap->node[slot];
	struct lane lane = { .node = node,
			     .room = node->room,
			     .bulk = unlikely(node->second) && spread_is_bulk(f) };

	if (f->gso != FRAME_PLAIN)
		bundle_flush_to(w, slot);
	else if (bundle_add(w, f, slot, copy, last))
		return; /* counted at transmission */
	if (likely(encap_alone(w, f, &lane, last)))
		frames_out(w, slot, 1, copy);
}

/* --- fragments --- */

/* Sends one fragment: `len` bytes of the frame from `offset`. Returns false if it cannot be sent.
 * Fragments are not bulk: two lines lead to two workers of the receiver, and each worker
 * reassembles its own fragments only. */
static bool send_piece(struct worker *w, const struct lane *lane, const struct pieces *p,
		       const struct fragment_hdr *h, size_t len, uint8_t flags)
{
	size_t from_head = h->offset < p->head_len ? min_of(len, p->head_len - h->offset) : 0;
	size_t in_body = h->offset + from_head - p->head_len;
	struct outgoing o = { .node = lane->node,
			      .twice = lane->twice,
			      .counter = lane->counter,
			      .block = lane->block,
			      .kind = LEON_FRAGMENT,
			      .flags = flags,
			      .frames = !lane->twice,
			      .head_len = FRAGMENT_HDR_LEN + from_head,
			      .body_len = len - from_head };
	uint8_t *out = outgoing_begin(w, &o);

	if (!out)
		return false;
	fragment_encode(h, out);
	if (from_head)
		memcpy(out + FRAGMENT_HDR_LEN, p->head + h->offset, from_head);
	return outgoing_end(w, &o, p->body + in_body);
}

bool frag_send(struct worker *w, const struct lane *lane, const struct pieces *p, uint8_t flags)
{
	size_t room = lane->room;
	size_t total = p->head_len + p->body_len;
	size_t n, unit;
	struct fragment_hdr h = { .total = (uint16_t)total };

	if (total > FRAGMENT_FRAME_MAX || room < FRAGMENT_HDR_LEN + FRAG_UNIT_MIN)
		return drop(w, DROP_too_big);
	/* The minimum number of fragments of equal size, so that all leave in one GSO message. */
	unit = room - FRAGMENT_HDR_LEN;
	n = (total + unit - 1) / unit;
	unit = (total + n - 1) / n;
	h.id = w->fragment_id++;
	if (unlikely(lane->block))
		protect_begin_frame(w, lane->block, (unsigned)n);
	for (size_t offset = 0; offset < total; offset += unit) {
		h.offset = (uint16_t)offset;
		if (!send_piece(w, lane, p, &h, min_of(unit, total - offset), flags))
			return false;
		count(w, CNT_fragments_tx, 1);
	}
	count(w, CNT_fragmented_frames, 1);
	return true;
}
