// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Netlink notifications and their receivers: one row of takers[] each, in the order in which they
 * must be informed. Owns the monitor. Control thread.
 */
#include "daemon/life/life.h"

#include <string.h>
#include <sys/epoll.h>

#include "base/defs.h"
#include "base/loop.h"
#include "daemon/device/device.h"
#include "daemon/lan/local_lan.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"

#define BIT(change) (1u << (change))
/* After an overrun these receivers read the host state again. */
#define LINKS  (BIT(NL_LINK_CHANGED) | BIT(NL_LINK_GONE) | BIT(NL_OVERRUN))
#define ADDRS  (BIT(NL_ADDR_ADDED) | BIT(NL_ADDR_GONE) | BIT(NL_OVERRUN))
#define ROUTES (BIT(NL_ROUTE_CHANGED) | BIT(NL_OVERRUN))

static const struct {
	unsigned changes;
	void (*take)(struct leond *d, const struct nl_event *ev);
} takers[] = {
	{ LINKS | ADDRS, source_changed },   { LINKS | ADDRS, lines_changed },
	{ LINKS, device_changed },	     { LINKS, bridge_ports_changed },
	{ ADDRS | ROUTES, routes_changed },  { LINKS | ADDRS, announcer_changed },
	{ LINKS | ADDRS, locators_changed }, { LINKS | BIT(NL_PORT_CHANGED), vlans_changed },
};

static void on_change(void *arg, const struct nl_event *ev)
{
	for (size_t i = 0; i < array_size(takers); i++)
		if (takers[i].changes & BIT(ev->change))
			takers[i].take(arg, ev);
}

static void on_readable(void *arg, int fd, uint32_t epoll_events attr_unused)
{
	struct leond *d = arg;
	int r = nl_monitor_read(d->states->monitor, on_change, d);

	if (r < 0) {
		log_error("netlink", "changes of the host are not followed any more: %s",
			  strerror(-r));
		loop_fd_del(d->loop, fd);
	}
}

int watch_start(struct leond *d)
{
	int r = nl_monitor_open(&d->states->monitor, ROUTE_PROTOCOL, d->nl);

	if (r < 0) {
		log_error("netlink", "changes cannot be followed: %s", strerror(-r));
		return r;
	}
	return loop_fd_add(d->loop, nl_monitor_fd(d->states->monitor), EPOLLIN, on_readable, d);
}
