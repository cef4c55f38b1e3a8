// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between leond and leon-accel, see accel_queue.h. Pure.
 */
#include "ipc/accel_queue.h"

#include <errno.h>

static void code_node(struct codec *b, struct accel_notify_frame *f)
{
	uint8_t bypassed = f->node.bypassed;

	code_u32(b, &f->node.id);
	code_u32(b, &f->node.rtt_us);
	code_u16(b, &f->node.room);
	code_u8(b, &bypassed);
	if (!b->in)
		return;
	b->in->ok &= bypassed <= 1;
	f->node.bypassed = bypassed;
}

/* Returns false for an unknown notification. */
static bool code_body(struct codec *b, struct accel_notify_frame *f)
{
	switch (f->what) {
	case ACCEL_NOTIFY_HERE:
		code_u8(b, &f->version);
		return true;
	case ACCEL_NOTIFY_SETUP:
		code_u32(b, &f->setup.self);
		code_bytes(b, f->setup.device.b, MAC_LEN);
		code_u8(b, &f->setup.n_queues);
		if (b->in)
			b->in->ok &= f->setup.n_queues <= ACCEL_QUEUES_MAX;
		return true;
	case ACCEL_NOTIFY_NODE:
		code_node(b, f);
		return true;
	case ACCEL_NOTIFY_SETTINGS:
		accel_settings_code(b, &f->settings);
		return true;
	case ACCEL_NOTIFY_MOVED:
		code_u16(b, &f->moved.vlan);
		code_bytes(b, f->moved.mac.b, MAC_LEN);
		code_u32(b, &f->moved.node);
		return true;
	default:
		return f->what == ACCEL_NOTIFY_RELEASE;
	}
}

size_t accel_notify_encode(const struct accel_notify_frame *f, uint8_t out[ACCEL_NOTIFY_MAX])
{
	struct wbuf b = wbuf_of(out, ACCEL_NOTIFY_MAX);

	wbuf_u8(&b, f->what);
	/* A codec that writes does not change the notification. */
	code_body(&(struct codec){ .out = &b }, (struct accel_notify_frame *)f);
	return wbuf_len(&b);
}

int accel_notify_decode(const void *data, size_t len, struct accel_notify_frame *f)
{
	struct rbuf b = rbuf_of(data, len);

	*f = (struct accel_notify_frame){ .what = rbuf_u8(&b) };
	if (!code_body(&(struct codec){ .in = &b }, f))
		return -EBADMSG;
	return b.ok && !rbuf_left(&b) ? 0 : -EBADMSG;
}
