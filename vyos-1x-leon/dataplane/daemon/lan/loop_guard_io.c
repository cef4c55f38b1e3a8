// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * I/O of the loop guard. Sends guard frames out of the TAP onto the local segment, if there is one.
 * (The leon0 of a router without a LAN would count them as dropped.) Checks received guards, and
 * acts on the results of the state machine (loop_guard.c). Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"
#include "base/loop.h"
#include "base/mem.h"
#include "crypto/keys.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/guard/guard_parts.h"
#include "daemon/lan/local_lan.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/latency/choice.h"
#include "wire/frame/eth.h"
#include "wire/frame/guard.h"

/* Minimum time between two announcements of changes. */
#define GATHER_MS 200
/* Minimum time between two events about refused or forged guards. */
#define NOTIFY_AGAIN_NS (60 * NS_PER_S)
/* Frames of a turn of the loop, a few milliseconds. A change may concern all VLANs. */
#define URGENT_A_TURN (VLAN_IDS / 8)

struct guard_io {
	struct timer *timer, *soon;
	struct vlan_set unreported; /* Changes of the guard without an event so far. */
	/* VLANs with another name at another node, with an event so far. */
	struct vlan_set unlike;
	/* Classes of segments with hosts that other nodes must learn again. */
	uint64_t moved;
	struct record_lan lan; /* The value in the last record. */
	mono_t notified_at;
	struct bucket unconfirmed, forged; /* Limits of the events. */
};

static uint64_t own_incarnation(struct leond *d)
{
	const struct node *self = nodedb_at(overlay_nodes(d->overlay), SLOT_SELF);

	return self ? self->rec.incarnation : 0;
}

static void send_frame(struct leond *d, uint16_t vlan)
{
	struct guard_frame g = {
		.src = eth_source_of(d->self),
		.vni = d->conf->vni,
		.node = d->self,
		.incarnation = own_incarnation(d),
	};
	uint8_t frame[GUARD_FRAME_MAX];
	size_t len;

	guard_fill(d->guard, vlan, &g);
	overlay_set_guard_number(d->overlay, g.sequence);
	guard_encode(&g, frame);
	keyring_guard_auth(overlay_keyring(d->overlay), guard_signed(frame), GUARD_SIGNED_LEN,
			   g.auth);
	len = guard_encode(&g, frame);
	vlans_send(d, frame, len, &d->guard->n_sent);
}

static bool may_send(const struct leond *d)
{
	return d->states->guard_io->timer && d->guard->conf.enabled && d->guard->lan;
}

/* Returns true if frames remain for the next turn of the loop. */
static bool send_urgent(struct leond *d)
{
	unsigned i = 0;
	uint16_t vlan;

	for (unsigned n = 0; n < URGENT_A_TURN; n++) {
		if (!may_send(d) || !guard_next_urgent(d->guard, &i, &vlan))
			return false;
		send_frame(d, vlan);
	}
	return true;
}

static void send_due(struct leond *d)
{
	unsigned i = 0;
	uint16_t vlan;

	while (may_send(d) && guard_next_due(d->guard, &vlan))
		send_frame(d, vlan);
	while (may_send(d) && guard_next_fast(d->guard, &i, &vlan))
		send_frame(d, vlan);
}

/* Addresses of this machine: of the interface, of frames of leond, and of VRRP (RFC 9568 section
 * 7.3), which are on a device above the interface. */
static bool is_own(const struct leond *d, struct mac mac)
{
	static const uint8_t vrrp[] = { 0x00, 0x00, 0x5e, 0x00 };

	return mac_to_u64(mac) == mac_to_u64(d->device.mac) ||
	       mac_to_u64(mac) == mac_to_u64(eth_source_of(d->self)) ||
	       (!memcmp(mac.b, vrrp, sizeof(vrrp)) && (mac.b[4] == 1 || mac.b[4] == 2));
}

void guard_local_host(struct leond *d, struct mac mac)
{
	if (!d->device.lan_received && !is_own(d, mac))
		guard_lan_found(d);
}

