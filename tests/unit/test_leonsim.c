// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of leonsim: traces, figures, the oracle, the command line, and small replays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../length.h"
#include "base/defs.h"
#include "replay.h"
#include "options.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"

static void write_file(char *name, const char *text)
{
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct trace *trace_from(const char *text, char *err, unsigned err_len)
{
	char name[] = "/tmp/leonsim-XXXXXX";
	struct trace *t;

	write_file(name, text);
	t = trace_read(name, err, err_len);
	unlink(name);
	if (t)
		t->slice_us = 10000000;
	return t;
}

/* One slice of n * n round trips in us. */
static struct trace *trace_of(const float *us, unsigned n)
{
	struct trace *t = calloc(1, sizeof(*t));

	t->n = n;
	t->n_slices = 1;
	t->us = calloc((size_t)n * n, sizeof(*us));
	memcpy(t->us, us, (size_t)n * n * sizeof(*us));
	return t;
}

static void traces_are_read(void **state)
{
	char err[256] = "";
	struct trace *t =
		trace_from("# two slices of two hosts\n0 10\n-1 0\n\n0 -1\n-1 0\n", err, 256);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->n_slices, 2);
	/* A missing value comes from the other end, or from the previous measurement. */
	assert_int_equal((int)trace_draw_us(t, 0, 1, 0), 10000);
	assert_int_equal((int)trace_draw_us(t, 1, 0, 1), 10000);
	assert_int_equal(trace_slice(t, -5), 0);
	assert_int_equal(trace_slice(t, 10000000), 1);
	assert_int_equal(trace_slice(t, 990000000), 1);
	trace_free(t);
}

static void bad_traces_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "0\n", "0 1\n1 x\n", "0 1\n1 0\n0 1\n", "0 1\n1 0 3\n", "0 70000\n1 0\n"
	};
	char err[256];

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++) {
		err[0] = 0;
		assert_null(trace_from(bad[i], err, sizeof(err)));
		assert_true(strlen(err) > 10);
	}
	assert_null(trace_read("/nonexistent/file", err, sizeof(err)));
}

static void noise_draws_around(void **state)
{
	char err[256] = "";
	struct trace *t = trace_from("0 10\n10 0\n0 20\n20 0\n0 90\n90 0\n", err, 256);
	unsigned seen[100] = { 0 };

	(void)state;
	t->reading = READING_NOISE;
	t->window = 1;
	for (unsigned i = 0; i < 1000; i++)
		seen[(unsigned)(trace_draw_us(t, 0, 0, 1) / 1000)]++;
	assert_in_range(seen[10], 400, 600);
	assert_in_range(seen[20], 400, 600);
	assert_int_equal(seen[90], 0);
	assert_int_equal((int)trace_true_us(t, 0, 0, 1), 15000);
	assert_int_equal((int)trace_true_us(t, 1, 0, 1), 40000);
	trace_free(t);
}

static void figures_are_right(void **state)
{
	struct figures *f = figures_new(700);

	(void)state;
	assert_true(isnan(figures_mean(f)));
	for (unsigned i = 1; i <= 10000; i++)
		figures_add(f, i);
	assert_true(fabs(figures_mean(f) - 5000.5) < 0.01);
	assert_true(fabs(figures_quantile(f, 0.99) - 9900) < 20);
	assert_true(fabs(figures_quantile(f, 0.5) - 5000) < 10);
	figures_free(f);
}

