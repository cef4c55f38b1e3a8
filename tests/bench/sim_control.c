// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of the protocol and propagation time of news, on virtual time, at 3, 12 and 100 nodes (or
 * the given numbers). sim_control_large is this program with leonsim/open_crypto.c, for hundreds of
 * nodes: only its CPU time is not comparable. All nodes start at once. Measures in this order, and
 * prints each part as soon as measured:
 *
 * - control traffic of a settled node by message type, and its memory; --settled ends here
 * - a node joins: time to the first path, bytes received until all rows are known
 * - the first links of some paths with traffic fail, one after the other: gaps of the traffic
 * - two halves part and merge: control traffic
 * - time until all nodes know a new latency and a failed link
 *
 * --json FILE writes the results as JSON. Latencies are those of PlanetLab, with 2 % of jitter and
 * a loss of 1/1000. Bytes are IP packets. --interval sets `measurement interval`, and a tenth as
 * `fast-interval`. --settle sets the number of intervals before the settled traffic. Idle links of
 * a large overlay have one PING in 25 s, so their values settle in minutes. bench_footprint.py
 * compares the settled traffic with real nodes.
 *
 *   sim_control [--json FILE] [--interval MS] [--settle N] [--settled] [N ...]
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json/jsonw.h"
#include "base/mem.h"
#include "../sim/sim.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/latency/choice.h"

#define MEASURE_MS     30000
#define SETTLE	       30    /* default of --settle; the MTU of idle links is known then */
#define INTERVAL_MS    1000  /* default of `measurement interval` */
#define APART_MS       40000 /* duration of the partition */
#define HEAL_MS	       30000
#define HEAL_WINDOW_MS 1000 /* of which the largest is the peak */
#define JOIN_MAX_MS    120000
#define FLOWS	       16
#define FLOW_US	       5000
#define FLOW_MS	       5000 /* before the first failure */
#define GAP_MAX_MS     2000
#define UDP_IP_LEN     28

struct result {
	unsigned n;
	int64_t join_ms;   /* until all nodes know and reach all nodes */
	double join_bytes; /* sent by a node until then */
	double bytes_s;	   /* sent by a node after settling */
	double msgs_s;
	double msgs_by_type_s[MSG_TYPES], bytes_by_type_s[MSG_TYPES];
	double gain;	   /* of the paths in use, relative to the best paths with one relay */
	double memory;	   /* allocated bytes per node */
	int64_t path_ms;   /* one more node: until the first path */
	int64_t rows_ms;   /* until all rows are known */
	double rows_bytes; /* received until then */
	double path_bytes; /* received until the first path */
	double rows_by_type[MSG_TYPES];
	int64_t latency_ms; /* until a changed latency is in every copy of the row */
	int64_t failure_ms; /* until a failed link is unresponsive or down everywhere */
	int64_t gap_ms;	    /* traffic gap after the first link failed, worst and mean flow */
	double gap_mean_ms;
	int64_t heal_ms;     /* until all nodes reach all nodes after the partition */
	double heal_bytes_s; /* peak of the bytes sent by a node in a second */
	double heal_by_type_s[MSG_TYPES];
	double cpu_per_s; /* of all nodes together, per second of virtual time */
};

struct wanted {
	bool down;
	int64_t rtt_us;
};

static bool is_known_everywhere(struct sim *s, void *arg)
{
	const struct wanted *w = arg;

	for (unsigned i = 0; i < s->n; i++) {
		struct lat_entry e = latdb_get(overlay_latdb(s->node[i].o), sim_slot(s, i, 0),
					       sim_slot(s, i, 1));

		/* Paths leave an unresponsive link, which is down only later. */
		if (w->down ? e.up && !e.silent
			    : !e.up || llabs((int64_t)e.rtt_us - w->rtt_us) > w->rtt_us / 10)
			return false;
	}
	return true;
}

