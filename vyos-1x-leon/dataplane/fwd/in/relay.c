// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: relaying. `at` is incremented and the link value replaced by that of the next link; nothing
 * else changes. Consecutive datagrams of equal size to one node are contiguous in the buffer of a
 * GRO message. tx sends them as one GSO message of one piece, so payload is neither touched nor
 * gathered. Workers.
 */
#include "fwd/in/receive.h"

#include "base/defs.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/worker.h"
#include "wire/bytes.h"

uint16_t relay(struct worker *w, const struct leon_hdr *h, uint16_t source_slot, uint8_t *data,
	       size_t len, uint8_t class)
{
	const struct snap *s = w->snap;
	uint8_t at = (uint8_t)(h->at + 1);
	node_id_t next_id = h->hop[at];
	uint16_t next;

	if (unlikely(s->transit_disable)) {
		drop(w, DROP_relay_disabled);
		return SLOT_NONE;
	}
	next = snap_find(s, next_id);
	if (unlikely(next == SLOT_NONE || !s->node[next].link_up)) {
		drop(w, next == SLOT_NONE ? DROP_relay_unknown_next : DROP_relay_next_down);
		report_cannot_forward(w, source_slot, h->source, next_id, leon_destination(h));
		return SLOT_NONE;
	}
	if (h->flags & LEON_F_LINK_VALUE) {
		if (unlikely(!s->node[next].link_tx)) {
			drop(w, DROP_no_key);
			return SLOT_NONE;
		}
		put_u64(data + leon_link_at(h), s->node[next].link_tx);
	}
	data[LEON_HOPS_OFFSET] = (uint8_t)(h->n_hops << 4 | at);
	w->tx.class = marking_of_relayed(s, h->kind, class);
	if (unlikely(!tx_begin(w, next, len, 1, 0))) {
		drop(w, DROP_tx_failed);
		return SLOT_NONE;
	}
	tx_piece(w, data, len);
	count(w, CNT_relayed_datagrams, 1);
	count(w, CNT_relayed_bytes, len);
	count(w, CNT_relayed_marked, (class & ECN_MASK) == ECN_CE);
	return next;
}