/* The oracle agrees with a search of all paths on random latencies. */
static void oracle_is_the_best(void **state)
{
	enum { N = 6 };
	float us[N * N];
	struct trace *t;
	struct net *net;
	struct oracle *o;
	char err[256];

	(void)state;
	for (unsigned a = 0; a < N; a++)
		for (unsigned b = 0; b <= a; b++)
			us[a * N + b] = us[b * N + a] =
				(float)(1000 + (a * 37 + b * 91) * 7919 % 90000);
	t = trace_of(us, N);
	t->slice_us = 1000000;
	net = net_new(t, NULL, 1, err, sizeof(err));
	o = oracle_new(net);
	net_cut(net, 0, 5, true);
	oracle_update(o, net, 0);
	for (unsigned a = 0; a < N; a++) {
		for (unsigned b = 0; b < N; b++) {
			unsigned hop[LEON_HOPS_MAX], n, at = a;
			double best = INFINITY, cost = 0, hop_us;

			if (a == b)
				continue;
			/* i, j, k: relays, or the source itself if there is no relay. */
			for (unsigned i = 0; i < N; i++)
				for (unsigned j = 0; j < N; j++)
					for (unsigned k = 0; k < N; k++) {
						unsigned way[] = { a, i, j, k, b };
						double sum = 0;

						for (unsigned x = 0; x < 4; x++) {
							unsigned u = way[x], v = way[x + 1];

							if (u == v)
								continue;
							hop_us = trace_true_us(t, 0, u, v);
							if (u + v == 5 && u * v == 0)
								hop_us = INFINITY;
							sum += hop_us + (v == b ? 0 : 500);
						}
						best = min_of(best, sum);
					}
			n = oracle_hops(o, a, b, hop);
			assert_true(n > 0 && hop[n - 1] == b);
			for (unsigned x = 0; x < n; at = hop[x++])
				cost += trace_true_us(t, 0, at, hop[x]) + (x ? 500 : 0);
			assert_true(fabs(cost - best) < 1);
		}
	}
	oracle_free(o);
	net_free(net);
	trace_free(t);
}

static void lists_are_read(void **state)
{
	unsigned out[8];

	(void)state;
	assert_int_equal(options_list("0,3,5-7", 8, out, 8), 5);
	assert_int_equal(out[4], 7);
	assert_int_equal(options_list("0,8", 8, out, 8), -1);
	assert_int_equal(options_list("", 8, out, 8), -1);
	assert_int_equal(options_list("1x", 8, out, 8), -1);
}

/* In a triangle the long side costs more than the other two sides. Traffic is relayed from the
 * start, and goes direct while the relay is down. */
static void a_replay_finds_the_relay(void **state)
{
	static const float us[] = { 0, 20000, 90000, 20000, 0, 20000, 90000, 20000, 0 };
	struct failure dead = { .at_us = 20000000, .for_us = 20000000, .a = 1 };
	struct replay_options o = { .warm_up_ms = 30000, .seed = 3 };
	struct trace *t = trace_of(us, 3);
	struct result *r;
	char err[256];

	(void)state;
	t->slice_us = 60000000;
	r = replay(t, &o, err, sizeof(err));
	assert_non_null(r);
	assert_int_equal(r->changes, 0);
	assert_int_equal(r->link_downs, 0);
	assert_true(r->pair[2].relayed == r->pair[2].n_ok && r->pair[2].n_ok >= 55);
	assert_true(fabs(r->pair[2].sum_us[WAY_LEON] / r->pair[2].sum_us[WAY_DIRECT] - 4.0 / 9) <
		    0.01);
	assert_true(fabs(figures_mean(r->of[WAY_LEON]) / figures_mean(r->of[WAY_ORACLE]) - 1) <
		    0.01);
	result_free(r);
	o.failure = &dead;
	o.n_failures = 1;
	r = replay(t, &o, err, sizeof(err));
	assert_non_null(r);
	assert_true(r->failovers >= 2);
	assert_true(r->pair[2].relayed < r->pair[2].n_ok);
	/* An idle link is probed once per second, so the broken path may stay in use for that
	 * time. */
	assert_in_range(r->pair[2].without + r->pair[6].without, 0, 6);
	result_free(r);
	trace_free(t);
}

static void replays_repeat(void **state)
{
	static const float us[] = { 0, 20000, 30000, 20000, 0, 25000, 30000, 25000, 0 };
	struct replay_options o = { .warm_up_ms = 10000, .seed = 9 };
	struct result *r[2];
	char err[256];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct trace *t = trace_of(us, 3);

		t->slice_us = 30000000;
		r[i] = replay(t, &o, err, sizeof(err));
		trace_free(t);
		assert_non_null(r[i]);
	}
	assert_true(r[0]->bytes_s > 100 && fabs(r[0]->bytes_s - r[1]->bytes_s) < 1e-9);
	result_free(r[0]);
	result_free(r[1]);
}

