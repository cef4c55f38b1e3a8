// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches the other ports of leon0's bridge. If none has a carrier, this node is on no LAN, and
 * another router can take over without waiting for its silence. If one more comes up, a guard is
 * sent at once, and the querier of multicast queries. After an outage of all ports, listeners are
 * learned again. A bridge without other ports is the router's own segment and changes nothing.
 * Control thread.
 */
#include "daemon/lan/local_lan.h"

#include "base/defs.h"
#include "base/loop.h"
#include "daemon/states.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"

/* Debounce: a failing switch takes several ports down, one message each. */
#define GATHER_MS 5

struct count {
	int bridge, own;
	unsigned n, n_running;
};

static void count_port(void *arg, const struct nl_link *link)
{
	struct count *c = arg;

	if (link->master != c->bridge || link->index == c->own)
		return;
	c->n++;
	c->n_running += link->up && link->running;
}

void bridge_ports_look(struct leond *d)
{
	struct count c = { .bridge = d->device.master, .own = d->tap->ifindex };
	struct device *dev = &d->device;
	bool were_down = dev->ports_down;
	unsigned were_running = dev->ports_running;

	if (dev->bridge_port && nl_links(d->nl, count_port, &c) < 0)
		return;
	dev->ports_down = c.n && !c.n_running;
	dev->ports_running = c.n_running;
	/* Hosts may have missed queries, and do not report again by themselves. One more port voids
	 * no list: on a host of virtual machines, ports come up all day. */
	if (c.n_running && !were_running)
		snooping_relearn(d, NULL);
	else if (c.n_running > were_running)
		snooping_query_soon(d);
	if (dev->ports_down != were_down)
		guard_lan_changed(d);
	else if (c.n_running > were_running)
		guard_port_up(d);
}

static void on_gathered(void *arg, mono_t now attr_unused)
{
	bridge_ports_look(arg);
}

/* A deleted link is reported without its master. */
static bool may_be_a_port(const struct leond *d, const struct nl_event *ev)
{
	return ev->change != NL_LINK_CHANGED ||
	       (ev->link.index != d->tap->ifindex && ev->link.index != d->device.master);
}

void bridge_ports_changed(struct leond *d, const struct nl_event *ev)
{
	if (d->device.bridge_port && may_be_a_port(d, ev) && !timer_is_set(d->states->ports_timer))
		timer_set(d->states->ports_timer, mono_add_ms(loop_now(d->loop), GATHER_MS));
}

void bridge_ports_start(struct leond *d)
{
	d->states->ports_timer = leond_timer(d, on_gathered, d);
	bridge_ports_look(d);
}
