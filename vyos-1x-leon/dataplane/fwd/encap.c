// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one frame to one node, see encap.h. Workers.
 */
#include "fwd/encap.h"

#include "base/defs.h"
#include "fwd/bundling.h"
#include "fwd/splitting.h"
#include "fwd/outgoing.h"
#include "fwd/tso.h"
#include "fwd/worker.h"

/* A segment that is larger than the path although it is one: a UDP datagram. */
static bool split_segment(struct worker *w, const struct tso *t, unsigned i,
			  const struct snap_node *node, size_t room)
{
	uint8_t head[TSO_HDR_MAX];
	struct pieces p = tso_segment(t, i, head);

	return frag_send(w, node, &p, room, LEON_F_CSUM_PARTIAL);
}

static bool send_super(struct worker *w, const struct frame *f, const struct snap_node *node,
		       size_t room)
{
	bool all = true;
	struct tso t;

	if (f->gso == FRAME_UNKNOWN_GSO || tso_open(&t, f, room) < 0) {
		drop(w, DROP_offload_unsupported);
		return false;
	}
	for (unsigned i = 0; i < t.n; i++) {
		size_t left = t.payload_len - i * t.size;
		size_t len = t.hdr_len + min_of(t.size, left);
		struct outgoing o = { .node = node,
				      .kind = LEON_FRAME,
				      .flags = LEON_F_CSUM_PARTIAL,
				      .frames = 1,
				      .head_len = t.hdr_len,
				      .body_len = len - t.hdr_len };
		struct pieces p;
		uint8_t *head;

		if (unlikely(len > room)) {
			all &= split_segment(w, &t, i, node, room);
			continue;
		}
		head = outgoing_begin(w, &o);
		if (!head)
			return false;
		p = tso_segment(&t, i, head);
		all &= outgoing_end(w, &o, p.body);
	}
	return all;
}

void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last)
{
	const struct snap_node *node = &w->snap->node[slot];
	uint8_t flags = f->partial ? LEON_F_CSUM_PARTIAL : 0;
	size_t room = node->room;
	struct pieces whole = { .body = f->data, .body_len = f->len };
	bool sent;

	if (f->gso != FRAME_PLAIN) {
		bundle_flush_to(w, slot);
		sent = send_super(w, f, node, room);
	} else if (bundle_add(w, f, slot, copy, last)) {
		return; /* counted when it is sent */
	} else if (likely(f->len <= room)) {
		sent = outgoing_frame(w, node, flags, f->data, f->len, last);
	} else {
		sent = frag_send(w, node, &whole, room, flags);
	}
	if (likely(sent))
		count(w, copy ? CNT_flood_tx : CNT_unicast_tx, 1);
}
