// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames that arrive as fragments, as two copies, or in blocks with parity. Each is delivered
 * once, as soon as it is complete. The parts wait in the tables of received_tables.h. Workers.
 */
#include "fwd/in/receive.h"

#include "base/defs.h"
#include "fwd/in/received_tables.h"
#include "fwd/worker.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/parity.h"

static struct arrived behind(const struct arrived *p, size_t header)
{
	struct arrived inner = *p;

	inner.data += header;
	inner.len -= header;
	return inner;
}

/* Returns false if the frame of this copy arrived before, or may have. */
static bool copy_is_first(struct worker *w, uint16_t source, const struct copy_hdr *c)
{
	unsigned lost_one;

	switch (copies_take(w->fwd->copies, source, c, &lost_one)) {
	case COPY_FIRST:
		count(w, CNT_copy_first, !(c->kind & PARITY_MARK));
		if (unlikely(lost_one))
			count(w, CNT_copy_lost_one, lost_one);
		return true;
	case COPY_SECOND:
		count(w, CNT_copy_second, 1);
		return false;
	case COPY_AGAIN:
		/* Another fragment of the second copy. */
		return false;
	case COPY_OLD:
		return drop(w, DROP_copy_old);
	}
	return false;
}

/* Adds a fragment; `copy` identifies a duplicated frame. Fragments of both copies complete a frame
 * together, and the frame is recorded only then. */
static void take_fragment(struct worker *w, const struct arrived *p, const struct copy_hdr *copy)
{
	struct reasm_around around = { p->flags, p->ecn };
	struct fragment_hdr h;
	struct reasm_result r;
	struct arrived whole;

	if (fragment_decode(p->data, p->len, &h) < 0) {
		drop(w, DROP_fragment_bad);
		return;
	}
	if (copy && copies_look(w->fwd->copies, p->slot, copy) != COPY_FIRST) {
		copy_is_first(w, p->slot, copy);
		/* Another worker may have completed the other copy. */
		reasm_forget(w->reasm, p->node, h.id);
		return;
	}
	r = reasm_add(w->reasm, p->node, &h, p->data + FRAGMENT_HDR_LEN, p->len - FRAGMENT_HDR_LEN,
		      around, w->now);
	if (r.evicted)
		drop(w, DROP_fragment_memory);
	switch (r.verdict) {
	case REASM_WAITING:
		break;
	case REASM_DUPLICATE:
		if (!copy)
			drop(w, DROP_fragment_duplicate);
		break;
	case REASM_BAD:
		drop(w, DROP_fragment_bad);
		break;
	case REASM_COMPLETE:
		if (copy && !copy_is_first(w, p->slot, copy))
			break;
		count(w, CNT_reassembled_frames, 1);
		whole = *p;
		whole.flags = r.around.flags;
		whole.ecn = r.around.ecn;
		whole.data = r.data;
		whole.len = r.len;
		local_frame(w, &whole);
		break;
	}
}

void assemble_fragment(struct worker *w, const struct arrived *p)
{
	take_fragment(w, p, NULL);
}

/* A frame or a fragment, of a copy or of a block. */
static void take_copied(struct worker *w, const struct arrived *p, const struct copy_hdr *c)
{
	if ((c->kind & ~PARITY_MARK) == LEON_FRAGMENT)
		take_fragment(w, p, c);
	else if (copy_is_first(w, p->slot, c))
		local_frame(w, p);
}

static void take_symbol(struct worker *w, const struct arrived *p, const struct parity_hdr *h)
{
	struct copy_hdr c = parity_frame(h);

	take_copied(w, p, &c);
}

/* Delivers restored frames. The frames and the block are released before another worker may use the
 * block. A congestion mark of the last datagram concerns no restored frame. */
static void take_restored(struct worker *w, const struct arrived *p, struct recovery_block *b)
{
	struct arrived inner = *p;
	struct recovery_symbol s;
	unsigned at = 0;

	inner.ecn = ECN_NOT_ECT;
	while (recovery_next(b, &at, &s)) {
		if (unlikely(!s.len)) {
			drop(w, DROP_parity_bad);
			continue;
		}
		count(w, CNT_parity_recovered, s.restored);
		inner.flags = s.flags;
		inner.data = s.payload;
		inner.len = s.len;
		take_symbol(w, &inner, &s.h);
	}
	deliver_flush(w);
	recovery_end(b);
}

/* A frame or parity of a block: frames are delivered at once. */
static void take_block(struct worker *w, const struct arrived *p)
{
	struct arrived inner;
	struct recovery_result r;
	struct parity_hdr h;
	int n = parity_decode(p->data, p->len, &h);

	if (unlikely(n < 0)) {
		drop(w, DROP_parity_bad);
		return;
	}
	inner = behind(p, (size_t)n);
	if (h.kind) {
		r = recovery_add(w->fwd->recovery, p->node, &h, p->flags, inner.data, inner.len);
		take_symbol(w, &inner, &h);
	} else {
		count(w, CNT_parity_rx, 1);
		r = recovery_add_parity(w->fwd->recovery, p->node, &h, inner.data, inner.len);
	}
	if (unlikely(r.verdict == RECOVERY_BAD))
		drop(w, DROP_parity_bad);
	count(w, CNT_parity_busy, r.verdict == RECOVERY_BUSY);
	if (unlikely(r.unrecoverable))
		count(w, CNT_parity_unrecoverable, r.unrecoverable);
	if (r.restored)
		take_restored(w, p, r.restored);
}

void assemble_copy(struct worker *w, const struct arrived *p)
{
	struct arrived inner;
	struct copy_hdr c;

	if (parity_is(p->data, p->len)) {
		take_block(w, p);
		return;
	}
	if (copy_decode(p->data, p->len, &c) < 0) {
		drop(w, DROP_copy_bad);
		return;
	}
	inner = behind(p, COPY_HDR_LEN);
	take_copied(w, &inner, &c);
}
