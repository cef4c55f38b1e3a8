// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loss and return of the source-address or source-interface at run time. Control thread.
 */
#include "daemon/underlay/underlay.h"

#include <errno.h>

#include "base/loop.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/netlink/netlink.h"
#include "state/conf/conf.h"

struct source_state {
	int index;    /* index of source-interface; 0 none */
	bool lost[2]; /* source-address of IPv4, IPv6 is missing */
};

static bool is_source(const struct conf *c, const struct ip_addr *ip)
{
	return ip->family && (ip_equal(ip, &c->source4) || ip_equal(ip, &c->source6));
}

static void notify(struct leond *d, const struct ip_addr *ip, bool gone)
{
	const char *text = IP_TEXT(ip);

	if (gone)
		report_event(
			d, FACTS(EV_SOURCE_LOST, .detail = text),
			"this host no longer has source-address %s: leond cannot send until the "
			"address returns",
			text);
	else
		report_event(d, FACTS(EV_SOURCE_RESTORED, .detail = text),
			     "this host has source-address %s again", text);
}

static void note_address(struct leond *d, const struct ip_addr *ip, bool gone)
{
	bool *lost = ip->family == 4 ? &d->states->source->lost[0] : &d->states->source->lost[1];

	if (!is_source(d->conf, ip) || *lost == gone)
		return;
	*lost = gone;
	notify(d, ip, gone);
}

/* Sockets stay bound to the deleted interface, also if an interface of this name is created again.
 * Only a restart binds sockets to the new interface. */
static void on_gone(struct leond *d)
{
	log_error(
		"daemon",
		"source-interface %s was removed: leond ends, and starts again with the interface",
		d->conf->source_interface);
	loop_quit(d->loop, 1);
}

static void look_for(struct leond *d, const struct ip_addr *ip)
{
	int found = ip->family ? nl_has_addr(d->nl, ip) : -ENOENT;

	if (found >= 0)
		note_address(d, ip, !found);
}

/* NL_OVERRUN: notifications were lost. */
static void look_again(struct leond *d)
{
	struct nl_link link;

	if (d->states->source->index &&
	    nl_link_by_index(d->nl, d->states->source->index, &link) == -ENODEV) {
		on_gone(d);
		return;
	}
	look_for(d, &d->conf->source4);
	look_for(d, &d->conf->source6);
}

void source_changed(struct leond *d, const struct nl_event *ev)
{
	switch (ev->change) {
	case NL_LINK_GONE:
		if (d->states->source->index && ev->link.index == d->states->source->index)
			on_gone(d);
		break;
	case NL_ADDR_ADDED:
		if (!ev->addr.tentative)
			note_address(d, &ev->addr.ip, false);
		break;
	case NL_ADDR_GONE:
		/* Another interface may have the address. */
		if (is_source(d->conf, &ev->addr.ip))
			look_for(d, &ev->addr.ip);
		break;
	case NL_OVERRUN:
		look_again(d);
		break;
	case NL_LINK_CHANGED:
	case NL_PORT_CHANGED:
	case NL_ROUTE_CHANGED:
		break;
	}
}

void source_start(struct leond *d)
{
	struct nl_link link;

	d->states->source = leond_memory(d, sizeof(*d->states->source));
	if (d->conf->source_interface[0] &&
	    nl_link_by_name(d->nl, d->conf->source_interface, &link) == 0)
		d->states->source->index = link.index;
}
