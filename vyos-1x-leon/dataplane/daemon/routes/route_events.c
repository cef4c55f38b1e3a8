// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events about routes, see routes.h: a few in full, many merged into one sentence.
 * Control thread.
 */
#include "daemon/routes/routes.h"

#include <errno.h>
#include <string.h>

#include "daemon/report/report.h"

#define METRIC_NOTIFY_MS 10000 /* minimum interval of events about metrics */

void routes_on_change(void *arg, enum rib_change change, const struct rib_route *before,
		      const struct rib_route *now)
{
	struct routes *r = arg;
	struct route_count *t = &r->tally[change];

	r->count[change]++;
	if (t->n < ROUTE_NOTIFIED_MAX)
		t->route[t->n] = now ? *now : *before;
	t->n++;
}

void routes_on_refused(void *arg, const struct rib_refused *refused)
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

void routes_notify_all(struct routes *r, mono_t now)
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
			     NODE_LABEL(r->d, e->node), rib_refusal_text(e->why));
	}
	r->n_refused = 0;
}

void routes_notify_failure(struct routes *r, const struct rib_installed *e, int error)
{
	const char *dst = PREFIX_TEXT(&e->dst);

	report_event(
		r->d, FACTS(EV_ROUTE_FAILED, .value = e->metric & RIB_METRIC_MAX, .detail = dst),
		"route to %s cannot be set: %s", dst,
		error == EEXIST
			? "another program has installed a route with this destination and metric"
			: strerror(error));
}

void routes_notify_repair(struct routes *r, unsigned n)
{
	r->repaired += n;
	report_event(
		r->d, FACTS(EV_ROUTE_REPAIRED, .value = n),
		"%u route%s of this interface %s removed by another program and installed again", n,
		n == 1 ? "" : "s", n == 1 ? "was" : "were");
}
