// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carries out what state/export.h plans: gathers what the planner has to know, keeps a picture of
 * the routes that the kernel has, brings it to the plan in portions, and looks again when somebody
 * else touched them. Says what changed in events. Control thread.
 *
 * All routes are of protocol 76 and lead to this interface; nobody else's are ever touched. They go
 * with the interface; where that stays (VyOS makes it), what an earlier run left behind is removed
 * at the start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/mem.h"
#include "daemon/host/kernel_routes.h"
#include "daemon/life/event_text.h"
#include "daemon/leond.h"

#define BATCH	       1000 /* zebra falls behind where much more changes at once */
#define STRAYS_MAX     64
#define DROPPED	       INT32_MAX /* error of an entry that have_compact() takes out */
#define TICK_MS	       250
#define SPACING_MS     50 /* of runs that changes ask for */
#define RESYNC_MS      30000
#define REACT_MS       20 /* to changes that somebody else makes; they come in bursts */
#define RETRY_MS       5000
#define ADDRS_MAX      1024
#define TOLD_MAX       8     /* events of one kind and run; more become one sentence */
#define METRIC_TELL_MS 10000 /* between events about metrics */

/* What is to be told of one kind. */
struct tally {
	unsigned n;
	struct export_route route[TOLD_MAX];
};

struct routes {
	struct leond *d;
	struct export *plan;
	struct nl_monitor *monitor;
	struct timer *timer;
	mono_t ran, resync_at, metrics_told;
	uint32_t table;		 /* that `have` is about */
	uint32_t underlay_table; /* that datagrams to other nodes are routed by */
	bool stopping;
	bool loss_is_known; /* the link changed or lost an address: the kernel drops routes then */

	struct export_installed *have; /* sorted */
	unsigned n_have, cap_have;
	unsigned n_strays;
	struct nl_route_change stray[STRAYS_MAX]; /* in tables that they do not belong to */
	struct export_step step[BATCH];
	struct nl_route_change change[BATCH];

	struct export_node *node;
	unsigned cap_nodes, n_own, n_connected;
	struct ip_addr own[ADDRS_MAX];
	struct prefix connected[ADDRS_MAX];
	struct ip_addr *underlay;
	unsigned n_underlay, cap_underlay;

	struct tally tally[N_EXPORT_NEWS];
	unsigned n_refused;
	struct export_refused refused[TOLD_MAX];
	uint64_t count[N_EXPORT_NEWS], repaired, failed, withheld;
};

/* By which datagrams to other nodes are routed: that of the VRF of source-interface. */
static uint32_t underlay_table(const struct leond *d)
{
	struct nl_link link;

	if (!d->conf->source_interface[0] ||
	    nl_link_by_name(d->nl, d->conf->source_interface, &link) < 0)
		return NL_TABLE_MAIN;
	return nl_link_table(d->nl, &link);
}

static int compare_ips(const void *a, const void *b)
{
	return ip_compare(a, b);
}

/* --- what is there --- */

static void have_add(struct routes *r, const struct export_installed *e)
{
	if (r->n_have == r->cap_have) {
		r->cap_have = r->cap_have ? r->cap_have * 2 : 64;
		r->have = x_realloc(r->have, r->cap_have, sizeof(*r->have));
	}
	r->have[r->n_have++] = *e;
}

static void have_sort(struct routes *r)
{
	if (r->n_have)
		qsort(r->have, r->n_have, sizeof(*r->have), export_installed_compare);
}

static void on_route(void *arg, const struct nl_route *route)
{
	struct routes *r = arg;
	struct export_installed e = {
		.dst = route->dst,
		.gateway = route->gateway,
		.metric = route->metric,
	};

	if (route->table == r->table)
		have_add(r, &e);
	else if (r->n_strays < STRAYS_MAX)
		r->stray[r->n_strays++] = (struct nl_route_change){
			.op = NL_ROUTE_DELETE,
			.route = *route,
		};
}

/* What was set while the interface was on its way into another VRF, or by an earlier run. */
static void delete_strays(struct routes *r, mono_t now)
{
	int rc = r->n_strays ? nl_routes_change(r->d->nl, r->stray, r->n_strays) : 0;

	if (rc < 0)
		log_error("routes", "the kernel cannot be asked: %s", strerror(-rc));
	if (r->n_strays == STRAYS_MAX)
		r->resync_at = now;
	r->n_strays = 0;
}

