// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks hosts of the LAN where they are, see ask_hosts.h: each with an ARP request or a neighbor
 * solicitation in the name of nobody (wire/eth.h). The answer is what counts: it goes to an address
 * that no switch knows, so all of the LAN and, through the node that forwards, all other sites
 * learn from it. The others of the LAN ask too, for what moved:
 * of a host behind one of them, none else may have seen the address. At most 200 a second, none
 * sooner than half a second after the change, when what went round has run out. Control thread.
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

/* Among the first n, which an earlier change brought. */
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

/* At this node, or at another one of the same LAN. */
static bool is_here(const struct leond *d, uint16_t slot, uint16_t vlan)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return slot == SLOT_SELF || (n && guard_is_here(&d->guard, vlan, n->id));
}

/* Several nodes claimed it of late, and it is at none of them. */
static bool is_nowhere(const struct leond *d, const struct neigh_entry *e)
{
	struct fdb_entry f;

	return fdb_get(d->fdb, e->vlan, e->mac, &f) && f.slot == SLOT_NONE;
}

/* The question of the node that forwards ends at this LAN, and one of the others goes to all sites:
 * these ask only for what moved. */
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
	/* Refused while the interface is down: then nobody is there. */
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
