// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of the protocol and propagation time of news, on virtual time. Measures control traffic of a
 * node at 3, 12, 100 and 490 nodes (or the given numbers). Measures the time until all nodes know a
 * new latency and a failed link. Prints a table, and JSON with --json FILE. Latencies are those of
 * PlanetLab if the data set is present, with 2 % of jitter and a loss of 1/1000. Bytes are IP
 * packets.
 *
 *   sim_control [--json FILE] [N ...]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "../sim/sim.h"

#define MEASURE_MS 30000

struct result {
	unsigned n;
	int64_t join_ms;   /* until all nodes know and reach all nodes */
	double join_bytes; /* sent by a node until then */
	double bytes_s;	   /* sent by a node after settling */
	double msgs_s;
	double by_type_s[16]; /* messages per second */
	int64_t latency_ms;   /* until a changed latency is in every copy of the row */
	int64_t failure_ms;   /* until a failed link is unresponsive or down everywhere */
	double cpu_per_s;     /* of all nodes together, per second of virtual time */
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

static void count(const struct sim *s, double *msgs)
{
	for (unsigned k = 0; k < 16; k++) {
		msgs[k] = 0;
		for (unsigned i = 0; i < s->n; i++)
			msgs[k] += (double)overlay_counters(s->node[i].o)->tx_by_type[k];
	}
}

static void measure_traffic(struct sim *s, struct result *r)
{
	double before[16], after[16], per = 1000.0 / MEASURE_MS / s->n;
	uint64_t bytes = sim_tx_bytes(s);
	clock_t cpu;

	count(s, before);
	cpu = clock();
	sim_run(s, MEASURE_MS);
	r->cpu_per_s = (double)(clock() - cpu) / CLOCKS_PER_SEC * 1000.0 / MEASURE_MS;
	count(s, after);
	r->bytes_s = (double)(sim_tx_bytes(s) - bytes) * per;
	for (unsigned k = 0; k < 16; k++) {
		r->by_type_s[k] = (after[k] - before[k]) * per;
		r->msgs_s += r->by_type_s[k];
	}
}

static struct result run(unsigned n)
{
	struct result r = { .n = n };
	struct wanted w = { .rtt_us = 60000 };
	struct sim *s = sim_new(n, 1);

	set_latencies(s);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			sim_seed_of(s, i, i < 3 ? 0 : i % 3);
		sim_boot(s, i);
	}
	r.join_ms = sim_until(s, sim_converged, NULL, 120000);
	r.join_bytes = (double)sim_tx_bytes(s) / n;
	sim_run(s, 60000);
	measure_traffic(s, &r);
	sim_set_rtt(s, 0, 1, w.rtt_us);
	r.latency_ms = sim_until(s, is_known_everywhere, &w, 300000);
	sim_set_down(s, 0, 1, true);
	w.down = true;
	r.failure_ms = sim_until(s, is_known_everywhere, &w, 60000);
	sim_free(s);
	return r;
}

static void print_row(const struct result *r)
{
	printf("| %5u | %7" PRId64 " | %9.0f | %9.0f | %7.1f | %7" PRId64 " | %7" PRId64
	       " | %7.2f |\n",
	       r->n, r->join_ms, r->join_bytes / 1000, r->bytes_s, r->msgs_s, r->latency_ms,
	       r->failure_ms, r->cpu_per_s);
	fflush(stdout);
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
		for (unsigned k = MSG_HELLO; k <= MSG_NOTICE; k++)
			jsonw_double(w, msg_type_name((uint8_t)k), r[i].by_type_s[k]);
		jsonw_end(w);
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
	unsigned sizes[16] = { 3, 12, 100, 490 }, n = 4, given = 0;
	const char *json = NULL;
	struct result r[16];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json") && i + 1 < argc)
			json = argv[++i];
		else if (given < 16)
			sizes[given++] = (unsigned)strtoul(argv[i], NULL, 10);
	}
	if (given)
		n = given;
	for (unsigned i = 0; i < n; i++) {
		if (sizes[i] < 2 || sizes[i] > SIM_NODES_MAX) {
			fprintf(stderr, "usage: %s [--json FILE] [N ...], N from 2 to %d\n",
				argv[0], SIM_NODES_MAX);
			return 2;
		}
	}
	printf("| nodes | join ms | join KB/n | B/s/node  | msg/s/n | latency | failure | CPU s/s |\n"
	       "|------:|--------:|----------:|----------:|--------:|--------:|--------:|--------:|\n");
	for (unsigned i = 0; i < n; i++) {
		r[i] = run(sizes[i]);
		print_row(&r[i]);
	}
	if (json)
		write_json(json, r, n);
	return 0;
}