static unsigned count_missing(const struct routes *r, const struct export_installed *before,
			      unsigned n_before)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_before; i++)
		n += !before[i].error &&
		     (!r->n_have || !bsearch(&before[i], r->have, r->n_have, sizeof(*r->have),
					     export_installed_compare));
	return n;
}

static void tell_repair(struct routes *r, unsigned n)
{
	const struct event_facts note = {
		.kind = EV_ROUTE_REPAIRED,
		.value = n,
	};

	r->repaired += n;
	report_event(r->d, &note, "%u route%s of this interface %s removed by somebody else", n,
		     n == 1 ? "" : "s", n == 1 ? "was" : "were");
}

/*
 * The interface left the table that these were in. The kernel drops IPv4 routes then without a
 * word, and zebra, which hears of the new VRF before it hears that the interface was down, keeps
 * them. What is set once more and deleted is gone for everybody.
 */
static void say_gone(struct routes *r, const struct export_installed *e, unsigned n)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct nl_route_change c = {
			.op = NL_ROUTE_ADD,
			.route = { .dst = e[i].dst,
				   .gateway = e[i].gateway,
				   .metric = e[i].metric,
				   .table = r->table,
				   .index = r->d->tap.ifindex,
				   .protocol = ROUTE_PROTOCOL },
		};

		if (!e[i].error && e[i].dst.ip.family == 4) {
			r->change[k++] = c;
			c.op = NL_ROUTE_DELETE;
			r->change[k++] = c;
		}
		if (k + 2 > BATCH || (k && i + 1 == n)) {
			nl_routes_change(r->d->nl, r->change, k);
			k = 0;
		}
	}
}

/* Looks at the kernel's routes; what is not as it should be is for the next plan. */
static void resync(struct routes *r, mono_t now)
{
	struct leond *d = r->d;
	struct export_installed *before = r->have;
	unsigned n_before = r->n_have, missing;
	int rc;

	r->resync_at = mono_add_ms(now, RESYNC_MS);
	if (r->table != d->device.table) {
		say_gone(r, before, n_before);
		n_before = 0;
	}
	r->table = d->device.table;
	r->have = NULL;
	r->n_have = r->cap_have = 0;
	rc = nl_routes(d->nl, ROUTE_PROTOCOL, d->tap.ifindex, on_route, r);
	delete_strays(r, now);
	if (rc < 0) {
		/* As before; a table that changed while it was read is no news. */
		free(r->have);
		r->have = before;
		r->n_have = r->cap_have = n_before;
		if (rc != -EINTR)
			log_warn("routes", "routes cannot be listed: %s", strerror(-rc));
		r->resync_at = mono_add_ms(now, RETRY_MS);
		return;
	}
	have_sort(r);
	missing = count_missing(r, before, n_before);
	if (missing && !r->loss_is_known)
		tell_repair(r, missing);
	r->loss_is_known = false;
	for (unsigned i = 0; i < n_before; i++)
		if (before[i].error)
			have_add(r, &before[i]);
	have_sort(r);
	free(before);
}

/* --- what the planner has to know --- */

static const char *why_unusable(const struct leond *d)
{
	if (!d->conf->export_next_hop && !d->conf->n_imports)
		return "neither export next-hop nor import prefix is configured";
	if (d->routes->stopping)
		return "the daemon is stopping";
	if (d->device.is_port)
		return "the interface is a port of a bridge or bond";
	if (!d->device.up)
		return "the interface is down";
	if (d->guard.state == GUARD_BLOCKED)
		return "the loop guard blocks";
	return NULL;
}

/* In a VRF that the underlay is not in: whatever our routes say, it does not go by them. */
static bool is_apart(const struct routes *r)
{
	return r->table != NL_TABLE_MAIN && r->table != r->underlay_table;
}

