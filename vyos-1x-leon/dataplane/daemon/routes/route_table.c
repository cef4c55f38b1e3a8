// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the kernel's routes, see routes.h: reads them and executes plans in batches.
 * Control thread.
 */
#include "daemon/routes/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "io/tap.h"

static void notify_failure(struct routes *r, const struct rib_installed *e, int error)
{
	const char *dst = PREFIX_TEXT(&e->dst);

	report_event(
		r->d, FACTS(EV_ROUTE_FAILED, .value = e->metric & RIB_METRIC_MAX, .detail = dst),
		"route to %s cannot be set: %s", dst,
		error == EEXIST
			? "another program has installed a route with this destination and metric"
			: strerror(error));
}

static void notify_repair(struct routes *r, unsigned n)
{
	r->repaired += n;
	report_event(
		r->d, FACTS(EV_ROUTE_REPAIRED, .value = n),
		"%u route%s of this interface %s removed by another program and installed again", n,
		n == 1 ? "" : "s", n == 1 ? "was" : "were");
}

static void have_add(struct routes *r, const struct rib_installed *e)
{
	x_double(r->have, r->n_have, r->cap_have);
	r->have[r->n_have++] = *e;
}

static void have_sort(struct routes *r)
{
	if (r->n_have)
		qsort(r->have, r->n_have, sizeof(*r->have), rib_installed_compare);
}

static void on_route(void *arg, const struct nl_route *route)
{
	struct routes *r = arg;
	struct rib_installed e = {
		.dst = route->dst,
		.gateway = route->gateway,
		.metric = route->metric,
	};

	if (route->table == r->table)
		have_add(r, &e);
	else if (r->n_strays < ROUTE_STRAYS_MAX)
		r->stray[r->n_strays++] = (struct nl_route_change){
			.op = NL_ROUTE_DELETE,
			.route = *route,
		};
}

/* Routes set while the interface moved to another VRF, or by an earlier run. */
static void delete_strays(struct routes *r, mono_t now)
{
	int rc = r->n_strays ? nl_routes_change(r->d->nl, r->stray, r->n_strays) : 0;

	if (rc < 0)
		log_error("routes", "the kernel cannot be asked: %s", strerror(-rc));
	if (r->n_strays == ROUTE_STRAYS_MAX)
		r->resync_at = now;
	r->n_strays = 0;
}

static unsigned count_missing(const struct routes *r, const struct rib_installed *before,
			      unsigned n_before)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_before; i++)
		n += !before[i].error &&
		     (!r->n_have || !bsearch(&before[i], r->have, r->n_have, sizeof(*r->have),
					     rib_installed_compare));
	return n;
}

/*
 * The interface left the table of these routes. The kernel then drops IPv4 routes without a
 * notification. zebra learns of the new VRF before it learns that the interface was down, and keeps
 * the routes. Setting and deleting each route again removes it everywhere.
 */
static void notify_gone(struct routes *r, const struct rib_installed *e, unsigned n)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct nl_route_change c = {
			.op = NL_ROUTE_ADD,
			.route = { .dst = e[i].dst,
				   .gateway = e[i].gateway,
				   .metric = e[i].metric,
				   .table = r->table,
				   .index = r->d->tap->ifindex,
				   .protocol = ROUTE_PROTOCOL },
		};

		if (!e[i].error && e[i].dst.ip.family == 4) {
			r->change[k++] = c;
			c.op = NL_ROUTE_DELETE;
			r->change[k++] = c;
		}
		if (k + 2 > ROUTE_BATCH || (k && i + 1 == n)) {
			nl_routes_change(r->d->nl, r->change, k);
			k = 0;
		}
	}
}

/* Dumps the kernel's routes; the next plan corrects deviations. */
void routes_resync(struct routes *r, mono_t now)
{
	struct leond *d = r->d;
	struct rib_installed *before = r->have;
	unsigned n_before = r->n_have, missing;
	int rc;

	r->resync_at = mono_add_ms(now, ROUTE_RESYNC_MS);
	if (r->table != d->device.table) {
		notify_gone(r, before, n_before);
		n_before = 0;
	}
	r->table = d->device.table;
	r->have = NULL;
	r->n_have = r->cap_have = 0;
	rc = nl_routes(d->nl, ROUTE_PROTOCOL, d->tap->ifindex, on_route, r);
	delete_strays(r, now);
	if (rc < 0) {
		/* Keeps the previous state: a dump of a table that changed during the dump is
		 * unreliable. */
		free(r->have);
		r->have = before;
		r->n_have = r->cap_have = n_before;
		if (rc != -EINTR)
			log_warn("routes", "routes cannot be listed: %s", strerror(-rc));
		r->resync_at = mono_add_ms(now, ROUTE_RETRY_MS);
		return;
	}
	have_sort(r);
	missing = count_missing(r, before, n_before);
	if (missing && !r->loss_is_known)
		notify_repair(r, missing);
	r->loss_is_known = false;
	for (unsigned i = 0; i < n_before; i++)
		if (before[i].error)
			have_add(r, &before[i]);
	have_sort(r);
	free(before);
}

