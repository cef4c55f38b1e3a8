// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one frame to one node, see encap.h. Workers.
 */
#include "fwd/encap.h"

#include "base/defs.h"
#include "fwd/bundle.h"
#include "fwd/frag.h"
#include "fwd/outgoing.h"
#include "fwd/tso.h"
#include "fwd/worker.h"

/* A segment that is larger than the path although it is one: a UDP datagram. */
static void split_segment(struct worker *w, const struct tso *t, unsigned i,
			  const struct snap_node *node, size_t room)
{
	uint8_t head[TSO_HDR_MAX];
	struct pieces p = tso_segment(t, i, head);

	frag_send(w, node, &p, room, LEON_F_CSUM_PARTIAL);
}

static void send_super(struct worker *w, const struct frame *f, const struct snap_node *node,
		       size_t room)
{
	struct tso t;

	if (f->gso == FRAME_UNKNOWN_GSO || tso_open(&t, f, room) < 0) {
		drop(w, DROP_offload_unsupported);
		return;
	}
	for (unsigned i = 0; i < t.n; i++) {
		size_t left = t.payload_len - i * t.size;
		size_t len = t.hdr_len + min_of(t.size, left);
		struct outgoing o;
		struct pieces p;
		uint8_t *head;

		if (unlikely(len > room)) {
			split_segment(w, &t, i, node, room);
			continue;
		}
		head = outgoing_begin(w, &o, node, LEON_FRAME, LEON_F_CSUM_PARTIAL, t.hdr_len,
				      len - t.hdr_len);
		if (!head)
			return;
		p = tso_segment(&t, i, head);
		outgoing_end(w, &o, p.body);
	}
}

void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool last)
{
	const struct snap_node *node = &w->snap->node[slot];
	uint8_t flags = f->partial ? LEON_F_CSUM_PARTIAL : 0;
	size_t room = node->room;
	struct pieces whole = { .body = f->data, .body_len = f->len };

	if (f->gso != FRAME_PLAIN) {
		bundle_flush_to(w, slot);
		send_super(w, f, node, room);
	} else if (bundle_add(w, f, slot, last)) {
		return;
	} else if (likely(f->len <= room)) {
		outgoing_frame(w, node, flags, f->data, f->len, last);
	} else {
		frag_send(w, node, &whole, room, flags);
	}
}
