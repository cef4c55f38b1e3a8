// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: several frames in one datagram. Worker. Frames are copied into a buffer:
 * another piece of scattered memory costs the kernel more than the copy.
 */
#include "fwd/send/send_state.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/send/send_steps.h"
#include "fwd/worker.h"
#include "wire/datagram/leon.h"

static bool send_bundle(struct worker *w, const struct bundle *b)
{
	struct outgoing o = { .node = &w->snap->node[b->slot],
			      .kind = LEON_BUNDLE,
			      .frames = b->n,
			      .head_len = b->len };
	uint8_t *out = outgoing_begin(w, &o);

	if (unlikely(!out))
		return false;
	for (unsigned i = 0; i < b->n; i++) {
		const struct bundle_item *m = &b->item[i];

		bundle_encode(m->len, m->flags, out);
		memcpy(out + BUNDLE_HDR_LEN, m->data, m->len);
		out += BUNDLE_HDR_LEN + m->len;
	}
	if (unlikely(!outgoing_end(w, &o, out)))
		return false;
	count(w, CNT_bundles_tx, 1);
	count(w, CNT_bundled_frames_tx, b->n);
	return true;
}

static bool send_alone(struct worker *w, const struct bundle *b)
{
	const struct bundle_item *m = &b->item[0];

	return outgoing_frame(w, &w->snap->node[b->slot], m->flags, m->data, m->len, m->own, false);
}

static void send_waiting(struct worker *w, struct bundle *b)
{
	if (!b->n)
		return;
	w->tx.class = b->class;
	if (likely(b->n > 1 ? send_bundle(w, b) : send_alone(w, b)))
		frames_out(w, b->slot, b->n, b->n_copies);
	b->n = b->n_copies = 0;
}

bool bundle_add(struct worker *w, const struct frame *f, uint16_t slot, bool copy, bool last)
{
	struct bundle *b = &w->bundle[slot % BUNDLE_OPEN];
	size_t room = w->snap->node[slot].room, len = BUNDLE_HDR_LEN + f->len;

	if (b->n && (b->slot != slot || b->class != f->class || b->n == BUNDLE_FRAMES ||
		     b->len + len > room))
		send_waiting(w, b);
	/* A frame opens a bundle only if another frame of its size would fit. */
	if (!b->n && (2 * len > room || f->len > BUNDLE_FRAME_MAX))
		return false;
	if (!b->n) {
		b->slot = slot;
		b->class = f->class;
		b->len = 0;
	}
	b->item[b->n++] = (struct bundle_item){ f->data, (uint16_t)f->len, frame_flags(f), last };
	b->n_copies += copy;
	b->len += len;
	return true;
}

void bundle_flush_to(struct worker *w, uint16_t slot)
{
	struct bundle *b = &w->bundle[slot % BUNDLE_OPEN];

	if (b->n && b->slot == slot)
		send_waiting(w, b);
}

void bundle_flush(struct worker *w)
{
	for (unsigned i = 0; i < BUNDLE_OPEN; i++)
		send_waiting(w, &w->bundle[i]);
}
