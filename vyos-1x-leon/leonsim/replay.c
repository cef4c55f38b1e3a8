// SPDX-License-Identifier: GPL-2.0-or-later
/* See replay.h. */
#include "replay.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/latency/choice.h"
#include "state/latency/second.h"

/* --- means and percentiles --- */

#define OCTAVES 28 /* from 1 us to more than four minutes */

struct figures {
	unsigned per_octave;
	uint64_t n;
	double sum;
	uint32_t *count;
};

struct figures *figures_new(unsigned per_octave)
{
	struct figures *f = x_new(struct figures);

	f->per_octave = per_octave;
	f->count = x_calloc((size_t)OCTAVES * per_octave, sizeof(*f->count));
	return f;
}

void figures_free(struct figures *f)
{
	if (!f)
		return;
	free(f->count);
	free(f);
}

void figures_add(struct figures *f, double us)
{
	double at = us > 1 ? log2(us) * f->per_octave : 0;
	double last = (double)OCTAVES * f->per_octave - 1;

	f->count[(size_t)(at < last ? at : last)]++;
	f->n++;
	f->sum += us;
}

double figures_mean(const struct figures *f)
{
	return f->n ? f->sum / (double)f->n : NAN;
}

double figures_quantile(const struct figures *f, double fraction)
{
	double want = fraction * (double)f->n, seen = 0;
	size_t i = 0;

	if (f->n == 0)
		return NAN;
	for (; i + 1 < (size_t)OCTAVES * f->per_octave; i++) {
		seen += f->count[i];
		if (seen >= want)
			break;
	}
	return exp2(((double)i + 0.5) / f->per_octave);
}

#define LOOK_MIN_US	 1000000
#define LOOKS_A_SLICE	 60
#define PAIR_FIGURES_MAX 100 /* most hosts with percentiles for each pair */
#define PER_OCTAVE	 700 /* 0.1 % */
#define PER_OCTAVE_PAIR	 14  /* 5 % */
/* Below forget-time, after which the counters of a peer restart. */
#define COUNT_US 60000000

/* Counters of a pair at the last look. */
struct seen {
	uint64_t changes, silences;
};

/* State of a running replay. */
struct run {
	struct net *net;
	struct result *r;
	struct oracle *oracle;
	struct second *second; /* [a * n + b] */
	mono_t *seconds_at;    /* due times of second paths, by host */
	struct seen *seen;     /* [a * n + b] */
	int64_t counted_us;
	unsigned slice;
};

static void begin_figures(struct figures *of[WAYS], unsigned per_octave)
{
	for (enum way w = 0; w < WAYS; w++)
		of[w] = figures_new(per_octave);
}

static void free_figures(struct figures *of[WAYS])
{
	for (enum way w = 0; w < WAYS; w++)
		figures_free(of[w]);
}

static struct result *result_new(unsigned n)
{
	struct result *r = x_new(struct result);

	r->n = n;
	r->pair = x_calloc((size_t)n * n, sizeof(*r->pair));
	begin_figures(r->of, PER_OCTAVE);
	for (size_t i = 0; n <= PAIR_FIGURES_MAX && i < (size_t)n * n; i++)
		if (i % (n + 1))
			begin_figures(r->pair[i].of, PER_OCTAVE_PAIR);
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < (size_t)r->n * r->n; i++)
		free_figures(r->pair[i].of);
	free_figures(r->of);
	free(r->pair);
	free(r);
}

/* --- one sample --- */

/* Returns the delay of a datagram along these hosts now, INFINITY if the datagram is lost. */
static double along(struct run *run, unsigned from, const unsigned *hop, unsigned n_hops)
{
	struct net *net = run->net;
	double sum = 0;

	if (n_hops == 0)
		return INFINITY;
	for (unsigned i = 0; i < n_hops; from = hop[i++]) {
		double us = trace_draw_us(net->trace, run->slice, from, hop[i]);
		double back = net->trace->reading == READING_HOLD
				      ? trace_draw_us(net->trace, run->slice, hop[i], from)
				      : us;

		if (net->dead[from * net->n + hop[i]] || net->node[from].dead ||
		    net->node[hop[i]].dead || isnan(us))
			return INFINITY;
		/* With READING_HOLD a value is a round trip, and each direction takes half of
		 * it. */
		sum += (us + back) / 2;
	}
	return sum;
}