static void add_underlay(struct routes *r, const struct ip_addr *ip)
{
	if (!ip->family)
		return;
	if (r->n_underlay == r->cap_underlay) {
		r->cap_underlay = r->cap_underlay ? r->cap_underlay * 2 : 64;
		r->underlay = x_realloc(r->underlay, r->cap_underlay, sizeof(*r->underlay));
	}
	r->underlay[r->n_underlay++] = *ip;
}

/* Addresses that members were heard from, and those of the configured peers. Merely announced ones
 * do not count: a private address behind NAT is not used from here, and may be somebody's LAN. */
static void gather_underlay(struct routes *r)
{
	struct leond *d = r->d;
	uint16_t n_slots = nodedb_slots(overlay_nodes(d->overlay));
	struct overlay_link link;

	r->n_underlay = 0;
	if (is_apart(r))
		return;
	for (uint16_t slot = SLOT_SELF + 1; slot < n_slots; slot++)
		if (overlay_link(d->overlay, slot, &link) &&
		    (link.up || !mono_is_never(link.last_heard)))
			add_underlay(r, &link.ep.ip);
	for (uint32_t i = 0; i < d->n_configured_peers; i++) {
		if (d->conf->peer[i].is_ip)
			add_underlay(r, &d->conf->peer[i].ep.ip);
		for (unsigned k = 0; i < d->n_seeds && k < d->seed[i].n; k++)
			add_underlay(r, &d->seed[i].ep[k].ip);
	}
	if (r->n_underlay)
		qsort(r->underlay, r->n_underlay, sizeof(*r->underlay), compare_ips);
}

static unsigned gather_nodes(struct routes *r)
{
	struct nodedb *db = overlay_nodes(r->d->overlay);
	uint16_t n_slots = nodedb_slots(db);
	unsigned n_nodes = 0;

	if (n_slots > r->cap_nodes) {
		r->cap_nodes = n_slots;
		r->node = x_realloc(r->node, n_slots, sizeof(*r->node));
	}
	for (uint16_t slot = SLOT_SELF + 1; slot < n_slots; slot++) {
		const struct node *n = nodedb_at(db, slot);
		const struct choice *c = overlay_choice(r->d->overlay, slot);

		if (!n || n->state != NODE_REACHABLE || !n->has_record || !c ||
		    c->path.n_hops == 0 || c->path.cost_us == COST_INFINITE)
			continue;
		r->node[n_nodes++] = (struct export_node){
			.slot = slot,
			.id = n->id,
			.latency_us = c->path.rtt_us,
			.rec = &n->rec,
		};
	}
	return n_nodes;
}

/* Table of a link; 0: it is gone. */
static uint32_t table_of(const struct routes *r, int index)
{
	struct nl_link link;

	return nl_link_by_index(r->d->nl, index, &link) < 0 ? 0 : nl_link_table(r->d->nl, &link);
}

/* Addresses and networks of other VRFs are no concern of ours: there may be the same ones. */
static void gather_own(struct routes *r)
{
	struct nl_addr addr[ADDRS_MAX];
	int n = nl_addrs(r->d->nl, 0, addr, ADDRS_MAX), last = 0;
	uint32_t table = 0;

	if (n < 0) {
		log_warn("routes", "addresses cannot be listed: %s", strerror(-n));
		return;
	}
	r->underlay_table = underlay_table(r->d);
	r->n_own = r->n_connected = 0;
	for (int i = 0; i < n && i < ADDRS_MAX; i++) {
		struct prefix p = { .ip = addr[i].ip, .len = addr[i].prefix_len };

		if (addr[i].index != last)
			table = table_of(r, addr[i].index);
		last = addr[i].index;
		if (table != r->d->device.table)
			continue;
		r->own[r->n_own++] = addr[i].ip;
		if (addr[i].index == r->d->tap.ifindex || p.len == prefix_host_len(&p.ip))
			continue;
		prefix_mask(&p);
		r->connected[r->n_connected++] = p;
	}
	qsort(r->own, r->n_own, sizeof(r->own[0]), compare_ips);
}

/* --- what to tell --- */

static void on_news(void *arg, enum export_news news, const struct export_route *before,
		    const struct export_route *now)
{
	struct routes *r = arg;
	struct tally *t = &r->tally[news];

	r->count[news]++;
	if (t->n < TOLD_MAX)
		t->route[t->n] = now ? *now : *before;
	t->n++;
}

