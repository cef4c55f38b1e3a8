// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queries the hosts of the LAN, see ask_hosts.h: an ARP request or a neighbor solicitation per host
 * with an unused sender address (wire/eth.h). The reply goes to a MAC that no switch knows. It is
 * therefore flooded over the LAN and, through the forwarder, to all other sites, and all learn from
 * it.
 *
 * Other routers of the LAN query only moved hosts, because no other router may have seen the
 * address of a host behind one of them. At most 200 queries a second, starting half a second after
 * the change, when looping frames have ended. Control thread.
 */
#include "daemon/host/ask_hosts.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "wire/eth.h"

#define WAIT_MS	  500
#define EVERY_MS  10
#define EACH_TIME 2
#define ASKED_MAX 4096

struct asked {
	uint16_t vlan;
	bool moved;
	struct ip_addr ip;
};

struct ask_hosts {
	struct timer *timer;
	unsigned n, at;
	struct asked host[ASKED_MAX];
};

/* Searches the first n entries, which an earlier change added. */
static struct asked *find(struct ask_hosts *a, unsigned n, const struct neigh_entry *e)
{
	for (unsigned i = a->at; i < n; i++)
		if (a->host[i].vlan == e->vlan && ip_equal(&a->host[i].ip, &e->ip))
			return &a->host[i];
	return NULL;
}

static void add(struct ask_hosts *a, unsigned n_before, const struct neigh_entry *e, bool moved)
{
	struct asked *host = find(a, n_before, e);

	if (!host) {
		host = &a->host[a->n++];
		*host = (struct asked){ .vlan = e->vlan, .ip = e->ip };
	}
	host->moved |= moved;
}

/* The host is at this node, or at another node on the same LAN. */
static bool is_here(const struct leond *d, uint16_t slot, uint16_t vlan)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return slot == SLOT_SELF || (n && guard_is_here(&d->guard, vlan, n->id));
}

/* Several nodes claimed the host recently, and it is assigned to none. */
static bool is_nowhere(const struct leond *d, const struct neigh_entry *e)
{
	struct fdb_entry f;

	return fdb_get(d->fdb, e->vlan, e->mac, &f) && f.slot == SLOT_NONE;
}

/* A query of the forwarder stays on this LAN. A query of another router reaches all sites, so it
 * queries moved hosts only. */
static bool is_to_ask(const struct leond *d, const struct asked *host)
{
	switch (guard_vlan_state(&d->guard, host->vlan)) {
	case GUARD_SHARED:
	case GUARD_CLEAR:
		return true;
	case GUARD_BLOCKED:
		return host->moved;
	default:
		return false;
	}
}

static void send_one(struct leond *d, const struct asked *host)
{
	uint8_t frame[ETH_ANNOUNCE_MAX];
	size_t len;

	if (!is_to_ask(d, host))
		return;
	len = host->ip.family == 4 ? arp_build_question(host->vlan, d->device.mac, &host->ip, frame)
				   : nd_build_question(host->vlan, d->device.mac, &host->ip, frame);
	/* Fails while the interface is down; then the LAN is unreachable. */
	if (tap_send(d->tap.fd[0], frame, len) >= 0)
		d->guard.n_asked++;
}

static void on_timer(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct ask_hosts *a = d->ask_hosts;

	for (unsigned i = 0; i < EACH_TIME && a->at < a->n; i++)
		send_one(d, &a->host[a->at++]);
	if (a->at < a->n)
		timer_set(a->timer, mono_add_ms(now, EVERY_MS));
	else
		a->n = a->at = 0;
}

void ask_hosts(struct leond *d, uint16_t slot, const struct vlan_set *vlans)
{
	struct ask_hosts *a = d->ask_hosts;
	struct neigh_entry e;
	uint32_t iter = 0;
	unsigned n_before;

	if (!a || !d->guard.lan)
		return;
	n_before = a->n;
	while (a->n < ASKED_MAX && neigh_next(d->neigh, &iter, &e)) {
		bool moved = is_nowhere(d, &e);

		if (vlan_set_has(vlans, e.vlan) &&
		    (moved || (e.slot == slot && is_here(d, slot, e.vlan))))
			add(a, n_before, &e, moved);
	}
	if (a->n && !timer_is_set(a->timer))
		timer_set(a->timer, mono_add_ms(loop_now(d->loop), WAIT_MS));
}

void ask_hosts_start(struct leond *d)
{
	d->ask_hosts = x_new(struct ask_hosts);
	d->ask_hosts->timer = timer_new(d->loop, on_timer, d);
}

void ask_hosts_stop(struct leond *d)
{
	if (d->ask_hosts)
		timer_free(d->ask_hosts->timer);
	free(d->ask_hosts);
	d->ask_hosts = NULL;
}