static void set_latencies(struct sim *s)
{
	int64_t *rtt = x_calloc((size_t)s->n * s->n, sizeof(*rtt));
	uint64_t rng = s->seed;

	matrix_planetlab("planetlab_1.txt", s->n, &rng, rtt);
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = a + 1; b < s->n; b++)
			sim_set_rtt(s, a, b, rtt[a * s->n + b]);
	sim_set_rtt(s, 0, 1, 40000);
	for (size_t i = 0; i < (size_t)s->n * s->n; i++) {
		s->link[i].jitter_us = s->link[i].delay_us / 50;
		s->link[i].loss_pm = 1;
	}
	free(rtt);
}

struct tally {
	double msgs[MSG_TYPES], bytes[MSG_TYPES];
};

static struct tally tally(const struct sim *s)
{
	struct tally t = { 0 };

	for (unsigned i = 0; i < s->n; i++) {
		const struct overlay_counters *c =
			s->node[i].o ? overlay_counters(s->node[i].o) : NULL;

		for (unsigned k = 0; c && k < MSG_TYPES; k++) {
			t.msgs[k] += (double)c->tx_by_type[k];
			t.bytes[k] +=
				(double)(c->tx_bytes_by_type[k] + UDP_IP_LEN * c->tx_by_type[k]);
		}
	}
	return t;
}

static double allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double)(m.uordblks + m.hblkhd);
}

static void measure_traffic(struct sim *s, struct result *r)
{
	double per = 1000.0 / MEASURE_MS / r->n;
	struct tally before = tally(s), after;
	clock_t cpu = clock();

	sim_run(s, MEASURE_MS);
	r->cpu_per_s = (double)(clock() - cpu) / CLOCKS_PER_SEC * 1000.0 / MEASURE_MS;
	after = tally(s);
	for (unsigned k = 0; k < MSG_TYPES; k++) {
		r->msgs_by_type_s[k] = (after.msgs[k] - before.msgs[k]) * per;
		r->bytes_by_type_s[k] = (after.bytes[k] - before.bytes[k]) * per;
		r->msgs_s += r->msgs_by_type_s[k];
		r->bytes_s += r->bytes_by_type_s[k];
	}
}

static int64_t true_us(struct sim *s, unsigned a, unsigned b)
{
	return (int64_t)sim_link(s, a, b)->delay_us + sim_link(s, b, a)->delay_us;
}

static int64_t chosen_us(struct sim *s, unsigned a, unsigned b)
{
	unsigned hop[LEON_HOPS_MAX], n = sim_path(s, a, b, hop);
	int64_t us = n ? 0 : true_us(s, a, b);

	for (unsigned i = 0; i < n; i++)
		us += true_us(s, i ? hop[i - 1] : a, hop[i]);
	return us;
}

/* The latencies are symmetric: both legs of a path are read along rows. */
static int64_t best_us(const int64_t *from_a, const int64_t *from_b, unsigned n, int64_t direct)
{
	int64_t best = direct;

	for (unsigned k = 0; k < n; k++)
		best = min_of(best, from_a[k] + from_b[k]);
	return best;
}

static void measure_gain(struct sim *s, struct result *r)
{
	int64_t *rtt = x_calloc((size_t)r->n * r->n, sizeof(*rtt));
	double gained = 0, possible = 0;

	for (unsigned a = 0; a < r->n; a++)
		for (unsigned b = 0; b < r->n; b++)
			rtt[a * r->n + b] = true_us(s, a, b);
	for (unsigned a = 0; a < r->n; a++) {
		for (unsigned b = 0; b < r->n; b++) {
			int64_t direct = rtt[a * r->n + b];

			if (a == b)
				continue;
			possible += (double)(direct -
					     best_us(&rtt[a * r->n], &rtt[b * r->n], r->n, direct));
			gained += (double)(direct - chosen_us(s, a, b));
		}
	}
	free(rtt);
	r->gain = possible > 0 ? gained / possible : 1;
}

/* --- one more node --- */

static bool has_path(struct sim *s, void *arg)
{
	(void)arg;
	for (unsigned i = 0; i + 1 < s->n; i++) {
		const struct choice *c =
			sim_slot(s, s->n - 1, i) == SLOT_NONE ? NULL : sim_choice(s, s->n - 1, i);

		if (c && c->path.n_hops)
			return true;
	}
	return false;
}