static double along_path(struct run *run, unsigned a, const struct path *p)
{
	unsigned hop[LEON_HOPS_MAX];

	return net_hops(run->net, a, p, hop) ? along(run, a, hop, p->n_hops) : INFINITY;
}

static void look_at_pair(struct run *run, unsigned a, unsigned b)
{
	struct result *r = run->r;
	struct pair *p = &r->pair[a * r->n + b];
	const struct choice *c = net_choice(run->net, a, b);
	struct second *second = &run->second[a * r->n + b];
	unsigned hop[LEON_HOPS_MAX], n_hops = oracle_hops(run->oracle, a, b, hop);
	double us[WAYS];
	bool all_work = true;

	us[WAY_DIRECT] = along(run, a, (unsigned[]){ b }, 1);
	us[WAY_ORACLE] = along(run, a, hop, n_hops);
	us[WAY_LEON] = c ? along_path(run, a, &c->path) : INFINITY;
	us[WAY_COPIES] = c ? along_path(run, a, &second->first) : INFINITY;
	if (c)
		us[WAY_COPIES] = min_of(us[WAY_COPIES], along_path(run, a, &second->path));
	r->samples++;
	p->n++;
	for (enum way w = 0; w < WAYS; w++)
		all_work &= !isinf(us[w]);
	/* The ratio is undefined if the path or the direct link is down. Such a sample is
	 * counted. */
	if (!all_work) {
		r->without += isinf(us[WAY_LEON]) && !isinf(us[WAY_ORACLE]);
		p->without += isinf(us[WAY_LEON]) && !isinf(us[WAY_ORACLE]);
		return;
	}
	p->n_ok++;
	p->relayed += c->path.n_hops > 1;
	for (enum way w = 0; w < WAYS; w++) {
		figures_add(r->of[w], us[w]);
		if (p->of[w])
			figures_add(p->of[w], us[w]);
		p->sum_us[w] += us[w];
	}
}

static void run_second(struct run *run, unsigned a)
{
	struct overlay *o = run->net->node[a].o;
	struct path_params pp = overlay_path_params(o);

	for (unsigned b = 0; b < run->net->n; b++) {
		uint16_t slot = a == b ? SLOT_NONE : net_slot(run->net, a, b);

		if (slot != SLOT_NONE)
			second_run(&run->second[a * run->net->n + b], overlay_latdb(o), &pp,
				   nodedb_slots(overlay_nodes(o)), slot, loop_now(run->net->loop));
	}
}

/* The interval equals the daemon's. */
static void run_seconds(struct run *run)
{
	struct net *net = run->net;
	mono_t now = loop_now(net->loop);

	for (unsigned a = 0; a < net->n; a++) {
		if (net->node[a].dead ||
		    (!mono_is_never(run->seconds_at[a]) && mono_before(now, run->seconds_at[a])))
			continue;
		run->seconds_at[a] = mono_add_ms(now, overlay_pairs_every_ms(net->node[a].o));
		run_second(run, a);
	}
}

static void look(struct run *run)
{
	struct net *net = run->net;
	unsigned slice = trace_slice(net->trace, net_now_us(net));

	if (slice != run->slice || !run->r->samples) {
		run->slice = slice;
		oracle_update(run->oracle, net, slice);
	}
	run_seconds(run);
	for (unsigned a = 0; a < net->n; a++) {
		if (net->node[a].dead)
			continue;
		for (unsigned b = 0; b < net->n; b++)
			if (a != b && !net->node[b].dead)
				look_at_pair(run, a, b);
	}
}

/* --- counters --- */

/* Returns the growth of a counter. A node that forgot the other one counts from 0 again. */
static uint64_t growth(uint64_t *seen, uint64_t now)
{
	uint64_t by = now >= *seen ? now - *seen : now;

	*seen = now;
	return by;
}

static void count_pair(struct run *run, unsigned a, unsigned b, bool at_start)
{
	struct net *net = run->net;
	struct seen *s = &run->seen[a * net->n + b];
	const struct choice *c = net_choice(net, a, b);
	struct overlay_link l = { 0 };
	uint64_t changes = growth(&s->changes, c ? c->n_changes : 0), silences;

	overlay_link(net->node[a].o, net_slot(net, a, b), &l);
	silences = growth(&s->silences, l.silences);
	if (at_start)
		return;
	run->r->pair[a * net->n + b].changes += changes;
	run->r->silences += silences;
}

