// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Announces prefixes. A lookup in the kernel's FIB shows whether this node has a route outside the
 * overlay to each configured prefix. The announced prefixes go to the protocol
 * (state/routes/announce.h). Runs once a second, and at once after a change of a link or address.
 * Control thread.
 *
 * Uses lookups instead of a dump or route notifications, because a router may have a million
 * routes.
 */
#include <errno.h>
#include <string.h>

#include "base/loop.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "proto/overlay.h"

#define LOOK_MS	 1000
#define REACT_MS 20 /* debounce of link and address changes */

struct announcer {
	struct leond *d;
	struct announce plan;
	struct timer *timer;
	mono_t look_at;
	int vrf;       /* VRF of the lookups; 0: the host's */
	bool gave_up;  /* the kernel did not answer in this run; no further lookups */
	bool reported; /* the failure of lookups was reported */
};

/* --- lookups --- */

/* Address 0 cannot be looked up: the kernel takes it for this host. */
static struct ip_addr first_address(const struct prefix *p)
{
	struct ip_addr ip = p->ip;
	static const struct ip_addr zero4 = { .family = 4 }, zero6 = { .family = 6 };

	if (ip_equal(&ip, &zero4))
		ip.b[0] = p->len < 8 ? 1 : 0;
	if (ip_equal(&ip, &zero6))
		ip.b[0] = p->len < 3 ? 0x20 : 0;
	return ip;
}

static struct ip_addr last_address(const struct prefix *p)
{
	struct ip_addr ip = p->ip;

	for (unsigned bit = p->len; bit < prefix_host_len(&ip); bit++)
		ip.b[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return ip;
}

static enum announce_reach judge(struct leond *d, const struct nl_lookup *l, const struct prefix *p)
{
	struct nl_link link;

	switch (l->kind) {
	case NL_LOOKUP_UNKNOWN:
		return ANNOUNCE_UNKNOWN;
	case NL_LOOKUP_NONE:
		return ANNOUNCE_NO_ROUTE;
	case NL_LOOKUP_LOCAL:
	case NL_LOOKUP_BLACKHOLE: /* configured on purpose, as the route of an aggregate */
		return ANNOUNCE_ROUTE;
	case NL_LOOKUP_UNICAST:
	case NL_LOOKUP_OF_LINK:
		break;
	}
	if (!l->alive)
		return ANNOUNCE_LINK_DOWN;
	if (l->protocol == ROUTE_PROTOCOL || !l->leads_elsewhere)
		return ANNOUNCE_OVERLAY;
	if (l->prefix_len == 0 && p->len > 0)
		return ANNOUNCE_DEFAULT_ONLY;
	/* The kernel does not mark IPv6 routes of a link without carrier. */
	if (l->kind == NL_LOOKUP_OF_LINK &&
	    (nl_link_by_index(d->nl, l->index, &link) < 0 || !link.up || !link.running))
		return ANNOUNCE_LINK_DOWN;
	return ANNOUNCE_ROUTE;
}

static void give_up(struct announcer *a, int error)
{
	a->gave_up = true;
	if (!a->reported)
		log_warn("announce", "route lookup fails, announced prefixes stay unchanged: %s",
			 strerror(error));
	a->reported = true;
}

static enum announce_reach look_up(struct announcer *a, const struct prefix *p,
				   const struct ip_addr *ip)
{
	struct leond *d = a->d;
	struct nl_lookup l;
	int rc;

	if (a->gave_up)
		return ANNOUNCE_UNKNOWN;
	rc = nl_route_lookup(d->nl, ip, a->vrf, d->tap->ifindex, &l);
	if (rc == 0 && l.kind == NL_LOOKUP_UNKNOWN)
		rc = -EOPNOTSUPP;
	if (rc < 0) {
		give_up(a, -rc);
		return ANNOUNCE_UNKNOWN;
	}
	return judge(d, &l, p);
}

static enum announce_reach reach_of(struct announcer *a, const struct prefix *p)
{
	struct ip_addr ip = first_address(p);
	enum announce_reach reach = look_up(a, p, &ip);

