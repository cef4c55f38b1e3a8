// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Announces remote hosts on the LAN after this node became forwarder, like a bond or a virtual
 * router after a fail-over. One frame with the source address of each host makes the switches send
 * the frames of the host here. RARP suffices for this. If the IP address of the host is known, a
 * gratuitous ARP or an unsolicited neighbor advertisement informs devices that inspect it. At most
 * 1000 a second. Control thread.
 */
#include "daemon/lan/local_lan.h"

#include "base/loop.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/states.h"
#include "io/clock.h"
#include "proto/view.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"
#include "wire/frame/eth.h"

#define RUN_EVERY_MS 10
#define FRAMES_A_RUN 10
#define LOOKS_A_RUN  4096

enum round { HOSTS, NEIGHBORS, DONE };

struct failover {
	struct timer *timer;
	struct vlan_set vlans;
	enum round round;
	uint32_t at;
};

static bool is_meant(const struct leond *d, uint16_t vlan)
{
	enum guard_state state = guard_vlan_state(d->guard, vlan);

	return vlan_set_has(&d->states->failover->vlans, vlan) &&
	       (state == GUARD_SHARED || state == GUARD_CLEAR);
}

/* Skips hosts of this LAN, because its switches would learn them at this port. They were behind the
 * other node only while that node forwarded. */
static bool is_elsewhere(const struct leond *d, uint16_t slot, uint16_t vlan)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return slot != SLOT_SELF && slot != SLOT_NONE &&
	       !(n && guard_is_on_lan(d->guard, vlan, n->id));
}

/* Returns true if it sent a frame; *more: others remain. */
static bool next_host(struct leond *d, bool *more)
{
	uint8_t frame[ETH_ANNOUNCE_MAX];
	struct fdb_entry e;

	*more = fdb_next(d->fdb, &d->states->failover->at, &e);
	if (!*more || !is_elsewhere(d, e.slot, e.vlan) || !is_meant(d, e.vlan))
		return false;
	vlans_send(d, frame, rarp_build_announcement(e.vlan, e.mac, frame), &d->guard->n_announced);
	return true;
}

static bool next_neighbor(struct leond *d, bool *more)
{
	uint8_t frame[ETH_ANNOUNCE_MAX];
	struct neigh_entry e;
	size_t len;

	*more = neigh_next(d->neigh, &d->states->failover->at, &e);
	if (!*more || !is_meant(d, e.vlan) || !is_elsewhere(d, e.slot, e.vlan) ||
	    now_s_of(loop_now(d->loop)) - e.confirmed_s >= NEIGH_FRESH_S ||
	    (e.ip.family == 6 && e.role == NEIGH_ROLE_UNKNOWN) ||
	    fdb_lookup(d->fdb, e.vlan, e.mac) != e.slot)
		return false;
	len = e.ip.family == 4
		      ? arp_build_announcement(e.vlan, e.mac, &e.ip, frame)
		      : nd_build_announcement(e.vlan, e.mac, &e.ip, e.role == NEIGH_ROUTER, frame);
	vlans_send(d, frame, len, &d->guard->n_announced);
	return true;
}

static void on_timer(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct failover *t = d->states->failover;
	unsigned sent = 0;
	bool more = true;

	for (unsigned i = 0; i < LOOKS_A_RUN && sent < FRAMES_A_RUN && t->round != DONE; i++) {
		sent += t->round == HOSTS ? next_host(d, &more) : next_neighbor(d, &more);
		if (more)
			continue;
		t->round++;
		t->at = 0;
	}
	if (t->round != DONE)
		timer_set(t->timer, mono_add_ms(now, RUN_EVERY_MS));
	else
		t->vlans = (struct vlan_set){ 0 };
}

void failover_announce(struct leond *d, const struct vlan_set *vlans)
{
	struct failover *t = d->states->failover;

	if (!t || vlan_set_is_empty(vlans))
		return;
	vlan_set_add_all(&t->vlans, vlans);
	t->round = HOSTS;
	t->at = 0;
	/* Starts after simultaneous guard messages have been processed. */
	if (!timer_is_set(t->timer))
		timer_set(t->timer, loop_now(d->loop));
}

void failover_start(struct leond *d)
{
	d->states->failover = leond_memory(d, sizeof(*d->states->failover));
	d->states->failover->round = DONE;
	d->states->failover->timer = leond_timer(d, on_timer, d);
}
