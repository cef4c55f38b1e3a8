// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one data datagram to a node, see outgoing.h. Workers.
 */
#include "fwd/outgoing.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/worker.h"

static void note(struct worker *w, const struct snap_node *node)
{
	traffic_out(w, node->first, (uint16_t)(node - w->snap->node));
}

static bool is_sealed(const struct snap_node *node)
{
	return node->flags & LEON_F_SEALED;
}

static bool has_key(struct worker *w, const struct snap_node *node)
{
	if (likely(!node->no_key))
		return true;
	drop(w, DROP_no_key);
	return false;
}

static void write_header(const struct snap_node *node, uint8_t kind, uint8_t flags, uint8_t *out)
{
	memcpy(out, node->hdr, node->hdr_len);
	out[0] = (uint8_t)(LEON_VERSION << 4 | kind);
	out[1] = flags | node->flags;
}

uint8_t *outgoing_begin(struct worker *w, struct outgoing *o, const struct snap_node *node,
			uint8_t kind, uint8_t flags, size_t head_len, size_t body_len)
{
	size_t len = node->hdr_len + head_len + body_len;

	*o = (struct outgoing){ .node = node, .head_len = head_len, .body_len = body_len };
	if (unlikely(!has_key(w, node)))
		return NULL;
	if (is_sealed(node)) {
		o->start = tx_prepare(w, node->first, 1, len + SEAL_OVERHEAD);
	} else {
		if (!tx_begin(w, node->first, len, 2, node->hdr_len + head_len))
			return NULL;
		o->start = tx_scratch(w, node->hdr_len + head_len);
		note(w, node);
	}
	if (unlikely(!o->start))
		return NULL;
	write_header(node, kind, flags, o->start);
	return o->start + node->hdr_len + (is_sealed(node) ? SEAL_NONCE_LEN : 0);
}

/* The head is where its ciphertext goes; the body is encrypted on its way there. */
static void seal(struct worker *w, const struct outgoing *o, const void *body)
{
	const struct snap_node *node = o->node;
	size_t len = node->hdr_len + o->head_len + o->body_len + SEAL_OVERHEAD;
	uint8_t *out = o->start + node->hdr_len, aad[LEON_HDR_LEN_MAX];
	const struct aead_piece in[] = { { out + SEAL_NONCE_LEN, o->head_len },
					 { body, o->body_len } };

	if (unlikely(seal_data(node->seal_tx, w->index, aad,
			       leon_sealed_header(o->start, node->n_hops, aad), in, 2, out) < 0)) {
		drop(w, DROP_no_key);
		return;
	}
	if (!tx_begin(w, node->first, len, 1, len))
		return;
	tx_scratch(w, len);
	note(w, node);
	count(w, CNT_sealed_tx, 1);
}

void outgoing_end(struct worker *w, const struct outgoing *o, const void *body)
{
	if (is_sealed(o->node))
		seal(w, o, body);
	else if (o->body_len)
		tx_piece(w, body, o->body_len);
}

void outgoing_whole(struct worker *w, const struct snap_node *node, uint8_t kind, uint8_t flags,
		    uint8_t *payload, size_t len)
{
	uint8_t *start = payload - node->hdr_len;
	struct outgoing o;

	if (is_sealed(node)) {
		if (outgoing_begin(w, &o, node, kind, flags, 0, len))
			outgoing_end(w, &o, payload);
		return;
	}
	if (unlikely(!has_key(w, node)) || !tx_begin(w, node->first, node->hdr_len + len, 1, 0))
		return;
	write_header(node, kind, flags, start);
	tx_piece(w, start, node->hdr_len + len);
	note(w, node);
}

void outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own)
{
	struct outgoing o;

	if (own)
		outgoing_whole(w, node, LEON_FRAME, flags, data, len);
	else if (outgoing_begin(w, &o, node, LEON_FRAME, flags, 0, len))
		outgoing_end(w, &o, data);
}