static void count_pairs(struct run *run, bool at_start)
{
	for (unsigned a = 0; a < run->net->n; a++)
		for (unsigned b = 0; b < run->net->n; b++)
			if (a != b)
				count_pair(run, a, b, at_start);
	run->counted_us = net_now_us(run->net);
}

static void take_counters(struct run *run, bool at_start)
{
	struct net *net = run->net;
	struct result *r = run->r;
	int64_t sign = at_start ? -1 : 1;

	for (unsigned a = 0; a < net->n; a++) {
		const struct net_node *node = &net->node[a];

		r->link_downs += (uint64_t)sign * node->link_downs;
		r->failovers += (uint64_t)sign * node->failovers;
		r->bytes_s += (double)sign * (double)node->tx_bytes;
		for (unsigned b = 0; b < net->n; b++)
			r->pair[a * net->n + b].copies_changes +=
				(uint64_t)sign * run->second[a * net->n + b].n_changes;
	}
	count_pairs(run, at_start);
}

static void finish(struct run *run)
{
	struct result *r = run->r;

	r->hours = (double)net_now_us(run->net) / 3.6e9;
	take_counters(run, false);
	r->bytes_s /= r->hours * 3600 * r->n;
	for (size_t i = 0; i < (size_t)r->n * r->n; i++) {
		r->changes += r->pair[i].changes;
		r->copies_changes += r->pair[i].copies_changes;
	}
}

/* --- time --- */

static void set_failure(struct net *n, const struct failure *f, bool dead)
{
	if (f->is_link)
		net_cut(n, f->a, f->b, dead);
	else
		n->node[f->a].dead = dead;
}

static void apply_failures(struct run *run, const struct replay_options *o, int64_t at)
{
	for (unsigned i = 0; i < o->n_failures; i++)
		set_failure(run->net, &o->failure[i], false);
	/* Several failures may concern a host or link. */
	for (unsigned i = 0; i < o->n_failures; i++) {
		const struct failure *f = &o->failure[i];

		if (f->at_us <= at && at - f->at_us < f->for_us)
			set_failure(run->net, f, true);
	}
	oracle_update(run->oracle, run->net, run->slice);
}

/* Returns the first begin or end of a failure after `now`, or INT64_MAX. */
static int64_t next_edge(const struct replay_options *o, int64_t now)
{
	int64_t first = INT64_MAX;

	for (unsigned i = 0; i < o->n_failures; i++) {
		const struct failure *f = &o->failure[i];
		int64_t edge = f->at_us > now ? f->at_us : f->at_us + f->for_us;

		if (edge > now)
			first = min_of(first, edge);
	}
	return first;
}

/* Failures begin and end between samples, too. */
static void run_until(struct run *run, const struct replay_options *o, int64_t until)
{
	int64_t now, edge;

	while ((now = net_now_us(run->net)) < until) {
		edge = next_edge(o, now);
		net_run(run->net, min_of(edge, until) - now);
		if (edge <= until)
			apply_failures(run, o, edge);
	}
}

struct result *replay(struct trace *t, const struct replay_options *o, char *err, unsigned err_len)
{
	int64_t end = (int64_t)t->n_slices * t->slice_us, now;
	int64_t step =
		max_of(min_of(t->slice_us / 4, (int64_t)LOOK_MIN_US), t->slice_us / LOOKS_A_SLICE);
	struct run run = { .net = net_new(t, o->conf_text, o->seed, err, err_len) };
	struct result *r;

	if (!run.net)
		return NULL;
	run.net->all_traffic = o->all_traffic;
	run.r = r = result_new(t->n);
	run.oracle = oracle_new(run.net);
	run.second = x_calloc((size_t)t->n * t->n, sizeof(*run.second));
	net_settle(run.net, o->warm_up_ms);
	run.seconds_at = x_calloc(t->n, sizeof(*run.seconds_at));
	run_seconds(&run);
	run.seen = x_calloc((size_t)t->n * t->n, sizeof(*run.seen));
	take_counters(&run, true);
	apply_failures(&run, o, 0);
	while ((now = net_now_us(run.net)) < end) {
		look(&run);
		if (now - run.counted_us >= COUNT_US)
			count_pairs(&run, false);
		run_until(&run, o, min_of(now + step, end));
	}
	finish(&run);
	oracle_free(run.oracle);
	free(run.second);
	free(run.seconds_at);
	free(run.seen);
	net_free(run.net);
	return r;
}
