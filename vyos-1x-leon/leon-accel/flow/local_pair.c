// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns on a LAN, see proxy_sock.h. If this node sends a frame with the address of a host, switches
 * forward frames for the host to this node. This node therefore receives the answers. But a frame
 * from here to the host is then lost, because a switch sends no frame back to the ingress port. The
 * two hosts therefore take turns: frames for a host wait while the other host is served. Between
 * the turns both hosts are probed.
 */
#include "flow/proxy_sock.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/defs.h"
#include "base/mem.h"
#include "conn/conn_state.h"

#define TURN_MS	     40
#define REQUESTED_MS 10 /* until the answers have corrected the switches */
#define KEPT_MAX     (4u << 20)

struct local_pair_frame {
	struct local_pair_frame *prev, *next;
	size_t len; /* Length with the virtio_net_hdr. */
	uint8_t data[];
};

/* Returns the next frame. */
static struct local_pair_frame *drop(struct conn *c, struct local_pair_frame *f)
{
	struct local_pair_frame *next = f->next;

	c->away.local_pair.kept -= f->len;
	c->flow.ops->may_hold(&c->flow, -(int64_t)f->len);
	free(f);
	return next;
}

void local_pair_free(struct conn *c)
{
	struct local_pair *h = &c->away.local_pair;

	for (unsigned i = 0; i < array_size(h->first); i++)
		while (h->first[i])
			h->first[i] = drop(c, h->first[i]);
	*h = (struct local_pair){ 0 };
}

static void find_host(struct conn *c, const struct ip_addr *ip)
{
	const struct engine *e = c->e;
	uint16_t vlan = c->flow.key.vlan;
	uint8_t frame[ETH_ANNOUNCE_MAX];
	size_t len = ip->family == 4 ? arp_build_question(vlan, e->device, ip, frame)
				     : nd_build_question(vlan, e->device, ip, frame);

	engine_send(c->e, (uint32_t)c->serial, ACCEL_LAN, e->self, no_offload, frame, len);
}

void here_find_hosts(struct conn *c)
{
	find_host(c, &c->flow.key.near);
	find_host(c, &c->flow.key.far);
}

static void turn_to(struct conn *c, bool far, mono_t now)
{
	struct local_pair *h = &c->away.local_pair;

	h->turn = far;
	h->is_open = false;
	h->is_requested = true;
	h->turned = now;
	here_find_hosts(c);
}

void local_pair_begin(struct conn *c, mono_t now)
{
	local_pair_free(c);
	turn_to(c, false, now);
}

static void put(struct conn *c, const uint8_t *vnet, const uint8_t *frame, size_t len)
{
	engine_send(c->e, (uint32_t)c->serial, ACCEL_LAN, c->e->self, vnet, frame, len);
}

static void keep(struct conn *c, bool for_far, const uint8_t *vnet, const uint8_t *frame,
		 size_t len)
{
	struct local_pair *h = &c->away.local_pair;
	struct local_pair_frame *f;

	/* Lost, as on any full queue. */
	if (h->kept + len > KEPT_MAX || !c->flow.ops->may_hold(&c->flow, (int64_t)len))
		return;
	f = x_calloc(1, sizeof(*f) + ACCEL_VNET_LEN + len);
	f->len = len;
	memcpy(f->data, vnet, ACCEL_VNET_LEN);
	memcpy(f->data + ACCEL_VNET_LEN, frame, len);
	DL_APPEND(h->first[for_far], f);
	h->kept += len;
}

void local_pair_send(struct conn *c, bool to_far, const uint8_t *vnet, const uint8_t *frame,
		     size_t len)
{
	struct local_pair *h = &c->away.local_pair;

	if (h->is_open && to_far == h->turn)
		put(c, vnet, frame, len);
	else
		keep(c, to_far, vnet, frame, len);
}

static void open_turn(struct conn *c)
{
	struct local_pair *h = &c->away.local_pair;
	struct local_pair_frame *f = h->first[h->turn];

	h->is_open = true;
	h->first[h->turn] = NULL;
	while (f) {
		put(c, f->data, f->data + ACCEL_VNET_LEN, f->len);
		f = drop(c, f);
	}
}

/* A turn ends after a fixed time even for a single served host, because a probe or an answer may be
 * lost. The next frame has a new probe. */
void local_pair_tick(struct conn *c, mono_t now)
{
	struct local_pair *h = &c->away.local_pair;
	int64_t age_ms = mono_sub_ms(now, h->turned);

	if (h->is_open && age_ms >= TURN_MS)
		h->is_open = h->is_requested = false;
	if (h->is_open)
		return;
	if (h->is_requested && age_ms >= REQUESTED_MS)
		open_turn(c);
	else if (!h->is_requested && h->first[!h->turn])
		turn_to(c, !h->turn, now);
	else if (!h->is_requested && h->first[h->turn])
		turn_to(c, h->turn, now);
}