	/* A longer prefix of another node may begin at the same address and hide the route. */
	if (reach != ANNOUNCE_OVERLAY || p->len == 0 || p->len == prefix_host_len(&ip))
		return reach;
	ip = last_address(p);
	return look_up(a, p, &ip) == ANNOUNCE_ROUTE ? ANNOUNCE_ROUTE : reach;
}

/* --- schedule and result --- */

static void notify(struct announcer *a, const struct announced *e)
{
	const char *text = PREFIX_TEXT(&e->prefix);

	report_event(a->d,
		     FACTS(e->announced ? EV_PREFIX_ANNOUNCED : EV_PREFIX_WITHHELD, .detail = text),
		     "prefix %s is %s: %s", text, e->announced ? "announced" : "not announced",
		     announce_reason(&a->plan, e));
}

static void hand_over(struct announcer *a)
{
	struct prefix list[MSG_PREFIXES_MAX];
	unsigned n = announce_list(&a->plan, list);

	overlay_set_prefixes(a->d->overlay, list, n);
}

/* A port belongs to the VRF of its bridge. */
static int vrf_of(struct leond *d)
{
	struct nl_link bridge, vrf;

	if (!d->device.is_port)
		return d->device.table != NL_TABLE_MAIN ? d->device.master : 0;
	if (nl_link_by_index(d->nl, d->device.master, &bridge) == 0 &&
	    nl_link_by_index(d->nl, bridge.master, &vrf) == 0 && vrf.vrf_table)
		return vrf.index;
	return 0;
}

/* Returns true after a change. */
static bool look(struct announcer *a, mono_t now)
{
	bool changed = false;

	a->gave_up = false;
	a->vrf = vrf_of(a->d);
	for (unsigned i = 0; i < a->plan.n; i++) {
		const struct announced *e = &a->plan.entry[i];
		bool was_new = mono_is_never(e->since);
		enum announce_reach reach =
			a->plan.unconditional ? ANNOUNCE_UNKNOWN : reach_of(a, &e->prefix);

		if (!announce_note(&a->plan, i, reach, now))
			continue;
		changed = true;
		/* A prefix announced from the start is as configured and causes no event. */
		if (!was_new || !e->announced)
			notify(a, e);
	}
	return changed;
}

static void arm(struct announcer *a, mono_t at)
{
	if (!a->plan.n || a->plan.unconditional) {
		timer_stop(a->timer);
		return;
	}
	a->look_at = at;
	timer_set(a->timer, at);
}

static void on_timer(void *arg, mono_t now)
{
	struct announcer *a = arg;

	if (look(a, now))
		hand_over(a);
	arm(a, mono_add_ms(now, LOOK_MS));
}

void announcer_changed(struct leond *d, const struct nl_event *ev attr_unused)
{
	struct announcer *a = d->states->announcer;
	mono_t at = mono_add_ms(loop_now(d->loop), REACT_MS);

	/* A continuous burst must not postpone the run. */
	if (a && timer_is_set(a->timer) && mono_before(at, a->look_at))
		arm(a, at);
}

void announcer_apply_conf(struct leond *d)
{
	struct announcer *a = d->states->announcer;

	mono_t now = loop_now(d->loop);

	announce_configure(&a->plan, d->conf);
	look(a, now);
	hand_over(a);
	arm(a, mono_add_ms(now, LOOK_MS));
}

void announcer_start(struct leond *d)
{
	struct announcer *a = leond_memory(d, sizeof(*a));

	a->d = d;
	a->timer = leond_timer(d, on_timer, a);
	d->states->announcer = a;
	announcer_apply_conf(d);
}

const struct announce *announcer_view(const struct leond *d)
{
	return &d->states->announcer->plan;
}
