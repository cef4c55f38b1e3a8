// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executes the plans of state/routes/rib.h, see routes.h: schedules kernel dumps and planner runs,
 * reports events, and answers queries of the daemon. Control thread.
 *
 * All routes have protocol 76 and lead to this interface; routes of other programs are never
 * changed. The routes disappear with the interface. If the interface persists (VyOS creates it),
 * leftovers of an earlier run are removed at the start.
 */
#include "daemon/routes/routes.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/tap.h"

#define TICK_MS		 250
#define SPACING_MS	 50    /* minimum interval of runs after changes */
#define REACT_MS	 20    /* debounce of changes by other programs */
#define METRIC_NOTIFY_MS 10000 /* minimum interval of events about metrics */

/* --- events: a few in full, many merged into one sentence --- */

static void on_change(void *arg, enum rib_change change, const struct rib_route *before,
		      const struct rib_route *now)
{
	struct routes *r = arg;
	struct route_count *t = &r->tally[change];

	r->count[change]++;
	if (t->n < ROUTE_NOTIFIED_MAX)
		t->route[t->n] = now ? *now : *before;
	t->n++;
}

static void on_refused(void *arg, const struct rib_refused *refused)
{
	struct routes *r = arg;

	if (rib_refusal_is_trouble(refused->why) && r->n_refused < ROUTE_NOTIFIED_MAX)
		r->refused[r->n_refused++] = *refused;
}

static const struct {
	enum event_kind kind;
	const char *one, *many;
} words[N_RIB_CHANGES] = {
	[RIB_ADDED] = { EV_ROUTE_ADDED, "is added", "routes are added" },
	[RIB_MOVED] = { EV_ROUTE_CHANGED, "leads there now", "routes lead elsewhere now" },
	[RIB_METRIC] = { EV_ROUTE_METRIC, "has another metric", "routes have other metrics" },
	[RIB_WITHDRAWN] = { EV_ROUTE_WITHDRAWN, "is withdrawn", "routes are withdrawn" },
};

static void notify(struct routes *r, enum rib_change change)
{
	struct route_count *t = &r->tally[change];

	if (t->n > ROUTE_NOTIFIED_MAX)
		report_event(r->d, FACTS(words[change].kind, .value = t->n), "%u %s", t->n,
			     words[change].many);
	for (unsigned i = 0; t->n <= ROUTE_NOTIFIED_MAX && i < t->n; i++) {
		const struct rib_route *e = &t->route[i];
		const char *dst = PREFIX_TEXT(&e->dst);

		report_event(r->d,
			     FACTS(words[change].kind, .node = e->node, .value = e->metric,
				   .detail = dst),
			     "route to %s through %s %s, metric %u", dst, NODE_LABEL(r->d, e->node),
			     words[change].one, e->metric);
	}
	t->n = 0;
}

static void notify_all(struct routes *r, mono_t now)
{
	notify(r, RIB_ADDED);
	notify(r, RIB_MOVED);
	notify(r, RIB_WITHDRAWN);
	if (r->tally[RIB_METRIC].n && mono_sub_ms(now, r->metrics_reported) >= METRIC_NOTIFY_MS) {
		r->metrics_reported = now;
		notify(r, RIB_METRIC);
	}
	for (unsigned i = 0; i < r->n_refused; i++) {
		const struct rib_refused *e = &r->refused[i];
		const char *dst = PREFIX_TEXT(&e->dst);

		report_event(r->d, FACTS(EV_ROUTE_REFUSED, .node = e->node, .detail = dst),
			     "route to %s announced by %s is refused: %s", dst,
			     NODE_LABEL(r->d, e->node), rib_refusal_texts[e->why].text);
	}
	r->n_refused = 0;
}

/* --- schedule --- */

