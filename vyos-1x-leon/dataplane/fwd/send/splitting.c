// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame above the path MTU as LEON fragments (wire/datagram/fragment.h), never as IP
 * fragments. A partial checksum stays partial: every fragment carries the flag, and reassembly
 * passes it on, so neither end sums the payload. Workers.
 */
#include "fwd/send/encap.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/send/protect.h"
#include "fwd/worker.h"
#include "wire/datagram/fragment.h"

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
