// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of the messages of a capture, doc/protocol.md sections 4.15 to 4.19. Control thread;
 * pure.
 */
#include "wire/bytes.h"
#include "wire/flow_capture.h"
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

void capture_start_code(struct codec *b, struct msg *m)
{
	struct msg_capture_start *c = &m->capture_start;

	code_u32(b, &c->id);
	code_u16(b, &c->seconds);
	code_u32(b, &c->bytes);
	code_u16(b, &c->snap);
	capture_filter_code(b, &c->filter);
}

/* CAPTURE-READ */

bool capture_read_valid(const struct msg *m)
{
	return m->capture_read.id != 0;
}

void capture_read_code(struct codec *b, struct msg *m)
{
	code_u32(b, &m->capture_read.id);
	code_u32(b, &m->capture_read.offset);
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

void capture_data_code(struct codec *b, struct msg *m)
{
	struct msg_capture_data *c = &m->capture_data;

	code_u32(b, &c->id);
	code_u8(b, &c->status);
	code_u32(b, &c->by);
	code_u32(b, &c->offset);
	code_u32(b, &c->total);
	code_u32(b, &c->frames);
	code_u32(b, &c->lost);
	for (unsigned i = 0, n = code_count(b, &c->n_clocks, MSG_CLOCKS_MAX); i < n; i++) {
		code_u32(b, &c->clock[i].node);
		code_u32(b, &c->clock[i].offset_us);
		code_u32(b, &c->clock[i].rtt_us);
	}
	code_bytes(b, c->bytes, code_count16(b, &c->n, MSG_CAPTURE_MAX));
}

/* CAPTURE-LOOKUP and CAPTURE-SEEN, which has times */

bool capture_lookup_valid(const struct msg *m)
{
	const struct msg_capture_lookup *c = &m->capture_lookup;

	return c->id != 0 && c->source != NODE_ID_NONE && c->destination != NODE_ID_NONE &&
	       c->n <= MSG_LOOKUP_MAX;
}

void capture_lookup_code(struct codec *b, struct msg *m)
{
	struct msg_capture_lookup *c = &m->capture_lookup;

	code_u32(b, &c->id);
	code_u32(b, &c->source);
	code_u32(b, &c->destination);
	for (unsigned i = 0, n = code_count(b, &c->n, MSG_LOOKUP_MAX); i < n; i++) {
		code_u64(b, &c->nonce[i]);
		if (m->type == MSG_CAPTURE_SEEN)
			code_u32(b, &c->at_us[i]);
	}
}
