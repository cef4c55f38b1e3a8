// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of this node on the host: the configured source addresses, else those of the
 * source-interface, else all global unicast addresses of active interfaces. Updated a moment after
 * a change, because changes come in bursts. Control thread.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/loop.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "proto/overlay.h"

#define GATHER_MS 200
#define RETRY_MS  1000 /* after a failed dump */
#define ADDRS_MAX 256

#define STACKED_MAX 4 /* stacked interfaces */
#define BRIDGES_MAX 16

struct locators {
	unsigned n;
	struct endpoint list[ADDRS_MAX];
	struct timer *timer; /* debounce timer, also of a retry */
	bool failed;	     /* the last dump */
	/* bridges with a LEON interface as a port, read for the first address on a bridge */
	bool bridges_read;
	unsigned n_bridges;
	int bridge[BRIDGES_MAX];
};

/* A LEON interface of this host. Any name is possible, and each leond has a control socket. */
static bool is_leon(const struct leond *d, const struct nl_link *link)
{
	const char *own = d->conf->control_socket, *name = strrchr(own, '/');
	char path[CONF_CONTROL_SOCKET_MAX + NL_NAME_MAX + sizeof(".sock")];

	if (link->index == d->tap->ifindex || !link->tun_is_tap)
		return link->index == d->tap->ifindex;
	snprintf(path, sizeof(path), "%.*s%s.sock", name ? (int)(name + 1 - own) : 0, own,
		 link->name);
	return strncmp(link->name, "leon", 4) == 0 || access(path, F_OK) == 0;
}

static void note_bridge(void *arg, const struct nl_link *link)
{
	struct leond *d = arg;
	struct locators *l = d->states->locators;

	if (link->master && l->n_bridges < BRIDGES_MAX && is_leon(d, link))
		l->bridge[l->n_bridges++] = link->master;
}

/* After an incomplete dump a notification follows. */
static bool leads_to_leon(struct leond *d, const struct nl_link *bridge)
{
	struct locators *l = d->states->locators;

	if (!l->bridges_read)
		nl_links(d->nl, note_bridge, d);
	l->bridges_read = true;
	for (unsigned i = 0; i < l->n_bridges; i++)
		if (l->bridge[i] == bridge->index)
			return true;
	return false;
}

/* The operator chose the interface as an underlay. */
static bool is_named(const struct conf *c, const char *name)
{
	for (uint8_t i = 0; i < c->n_lines; i++)
		if (strcmp(c->line[i].interface, name) == 0)
			return true;
	return strcmp(c->source_interface, name) == 0;
}

/* Addresses inside an overlay are unreachable without the overlay: addresses of LEON interfaces of
 * this host, of their bridges, and of VLANs on these interfaces. */
static bool is_inside(struct leond *d, const struct nl_link *link)
{
	struct nl_link on = *link;
	bool chosen = false;

	for (unsigned i = 0; i < STACKED_MAX; i++) {
		chosen |= is_named(d->conf, on.name);
		if (is_leon(d, &on) ||
		    (!chosen && strcmp(on.kind, "bridge") == 0 && leads_to_leon(d, &on)))
			return true;
		if (!on.lower || nl_link_by_index(d->nl, on.lower, &on) < 0)
			return false;
	}
	return false;
}

/* Returns true if datagrams from here use the routing table of the address. */
static bool is_of_source(const struct leond *d, const struct nl_link *link)
{
	const char *name = d->conf->source_interface;
	struct nl_link source;

	if (d->conf->n_lines)
		return true;
	if (!*name || strcmp(name, link->name) == 0)
		return *name || nl_link_table(d->nl, link) == NL_TABLE_MAIN;
	return nl_link_by_name(d->nl, name, &source) == 0 && source.vrf_table &&
	       source.index == link->master;
}

static bool is_wanted(struct leond *d, const struct nl_addr *a)
{
	struct endpoint ep = { .ip = a->ip, .port = d->udp->port };
	struct nl_link link;

	if (a->link_scope || a->tentative || a->deprecated || !endpoint_is_usable(&ep))
		return false;
	if (nl_link_by_index(d->nl, a->index, &link) < 0 || !link.up || is_inside(d, &link))
		return false;
	return is_of_source(d, &link);
}

static void add(struct leond *d, struct endpoint *list, unsigned *n, const struct ip_addr *ip)
{
	if (*n < ADDRS_MAX)
		list[(*n)++] = (struct endpoint){ .ip = *ip, .port = d->udp->port };
}

