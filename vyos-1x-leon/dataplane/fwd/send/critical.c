// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: critical frames. Workers. */
#include "fwd/send/send_steps.h"

#include "base/defs.h"
#include "fwd/send/send_state.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "wire/datagram/leon.h"

/* Total payload and number of the datagrams of a frame. */
struct load {
	unsigned frames; /* number of segments, each a frame */
	size_t datagrams, bytes;
};

/* Returns false if the frame cannot be duplicated. */
static bool measure(const struct frame *f, size_t room, struct load *l)
{
	size_t pieces = 1, len = f->len;
	struct tso t;

	*l = (struct load){ .frames = 1 };
	if (f->gso != FRAME_PLAIN) {
		if (f->gso == FRAME_UNKNOWN_GSO || tso_open(&t, f, room) < 0)
			return false;
		l->frames = t.n;
		len = t.hdr_len + min_of(t.size, t.payload_len);
	}
	if (len > room)
		pieces = (len + room - FRAGMENT_HDR_LEN - 1) / (room - FRAGMENT_HDR_LEN);
	l->datagrams = l->frames * pieces;
	l->bytes = f->gso == FRAME_PLAIN ? len : l->frames * t.hdr_len + t.payload_len;
	l->bytes += pieces > 1 ? l->datagrams * FRAGMENT_HDR_LEN : 0;
	return true;
}

/* Cost of duplication in IP packet bytes: the second copy, and the header growth of the first. */
static size_t extra_bytes(const struct snap *s, const struct snap_node *second,
			  const struct load *l)
{
	size_t around = tx_around(s->node[second->first].ep.ip.family);

	around += second->hdr_len + 2 * COPY_HDR_LEN;
	around += second->flags & LEON_F_SEALED ? SEAL_OVERHEAD : 0;
	return l->datagrams * around + l->bytes;
}

/* Both copies are split equally, and equal fragments have equal counters. */
static bool send_duplicated(struct worker *w, struct frame *f, const struct snap_pair *pair,
			    size_t room, const struct load *l)
{
	const struct snap_node *const node[] = { &pair->first, &pair->second };
	uint32_t fragment_id = w->fragment_id, last_id = fragment_id;
	struct lane lane = { .room = room, .twice = true, .counter = w->copy_counter };
	bool sent = false;

	w->copy_counter += l->frames;
	for (unsigned i = 0; i < array_size(node); i++) {
		w->fragment_id = fragment_id;
		lane.node = node[i];
		sent |= encap_alone(w, f, &lane, false);
		last_id = (int32_t)(w->fragment_id - last_id) > 0 ? w->fragment_id : last_id;
	}
	w->fragment_id = last_id;
	/* Neither copy was sent: the reason of one copy is counted. */
	if (unlikely(!sent))
		drop_many(w, DROP_tx_failed, l->frames);
	return sent;
}

/* Returns the pair of a node, and the payload budget of both paths behind `around` bytes; NULL if
 * there is no pair. */
static const struct snap_pair *pair_of(const struct snap *s, uint16_t slot, size_t around,
				       size_t *room)
{
	const struct snap_pair *pair = s->pair ? &s->pair[slot] : NULL;

	if (!pair || !pair->first.has_path || !pair->second.has_path || pair->first.no_key ||
	    pair->second.no_key)
		return NULL;
	*room = min_of((size_t)pair->first.room, (size_t)pair->second.room);
	if (*room < around + FRAGMENT_HDR_LEN + FRAG_UNIT_MIN)
		return NULL;
	*room -= around;
	return pair;
}

/* Returns false if the frame is to be sent outside a block. */
static bool with_parity(struct worker *w, struct frame *f, uint16_t slot, bool *sent)
{
	size_t room;
	const struct snap_pair *pair =
		pair_of(w->snap, slot, PARITY_HDR_LEN + PARITY_SYMBOL_HDR, &room);
	struct lane lane = { .twice = true };
	struct load l;

	if (!pair)
		return false;
	room = min_of(room, (size_t)PARITY_PAYLOAD_MAX);
	if (!measure(f, room, &l) || l.datagrams > l.frames * PARITY_FRAMES)
		return false;
	lane.node = &pair->first;
	lane.room = room;
	lane.block = protect_block(w, slot);
	*sent = encap_alone(w, f, &lane, false);
	if (unlikely(!*sent))
		drop_many(w, DROP_tx_failed, l.frames);
	count(w, CNT_critical_parity, 1);
	return true;
}

/* Returns false if the frame is to be sent once. */
static bool twice(struct worker *w, struct frame *f, uint16_t slot, bool *sent)
{
	const struct snap *s = w->snap;
	struct load l;
	size_t room, bytes;
	const struct snap_pair *pair = pair_of(s, slot, COPY_HDR_LEN, &room);

	if (!pair || !measure(f, room, &l))
		return false;
	bytes = extra_bytes(s, &pair->second, &l);
	if (!budget_take(&w->fwd->budget, s->policy->budget_kbits, bytes, w->now)) {
		count(w, CNT_critical_over_budget, 1);
		return false;
	}
	*sent = send_duplicated(w, f, pair, room, &l);
	count(w, CNT_critical_duplicated, 1);
	count(w, CNT_critical_extra_bytes, bytes);
	return true;
}

void critical_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last)
{
	const struct snap_node *node = &w->snap->node[slot];
	bool sent;

	count(w, CNT_critical_frames, 1);
	count(w, CNT_critical_bytes, f->len);
	if (!(w->snap->policy->parity ? with_parity(w, f, slot, &sent)
				      : twice(w, f, slot, &sent))) {
		struct lane lane = { .node = node, .room = node->room };

		sent = encap_alone(w, f, &lane, last);
	}
	if (likely(sent))
		frames_out(w, slot, 1, copy);
}
