// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop guard's hands: sends guard frames out of the TAP onto the local segment, where there is
 * one (a router's own leon0 has none: it would only count them as dropped), checks those that are
 * heard, and does what the state machine (loop_guard.c) says. Control thread.
 */
#include <string.h>
#include <sys/uio.h>

#include "base/defs.h"
#include "daemon/host/kernel_routes.h"
#include "daemon/host/loop_guard_io.h"
#include "daemon/life/event_text.h"
#include "daemon/life/snapshot.h"
#include "daemon/leond.h"
#include "daemon/life/clock.h"
#include "wire/guard.h"

static uint64_t own_incarnation(struct leond *d)
{
	const struct node *self = nodedb_at(overlay_nodes(d->overlay), SLOT_SELF);

	return self ? self->rec.incarnation : 0;
}

static void send_frame(struct leond *d)
{
	static const uint8_t no_offload[TAP_VNET_LEN];
	struct guard_frame g = {
		.src = d->device.mac,
		.vni = d->conf->vni,
		.node = d->self,
		.incarnation = own_incarnation(d),
	};
	uint8_t frame[GUARD_FRAME_LEN];
	struct iovec iov[2] = {
		{ .iov_base = (void *)(uintptr_t)no_offload, .iov_len = sizeof(no_offload) },
		{ .iov_base = frame, .iov_len = sizeof(frame) },
	};

	guard_encode(&g, frame);
	keyring_guard_auth(overlay_keyring(d->overlay), frame, GUARD_SIGNED_LEN, g.auth);
	guard_encode(&g, frame);
	/* Refused while the interface is down: then there is no loop either. */
	if (writev(d->tap.fd[0], iov, array_size(iov)) > 0)
		d->guard.n_sent++;
}

void guard_send_now(struct leond *d)
{
	if (d->guard_timer && d->guard.state != GUARD_OFF &&
	    (d->device.is_port || d->device.lan_heard))
		send_frame(d);
}

/* Addresses that this machine itself uses: the interface's, and those of VRRP (RFC 9568 section
 * 7.3), which are on a device above it. */
static bool is_own(const struct leond *d, struct mac mac)
{
	static const uint8_t vrrp[] = { 0x00, 0x00, 0x5e, 0x00 };

	return mac_to_u64(mac) == mac_to_u64(d->device.mac) ||
	       (!memcmp(mac.b, vrrp, sizeof(vrrp)) && (mac.b[4] == 1 || mac.b[4] == 2));
}

void guard_local_host(struct leond *d, struct mac mac)
{
	if (d->device.lan_heard || is_own(d, mac))
		return;
	d->device.lan_heard = true;
	guard_send_now(d);
}

void lan_changed(struct leond *d, uint16_t slot)
{
	fdb_forget_slot(d->fdb, slot, now_s_of(loop_now(d->loop)));
	neigh_forget_slot(d->neigh, slot);
}

/* The other nodes, too, must learn anew behind which of the nodes on this LAN its hosts are now. */
static void announce_state(struct leond *d)
{
	uint16_t flags = 0;

	if (d->guard.state == GUARD_BLOCKED)
		flags = RECORD_LAN_BLOCKED;
	else if (d->guard.state == GUARD_SHARED)
		flags = RECORD_LAN_SHARED;
	overlay_set_lan(d->overlay, flags);
	lan_changed(d, SLOT_SELF);
}

static void report_state(struct leond *d)
{
	struct event_facts n = { .node = guard_other(&d->guard) };
	char who[NODE_LABEL_LEN];

	node_label(d, n.node, who, sizeof(who));
	switch (d->guard.state) {
	case GUARD_BLOCKED:
		n.kind = EV_LOOP_GUARD_BLOCKED;
		report_event(d, &n, "node %s is on the same LAN: this node stops forwarding", who);
		break;
	case GUARD_SHARED:
		n.kind = EV_LOOP_GUARD_SHARED;
		report_event(d, &n,
			     "node %s is on the same LAN: it stops forwarding, this node "
			     "goes on",
			     who);
		break;
	case GUARD_OFF:
		n.kind = EV_LOOP_GUARD_OFF;
		report_event(d, &n, "the loop guard is switched off");
		break;
	case GUARD_CLEAR:
		n.kind = EV_LOOP_GUARD_CLEAR;
		report_event(d, &n, "no other node is on the local LAN: forwarding");
		break;
	}
}

static void act_on(struct leond *d, unsigned news)
{
	const struct event_facts begins = { .kind = EV_LOCAL_LOOP };
	const struct event_facts ends = { .kind = EV_LOCAL_LOOP_OVER };

	if (news & GUARD_STATE_CHANGED) {
		snapshot_publish(d);
		routes_soon(d);
		announce_state(d);
		report_state(d);
	}
	if (news & GUARD_LOOP_BEGINS)
		report_event(d, &begins,
			     "a frame of this node came back over the local segment: "
			     "the LAN has a loop");
	if (news & GUARD_LOOP_ENDS)
		report_event(d, &ends, "frames of this node do not come back any more");
	if (news & GUARD_NEWCOMER)
		guard_send_now(d);
}

static bool is_authentic(struct leond *d, const uint8_t *frame, const struct guard_frame *g)
{
	return keyring_guard_check(overlay_keyring(d->overlay), frame, GUARD_SIGNED_LEN, g->auth);
}

/* A frame recorded in an earlier life of its sender says nothing about now. */
static bool is_outdated(struct leond *d, const struct guard_frame *g)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), g->node);

	return n && n->has_record && g->incarnation < n->rec.incarnation;
}

void guard_frame_heard(struct leond *d, const uint8_t *frame, size_t len)
{
	struct guard_frame g;

	if (len < GUARD_SIGNED_LEN || guard_decode(frame, len, &g) < 0 || g.vni != d->conf->vni)
		return;
	if (!is_authentic(d, frame, &g)) {
		d->guard.n_not_authentic++;
		return;
	}
	if (is_outdated(d, &g) || (g.node == d->self && g.incarnation != own_incarnation(d)))
		return;
	act_on(d, guard_heard(&d->guard, g.node, loop_now(d->loop)));
}

static void on_guard_timer(void *arg, mono_t now)
{
	struct leond *d = arg;

	timer_set(d->guard_timer, mono_add_ms(now, d->guard.interval_ms));
	act_on(d, guard_tick(&d->guard, now));
	guard_send_now(d);
}

void guard_start(struct leond *d)
{
	d->guard_timer = timer_new(d->loop, on_guard_timer, d);
	on_guard_timer(d, loop_now(d->loop));
}

void guard_apply_conf(struct leond *d)
{
	const struct conf *c = d->conf;
	mono_t now = loop_now(d->loop);

	act_on(d, guard_configure(&d->guard, c->guard, c->guard_interval_ms, now));
	timer_set(d->guard_timer, mono_add_ms(now, d->guard.interval_ms));
	guard_send_now(d);
}