static void on_refused(void *arg, const struct export_refused *refused)
{
	struct routes *r = arg;

	if (export_refusal_is_trouble(refused->why) && r->n_refused < TOLD_MAX)
		r->refused[r->n_refused++] = *refused;
}

static const struct {
	enum event_kind kind;
	const char *one, *many;
} words[N_EXPORT_NEWS] = {
	[EXPORT_ADDED] = { EV_ROUTE_ADDED, "is added", "routes are added" },
	[EXPORT_MOVED] = { EV_ROUTE_CHANGED, "leads there now", "routes lead elsewhere now" },
	[EXPORT_METRIC] = { EV_ROUTE_METRIC, "has another metric", "routes have other metrics" },
	[EXPORT_WITHDRAWN] = { EV_ROUTE_WITHDRAWN, "is withdrawn", "routes are withdrawn" },
};

static void tell(struct routes *r, enum export_news news)
{
	struct tally *t = &r->tally[news];
	char dst[PREFIX_STRLEN], who[NODE_LABEL_LEN];
	struct event_facts n = { .kind = words[news].kind };

	if (t->n > TOLD_MAX) {
		n.value = t->n;
		report_event(r->d, &n, "%u %s", t->n, words[news].many);
	}
	for (unsigned i = 0; t->n <= TOLD_MAX && i < t->n; i++) {
		const struct export_route *e = &t->route[i];

		n.node = e->node;
		n.value = e->metric;
		n.detail = prefix_format(&e->dst, dst, sizeof(dst));
		report_event(r->d, &n, "route to %s through %s %s, metric %u", dst,
			     node_label(r->d, e->node, who, sizeof(who)), words[news].one,
			     e->metric);
	}
	t->n = 0;
}

static void tell_all(struct routes *r, mono_t now)
{
	char dst[PREFIX_STRLEN], who[NODE_LABEL_LEN];

	tell(r, EXPORT_ADDED);
	tell(r, EXPORT_MOVED);
	tell(r, EXPORT_WITHDRAWN);
	if (r->tally[EXPORT_METRIC].n && mono_sub_ms(now, r->metrics_told) >= METRIC_TELL_MS) {
		r->metrics_told = now;
		tell(r, EXPORT_METRIC);
	}
	for (unsigned i = 0; i < r->n_refused; i++) {
		const struct export_refused *e = &r->refused[i];
		struct event_facts n = { .kind = EV_ROUTE_REFUSED, .node = e->node };

		n.detail = prefix_format(&e->dst, dst, sizeof(dst));
		report_event(r->d, &n, "route to %s that %s announces is refused: %s", dst,
			     node_label(r->d, e->node, who, sizeof(who)),
			     export_refusal_text(e->why));
	}
	r->n_refused = 0;
}

static void tell_failure(struct routes *r, const struct export_installed *e, int error)
{
	struct event_facts n = { .kind = EV_ROUTE_FAILED, .value = e->metric & EXPORT_METRIC_MAX };
	char dst[PREFIX_STRLEN];

	n.detail = prefix_format(&e->dst, dst, sizeof(dst));
	report_event(r->d, &n, "route to %s cannot be set: %s", dst,
		     error == EEXIST ? "a route of somebody else has this destination and metric"
				     : strerror(error));
}

/* --- to the kernel --- */

static const enum nl_route_op op_of[] = {
	[EXPORT_ADD] = NL_ROUTE_ADD,
	[EXPORT_REPLACE] = NL_ROUTE_REPLACE,
	[EXPORT_DELETE] = NL_ROUTE_DELETE,
};

/* The results are in r->change, which leaves out what need not be asked. */
static void ask_kernel(struct routes *r, const struct export_step *step, unsigned n)
{
	const struct leond *d = r->d;
	unsigned n_changes = 0;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if (step[i].op == EXPORT_FORGET)
			continue;
		r->change[n_changes++] = (struct nl_route_change){
			.op = op_of[step[i].op],
			.route = { .dst = step[i].route.dst,
				   .gateway = step[i].route.gateway,
				   .metric = step[i].route.metric,
				   .table = d->device.table,
				   .index = d->tap.ifindex,
				   .protocol = ROUTE_PROTOCOL },
		};
	}
	rc = n_changes ? nl_routes_change(d->nl, r->change, n_changes) : 0;
	if (rc < 0)
		log_error("routes", "the kernel cannot be asked: %s", strerror(-rc));
}

