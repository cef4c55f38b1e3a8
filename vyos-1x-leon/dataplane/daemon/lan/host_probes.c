// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queries the hosts of the LAN, see local_lan.h. Each host gets an ARP request or a neighbor
 * solicitation with an unused sender address (wire/frame/eth.h). The reply goes to a MAC that no
 * switch knows. It is therefore flooded over the LAN and, through the forwarder, to all other
 * sites, and all learn from it.
 *
 * Other routers of the LAN query only moved hosts, because no other router may have seen the
 * address of a host behind one of them. At most 200 queries a second, starting half a second after
 * the change, when looping frames have ended. Control thread.
 */
#include "daemon/lan/local_lan.h"

#include "base/loop.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/states.h"
#include "proto/view.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"
#include "wire/frame/eth.h"

#define WAIT_MS		500
#define EVERY_MS	10
#define EACH_TIME	2
#define HOST_PROBES_MAX 4096

struct host_probe {
	uint16_t vlan;
	bool moved;
	struct ip_addr ip;
};

struct host_probes {
	struct timer *timer;
	unsigned n, at;
	struct host_probe host[HOST_PROBES_MAX];
};

/* Searches the first n entries, which an earlier change added. */
static struct host_probe *find(struct host_probes *a, unsigned n, const struct neigh_entry *e)
{
	for (unsigned i = a->at; i < n; i++)
		if (a->host[i].vlan == e->vlan && ip_equal(&a->host[i].ip, &e->ip))
			return &a->host[i];
	return NULL;
}

static void add(struct host_probes *a, unsigned n_before, const struct neigh_entry *e, bool moved)
{
	struct host_probe *host = find(a, n_before, e);

	if (!host) {
		host = &a->host[a->n++];
		*host = (struct host_probe){ .vlan = e->vlan, .ip = e->ip };
	}
	host->moved |= moved;
}

/* The host is at this node, or at another node on the same LAN. */
static bool is_here(const struct leond *d, uint16_t slot, uint16_t vlan)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return slot == SLOT_SELF || (n && guard_is_on_lan(d->guard, vlan, n->id));
}

/* Several nodes claimed the host recently, and it is assigned to none. */
static bool is_nowhere(const struct leond *d, const struct neigh_entry *e)
{
	struct fdb_entry f;

	return fdb_get(d->fdb, e->vlan, e->mac, &f) && f.slot == SLOT_NONE;
}

/* A query of the forwarder stays on this LAN. A query of another router reaches all sites, so it
 * queries moved hosts only. */
static bool is_to_probe(const struct leond *d, const struct host_probe *host)
{
	switch (guard_vlan_state(d->guard, host->vlan)) {
	case GUARD_SHARED:
	case GUARD_CLEAR:
		return true;
	case GUARD_BLOCKED:
		return host->moved;
	default:
		return false;
	}
}

static void send_one(struct leond *d, const struct host_probe *host)
{
	uint8_t frame[ETH_ANNOUNCE_MAX];
	struct mac src = eth_source_of(d->self);
	size_t len;

	if (!is_to_probe(d, host))
		return;
	len = host->ip.family == 4 ? arp_build_question(host->vlan, src, &host->ip, frame)
				   : nd_build_question(host->vlan, src, &host->ip, frame);
	vlans_send(d, frame, len, &d->guard->n_requested);
}

static void on_timer(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct host_probes *a = d->states->host_probes;

	for (unsigned i = 0; i < EACH_TIME && a->at < a->n; i++)
		send_one(d, &a->host[a->at++]);
	if (a->at < a->n)
		timer_set(a->timer, mono_add_ms(now, EVERY_MS));
	else
		a->n = a->at = 0;
}

void host_probes_mark_moved(struct leond *d)
{
	neigh_forget_moved(d->neigh, d->fdb, d->states->moved_macs);
	d->states->moved_macs = 0;
}

void host_probes_start_vlans(struct leond *d, uint16_t slot, const struct vlan_set *vlans)
{
	struct host_probes *a = d->states->host_probes;
	struct neigh_entry e;
	uint32_t iter = 0;
	unsigned n_before;

	if (!a || !d->guard->lan)
		return;
	n_before = a->n;
	while (a->n < HOST_PROBES_MAX && neigh_next(d->neigh, &iter, &e)) {
		bool moved;

		if (!vlan_set_has(vlans, e.vlan))
			continue;
		moved = is_nowhere(d, &e);
		if (moved || (e.slot == slot && is_here(d, slot, e.vlan)))
			add(a, n_before, &e, moved);
	}
	if (a->n && !timer_is_set(a->timer))
		timer_set(a->timer, mono_add_ms(loop_now(d->loop), WAIT_MS));
}

void host_probes_start(struct leond *d)
{
	d->states->host_probes = leond_memory(d, sizeof(*d->states->host_probes));
	d->states->host_probes->timer = leond_timer(d, on_timer, d);
}