static unsigned add_wanted(struct leond *d, struct endpoint list[ADDRS_MAX],
			   const struct nl_addr *addr, int count, bool outside_only)
{
	unsigned n = 0;

	for (int i = 0; i < count; i++)
		if (!(outside_only && routes_announces(d->conf, &addr[i].ip)) &&
		    is_wanted(d, &addr[i]))
			add(d, list, &n, &addr[i].ip);
	return n;
}

/* Address of each line, or those of its interface. */
static unsigned add_of_lines(struct leond *d, struct endpoint list[ADDRS_MAX],
			     const struct nl_addr *addr, int count)
{
	unsigned n = 0;

	for (uint8_t i = 0; i < d->conf->n_lines; i++) {
		if (d->conf->line[i].ip.family) {
			add(d, list, &n, &d->conf->line[i].ip);
			continue;
		}
		for (int k = 0; k < count; k++)
			if (addr[k].index == d->states->lines->line[i].index &&
			    is_wanted(d, &addr[k]))
				add(d, list, &n, &addr[k].ip);
	}
	return n;
}

/* Alternates the families. The kernel lists all IPv4 addresses first, and a record may not contain
 * all addresses. */
static void alternate(struct endpoint *list, unsigned n)
{
	struct endpoint other;
	unsigned k;

	for (unsigned i = 1; i < n; i++) {
		for (k = i; k < n && list[k].ip.family == list[i - 1].ip.family; k++)
			;
		if (k == n)
			return;
		other = list[k];
		memmove(&list[i + 1], &list[i], (k - i) * sizeof(other));
		list[i] = other;
	}
}

/* Returns the number of addresses or -errno. */
static int collect(struct leond *d, struct endpoint list[ADDRS_MAX])
{
	const struct conf *c = d->conf;
	struct nl_addr addr[ADDRS_MAX];
	unsigned n = 0;
	int count;

	if (c->source4.family || c->source6.family) {
		if (c->source4.family)
			add(d, list, &n, &c->source4);
		if (c->source6.family)
			add(d, list, &n, &c->source6);
		return (int)n;
	}
	d->states->locators->bridges_read = false;
	d->states->locators->n_bridges = 0;
	count = nl_addrs(d->nl, 0, addr, ADDRS_MAX);
	if (count < 0)
		return count;
	count = min_of(count, ADDRS_MAX);
	if (c->n_lines)
		return (int)add_of_lines(d, list, addr, count);
	/* Other nodes reach announced prefixes through the overlay, so such an address is no
	 * locator, unless all addresses are announced. */
	n = add_wanted(d, list, addr, count, true);
	return (int)(n ? n : add_wanted(d, list, addr, count, false));
}

static bool same(const struct leond *d, const struct endpoint *list, unsigned n)
{
	if (n != d->states->locators->n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!endpoint_equal(&list[i], &d->states->locators->list[i]))
			return false;
	return true;
}

/* The list remains until a dump succeeds. */
static void retry(struct leond *d, int error)
{
	struct locators *l = d->states->locators;

	if (!l->failed)
		log_warn("locators", "addresses cannot be listed: %s", strerror(-error));
	l->failed = true;
	if (!timer_is_set(l->timer))
		timer_set(l->timer, mono_add_ms(loop_now(d->loop), RETRY_MS));
}

void locators_update(struct leond *d)
{
	struct locators *l = d->states->locators;
	struct endpoint list[ADDRS_MAX];
	int n = collect(d, list);

	if (n < 0) {
		retry(d, n);
		return;
	}
	l->failed = false;
	alternate(list, (unsigned)n);
	if (same(d, list, (unsigned)n))
		return;
	l->n = (unsigned)n;
	memcpy(l->list, list, l->n * sizeof(list[0]));
	overlay_set_locators(d->overlay, list, l->n);
}

static void on_gathered(void *arg, mono_t now attr_unused)
{
	locators_update(arg);
	routes_addresses_changed(arg);
}

void locators_changed(struct leond *d, const struct nl_event *ev attr_unused)
{
	if (!timer_is_set(d->states->locators->timer))
		timer_set(d->states->locators->timer, mono_add_ms(loop_now(d->loop), GATHER_MS));
}

void locators_start(struct leond *d)
{
	d->states->locators = leond_memory(d, sizeof(*d->states->locators));
	d->states->locators->timer = leond_timer(d, on_gathered, d);
	locators_update(d);
}
