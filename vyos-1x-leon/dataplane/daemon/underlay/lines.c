// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of this site, see underlay.h. Control thread.
 */
#include "daemon/underlay/underlay.h"

#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define ADDRS_MAX 256

struct udp *lines_udp(struct leond *d, uint8_t line)
{
	return line ? &d->states->lines->second : d->udp;
}

/* --- state of the host --- */

static bool is_running(struct leond *d, int index)
{
	struct nl_link link;
	int r = nl_link_by_index(d->nl, index, &link);

	return r == 0 ? link.running : r != -ENODEV;
}

/* The line has an address on a running interface. Without a configured address, any global one. */
static bool is_present(struct leond *d, const struct conf_line *l, int index)
{
	struct nl_addr addr[ADDRS_MAX];
	int n = nl_addrs(d->nl, index, addr, ADDRS_MAX);

	for (int i = 0; i < min_of(n, ADDRS_MAX); i++) {
		if (l->ip.family ? !ip_equal(&addr[i].ip, &l->ip) : addr[i].link_scope)
			continue;
		if (!addr[i].tentative && is_running(d, addr[i].index))
			return true;
	}
	/* A host with more addresses than this: the PINGs of the line decide. */
	return n < 0 || n > ADDRS_MAX;
}

static struct udp_config sockets_of(const struct leond *d, uint8_t i)
{
	const struct conf_line *l = &d->conf->line[i];
	struct udp_config c = { .n = d->tap->n_queues,
				.v4 = l->ip.family != 6,
				.v6 = l->ip.family != 4,
				.port = i ? d->udp->port : d->conf->port,
				.device = l->interface[0] ? l->interface : NULL,
				.late = true,
				.shared = i > 0 };

	if (l->ip.family == 4)
		c.source4 = l->ip;
	else
		c.source6 = l->ip;
	return c;
}

/* The interface was created, perhaps again. Returns false if a socket cannot use it. */
static bool bind_again(struct leond *d, uint8_t i, int index)
{
	struct line *s = &d->states->lines->line[i];
	struct udp_config c = sockets_of(d, i);
	struct udp *u = lines_udp(d, i);
	int r;

	c.port = d->udp->port;
	r = udp_reopen(u, &c);
	if (r < 0 && -r != s->bind_error)
		log_error("udp", "line %s cannot use interface %s: %s", d->conf->line[i].name,
			  d->conf->line[i].interface, strerror(-r));
	/* The workers do not run yet at the start. */
	if (d->fwd)
		fwd_wake(d->fwd);
	udp_use_gro(u, !d->conf->udp_gro_disable);
	s->index = r < 0 ? 0 : index;
	s->bind_error = -r;
	return r == 0;
}

/* Returns the reason why the line cannot be used; NULL: none. Binds the sockets to an interface
 * that was created again. */
static const char *look(struct leond *d, uint8_t i)
{
	const struct conf_line *l = &d->conf->line[i];
	struct line *s = &d->states->lines->line[i];
	struct nl_link link = { 0 };
	int r = l->interface[0] ? nl_link_by_name(d->nl, l->interface, &link) : 0;

	if (r == -ENODEV) {
		s->index = s->bind_error = 0;
		return "the interface is missing";
	}
	/* The kernel has no memory for its answer. */
	if (r < 0) {
		s->bind_error = -r;
		return s->lost;
	}
	if (l->interface[0] && link.index != s->index && !bind_again(d, i, link.index))
		return "the interface cannot be used";
	s->bind_error = 0;
	if (l->interface[0] && !link.running)
		return "the interface is down";
	return is_present(d, l, s->index) ? NULL : "the address is missing";
}

static void report(struct leond *d, uint8_t i)
{
	const char *name = d->conf->line[i].name, *lost = d->states->lines->line[i].lost;

	if (lost)
		report_event(d, FACTS(EV_LINE_LOST, .detail = lost), "line %s cannot be used: %s",
			     name, lost);
	else
		report_event(d, FACTS(EV_LINE_RESTORED), "line %s can be used again", name);
}