static void run(struct routes *r, mono_t now)
{
	struct leond *d = r->d;
	const struct rib_report report = { on_change, on_refused, r };
	struct rib_input in = {
		.conf = d->conf,
		.own = r->own,
		.n_own = r->n_own,
		.connected = r->connected,
		.n_connected = r->n_connected,
	};
	unsigned n_steps;

	r->ran = now;
	if (!mono_before(now, r->resync_at))
		routes_resync(r, now);
	if (!routes_why_unusable(d)) {
		routes_gather_underlay(r);
		in.n_nodes = routes_gather_nodes(r);
		in.node = r->node;
		in.underlay = r->underlay;
		in.n_underlay = r->n_underlay;
		in.tcp = r->tcp;
		in.n_tcp = r->n_tcp;
	}
	rib_run(r->plan, &in, &report, now);
	n_steps = routes_bring_up_to_date(r, now);
	if (n_steps && n_steps < ROUTE_BATCH)
		routes_bring_up_to_date(r, now); /* additions that waited for a deletion */
	notify_all(r, now);
}

static bool is_idle(const struct routes *r)
{
	return routes_why_unusable(r->d) && r->n_have == 0;
}

static void on_timer(void *arg, mono_t now)
{
	struct routes *r = arg;

	run(r, now);
	if (!is_idle(r))
		timer_set(r->timer, mono_add_ms(now, TICK_MS));
}

void routes_soon(struct leond *d)
{
	struct routes *r = d->states->routes;
	mono_t now, at;

	if (!r || r->stopping || is_idle(r))
		return;
	now = loop_now(d->loop);
	at = mono_add_ms(r->ran, SPACING_MS);
	timer_set(r->timer, mono_before(at, now) ? now : at);
}

/* Schedules a dump of the kernel's routes too. */
static void look_again(struct routes *r)
{
	mono_t now = loop_now(r->d->loop);

	if (r->stopping)
		return;
	r->resync_at = now;
	timer_set(r->timer, mono_add_ms(now, REACT_MS));
}

void routes_device_changed(struct leond *d)
{
	if (!d->states->routes)
		return;
	d->states->routes->loss_is_known = true;
	if (d->states->routes->table != d->device.table)
		routes_gather_own(d->states->routes);
	look_again(d->states->routes);
}

void routes_addresses_changed(struct leond *d)
{
	if (!d->states->routes)
		return;
	routes_gather_own(d->states->routes);
	look_again(d->states->routes);
}

void routes_changed(struct leond *d, const struct nl_event *ev)
{
	int index = d->tap->ifindex;

	/* A link loses its routes with its last address. */
	if (ev->change == NL_ADDR_GONE && ev->addr.index == index)
		routes_device_changed(d);
	if (ev->change == NL_OVERRUN ||
	    (ev->change == NL_ROUTE_CHANGED && (ev->route_index == index || !ev->route_index)))
		look_again(d->states->routes);
}

void routes_start(struct leond *d)
{
	struct routes *r = x_new(struct routes);
	mono_t now = loop_now(d->loop);

	d->states->routes = r;
	r->d = d;
	r->plan = rib_new();
	r->timer = leond_timer(d, on_timer, r);
	r->resync_at = now;
	r->table = d->device.table;
	routes_gather_own(r);
	timer_set(r->timer, now);
}

void routes_stop(struct leond *d)
{
	struct routes *r = d->states->routes;
	mono_t now = loop_now(d->loop);

	if (!r || r->stopping)
		return;
	r->stopping = true;
	timer_stop(r->timer);
	run(r, now);
	while (r->n_have && routes_bring_up_to_date(r, now) >= ROUTE_BATCH)
		;
}

void routes_free(struct leond *d)
{
	struct routes *r = d->states->routes;

	if (!r)
		return;
	d->states->routes = NULL;
	rib_free(r->plan);
	free(r->have);
	free(r->node);
	free(r->underlay);
	free(r->tcp);
	free(r);
}

/* --- queries --- */

bool routes_withhold(struct leond *d, const struct ip_addr *to)
{
	if (!d->states->routes || routes_are_apart(d->states->routes) ||
	    !rib_covers(d->states->routes->plan, to))
		return false;
	d->states->routes->withheld++;
	return true;
}

bool routes_announces(const struct conf *c, const struct ip_addr *ip)
{
	for (uint8_t i = 0; i < c->n_prefixes; i++)
		if (prefix_has(&c->prefix[i], ip))
			return true;
	for (uint8_t i = 0; i < c->n_overlay; i++)
		if (ip_equal(&c->overlay[i], ip))
			return true;
	return false;
}