static bool has_rows(struct sim *s, void *arg)
{
	const struct latdb *lat = overlay_latdb(s->node[s->n - 1].o);

	(void)arg;
	for (unsigned i = 0; i + 1 < s->n; i++) {
		uint16_t slot = sim_slot(s, s->n - 1, i);

		if (slot == SLOT_NONE || !latdb_row_seq(lat, slot))
			return false;
	}
	return true;
}

static double received(const struct sim_node *n)
{
	return (double)(n->rx_bytes + UDP_IP_LEN * n->rx_msgs);
}

static void measure_join(struct sim *s, struct result *r)
{
	struct sim_node *last = &s->node[s->n - 1];

	sim_seed_of(s, s->n - 1, 0);
	sim_boot(s, s->n - 1);
	r->path_ms = sim_until(s, has_path, NULL, JOIN_MAX_MS);
	r->path_bytes = received(last);
	r->rows_ms = sim_until(s, has_rows, NULL, JOIN_MAX_MS);
	r->rows_ms += r->rows_ms < 0 ? 0 : r->path_ms;
	r->rows_bytes = received(last);
	for (unsigned k = 0; k < MSG_TYPES; k++)
		r->rows_by_type[k] =
			(double)(overlay_counters(last->o)->rx_bytes_by_type[k] +
				 UDP_IP_LEN * overlay_counters(last->o)->rx_by_type[k]);
}

/* --- traffic --- */

/* A failed link stays down until the end. */
static void measure_failover(struct sim *s, struct result *r)
{
	unsigned hop[LEON_HOPS_MAX], first[FLOWS], n = r->n / 2 < FLOWS ? r->n / 2 : FLOWS;
	struct sim_flow *f[FLOWS];

	for (unsigned i = 0; i < n; i++)
		f[i] = sim_flow_start(s, i, r->n - 1 - i, FLOW_US);
	sim_run(s, FLOW_MS);
	for (unsigned i = 0; i < n; i++) {
		unsigned hops = sim_path(s, i, r->n - 1 - i, hop);
		int64_t ms;

		first[i] = hops ? hop[0] : r->n - 1 - i;
		sim_set_down(s, i, first[i], true);
		sim_flow_mark(f[i]);
		sim_run(s, GAP_MAX_MS);
		ms = sim_flow_gap_ms(f[i]);
		r->gap_ms = max_of(r->gap_ms, ms);
		r->gap_mean_ms += (double)ms / n;
	}
	for (unsigned i = 0; i < n; i++)
		sim_set_down(s, i, first[i], false);
}

/* --- two halves --- */

static void measure_heal(struct sim *s, struct result *r)
{
	int64_t took = 0;

	sim_partition(s, s->n / 2, true);
	sim_run(s, APART_MS);
	sim_partition(s, s->n / 2, false);
	r->heal_ms = -1;
	for (; took < HEAL_MS; took += HEAL_WINDOW_MS) {
		uint64_t before = sim_tx_bytes(s);
		struct tally was = tally(s), is;
		double rate;

		sim_run(s, HEAL_WINDOW_MS);
		rate = (double)(sim_tx_bytes(s) - before) * 1000.0 / HEAL_WINDOW_MS / s->n;
		if (rate > r->heal_bytes_s) {
			is = tally(s);
			r->heal_bytes_s = rate;
			for (unsigned k = 0; k < MSG_TYPES; k++)
				r->heal_by_type_s[k] = (is.bytes[k] - was.bytes[k]) * 1000.0 /
						       HEAL_WINDOW_MS / s->n;
		}
		if (r->heal_ms < 0 && sim_converged(s, NULL))
			r->heal_ms = took + HEAL_WINDOW_MS;
	}
}

static struct sim *start(unsigned n, unsigned interval_ms)
{
	struct sim *s = sim_new(n + 1, 1);