static void look_again(struct leond *d, uint8_t i)
{
	struct line *l = &d->states->lines->line[i];
	const char *lost = look(d, i), *before = l->lost;

	l->lost = lost;
	if (!lost != !before)
		report(d, i);
	overlay_line_changed(d->overlay, i, lost != NULL);
}

unsigned lines_links(struct leond *d, uint8_t line)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	struct overlay_link link;
	unsigned n = 0;

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++)
		n += slot != SLOT_SELF && nodedb_at(db, slot) &&
		     overlay_link(d->overlay, slot, &link) && link.up && link.ep.line == line;
	return n;
}

/* --- events --- */

static bool concerns(const struct leond *d, uint8_t i, const struct nl_event *ev)
{
	const struct conf_line *l = &d->conf->line[i];

	switch (ev->change) {
	case NL_LINK_CHANGED:
	case NL_LINK_GONE:
		return !l->interface[0] || ev->link.index == d->states->lines->line[i].index ||
		       strcmp(ev->link.name, l->interface) == 0;
	case NL_ADDR_ADDED:
	case NL_ADDR_GONE:
		return l->ip.family ? ip_equal(&l->ip, &ev->addr.ip)
				    : ev->addr.index == d->states->lines->line[i].index;
	case NL_OVERRUN:
		return true;
	case NL_PORT_CHANGED:
	case NL_ROUTE_CHANGED:
		break;
	}
	return false;
}

void lines_changed(struct leond *d, const struct nl_event *ev)
{
	for (uint8_t i = 0; i < d->conf->n_lines; i++)
		if (concerns(d, i, ev))
			look_again(d, i);
}

/* The host has no event for a port that another program releases. */
void lines_second(struct leond *d, mono_t now attr_unused)
{
	for (uint8_t i = 0; i < d->conf->n_lines; i++) {
		if (!d->states->lines->line[i].bind_error)
			continue;
		look_again(d, i);
		/* The addresses of the interface are those of this node now. */
		if (!d->states->lines->line[i].bind_error)
			locators_changed(d, NULL);
	}
}

/* --- start --- */

int lines_mark(struct leond *d)
{
	const struct conf *c = d->conf;
	const struct udp_marking m = { .tos = c->tos,
				       .ttl = c->ttl,
				       .tclass = c->tclass,
				       .hoplimit = c->hoplimit,
				       .df_unset = c->df_unset,
				       .fwmark = c->fwmark };
	int first = udp_set_marking(d->udp, &m), second = udp_set_marking(lines_udp(d, 1), &m);

	return first ? first : second;
}

void lines_apply_conf(struct leond *d)
{
	lines_mark(d); /* logged */
}

int lines_open(struct leond *d, bool v6)
{
	int r = 0;

	for (uint8_t i = 0; r == 0 && i < d->conf->n_lines; i++) {
		const char *interface = d->conf->line[i].interface;
		struct udp_config c = sockets_of(d, i);
		struct nl_link link;

		c.v6 &= v6 || d->conf->line[i].ip.family == 6;
		/* Before the bind: the index of an interface that appears afterwards is new. */
		if (*interface && nl_link_by_name(d->nl, interface, &link) == 0)
			d->states->lines->line[i].index = link.index;
		r = udp_open(lines_udp(d, i), &c);
	}
	return r;
}

void lines_hand_over(struct leond *d)
{
	struct overlay_line line[LINES_MAX] = { 0 };

	if (!d->conf->n_lines)
		return;
	for (uint8_t i = 0; i < d->conf->n_lines; i++) {
		const struct udp *u = lines_udp(d, i);
		const char *lost = d->states->lines->line[i].lost = look(d, i);

		line[i] = (struct overlay_line){ .v4 = u->fd4[0] >= 0,
						 .v6 = u->fd6[0] >= 0,
						 .lost = lost };
		if (lost)
			report(d, i);
	}
	overlay_set_lines(d->overlay, line, d->conf->n_lines);
}