void lan_changed(struct leond *d, uint16_t slot, uint64_t classes)
{
	struct vlan_set vlans;

	segments_of_classes(d->vlans->map, classes, &vlans);
	if (slot == SLOT_SELF)
		snooping_relearn(d, &vlans);
	host_probes_mark_moved(d);
	fdb_forget_slot(d->fdb, slot, &vlans, now_s_of(loop_now(d->loop)));
	accel_queues_hosts_forgotten(d, loop_now(d->loop));
	host_probes_start_vlans(d, slot, &vlans);
	neigh_forget_slot(d->neigh, slot, &vlans);
}

/* --- announcements and events --- */

static uint16_t lan_flags(const struct leond *d)
{
	const struct record_lan *lan = &d->states->guard_io->lan;
	uint16_t flags = lan->low || lan->high || lan->n ? RECORD_LAN : 0;

	if (d->device.ports_down)
		flags |= RECORD_LAN_DOWN;
	switch (guard_state(d->guard)) {
	case GUARD_BLOCKED:
		return flags | RECORD_LAN_BLOCKED;
	case GUARD_SHARED:
		return flags | RECORD_LAN_SHARED;
	default:
		return flags;
	}
}

/* A departed node is named once more, because other nodes must forget the hosts behind that
 * node. */
static void name_others(struct leond *d, bool moved)
{
	struct record_lan before = d->states->guard_io->lan, *now = &d->states->guard_io->lan;

	now->n = (uint8_t)guard_others(d->guard, now->node, MSG_LAN_NODES_MAX);
	for (unsigned i = 0; moved && i < before.n && now->n < MSG_LAN_NODES_MAX; i++)
		if (!record_lan_names(now, before.node[i]))
			now->node[now->n++] = before.node[i];
	qsort(now->node, now->n, sizeof(now->node[0]), guard_compare_ids);
}

/* The other nodes must also learn again the node of each host of the LAN. */
static void announce(struct leond *d)
{
	struct guard_io *io = d->states->guard_io;
	uint64_t moved = io->moved;

	io->moved = 0;
	record_lan_count(&io->lan, moved);
	name_others(d, moved);
	overlay_set_lan(d->overlay, lan_flags(d), &io->lan);
	if (moved)
		lan_changed(d, SLOT_SELF, moved);
}

/* Changes of many VLANs occur together, so a single event reports all changes. */
static void notify(struct leond *d, mono_t now)
{
	if (vlan_set_is_empty(&d->states->guard_io->unreported))
		return;
	if (mono_is_recent(d->states->guard_io->notified_at, GATHER_MS, now)) {
		timer_set(d->states->guard_io->soon,
			  mono_add_ms(d->states->guard_io->notified_at, GATHER_MS));
		return;
	}
	d->states->guard_io->notified_at = now;
	guard_report_states(d, &d->states->guard_io->unreported);
	guard_report_mismatch(d, &d->states->guard_io->unlike);
	d->states->guard_io->unreported = (struct vlan_set){ 0 };
	routes_soon(d);
	announce(d);
}

/* Another node is or was on the LAN of one of the VLANs, so hosts have moved. */
static void note_changed(struct leond *d)
{
	struct guard *g = d->guard;

	vlan_set_add_all(&d->states->guard_io->unreported, &g->changed);
	d->states->guard_io->moved |= segments_classes(d->vlans->map, &g->moved);
	failover_announce(d, &g->begun);
	g->moved = g->begun = g->changed = (struct vlan_set){ 0 };
}

/* Workers use the snapshot only while the guard steps, and never an outdated one. */
static void renew(struct leond *d)
{
	if (vlan_set_is_empty(&d->guard->changed))
		fwd_lan_until(d->fwd, guard_valid_until(d->guard));
}

static void on_soon(void *arg, mono_t now)
{
	struct leond *d = arg;
	bool more;

	if (!vlan_set_is_empty(&d->guard->changed)) {
		note_changed(d);
		d->ops->publish(d);
	}
	more = send_urgent(d);
	renew(d);
	notify(d, now);
	if (more)
		timer_set(d->states->guard_io->soon, now);
}

