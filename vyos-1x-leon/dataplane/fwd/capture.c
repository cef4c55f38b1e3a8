// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: records for the capture of a flow, see capture.h. Workers.
 */
#include "fwd/capture.h"

#include <string.h>

#include "base/defs.h"
#include "crypto/seal.h"
#include "fwd/worker.h"
#include "io/clock.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/parity.h"
#include "wire/frame/eth.h"

#define MACS_LEN 12
#define TAG_LEN	 4 /* a segment id in the place of a tag */

static void post(struct worker *w, struct capture_record *r, const uint8_t *bytes)
{
	uint8_t *rec = ring_reserve(w->captured, 0, sizeof(*r) + r->n);

	if (unlikely(!rec)) {
		count(w, CNT_capture_lost, 1);
		return;
	}
	/* The time of the batch is older by up to the batch, which may wait for a busy core. */
	r->at_us = (uint32_t)(mono_now().ns / NS_PER_US);
	memcpy(rec, r, sizeof(*r));
	if (r->n)
		memcpy(rec + sizeof(*r), bytes, r->n);
	ring_commit(w->captured);
	count(w, CNT_capture_frames, 1);
}

/* Records a frame of which `have` of `len` bytes are at hand, if it belongs to the flow. */
static void look(struct worker *w, const struct capture_record *place, const uint8_t *data,
		 size_t have, size_t len)
{
	const struct snap_capture *c = &w->snap->capture;
	struct capture_record r = *place;

	if (have < ETH_HDR_LEN || !capture_filter_match(&c->filter, data, have))
		return;
	r.len = (uint32_t)len;
	r.n = (uint16_t)min_of(have, (size_t)c->snap);
	post(w, &r, data);
}

/* A frame with a segment id in the place of its tag is recorded without the id. Only the nodes of
 * both ends know the VLAN. */
static void look_without_id(struct worker *w, const struct capture_record *place,
			    const uint8_t *data, size_t have, size_t len)
{
	uint8_t frame[CAPTURE_SNAP_MAX];
	size_t n = min_of(have, sizeof(frame) + TAG_LEN);

	if (n < ETH_HDR_LEN + TAG_LEN)
		return;
	memcpy(frame, data, MACS_LEN);
	memcpy(frame + MACS_LEN, data + MACS_LEN + TAG_LEN, n - MACS_LEN - TAG_LEN);
	look(w, place, frame, n - TAG_LEN, len - TAG_LEN);
}

static void take_frame(struct worker *w, const struct capture_record *place, uint8_t flags,
		       const uint8_t *data, size_t have, size_t len)
{
	if (unlikely(flags & LEON_F_SEGMENT))
		look_without_id(w, place, data, have, len);
	else
		look(w, place, data, have, len);
}

/* The first fragment has the headers, and stands for the frame. */
static void take_fragment(struct worker *w, const struct capture_record *place, uint8_t flags,
			  const uint8_t *data, size_t len)
{
	struct fragment_hdr h;

	if (fragment_decode(data, len, &h) == 0 && h.offset == 0)
		take_frame(w, place, flags, data + FRAGMENT_HDR_LEN, len - FRAGMENT_HDR_LEN,
			   h.total);
}

static void take_bundle(struct worker *w, const struct capture_record *place, const uint8_t *data,
			size_t len)
{
	struct bundle_frame f;
	size_t at = 0;

	while (bundle_next(data, len, &at, &f) > 0)
		take_frame(w, place, f.flags, data + f.at, f.len, f.len);
}

/* Skips the header of a copy or of a frame in a block. Returns false for parities. */
static bool inside_copy(uint8_t *kind, const uint8_t **data, size_t *len)
{
	struct parity_hdr p;
	struct copy_hdr c;
	int n;

	if (parity_is(*data, *len)) {
		n = parity_decode(*data, *len, &p);
		*kind = p.kind;
	} else {
		n = copy_decode(*data, *len, &c) < 0 ? -1 : COPY_HDR_LEN;
		*kind = c.kind;
	}
	if (n < 0 || !*kind)
		return false;
	*data += n;
	*len -= (size_t)n;
	return true;
}

/* A payload in clear. Frames between accelerators are not recorded: they are TCP of their own. */
static void take_payload(struct worker *w, const struct capture_record *place,
			 const struct leon_hdr *h, const uint8_t *data, size_t len)
{
	uint8_t kind = h->kind;

	if (kind == LEON_COPY && !inside_copy(&kind, &data, &len))
		return;
	if (kind == LEON_FRAME)
		take_frame(w, place, h->flags, data, len, len);
	else if (kind == LEON_FRAGMENT)
		take_fragment(w, place, h->flags, data, len);
	else if (kind == LEON_BUNDLE)
		take_bundle(w, place, data, len);
}

static struct capture_record place_of(enum capture_place place, const struct leon_hdr *h)
{
	struct capture_record r = { .place = (uint8_t)place,
				    .source = h->source,
				    .n_hops = h->n_hops };

	memcpy(r.hop, h->hop, sizeof(r.hop));
	return r;
}

void capture_frame(struct worker *w, enum capture_place place, node_id_t source,
		   const uint8_t *data, size_t len)
{
	struct capture_record r = { .place = (uint8_t)place, .source = source };

	look(w, &r, data, len, len);
}

void capture_relayed(struct worker *w, const struct leon_hdr *h, const uint8_t *payload, size_t len)
{
	struct capture_record r = place_of(CAPTURE_RELAYED, h);

	if (!(h->flags & LEON_F_SEALED)) {
		take_payload(w, &r, h, payload, len);
		return;
	}
	if (len < SEAL_NONCE_LEN)
		return;
	r.flags = CAPTURE_SEALED;
	r.nonce = get_u64(payload);
	post(w, &r, NULL);
}

size_t capture_hold(struct worker *w, const uint8_t *head, size_t head_len, const uint8_t *body,
		    size_t body_len)
{
	if (head_len + body_len > NET_BUFFER)
		return 0;
	memcpy(w->spare, head, head_len);
	if (body_len)
		memcpy(w->spare + head_len, body, body_len);
	return head_len + body_len;
}

void capture_sent(struct worker *w, const uint8_t *datagram, size_t len, size_t held)
{
	struct capture_record r;
	struct leon_hdr h;
	size_t hdr_len;

	if (leon_decode(datagram, len, &h, &hdr_len) != LEON_OK)
		return;
	r = place_of(CAPTURE_SENT, &h);
	if (h.flags & LEON_F_SEALED) {
		r.flags = CAPTURE_SEALED;
		r.nonce = get_u64(datagram + hdr_len);
	}
	take_payload(w, &r, &h, w->spare, held);
}

void capture_clear(struct worker *w, const uint8_t *datagram, size_t hdr_len, size_t head_len,
		   const uint8_t *body, size_t body_len)
{
	size_t held = capture_hold(w, datagram + hdr_len, head_len, body, body_len);

	if (held)
		capture_sent(w, datagram, hdr_len + held, held);
}
