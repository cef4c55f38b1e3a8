// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of the messages of a capture, doc/protocol.md sections 4.15 to 4.19. Control thread;
 * pure.
 */
#include "wire/bytes.h"
#include "wire/capture/record.h"
#include "wire/message/msg.h"
#include "wire/message/msg_parts.h"

/* CAPTURE-START */

bool capture_start_valid(const struct msg *m)
{
	const struct msg_capture_start *c = &m->capture_start;

	return c->id != 0 && c->seconds <= CAPTURE_SECONDS_MAX && c->bytes >= CAPTURE_BYTES_MIN &&
	       c->bytes <= CAPTURE_BYTES_MAX && c->snap >= CAPTURE_SNAP_MIN &&
	       c->snap <= CAPTURE_SNAP_MAX && capture_filter_valid(&c->filter);
}

void capture_start_read(struct rbuf *b, struct msg *m)
{
	struct msg_capture_start *c = &m->capture_start;

	c->id = rbuf_u32(b);
	c->seconds = rbuf_u16(b);
	c->bytes = rbuf_u32(b);
	c->snap = rbuf_u16(b);
	capture_filter_read(b, &c->filter);
}

void capture_start_write(struct wbuf *b, const struct msg *m)
{
	const struct msg_capture_start *c = &m->capture_start;

	wbuf_u32(b, c->id);
	wbuf_u16(b, c->seconds);
	wbuf_u32(b, c->bytes);
	wbuf_u16(b, c->snap);
	capture_filter_write(b, &c->filter);
}

/* CAPTURE-READ */

bool capture_read_valid(const struct msg *m)
{
	return m->capture_read.id != 0;
}

void capture_read_read(struct rbuf *b, struct msg *m)
{
	m->capture_read.id = rbuf_u32(b);
	m->capture_read.offset = rbuf_u32(b);
}

void capture_read_write(struct wbuf *b, const struct msg *m)
{
	wbuf_u32(b, m->capture_read.id);
	wbuf_u32(b, m->capture_read.offset);
}

/* CAPTURE-DATA */

bool capture_data_valid(const struct msg *m)
{
	const struct msg_capture_data *c = &m->capture_data;

	if (c->id == 0 || c->status > CAPTURE_UNKNOWN || c->n_clocks > MSG_CLOCKS_MAX ||
	    c->n > MSG_CAPTURE_MAX || c->total > CAPTURE_BYTES_MAX || c->offset > c->total ||
	    c->n > c->total - c->offset)
		return false;
	for (unsigned i = 0; i < c->n_clocks; i++)
		if (c->clock[i].node == NODE_ID_NONE)
			return false;
	return true;
}

void capture_data_read(struct rbuf *b, struct msg *m)
{
	struct msg_capture_data *c = &m->capture_data;

	c->id = rbuf_u32(b);
	c->status = rbuf_u8(b);
	c->by = rbuf_u32(b);
	c->offset = rbuf_u32(b);
	c->total = rbuf_u32(b);
	c->frames = rbuf_u32(b);
	c->lost = rbuf_u32(b);
	c->n_clocks = rbuf_u8(b);
	if (!fits(b, c->n_clocks, MSG_CLOCKS_MAX))
		return;
	for (unsigned i = 0; i < c->n_clocks; i++) {
		c->clock[i].node = rbuf_u32(b);
		c->clock[i].offset_us = rbuf_u32(b);
		c->clock[i].rtt_us = rbuf_u32(b);
	}
	c->n = rbuf_u16(b);
	if (fits(b, c->n, MSG_CAPTURE_MAX))
		read_bytes(b, c->bytes, c->n);
}

void capture_data_write(struct wbuf *b, const struct msg *m)
{
	const struct msg_capture_data *c = &m->capture_data;

	wbuf_u32(b, c->id);
	wbuf_u8(b, c->status);
	wbuf_u32(b, c->by);
	wbuf_u32(b, c->offset);
	wbuf_u32(b, c->total);
	wbuf_u32(b, c->frames);
	wbuf_u32(b, c->lost);
	wbuf_u8(b, c->n_clocks);
	for (unsigned i = 0; i < c->n_clocks; i++) {
		wbuf_u32(b, c->clock[i].node);
		wbuf_u32(b, c->clock[i].offset_us);
		wbuf_u32(b, c->clock[i].rtt_us);
	}
	wbuf_u16(b, c->n);
	wbuf_bytes(b, c->bytes, c->n);
}

/* CAPTURE-LOOKUP and CAPTURE-SEEN, which has times */

bool capture_lookup_valid(const struct msg *m)
{
	const struct msg_capture_lookup *c = &m->capture_lookup;

	return c->id != 0 && c->source != NODE_ID_NONE && c->destination != NODE_ID_NONE &&
	       c->n <= MSG_LOOKUP_MAX;
}

static void lookup_read(struct rbuf *b, struct msg_capture_lookup *c, bool times)
{
	c->id = rbuf_u32(b);
	c->source = rbuf_u32(b);
	c->destination = rbuf_u32(b);
	c->n = rbuf_u8(b);
	if (!fits(b, c->n, MSG_LOOKUP_MAX))
		return;
	for (unsigned i = 0; i < c->n; i++) {
		c->nonce[i] = rbuf_u64(b);
		if (times)
			c->at_us[i] = rbuf_u32(b);
	}
}

static void lookup_write(struct wbuf *b, const struct msg_capture_lookup *c, bool times)
{
	wbuf_u32(b, c->id);
	wbuf_u32(b, c->source);
	wbuf_u32(b, c->destination);
	wbuf_u8(b, c->n);
	for (unsigned i = 0; i < c->n; i++) {
		wbuf_u64(b, c->nonce[i]);
		if (times)
			wbuf_u32(b, c->at_us[i]);
	}
}

void capture_lookup_read(struct rbuf *b, struct msg *m)
{
	lookup_read(b, &m->capture_lookup, false);
}

void capture_lookup_write(struct wbuf *b, const struct msg *m)
{
	lookup_write(b, &m->capture_lookup, false);
}

void capture_seen_read(struct rbuf *b, struct msg *m)
{
	lookup_read(b, &m->capture_seen, true);
}

void capture_seen_write(struct wbuf *b, const struct msg *m)
{
	lookup_write(b, &m->capture_seen, true);
}