/* Simultaneous frames are handled together: see on_soon(). */
static void act_on(struct leond *d, unsigned outcome)
{
	if ((outcome & (GUARD_CHANGED | GUARD_URGENT)) && d->states->guard_io->soon)
		timer_set(d->states->guard_io->soon, loop_now(d->loop));
	if (outcome & GUARD_LOOP_BEGINS)
		report_event(
			d, FACTS(EV_LOCAL_LOOP),
			"a frame of this node returned over the local segment: the LAN has a loop");
	if (outcome & GUARD_LOOP_ENDS)
		report_event(d, FACTS(EV_LOCAL_LOOP_OVER),
			     "frames of this node no longer return over the local segment");
}

/* --- received frames and timers --- */

/* After a stall of the input, guards are late, not recorded. The first guards of a new node arrive
 * before the session. */
static bool is_suspicious(const struct leond *d, const struct guard_frame *g,
			  const struct guard_bounds *b)
{
	if (!b->in_session)
		return true;
	for (unsigned i = 0; i < GUARD_PEERS; i++)
		if (d->guard->peer[i].node == g->node && d->guard->peer[i].n_shared)
			return false;
	return g->incarnation <= b->incarnation;
}

static void report_unconfirmed(struct leond *d, const struct guard_frame *g,
			       const struct guard_bounds *b)
{
	if (!is_suspicious(d, g, b) ||
	    !bucket_pass(&d->states->guard_io->unconfirmed, loop_now(d->loop), NOTIFY_AGAIN_NS,
			 NOTIFY_AGAIN_NS))
		return;
	report_event(
		d, FACTS(EV_GUARD_UNCONFIRMED, .node = g->node, .value = g->tag),
		"loop-guard frames of node %s in VLAN %u from %s are ignored: the node has not "
		"confirmed its presence; a host may replay recorded frames",
		NODE_LABEL(d, g->node), g->tag, MAC_TEXT(g->src));
}

static void report_forged(struct leond *d, const struct guard_frame *g)
{
	if (!bucket_pass(&d->states->guard_io->forged, loop_now(d->loop), NOTIFY_AGAIN_NS,
			 NOTIFY_AGAIN_NS))
		return;
	report_event(
		d, FACTS(EV_GUARD_FORGED, .value = g->tag),
		"a loop-guard frame in VLAN %u from %s has the node-id of this node: a host of "
		"the LAN forges loop-guard frames",
		g->tag, MAC_TEXT(g->src));
}

/* A frame from an earlier run of its sender proves nothing about the present. */
static bool is_outdated(struct leond *d, const struct guard_frame *g)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), g->node);

	return n && n->has_record && g->incarnation < n->rec.incarnation;
}

void guard_frame_received(struct leond *d, const uint8_t *frame, size_t len)
{
	struct guard_bounds b;
	struct guard_frame g;
	unsigned outcome;

	if (guard_decode(frame, len, &g) < 0 || g.vni != d->conf->vni)
		return;
	if (!keyring_guard_check(overlay_keyring(d->overlay), guard_signed(frame), GUARD_SIGNED_LEN,
				 g.auth)) {
		d->guard->n_not_authentic++;
		return;
	}
	if (g.node == d->self && g.incarnation != own_incarnation(d))
		return;
	if (is_outdated(d, &g)) {
		d->guard->n_replayed++;
		return;
	}
	if (!d->guard->lan)
		guard_lan_found(d);
	b = overlay_guard_bounds(d->overlay, g.node);
	d->guard->incarnation = own_incarnation(d);
	outcome = guard_receive(d->guard, &g, &b, loop_now(d->loop));
	if (outcome & GUARD_UNCONFIRMED)
		report_unconfirmed(d, &g, &b);
	if (outcome & GUARD_FORGED)
		report_forged(d, &g);
	act_on(d, outcome);
}

void guard_vlan_used(struct leond *d, uint16_t vlan, bool used)
{
	act_on(d, (used ? guard_use : guard_disuse)(d->guard, vlan, loop_now(d->loop)));
}

void guard_probe_vlan(struct leond *d, uint16_t vlan)
{
	act_on(d, guard_probe(d->guard, vlan, loop_now(d->loop)));
}

