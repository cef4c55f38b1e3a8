// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: one data datagram to a node. Workers. */
#include "fwd/send/send_steps.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/capture.h"
#include "fwd/worker.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/parity.h"

/* Copies and parities use paths other than the path in use and are not counted for it. */
static void count_traffic(struct worker *w, const struct outgoing *o, size_t len)
{
	const struct snap_node *node = o->node;
	bool apart = o->twice || o->kind == LEON_COPY;

	traffic_out(w, node->first, apart ? SLOT_NONE : (uint16_t)(node - w->snap->node), len);
}

static bool is_sealed(const struct snap_node *node)
{
	return node->flags & LEON_F_SEALED;
}

static void write_header(const struct outgoing *o, uint8_t *out)
{
	memcpy(out, o->node->hdr, o->node->hdr_len);
	out[0] = (uint8_t)(LEON_VERSION << 4 | (o->twice ? LEON_COPY : o->kind));
	out[1] = o->flags | o->node->flags;
}

static size_t copy_hdr_len(const struct outgoing *o)
{
	return o->block ? PARITY_FRAME_HDR_LEN : COPY_HDR_LEN;
}

static uint8_t *write_copy(const struct worker *w, const struct outgoing *o, uint8_t *out)
{
	struct copy_hdr h = { (uint8_t)w->index, o->counter, o->kind };
	struct parity_hdr p;

	if (o->block) {
		p = coding_header(o->block, w->index, o->kind);
		parity_encode(&p, out);
	} else {
		copy_encode(&h, out);
	}
	return out + copy_hdr_len(o);
}

/* Sealed bulk data on the direct link to a node with a second pair of lines. The receiver has no
 * buffer for a longer payload, and cannot restore its order. */
static void distribute(struct worker *w, struct outgoing *o, size_t len)
{
	if (o->head_len + o->body_len > HOLD_BYTES)
		return;
	o->flags |= LEON_F_SPREAD;
	w->tx.second = spread_takes_second(w, o->node->first, len);
}

uint8_t *outgoing_begin(struct worker *w, struct outgoing *o)
{
	const struct snap_node *node = o->node;
	uint8_t *out;
	size_t len;

	if (unlikely(o->twice))
		o->head_len += copy_hdr_len(o);
	len = node->hdr_len + o->head_len + o->body_len;

	if (unlikely(node->no_key)) {
		drop_many(w, DROP_no_key, o->frames);
		return NULL;
	}
	o->start = NULL;
	if (unlikely(node->second) && o->bulk && is_sealed(node))
		distribute(w, o, len + SEAL_OVERHEAD);
	if (is_sealed(node)) {
		o->start = tx_prepare(w, node->first, 1, len + SEAL_OVERHEAD);
	} else if (tx_begin(w, node->first, len, 2, node->hdr_len + o->head_len)) {
		o->start = tx_scratch(w, node->hdr_len + o->head_len);
		count_traffic(w, o, len);
	}
	if (unlikely(!o->start)) {
		w->tx.second = false;
		drop_many(w, DROP_tx_failed, o->frames);
		return NULL;
	}
	write_header(o, o->start);
	out = o->start + node->hdr_len + (is_sealed(node) ? SEAL_NONCE_LEN : 0);
	return unlikely(o->twice) ? write_copy(w, o, out) : out;
}

/* The ciphertext overwrites the head in place; the body is encrypted while it is copied. */
static bool seal(struct worker *w, const struct outgoing *o, const void *body)
{
	const struct snap_node *node = o->node;
	size_t len = node->hdr_len + o->head_len + o->body_len + SEAL_OVERHEAD;
	uint8_t *out = o->start + node->hdr_len, aad[LEON_HDR_LEN_MAX];
	const struct aead_piece in[] = { { out + SEAL_NONCE_LEN, o->head_len },
					 { body, o->body_len } };
	size_t held = 0;

	if (unlikely(w->snap->capture.on))
		held = capture_hold(w, out + SEAL_NONCE_LEN, o->head_len, body, o->body_len);
	if (unlikely(seal_data(node->seal_tx, w->index, aad,
			       leon_sealed_header(o->start, node->n_hops, aad), in, 2, out) < 0))
		return drop_many(w, DROP_no_key, o->frames);
	if (unlikely(!tx_begin(w, node->first, len, 1, len)))
		return drop_many(w, DROP_tx_failed, o->frames);
	tx_scratch(w, len);
	count(w, CNT_spread_tx, w->tx.second);
	if (unlikely(w->snap->node[node->first].has_lines))
		resend_keep(w, node->first, o->start, len);
	count_traffic(w, o, len);
	count(w, CNT_sealed_tx, 1);
	if (unlikely(held))
		capture_sent(w, o->start, len, held);
	return true;
}

/* The head is behind the headers, and not encrypted yet. */
static void add_to_block(struct worker *w, const struct outgoing *o, const void *body)
{
	size_t around = o->node->hdr_len + PARITY_FRAME_HDR_LEN + 0u;
	struct coding_payload p = { .body = body,
				    .body_len = o->body_len,
				    .head_len = o->head_len - PARITY_FRAME_HDR_LEN };

	p.head = o->start + around + (is_sealed(o->node) ? SEAL_NONCE_LEN : 0);
	coding_add(&w->coding, o->block, o->kind, o->flags & LEON_FLAGS_FRAME, &p);
}

bool outgoing_end(struct worker *w, const struct outgoing *o, const void *body)
{
	bool sent;

	if (unlikely(o->block))
		add_to_block(w, o, body);
	if (is_sealed(o->node)) {
		sent = seal(w, o, body);
		w->tx.second = false;
		return sent;
	}
	if (o->body_len)
		tx_piece(w, body, o->body_len);
	if (unlikely(w->snap->capture.on))
		capture_clear(w, o->start, o->node->hdr_len, o->head_len, body, o->body_len);
	return true;
}

/* Writes the header directly in front of the payload, which has free bytes there. Clear mode
 * only. */
static bool send_whole(struct worker *w, const struct outgoing *o, uint8_t *payload)
{
	size_t hdr_len = o->node->hdr_len, len = hdr_len + o->body_len;
	uint8_t *start = payload - hdr_len;

	if (unlikely(o->node->no_key))
		return drop_many(w, DROP_no_key, o->frames);
	if (unlikely(!tx_begin(w, o->node->first, len, 1, 0)))
		return drop_many(w, DROP_tx_failed, o->frames);
	write_header(o, start);
	tx_piece(w, start, len);
	count_traffic(w, o, len);
	if (unlikely(w->snap->capture.on))
		capture_clear(w, start, hdr_len, 0, payload, o->body_len);
	return true;
}

bool outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own, bool bulk)
{
	struct outgoing o = { .node = node,
			      .bulk = bulk,
			      .kind = LEON_FRAME,
			      .flags = flags,
			      .frames = 1,
			      .body_len = len };

	if (own && !is_sealed(node))
		return send_whole(w, &o, data);
	return outgoing_begin(w, &o) && outgoing_end(w, &o, data);
}
