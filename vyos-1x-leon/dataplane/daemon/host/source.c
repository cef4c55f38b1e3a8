// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What this node sends from, while it runs: a source-address that somebody takes off the host, and
 * a source-interface that is deleted. Control thread.
 */
#include "daemon/host/source.h"
#include "daemon/life/event_text.h"
#include "daemon/leond.h"

static bool is_source(const struct conf *c, const struct ip_addr *ip)
{
	return ip->family && (ip_equal(ip, &c->source4) || ip_equal(ip, &c->source6));
}

static void tell(struct leond *d, const struct ip_addr *ip, bool gone)
{
	const struct event_facts n = { .kind = gone ? EV_SOURCE_LOST : EV_SOURCE_BACK };
	char text[IP_STRLEN];

	ip_format(ip, text, sizeof(text));
	if (gone)
		report_event(d, &n,
			     "source-address %s is not on this host any more: nothing can be sent "
			     "from it until it is back",
			     text);
	else
		report_event(d, &n, "source-address %s is on this host again", text);
}

void source_changed(struct leond *d, const struct nl_event *ev)
{
	const struct ip_addr *ip = &ev->addr.ip;
	bool *lost = ip->family == 4 ? &d->source_lost[0] : &d->source_lost[1];
	bool gone = ev->change == NL_ADDR_GONE;

	if (ev->change == NL_LINK_GONE && d->source_index && ev->link.index == d->source_index) {
		/* Sockets stay bound to the interface that was, also when one of its name is made
		 * again; only a start binds them anew. */
		log_error("daemon",
			  "source-interface %s is gone: leond ends, and starts when it is back",
			  d->conf->source_interface);
		loop_quit(d->loop, 1);
		return;
	}
	if ((gone || ev->change == NL_ADDR_ADDED) && is_source(d->conf, ip) && *lost != gone) {
		*lost = gone;
		tell(d, ip, gone);
	}
}

void source_start(struct leond *d)
{
	struct nl_link link;

	if (d->conf->source_interface[0] &&
	    nl_link_by_name(d->nl, d->conf->source_interface, &link) == 0)
		d->source_index = link.index;
}