static void have_drop(struct routes *r, unsigned n_sorted, const struct export_installed *e)
{
	struct export_installed *found =
		n_sorted ? bsearch(e, r->have, n_sorted, sizeof(*e), export_installed_compare)
			 : NULL;

	if (found)
		found->error = DROPPED;
}

static void have_compact(struct routes *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_have; i++)
		if (r->have[i].error != DROPPED)
			r->have[n++] = r->have[i];
	r->n_have = n;
	have_sort(r);
}

static void note_result(struct routes *r, const struct export_step *s, unsigned n_sorted, int rc,
			mono_t now)
{
	struct export_installed e = s->route;

	have_drop(r, n_sorted, &e);
	if (s->op == EXPORT_FORGET || (s->op == EXPORT_DELETE && (rc == 0 || rc == -ESRCH)))
		return;
	if (rc < 0) {
		r->failed++;
		/* A deletion that failed: look what there is. */
		if (s->op == EXPORT_DELETE)
			r->resync_at = mono_add_ms(now, RETRY_MS);
		else
			tell_failure(r, &e, -rc);
	}
	e.error = s->op == EXPORT_DELETE ? 0 : rc;
	e.retry_at = mono_add_ms(now, RETRY_MS);
	have_add(r, &e);
}

/* The gateway that a replacement took the place of is not there any more. */
static void forget_replaced(struct routes *r, unsigned n_sorted, const struct export_installed *by)
{
	for (unsigned i = 0; i < n_sorted; i++)
		if (prefix_compare(&r->have[i].dst, &by->dst) == 0 &&
		    r->have[i].metric == by->metric && !ip_equal(&r->have[i].gateway, &by->gateway))
			r->have[i].error = DROPPED;
}

static void carry_out(struct routes *r, const struct export_step *step, unsigned n, mono_t now)
{
	unsigned n_sorted = r->n_have, k = 0;

	ask_kernel(r, step, n);
	for (unsigned i = 0; i < n; i++) {
		int rc = step[i].op == EXPORT_FORGET ? 0 : r->change[k++].result;

		if (step[i].op == EXPORT_REPLACE && rc == 0)
			forget_replaced(r, n_sorted, &step[i].route);
		note_result(r, &step[i], n_sorted, rc, now);
	}
	have_compact(r);
}

static bool is_addition(const struct export_step *s)
{
	return s->op == EXPORT_ADD || s->op == EXPORT_REPLACE;
}

/* Keeps the additions, or the deletions of destinations that wait for no addition. */
static unsigned keep_steps(struct export_step *step, unsigned n, bool additions)
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
 * Additions first, so that their outcome is known before what they replace is deleted: the second
 * plan leaves out the deletions that a refusal forbids. Returns the number of steps.
 */
static unsigned bring_up_to_date(struct routes *r, mono_t now)
{
	unsigned n = export_plan(r->plan, r->have, r->n_have, now, r->step, BATCH);
	unsigned n_additions = keep_steps(r->step, n, true);

	if (n_additions)
		carry_out(r, r->step, n_additions, now);
	n = export_plan(r->plan, r->have, r->n_have, now, r->step, BATCH);
	n = keep_steps(r->step, n, false);
	if (n)
		carry_out(r, r->step, n, now);
	return n + n_additions;
}

/* --- when --- */

static void run(struct routes *r, mono_t now)
{
	struct leond *d = r->d;
	const struct export_report report = { on_news, on_refused, r };
	struct export_input in = {
		.conf = d->conf,
		.own = r->own,
		.n_own = r->n_own,
		.connected = r->connected,
		.n_connected = r->n_connected,
	};
	unsigned n_steps;

	r->ran = now;
	if (!mono_before(now, r->resync_at))
		resync(r, now);
	if (!why_unusable(d)) {
		gather_underlay(r);
		in.n_nodes = gather_nodes(r);
		in.node = r->node;
		in.underlay = r->underlay;
		in.n_underlay = r->n_underlay;
	}
	export_run(r->plan, &in, &report, now);
	n_steps = bring_up_to_date(r, now);
	if (n_steps && n_steps < BATCH)
		bring_up_to_date(r, now); /* what waited for a deletion */
	tell_all(r, now);
}

