// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receives the reports of workers: control datagrams to the protocol, learned addresses to FDB and
 * neighbor table, others to their modules. Control thread. Each call processes a bounded number, so
 * that a flood of reports cannot starve timers and the control socket.
 */
#include <sys/epoll.h>

#include "base/loop.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/lan/local_lan.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "proto/overlay.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"

#define DRAIN_MAX     2048
#define FULL_EVERY_MS 1000
#define WALK_EVERY_MS 1000 /* a walk of the largest table takes about 20 ms */

static void report_flapping(struct leond *d, const struct fwd_report *r,
			    struct overlay_event *facts, mono_t now)
{
	struct fdb_entry e;
	const struct node *n;

	facts->kind = EV_MAC_FLAPPING;
	if (!fdb_get(d->fdb, r->learn.vlan, r->learn.mac, &e))
		return;
	n = nodedb_at(overlay_nodes(d->overlay), e.slot);
	facts->other = n ? n->id : NODE_ID_NONE;
	facts->value = e.thaw_s - now_s_of(now);
	if (n)
		report_event(
			d, facts,
			"MAC %s (VLAN %u) keeps moving: its entry stays at %s for %u s; look for "
			"a loop or a duplicate MAC",
			facts->detail, e.vlan, NODE_LABEL(d, n->id), (unsigned)facts->value);
	else
		report_event(
			d, facts,
			"MAC %s (VLAN %u) keeps moving: frames to the MAC are flooded for %u s; "
			"look for a loop or a duplicate MAC",
			facts->detail, e.vlan, (unsigned)facts->value);
}

/* A burst of new addresses gives one event. */
static void report_full(struct leond *d, enum fdb_result result, uint16_t vlan,
			struct overlay_event *facts, mono_t now)
{
	bool in_vlan = result == FDB_VLAN_FULL;

	if (mono_is_recent(d->states->fdb_full_at, FULL_EVERY_MS, now))
		return;
	d->states->fdb_full_at = now;
	facts->kind = EV_FDB_FULL;
	facts->value = in_vlan ? fdb_count_in(d->fdb, vlan) : fdb_maximum(d->fdb);
	if (in_vlan)
		report_event(
			d, facts,
			"VLAN %u has %u MACs, which is fdb maximum-per-vlan: %s is not learned",
			vlan, (unsigned)facts->value, facts->detail);
	else
		report_event(d, facts, "FDB is full (%u entries): MAC %s is not learned",
			     (unsigned)facts->value, facts->detail);
}

static void learn(struct leond *d, const struct fwd_report *r, mono_t now)
{
	uint16_t vlan = r->learn.vlan, slot = r->learn.slot;
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);
	struct overlay_event facts = { .node = n ? n->id : NODE_ID_NONE,
				       .detail = MAC_TEXT(r->learn.mac) };
	enum fdb_result result;

	/* The node may have left since the report. */
	if (!n || n->state == NODE_LEFT)
		return;
	if (slot == SLOT_SELF)
		guard_local_host(d, r->learn.mac);
	result = fdb_learn(d->fdb, vlan, r->learn.mac, slot, now_s_of(now));
	switch (result) {
	case FDB_MOVED:
		guard_probe_vlan(d, vlan);
		if (slot == SLOT_SELF)
			snooping_host_moved(d, vlan);
		d->states->moved_macs |= neigh_moved_bit(mac_to_u64(r->learn.mac));
		accelerator_moved(d, vlan, r->learn.mac, n);
		facts.kind = EV_MAC_MOVED;
		report_event(d, &facts, "MAC %s (VLAN %u) moved to %s", facts.detail, vlan,
			     NODE_LABEL(d, n->id));
		break;
	case FDB_FLAP_BEGINS:
		guard_probe_vlan(d, vlan);
		d->states->moved_macs |= neigh_moved_bit(mac_to_u64(r->learn.mac));
		report_flapping(d, r, &facts, now);
		break;
	case FDB_FULL:
	case FDB_VLAN_FULL:
		report_full(d, result, vlan, &facts, now);
		break;
	case FDB_ADDED:
		accelerator_appeared(d, n);
		break;
	case FDB_SAME:
	case FDB_DAMPED:
		break;
	}
}

static void neighbor(struct leond *d, const struct fwd_report *r, mono_t now)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), r->neigh.slot);

	if (!n || n->state == NODE_LEFT)
		return;
	neigh_learn(d->neigh, r->neigh.vlan, &r->neigh.ip, r->neigh.mac, r->neigh.slot,
		    r->neigh.role, now_s_of(now));
}

static void handle(struct leond *d, struct fwd_report *r, mono_t now)
{
	switch (r->type) {
	case FWD_CONTROL:
		overlay_input(d->overlay, &r->control.from, r->control.data, r->control.len,
			      r->control.rx);
		break;
	case FWD_LEARN:
		learn(d, r, now);
		break;
	case FWD_NEIGH:
		neighbor(d, r, now);
		break;
	case FWD_CANNOT_FORWARD:
		overlay_cannot_forward(d->overlay, r->cannot_forward.source, r->cannot_forward.next,
				       r->cannot_forward.destination);
		break;
	case FWD_GUARD:
		guard_frame_received(d, r->guard.frame, r->guard.len);
		break;
	case FWD_VLAN:
		vlans_frame_seen(d, r->vlan);
		break;
	case FWD_REPETITION:
		guard_probe_vlan(d, r->vlan);
		break;
	case FWD_MULTICAST:
		snooping_report(d, r);
		break;
	case FWD_SEND_ERROR:
		overlay_link_error(d->overlay, &r->suspect.ep);
		overlay_seed_error(d->overlay, &r->suspect.ep, r->suspect.error, r->suspect.local);
		break;
	case FWD_FOREIGN:
		overlay_seed_foreign(d->overlay, &r->foreign.from,
				     r->foreign.other_version ? SEED_OTHER_VERSION : SEED_OTHER_VNI,
				     r->foreign.wire);
		break;
	case FWD_ACCEL_FOREIGN:
		accel_reports_foreign(d, r->slot);
		break;
	}
}

/* One walk of the table for all moves of a while. Workers answer for no neighbor that contradicts
 * the FDB. */
static void forget_moved(struct leond *d, mono_t now)
{
	struct states *s = d->states;

	if (!s->moved_macs)
		return;
	if (mono_is_recent(s->walked_at, WALK_EVERY_MS, now)) {
		if (!timer_is_set(s->drain_timer))
			timer_set(s->drain_timer, mono_add_ms(s->walked_at, WALK_EVERY_MS));
		return;
	}
	host_probes_mark_moved(d);
	s->walked_at = now;
}

static void drain(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct fwd_report r;
	unsigned n = 0;

	fwd_report_ack(d->fwd);
	for (; n < DRAIN_MAX && fwd_next_report(d->fwd, &r); n++)
		handle(d, &r, now);
	/* More reports are pending but the descriptor is acknowledged: continues after other
	 * events. */
	if (n == DRAIN_MAX)
		timer_set(d->states->drain_timer, now);
	forget_moved(d, now);
}

static void on_reports(void *arg, int fd attr_unused, uint32_t epoll_events attr_unused)
{
	struct leond *d = arg;

	drain(d, loop_now(d->loop));
}

int frames_start(struct leond *d)
{
	d->states->drain_timer = leond_timer(d, drain, d);
	return loop_fd_add(d->loop, fwd_report_fd(d->fwd), EPOLLIN, on_reports, d);
}
