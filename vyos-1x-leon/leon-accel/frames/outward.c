// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output of leon-accel for all its modules, see engine.h: messages to leond, and the devices of the
 * proxy sockets.
 */
#include <errno.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine.h"

#define TICK_MS	   5
#define LAN_ROUTES 1000 /* tun_open_lan(): number of the first LAN; higher for the others */

const uint8_t no_offload[ACCEL_VNET_LEN];

void engine_send(struct engine *e, uint32_t hash, enum accel_where where, node_id_t node,
		 const void *vnet, const void *frame, size_t len)
{
	uint8_t header[ACCEL_QUEUE_HDR];
	struct iovec iov[3] = { { (void *)(uintptr_t)frame, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 1 };

	if (!e->n_queues)
		return;
	if (vnet) {
		accel_queue_put(header, where, node);
		iov[0] = (struct iovec){ header, sizeof(header) };
		iov[1] = (struct iovec){ (void *)(uintptr_t)vnet, ACCEL_VNET_LEN };
		iov[2] = (struct iovec){ (void *)(uintptr_t)frame, len };
		m.msg_iovlen = 3;
	}
	/* A full queue drops the frame. */
	if (sendmsg(e->queue[hash % e->n_queues], &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		e->counters.leond_queue_full++;
}

uint16_t engine_gso_size(const uint8_t *vnet)
{
	struct virtio_net_hdr h;

	memcpy(&h, vnet, sizeof(h));
	return h.gso_type ? h.gso_size : 0;
}

struct lan *engine_lan(struct engine *e, uint16_t vlan)
{
	struct lan *lan;
	int error;

	if (vlan < VLANS && e->lan[vlan])
		return e->lan[vlan];
	errno = ENODEV;
	if (vlan >= VLANS || e->n_lans == LANS_MAX)
		return NULL;
	lan = x_new(struct lan);
	lan->e = e;
	lan->vlan = vlan;
	snprintf(lan->name, sizeof(lan->name), "lan%u", vlan);
	error = -tun_open_lan(&lan->tun, e->nl, lan->name, LAN_ROUTES + vlan);
	if (error > 0) {
		log_error("accel", "no device for the proxy sockets of a VLAN: %s vlan=%u",
			  strerror(error), vlan);
		free(lan);
		errno = error;
		return NULL;
	}
	e->lan[vlan] = lan;
	e->n_lans++;
	loop_fd_add(e->loop, lan->tun.tap.fd[0], EPOLLIN, e->on_lan, lan);
	return lan;
}

bool engine_answers(const struct engine *e)
{
	return !e->stopping && e->settings.mode != ACCEL_OFF;
}

void engine_start_tick(struct engine *e)
{
	if (!timer_is_set(e->tick))
		timer_set(e->tick, mono_add_ms(loop_now(e->loop), TICK_MS));
}