static bool is_idle(const struct routes *r)
{
	return why_unusable(r->d) && r->n_have == 0;
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
	struct routes *r = d->routes;
	mono_t now, at;

	if (!r || r->stopping || is_idle(r))
		return;
	now = loop_now(d->loop);
	at = mono_add_ms(r->ran, SPACING_MS);
	timer_set(r->timer, mono_before(at, now) ? now : at);
}

/* Looks at the kernel again as well. */
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
	if (!d->routes)
		return;
	d->routes->loss_is_known = true;
	if (d->routes->table != d->device.table)
		gather_own(d->routes);
	look_again(d->routes);
}

void routes_addresses_changed(struct leond *d)
{
	if (!d->routes)
		return;
	gather_own(d->routes);
	look_again(d->routes);
}

static void on_kernel_change(void *arg, const struct nl_event *ev)
{
	struct routes *r = arg;

	if (ev->change == NL_OVERRUN ||
	    (ev->change == NL_ROUTE_CHANGED &&
	     (ev->route_index == r->d->tap.ifindex || !ev->route_index)))
		look_again(r);
}

static void on_readable(void *arg, int fd, uint32_t epoll_events)
{
	struct routes *r = arg;
	int rc = nl_monitor_read(r->monitor, on_kernel_change, r);

	(void)epoll_events;
	if (rc < 0) {
		log_error("routes", "changes by others are seen late from now on: %s",
			  strerror(-rc));
		loop_fd_del(r->d->loop, fd);
	}
}

int routes_start(struct leond *d)
{
	struct routes *r = x_new(struct routes);
	mono_t now = loop_now(d->loop);
	struct nl_link link;
	int rc;

	d->routes = r;
	r->d = d;
	r->plan = export_new();
	r->timer = timer_new(d->loop, on_timer, r);
	r->resync_at = now;
	r->table = d->device.table;
	if (nl_link_by_index(d->nl, d->tap.ifindex, &link) == 0)
		d->device.up = link.up && link.running;
	rc = nl_monitor_open_routes(&r->monitor, ROUTE_PROTOCOL, d->nl);
	if (rc < 0) {
		log_error("routes", "changes of routes cannot be followed: %s", strerror(-rc));
		return rc;
	}
	gather_own(r);
	timer_set(r->timer, now);
	return loop_fd_add(d->loop, nl_monitor_fd(r->monitor), EPOLLIN, on_readable, r);
}

void routes_stop(struct leond *d)
{
	struct routes *r = d->routes;
	mono_t now = loop_now(d->loop);

	if (!r || r->stopping)
		return;
	r->stopping = true;
	timer_stop(r->timer);
	run(r, now);
	while (r->n_have && bring_up_to_date(r, now) >= BATCH)
		;
}

void routes_free(struct leond *d)
{
	struct routes *r = d->routes;

	if (!r)
		return;
	d->routes = NULL;
	nl_monitor_close(r->monitor);
	timer_free(r->timer);
	export_free(r->plan);
	free(r->have);
	free(r->node);
	free(r->underlay);
	free(r);
}

/* --- looking at it --- */

bool routes_withhold(struct leond *d, const struct ip_addr *to)
{
	if (!d->routes || is_apart(d->routes) || !export_covers(d->routes->plan, to))
		return false;
	d->routes->withheld++;
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

void routes_view(const struct leond *d, struct routes_view *v)
{
	const struct routes *r = d->routes;

	*v = (struct routes_view){
		.plan = r->plan,
		.installed = r->have,
		.n_installed = r->n_have,
		.reason = why_unusable(d),
		.added = r->count[EXPORT_ADDED],
		.changed = r->count[EXPORT_MOVED] + r->count[EXPORT_METRIC],
		.withdrawn = r->count[EXPORT_WITHDRAWN],
		.repaired = r->repaired,
		.failed = r->failed,
		.withheld = r->withheld,
	};
	v->usable = !v->reason;
}