/* Messages between a number of nodes. */
struct effort {
	/* Average of each direction of a pair, until all nodes have joined and settled. */
	double key_exchanges, messages, bytes;
	double runs; /* path computations of each node */
	/* Bytes in each direction of a pair and second, while one or two links of each node
	 * change. */
	double later_bytes;
};
#define SETTLE_MS 10000
#define LATER_S	  10

static float *long_term_us(unsigned n)
{
	float *us = calloc((size_t)n * n, sizeof(*us));

	for (unsigned i = 0; i < n * n; i++)
		us[i] = (float)(5000 + (i / n + i % n) * 7919 % 90000);
	return us;
}

/* In each second every host has a large delay to one other host. */
static struct trace *one_link_after_the_other(unsigned n)
{
	float *us = long_term_us(n);
	struct trace *t = trace_of(us, n);

	t->n_slices = LATER_S;
	t->us = realloc(t->us, (size_t)LATER_S * n * n * sizeof(*us));
	for (unsigned s = 0; s < LATER_S; s++) {
		float *slice = t->us + (size_t)s * n * n;

		memcpy(slice, us, (size_t)n * n * sizeof(*us));
		for (unsigned a = 0, b = s; a < n && s; a++, b = (a + s) % n)
			slice[a * n + b] = slice[b * n + a] = 150000;
	}
	t->slice_us = 1000000;
	free(us);
	return t;
}

static struct effort effort_of(unsigned n)
{
	struct trace *t = one_link_after_the_other(n);
	struct effort e = { 0 };
	struct net *net;
	char err[256];

	net = net_new(t, NULL, 1, err, sizeof(err));
	net_settle(net, SETTLE_MS);
	for (unsigned a = 0; a < n; a++) {
		const struct overlay_counters *c = overlay_counters(net->node[a].o);

		assert_int_equal(nodedb_members(overlay_nodes(net->node[a].o)), n);
		e.key_exchanges += (double)c->key_exchanges / n / (n - 1);
		e.messages += (double)c->rx_msgs / n / (n - 1);
		e.bytes += (double)c->rx_bytes / n / (n - 1);
		e.runs += (double)c->path_runs / n;
	}
	net_run(net, LATER_S * 1000000LL);
	for (unsigned a = 0; a < n; a++)
		e.later_bytes += (double)overlay_counters(net->node[a].o)->rx_bytes / n / (n - 1);
	e.later_bytes = (e.later_bytes - e.bytes) / LATER_S;
	net_free(net);
	trace_free(t);
	return e;
}

/* Hundreds of nodes are possible because sessions and messages grow with the number of pairs. Bytes
 * grow only a little faster. A node computes its paths ten times a second at most. An update of a
 * changed link does not grow with the row. The test counts and measures no time. */
static void effort_grows_with_the_pairs(void **state)
{
	struct effort few = effort_of(20), many = effort_of(LENGTH(60, 35));

	(void)state;
	print_message(
		"key exchanges %.2f %.2f, messages %.1f %.1f, bytes %.0f %.0f, later %.0f %.0f, "
		"runs %.0f %.0f\n",
		few.key_exchanges, many.key_exchanges, few.messages, many.messages, few.bytes,
		many.bytes, few.later_bytes, many.later_bytes, few.runs, many.runs);
	assert_true(many.key_exchanges < 1.1);
	assert_true(many.messages < 1.2 * few.messages);
	assert_true(many.bytes < 1.4 * few.bytes);
	assert_true(many.later_bytes < 1.2 * few.later_bytes);
	assert_true(many.runs < 1.2 * SETTLE_MS / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces_are_read),
		cmocka_unit_test(bad_traces_are_refused),
		cmocka_unit_test(noise_draws_around),
		cmocka_unit_test(figures_are_right),
		cmocka_unit_test(oracle_is_the_best),
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(a_replay_finds_the_relay),
		cmocka_unit_test(replays_repeat),
		cmocka_unit_test(effort_grows_with_the_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
