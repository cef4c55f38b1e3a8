// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets the configured addresses on the interface. The route protocol of leond marks an address.
 * Only marked addresses are removed, also on an interface that outlived an earlier leond. Called by
 * device.c at start, at reload, and after events in which the kernel drops addresses. Control
 * thread.
 */
#include "daemon/device/device.h"

#include <string.h>

#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"

#define ADDRS_MAX 256

static void report_failure(struct leond *d, const struct nl_addr *a, const char *action, int error)
{
	struct prefix p = { a->ip, a->prefix_len };

	report_event(d, FACTS(EV_ADDRESS_FAILED), "address %s cannot be %s: %s", PREFIX_TEXT(&p),
		     action, strerror(-error));
}

static bool is_configured(const struct conf *c, const struct nl_addr *a)
{
	for (uint8_t i = 0; i < c->n_addresses; i++)
		if (ip_equal(&c->address[i].ip, &a->ip) && c->address[i].len == a->prefix_len)
			return true;
	return false;
}

static void remove_former(struct leond *d)
{
	struct nl_addr have[ADDRS_MAX];
	int n = nl_addrs(d->nl, d->tap->ifindex, have, ADDRS_MAX);

	for (int i = 0; i < n && i < ADDRS_MAX; i++) {
		int r;

		if (have[i].protocol != ROUTE_PROTOCOL || is_configured(d->conf, &have[i]))
			continue;
		r = nl_addr_delete(d->nl, &have[i]);
		if (r < 0)
			report_failure(d, &have[i], "removed", r);
	}
}

/* Removal comes first: an IPv6 address exists with one length only, and the kernel drops the
 * secondary addresses of a removed IPv4 address. */
void addresses_apply(struct leond *d)
{
	remove_former(d);
	for (uint8_t i = 0; i < d->conf->n_addresses; i++) {
		const struct prefix *c = &d->conf->address[i];
		const struct nl_addr a = { .index = d->tap->ifindex,
					   .ip = c->ip,
					   .prefix_len = c->len,
					   .protocol = ROUTE_PROTOCOL };
		int r = nl_addr_add(d->nl, &a, true);

		if (r < 0)
			report_failure(d, &a, "set", r);
	}
}