void guard_vlans_changed(struct leond *d)
{
	act_on(d, guard_carry(d->guard, vlans_served(d->vlans), loop_now(d->loop)));
	d->ops->publish(d);
}

void guard_lan_found(struct leond *d)
{
	if (d->device.lan_received)
		return;
	d->device.lan_received = true;
	if (!d->guard->lan)
		guard_lan_changed(d);
}

void guard_lan_changed(struct leond *d)
{
	bool lan = d->device.up && !d->device.ports_down &&
		   (d->device.is_port || d->device.lan_received);

	if (!lan && !d->guard->lan)
		return;
	act_on(d, guard_lan(d->guard, lan, loop_now(d->loop)));
	/* Notifies the other nodes of the LAN, which would otherwise wait for a timeout. */
	if (d->device.ports_down && d->states->guard_io->soon) {
		note_changed(d);
		d->ops->publish(d);
		announce(d);
	}
}

void guard_hosts_moved(struct leond *d, uint64_t classes)
{
	d->states->guard_io->moved |= classes;
	announce(d);
}

void guard_port_up(struct leond *d)
{
	if (d->guard->lan)
		act_on(d, guard_hello_all(d->guard, loop_now(d->loop)));
}

void guard_node_gone(struct leond *d, uint16_t slot)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	if (n)
		act_on(d, guard_gone(d->guard, n->id, loop_now(d->loop)));
}

void guard_paths_changed(struct leond *d)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	uint16_t slots = nodedb_slots(db);
	node_id_t *reached = x_calloc(slots ? slots : 1, sizeof(*reached));
	unsigned n = 0;

	for (uint16_t slot = SLOT_SELF + 1; slot < slots; slot++) {
		const struct choice *c = overlay_choice(d->overlay, slot);
		const struct node *node = nodedb_at(db, slot);

		if (node && c && c->path.n_hops)
			reached[n++] = node->id;
	}
	qsort(reached, n, sizeof(*reached), guard_compare_ids);
	act_on(d, guard_reach(d->guard, reached, n, loop_now(d->loop)));
	free(reached);
}

static void on_guard_timer(void *arg, mono_t now)
{
	struct leond *d = arg;

	timer_set(d->states->guard_io->timer, mono_add_ms(now, guard_tick_ms(d->guard)));
	d->guard->input_stalled = !fwd_input_is_current(d->fwd);
	act_on(d, guard_tick(d->guard, now));
	send_due(d);
	renew(d);
}

static struct guard_conf conf_of(const struct leond *d)
{
	return (struct guard_conf){ .enabled = d->conf->guard,
				    .preference = d->conf->guard_preference,
				    .interval_ms = d->conf->guard_interval_ms,
				    .segments = d->vlans->map };
}

void guard_open(struct leond *d)
{
	struct guard_conf c = conf_of(d);

	d->states->guard_io = x_new(struct guard_io);
	guard_init(d->guard, d->self, &c, loop_now(d->loop));
	/* A random number: a host of a LAN without local guards cannot guess the value. */
	d->guard->sequence = random_u64_nonzero() >> 2;
}

void guard_start(struct leond *d)
{
	d->states->guard_io->timer = leond_timer(d, on_guard_timer, d);
	d->states->guard_io->soon = leond_timer(d, on_soon, d);
	overlay_set_guard_number(d->overlay, d->guard->sequence);
	guard_lan_changed(d);
	on_guard_timer(d, loop_now(d->loop));
	on_soon(d, loop_now(d->loop));
}

void guard_close(struct leond *d)
{
	if (!d->states->guard_io)
		return;
	x_free(d->states->guard_io);
	guard_free(d->guard);
}

void guard_leave(struct leond *d)
{
	guard_lan(d->guard, d->guard->lan, loop_now(d->loop));
	on_soon(d, loop_now(d->loop));
	/* The loop has no further turn. */
	while (send_urgent(d))
		;
}

void guard_apply_conf(struct leond *d)
{
	struct guard_conf c = conf_of(d);
	mono_t now = loop_now(d->loop);

	act_on(d, guard_configure(d->guard, &c, now));
	on_guard_timer(d, now);
}