	set_latencies(s);
	for (unsigned i = 0; i < n; i++) {
		s->node[i].conf->interval_ms = interval_ms;
		s->node[i].conf->fast_interval_ms = interval_ms / 10;
		if (i)
			sim_seed_of(s, i, i < 3 ? 0 : i % 3);
		sim_boot(s, i);
	}
	return s;
}

/* --- output: each part as soon as measured --- */

static void print_bytes(const double by_type[MSG_TYPES])
{
	printf("  of these");
	for (unsigned k = MSG_HELLO; k < MSG_TYPES; k++)
		if (by_type[k] >= 500)
			printf(" %s %.0f KB", msg_type_name((uint8_t)k), by_type[k] / 1000);
	printf("\n");
	fflush(stdout);
}

static void print_settled(const struct result *r)
{
	printf("| %5u | %7" PRId64 " | %9.0f | %9.0f | %7.1f | %7.2f |\n", r->n, r->join_ms,
	       r->join_bytes / 1000, r->bytes_s, r->msgs_s, r->cpu_per_s);
	printf("  a node has %.1f MB, paths %.3f of the gain of one relay; sends", r->memory / 1e6,
	       r->gain);
	for (unsigned k = MSG_HELLO; k < MSG_TYPES; k++)
		if (r->bytes_by_type_s[k] >= 1)
			printf(" %s %.0f B/s (%.1f/s)", msg_type_name((uint8_t)k),
			       r->bytes_by_type_s[k], r->msgs_by_type_s[k]);
	printf("\n");
	fflush(stdout);
}

static void print_join(const struct result *r)
{
	printf("  one more node: first path after %" PRId64
	       " ms and %.0f KB, all rows after %" PRId64 " ms and %.0f KB received\n",
	       r->path_ms, r->path_bytes / 1000, r->rows_ms, r->rows_bytes / 1000);
	print_bytes(r->rows_by_type);
}

static void print_failover(const struct result *r)
{
	printf("  gaps of traffic after its first link failed: %.0f ms mean, %" PRId64
	       " ms worst\n",
	       r->gap_mean_ms, r->gap_ms);
	fflush(stdout);
}

static void print_heal(const struct result *r)
{
	printf("  two halves merge within %" PRId64 " ms, at most %.0f B/s a node (%.1f times)\n",
	       r->heal_ms, r->heal_bytes_s, r->heal_bytes_s / r->bytes_s);
	print_bytes(r->heal_by_type_s);
}

static void print_news(const struct result *r)
{
	printf("  all nodes know a new latency after %" PRId64
	       " ms, the failure of an idle link after %" PRId64 " ms\n",
	       r->latency_ms, r->failure_ms);
	fflush(stdout);
}

/* --- the run --- */

static void measure_news(struct sim *s, struct result *r)
{
	struct wanted w = { .rtt_us = 60000 };

	sim_set_rtt(s, 0, 1, w.rtt_us);
	r->latency_ms = sim_until(s, is_known_everywhere, &w, 300000);
	sim_set_down(s, 0, 1, true);
	w.down = true;
	r->failure_ms = sim_until(s, is_known_everywhere, &w, 60000);
	sim_set_down(s, 0, 1, false);
}

static void measure_changes(struct sim *s, struct result *r)
{
	measure_join(s, r);
	print_join(r);
	measure_failover(s, r);
	print_failover(r);
	measure_heal(s, r);
	print_heal(r);
	measure_news(s, r);
	print_news(r);
}

static struct result run(unsigned n, unsigned interval_ms, unsigned settle, bool settled_only)
{
	struct result r = { .n = n };
	double memory = allocated();
	struct sim *s = start(n, interval_ms);

	r.join_ms = sim_until(s, sim_converged, NULL, JOIN_MAX_MS);
	r.join_bytes = (double)sim_tx_bytes(s) / n;
	sim_run(s, (int64_t)settle * interval_ms);
	measure_traffic(s, &r);
	measure_gain(s, &r);
	r.memory = (allocated() - memory) / n;
	print_settled(&r);
	if (!settled_only)
		measure_changes(s, &r);
	sim_free(s);
	return r;
}