static const enum nl_route_op op_of[] = {
	[RIB_ADD] = NL_ROUTE_ADD,
	[RIB_REPLACE] = NL_ROUTE_REPLACE,
	[RIB_DELETE] = NL_ROUTE_DELETE,
};

/* Results are in r->change, which omits steps without a kernel request. */
static void request_kernel(struct routes *r, const struct rib_step *step, unsigned n)
{
	const struct leond *d = r->d;
	unsigned n_changes = 0;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if (step[i].op == RIB_FORGET)
			continue;
		r->change[n_changes++] = (struct nl_route_change){
			.op = op_of[step[i].op],
			.route = { .dst = step[i].route.dst,
				   .gateway = step[i].route.gateway,
				   .metric = step[i].route.metric,
				   .table = d->device.table,
				   .index = d->tap->ifindex,
				   .protocol = ROUTE_PROTOCOL },
		};
	}
	rc = n_changes ? nl_routes_change(d->nl, r->change, n_changes) : 0;
	if (rc < 0)
		log_error("routes", "the kernel cannot be asked: %s", strerror(-rc));
}

static void have_compact(struct routes *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_have; i++)
		if (!r->have[i].gone)
			r->have[n++] = r->have[i];
	r->n_have = n;
	have_sort(r);
}

static void note_result(struct routes *r, const struct rib_step *s, unsigned n_sorted, int rc,
			mono_t now)
{
	struct rib_installed e = s->route, *former = NULL;

	if (n_sorted)
		former = bsearch(&e, r->have, n_sorted, sizeof(e), rib_installed_compare);
	if (former)
		former->gone = true;
	if (s->op == RIB_FORGET || (s->op == RIB_DELETE && (rc == 0 || rc == -ESRCH)))
		return;
	if (rc < 0) {
		r->failed++;
		/* A failed deletion: dumps the routes. */
		if (s->op == RIB_DELETE)
			r->resync_at = mono_add_ms(now, ROUTE_RETRY_MS);
		else
			notify_failure(r, &e, -rc);
	}
	e.error = s->op == RIB_DELETE ? 0 : rc;
	e.retry_at = mono_add_ms(now, ROUTE_RETRY_MS);
	have_add(r, &e);
}

/* The kernel replaced the route with another gateway by the new one. */
static void forget_replaced(struct routes *r, unsigned n_sorted, const struct rib_installed *by)
{
	for (unsigned i = 0; i < n_sorted; i++)
		if (prefix_compare(&r->have[i].dst, &by->dst) == 0 &&
		    r->have[i].metric == by->metric && !ip_equal(&r->have[i].gateway, &by->gateway))
			r->have[i].gone = true;
}

static void carry_out(struct routes *r, const struct rib_step *step, unsigned n, mono_t now)
{
	unsigned n_sorted = r->n_have, k = 0;

	request_kernel(r, step, n);
	for (unsigned i = 0; i < n; i++) {
		int rc = step[i].op == RIB_FORGET ? 0 : r->change[k++].result;

		if (step[i].op == RIB_REPLACE && rc == 0)
			forget_replaced(r, n_sorted, &step[i].route);
		note_result(r, &step[i], n_sorted, rc, now);
	}
	have_compact(r);
}

static bool is_addition(const struct rib_step *s)
{
	return s->op == RIB_ADD || s->op == RIB_REPLACE;
}

/* Filters the additions, or the deletions of destinations without a pending addition. */
static unsigned keep_steps(struct rib_step *step, unsigned n, bool additions)
{
	const struct prefix *waiting = NULL;
	struct prefix dst;
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (is_addition(&step[i]) && !additions) {
			dst = step[i].route.dst;
			waiting = &dst;
		} else if (is_addition(&step[i]) == additions &&
			   !(waiting && prefix_compare(waiting, &step[i].route.dst) == 0)) {
			step[kept++] = step[i];
		}
	}
	return kept;
}

/*
 * Executes additions first, so that the results are known before the replaced routes are deleted.
 * The second plan omits deletions that a refusal forbids. Returns the number of steps.
 */
unsigned routes_bring_up_to_date(struct routes *r, mono_t now)
{
	unsigned n = rib_plan(r->plan, r->have, r->n_have, now, r->step, ROUTE_BATCH);
	unsigned n_additions = keep_steps(r->step, n, true);

	if (n_additions)
		carry_out(r, r->step, n_additions, now);
	n = rib_plan(r->plan, r->have, r->n_have, now, r->step, ROUTE_BATCH);
	n = keep_steps(r->step, n, false);
	if (n)
		carry_out(r, r->step, n, now);
	return n + n_additions;
}
