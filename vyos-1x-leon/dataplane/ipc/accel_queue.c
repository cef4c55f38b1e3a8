// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between leond and leon-accel, see accel_queue.h. Pure.
 */
#include "ipc/accel_queue.h"

#include <errno.h>
#include <string.h>

size_t accel_notify_encode(const struct accel_notify_frame *f, uint8_t out[ACCEL_NOTIFY_MAX])
{
	struct wbuf b = wbuf_of(out, ACCEL_NOTIFY_MAX);

	wbuf_u8(&b, f->what);
	switch (f->what) {
	case ACCEL_NOTIFY_HERE:
		wbuf_u8(&b, f->version);
		break;
	case ACCEL_NOTIFY_SETUP:
		wbuf_u32(&b, f->setup.self);
		wbuf_bytes(&b, f->setup.device.b, MAC_LEN);
		wbuf_u8(&b, f->setup.n_queues);
		break;
	case ACCEL_NOTIFY_NODE:
		wbuf_u32(&b, f->node.id);
		wbuf_u32(&b, f->node.rtt_us);
		wbuf_u16(&b, f->node.room);
		wbuf_u8(&b, f->node.bypassed);
		break;
	case ACCEL_NOTIFY_SETTINGS:
		accel_settings_put(&b, &f->settings);
		break;
	case ACCEL_NOTIFY_MOVED:
		wbuf_u16(&b, f->moved.vlan);
		wbuf_bytes(&b, f->moved.mac.b, MAC_LEN);
		wbuf_u32(&b, f->moved.node);
		break;
	default:
		break;
	}
	return wbuf_len(&b);
}

static void take_mac(struct rbuf *b, struct mac *mac)
{
	const uint8_t *p = rbuf_take(b, MAC_LEN);

	if (p)
		memcpy(mac->b, p, MAC_LEN);
}

int accel_notify_decode(const void *data, size_t len, struct accel_notify_frame *f)
{
	struct rbuf b = rbuf_of(data, len);
	uint8_t bypassed;

	*f = (struct accel_notify_frame){ .what = rbuf_u8(&b) };
	switch (f->what) {
	case ACCEL_NOTIFY_HERE:
		f->version = rbuf_u8(&b);
		break;
	case ACCEL_NOTIFY_SETUP:
		f->setup.self = rbuf_u32(&b);
		take_mac(&b, &f->setup.device);
		f->setup.n_queues = rbuf_u8(&b);
		b.ok &= f->setup.n_queues <= ACCEL_QUEUES_MAX;
		break;
	case ACCEL_NOTIFY_NODE:
		f->node.id = rbuf_u32(&b);
		f->node.rtt_us = rbuf_u32(&b);
		f->node.room = rbuf_u16(&b);
		bypassed = rbuf_u8(&b);
		b.ok &= bypassed <= 1;
		f->node.bypassed = bypassed;
		break;
	case ACCEL_NOTIFY_SETTINGS:
		accel_settings_take(&b, &f->settings);
		break;
	case ACCEL_NOTIFY_MOVED:
		f->moved.vlan = rbuf_u16(&b);
		take_mac(&b, &f->moved.mac);
		f->moved.node = rbuf_u32(&b);
		break;
	case ACCEL_NOTIFY_RELEASE:
		break;
	default:
		return -EBADMSG;
	}
	return b.ok && !rbuf_left(&b) ? 0 : -EBADMSG;
}