/* null: not reached. */
static void write_ms(struct jsonw *w, const char *key, int64_t ms)
{
	if (ms < 0)
		jsonw_null(w, key);
	else
		jsonw_u64(w, key, (uint64_t)ms);
}

static void write_json(const char *file, const struct result *r, unsigned n)
{
	struct jsonw *w = jsonw_new();
	const char *text;
	size_t len;
	FILE *f;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_array(w, "runs");
	for (unsigned i = 0; i < n; i++) {
		jsonw_object(w, NULL);
		jsonw_u64(w, "nodes", r[i].n);
		write_ms(w, "join_ms", r[i].join_ms);
		jsonw_double(w, "join_bytes_per_node", r[i].join_bytes);
		jsonw_double(w, "bytes_per_s_per_node", r[i].bytes_s);
		jsonw_double(w, "messages_per_s_per_node", r[i].msgs_s);
		jsonw_object(w, "messages_per_s_by_type");
		for (unsigned k = MSG_HELLO; k <= MSG_SHORT_ROW; k++)
			jsonw_double(w, msg_type_name((uint8_t)k), r[i].msgs_by_type_s[k]);
		jsonw_end(w);
		jsonw_object(w, "bytes_per_s_by_type");
		for (unsigned k = MSG_HELLO; k <= MSG_SHORT_ROW; k++)
			jsonw_double(w, msg_type_name((uint8_t)k), r[i].bytes_by_type_s[k]);
		jsonw_end(w);
		jsonw_double(w, "gain", r[i].gain);
		jsonw_double(w, "memory_bytes_per_node", r[i].memory);
		write_ms(w, "first_path_ms", r[i].path_ms);
		write_ms(w, "all_rows_ms", r[i].rows_ms);
		jsonw_double(w, "all_rows_bytes_received", r[i].rows_bytes);
		write_ms(w, "traffic_gap_worst_ms", r[i].gap_ms);
		jsonw_double(w, "traffic_gap_mean_ms", r[i].gap_mean_ms);
		write_ms(w, "halves_merged_ms", r[i].heal_ms);
		jsonw_double(w, "halves_merged_peak_bytes_per_s", r[i].heal_bytes_s);
		write_ms(w, "latency_known_everywhere_ms", r[i].latency_ms);
		write_ms(w, "failure_known_everywhere_ms", r[i].failure_ms);
		jsonw_double(w, "cpu_s_per_virtual_s", r[i].cpu_per_s);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_end(w);
	text = jsonw_text(w, &len);
	f = fopen(file, "w");
	if (!f || fwrite(text, 1, len, f) != len || fclose(f) != 0) {
		perror(file);
		exit(1);
	}
	jsonw_free(w);
}

int main(int argc, char **argv)
{
	unsigned sizes[16] = { 3, 12, 100 }, n = 3, given = 0;
	unsigned interval_ms = INTERVAL_MS, settle = SETTLE;
	bool settled_only = false;
	const char *json = NULL;
	struct result r[16];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json") && i + 1 < argc)
			json = argv[++i];
		else if (!strcmp(argv[i], "--interval") && i + 1 < argc)
			interval_ms = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--settle") && i + 1 < argc)
			settle = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--settled"))
			settled_only = true;
		else if (given < 16)
			sizes[given++] = (unsigned)strtoul(argv[i], NULL, 10);
	}
	if (given)
		n = given;
	for (unsigned i = 0; i < n; i++) {
		if (sizes[i] < 2 || sizes[i] >= SIM_NODES_MAX) {
			fprintf(stderr,
				"usage: %s [--json FILE] [--interval MS] [--settle N] [--settled] [N ...], N from 2 to %d\n",
				argv[0], SIM_NODES_MAX - 1);
			return 2;
		}
	}
	printf("| nodes | join ms | join KB/n | B/s/node  | msg/s/n | CPU s/s |\n"
	       "|------:|--------:|----------:|----------:|--------:|--------:|\n");
	fflush(stdout);
	for (unsigned i = 0; i < n; i++)
		r[i] = run(sizes[i], interval_ms, settle, settled_only);
	if (json)
		write_json(json, r, n);
	return 0;
}
