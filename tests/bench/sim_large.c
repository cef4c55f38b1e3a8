// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Structures for more nodes than a node can measure, doc/decisions/085: gain of one-relay paths,
 * links and known latencies of a node. Each structure limits the relays that a node knows.
 *
 * All: every node measures every node. Pool: every node measures the nodes of one pool, and both
 * ends of a flow exchange these rows. Pool by use: the least useful fifth is repeatedly replaced by
 * random nodes. Regions: every node measures its region, and gateways measure all gateways.
 *
 * The latencies are those of a matrix of sites. More nodes than sites share the sites. A node has
 * an access latency of its own (exponential, mean 2 ms), and each pair an error of --noise percent.
 * Prints a table. A gain of 1 is that of the best relay of all nodes.
 *
 *   sim_large [--noise PERCENT] MATRIX N ...
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/mem.h"
#include "crypto/keys.h"
#include "wire/datagram/leon.h"
#include "wire/message/msg.h"
#include "../sim/read_matrix.h"

#define PAIRS	     4000
#define ACCESS_MS    2.0
#define SAME_SITE_MS 0.3
#define LAZY_S	     25.0 /* interval of PINGs on a link without data, doc/decisions/081 */
#define UDP_IP_LEN   28
#define GATEWAYS     3
#define STEPS	     50 /* exchanges of the pool by use */
#define DEAD_ONE_IN  10

struct net {
	double *site; /* round-trip time, n_sites x n_sites; NAN: missing */
	unsigned n_sites, n;
	double noise;
	unsigned *site_of;
	double *access;
	bool *dead;
};

struct regions {
	unsigned n, *of, *size;
	unsigned (*gateway)[GATEWAYS];
};

static uint64_t mix(uint64_t x)
{
	return hash_mix64(x + 1);
}

/* From 0 to 1, without 0. */
static double uniform(uint64_t x)
{
	return ((double)(mix(x) >> 11) + 1) / 9007199254740993.0;
}

/* --- latencies --- */

static bool read_sites(struct net *t, const char *path)
{
	t->site = read_matrix(path, &t->n_sites);
	for (size_t i = 0; t->site && i < (size_t)t->n_sites * t->n_sites; i++)
		if (t->site[i] <= 0)
			t->site[i] = NAN;
	return t->site;
}

static void make_nodes(struct net *t)
{
	t->site_of = x_calloc(t->n, sizeof(*t->site_of));
	t->access = x_calloc(t->n, sizeof(*t->access));
	t->dead = x_calloc(t->n, sizeof(*t->dead));
	for (unsigned i = 0; i < t->n; i++) {
		t->site_of[i] = i % t->n_sites;
		t->access[i] = t->n > t->n_sites ? -ACCESS_MS * log(uniform(i)) : 0;
		t->dead[i] = mix(i ^ 0xdeadULL) % DEAD_ONE_IN == 0;
	}
}

static double between_sites(const struct net *t, unsigned a, unsigned b)
{
	double there = t->site[a * t->n_sites + b], back = t->site[b * t->n_sites + a];

	if (a == b)
		return SAME_SITE_MS;
	if (isnan(there) || isnan(back))
		return isnan(there) ? back : there;
	return (there + back) / 2;
}

/* Round-trip time of two nodes in ms; NAN: no link. */
static double rtt(const struct net *t, unsigned i, unsigned j)
{
	double ms = between_sites(t, t->site_of[i], t->site_of[j]);
	uint64_t pair = (uint64_t)min_of(i, j) << 32 | max_of(i, j);

	if (i == j)
		return 0;
	if (t->n > t->n_sites)
		/* Uniform with the wanted standard deviation. */
		ms *= 1 + t->noise * sqrt(12) * (uniform(pair) - 0.5);
	return ms + t->access[i] + t->access[j];
}

/* --- paths --- */

/* dead: by node; NULL: none. */
static bool is_dead(const bool *dead, unsigned i)
{
	return dead && dead[i];
}

static double shorter(double best, double path)
{
	return path < best ? path : best;
}

static double by_relays(const struct net *t, const bool *dead, const unsigned *relay, unsigned n,
			unsigned i, unsigned j)
{
	double best = rtt(t, i, j);

	for (unsigned k = 0; k < n; k++)
		if (relay[k] != i && relay[k] != j && !is_dead(dead, relay[k]))
			best = shorter(best, rtt(t, i, relay[k]) + rtt(t, relay[k], j));
	return best;
}

static double by_regions(const struct net *t, const bool *dead, const struct regions *r, unsigned i,
			 unsigned j)
{
	double best = rtt(t, i, j);

	if (r->of[i] == r->of[j]) {
		for (unsigned k = 0; k < t->n; k++)
			if (r->of[k] == r->of[i] && k != i && k != j && !is_dead(dead, k))
				best = shorter(best, rtt(t, i, k) + rtt(t, k, j));
		return best;
	}
	for (unsigned a = 0; a < GATEWAYS; a++)
		for (unsigned b = 0; b < GATEWAYS; b++) {
			unsigned g = r->gateway[r->of[i]][a], h = r->gateway[r->of[j]][b];

			if (!is_dead(dead, g) && !is_dead(dead, h))
				best = shorter(best, rtt(t, i, g) + rtt(t, g, h) + rtt(t, h, j));
		}
	return best;
}

/* --- regions --- */

/* The nearest landmark with room. */
static unsigned nearest(const struct net *t, const struct regions *r, const unsigned *landmark,
			unsigned node, unsigned room)
{
	unsigned best = 0;
	double least = INFINITY;

	for (unsigned k = 0; k < r->n; k++) {
		double ms = rtt(t, node, landmark[k]);

		if (r->size[k] < room && ms < least) {
			least = ms;
			best = k;
		}
	}
	return best;
}

/* Mean round-trip time to up to 50 nodes of the region. */
static double distance(const struct net *t, const struct regions *r, unsigned node)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < t->n && n < 50; i++) {
		double ms = rtt(t, node, i);

		if (r->of[i] == r->of[node] && !isnan(ms)) {
			sum += ms;
			n++;
		}
	}
	return sum / n;
}

static void choose_gateways(const struct net *t, struct regions *r)
{
	double(*least)[GATEWAYS] = x_calloc(r->n, sizeof(*least));

	for (unsigned k = 0; k < r->n; k++)
		for (unsigned g = 0; g < GATEWAYS; g++)
			least[k][g] = INFINITY;
	for (unsigned i = 0; i < t->n; i++) {
		unsigned k = r->of[i], g = GATEWAYS;
		double ms = distance(t, r, i);

		while (g > 0 && ms < least[k][g - 1]) {
			if (g < GATEWAYS) {
				least[k][g] = least[k][g - 1];
				r->gateway[k][g] = r->gateway[k][g - 1];
			}
			g--;
		}
		if (g < GATEWAYS) {
			least[k][g] = ms;
			r->gateway[k][g] = i;
		}
	}
	free(least);
}

static void make_regions(const struct net *t, struct regions *r, const unsigned *landmark)
{
	r->n = (unsigned)lround(sqrt(t->n));
	r->of = x_calloc(t->n, sizeof(*r->of));
	r->size = x_calloc(r->n, sizeof(*r->size));
	r->gateway = x_calloc(r->n, sizeof(*r->gateway));
	for (unsigned i = 0; i < t->n; i++) {
		r->of[i] = nearest(t, r, landmark, i, 2 * t->n / r->n);
		r->size[r->of[i]]++;
	}
	for (unsigned k = 0; k < r->n; k++)
		for (unsigned g = 0; g < GATEWAYS; g++)
			r->gateway[k][g] = landmark[k];
	choose_gateways(t, r);
}

static void free_regions(struct regions *r)
{
	free(r->of);
	free(r->size);
	free(r->gateway);
}

/* --- pool by use --- */

/* The saved latency that only this relay provides, by relay, of pairs other than the measured. */
static void credit_relays(const struct net *t, const unsigned *relay, unsigned n, uint64_t seed,
			  double *credit)
{
	memset(credit, 0, n * sizeof(*credit));
	for (uint64_t p = 0; p < PAIRS; p++) {
		unsigned i = (unsigned)(mix(2 * p + seed) % t->n), used = n;
		unsigned j = (unsigned)(mix(2 * p + 1 + seed) % t->n);
		double best = rtt(t, i, j), second = best;

		for (unsigned k = 0; k < n; k++) {
			double ms = rtt(t, i, relay[k]) + rtt(t, relay[k], j);

			if (ms < best && relay[k] != i && relay[k] != j) {
				second = best;
				best = ms;
				used = k;
			} else if (ms < second) {
				second = ms;
			}
		}
		if (used < n)
			credit[used] += second - best;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In each step, the fifth of the pool with the least credit leaves, and random nodes enter. */
static unsigned *pool_by_use(const struct net *t, const unsigned *order, unsigned n)
{
	unsigned *relay = x_calloc(n, sizeof(*relay)), next = n;
	double *credit = x_calloc(n, sizeof(*credit)), *sorted = x_calloc(n, sizeof(*sorted));

	memcpy(relay, order, n * sizeof(*relay));
	for (uint64_t step = 1; step <= STEPS; step++) {
		credit_relays(t, relay, n, step << 32, credit);
		memcpy(sorted, credit, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_value);
		for (unsigned k = 0, left = n / 5; k < n && left; k++)
			if (credit[k] <= sorted[n / 5]) {
				relay[k] = order[next++ % t->n];
				left--;
			}
	}
	free(credit);
	free(sorted);
	return relay;
}

/* --- figures --- */

enum { ALL, POOL_1, POOL_2, POOL_3, REGIONS, USED, STRUCTURES };

struct figures {
	double saved[STRUCTURES];
};

static void measure(const struct net *t, const bool *dead, const struct regions *r,
		    const unsigned *order, const unsigned *used, struct figures *out)
{
	unsigned pool = (unsigned)lround(sqrt(t->n));

	*out = (struct figures){ 0 };
	for (uint64_t p = 0, n = 0; n < PAIRS; p++) {
		unsigned i = (unsigned)(mix(2 * p) % t->n), j = (unsigned)(mix(2 * p + 1) % t->n);
		double direct = rtt(t, i, j);

		if (i == j || isnan(direct) || is_dead(dead, i) || is_dead(dead, j))
			continue;
		n++;
		out->saved[ALL] += direct - by_relays(t, dead, order, t->n, i, j);
		for (unsigned k = 1; k <= 3; k++)
			out->saved[ALL + k] += direct - by_relays(t, dead, order, k * pool, i, j);
		out->saved[USED] += direct - by_relays(t, dead, used, 3 * pool, i, j);
		out->saved[REGIONS] += direct - by_regions(t, dead, r, i, j);
	}
}

/* Bytes a second that a node sends for the PINGs of its links, and for the answers. */
static double ping_bytes_s(double links)
{
	double each = UDP_IP_LEN + LEON_HDR_LEN(1) + ENVELOPE_LEN + AEAD_TAG_LEN;

	return links * (2 * each + MSG_PING_LEN + MSG_PONG_LEN) / LAZY_S;
}

static void print_row(const char *name, double links, double known, double gain, double after)
{
	printf("%-16s %8.0f %10.1f %12.0f %8.3f %8.3f\n", name, links, ping_bytes_s(links) / 1e3,
	       known, gain, after);
}

static void print(const struct net *t, const struct regions *r, const struct figures *f,
		  const struct figures *dead)
{
	double n = t->n, pool = round(sqrt(n)), gateways = (double)GATEWAYS * r->n;
	static const char *const name[] = { "", "pool of sqrt n", "pool of 2 sqrt n",
					    "pool of 3 sqrt n" };

	printf("\n%u nodes, %u sites; best relay saves %.1f ms\n", t->n, t->n_sites,
	       f->saved[ALL] / PAIRS);
	printf("%-16s %8s %10s %12s %8s %8s\n", "", "links", "PINGs kB/s", "latencies", "gain",
	       "1/10 dead");
	print_row("all", n - 1, n * n, 1, 1);
	for (unsigned k = 1; k <= 3; k++)
		print_row(name[k], k * pool, 2 * k * pool, f->saved[k] / f->saved[ALL],
			  dead->saved[k] / dead->saved[ALL]);
	print_row("3 sqrt n by use", 3 * pool, 6 * pool, f->saved[USED] / f->saved[ALL],
		  dead->saved[USED] / dead->saved[ALL]);
	print_row("regions: node", n / r->n, n / r->n * n / r->n + gateways * gateways,
		  f->saved[REGIONS] / f->saved[ALL], dead->saved[REGIONS] / dead->saved[ALL]);
	print_row("regions: gateway", n / r->n + gateways,
		  n / r->n * n / r->n + gateways * gateways, f->saved[REGIONS] / f->saved[ALL],
		  dead->saved[REGIONS] / dead->saved[ALL]);
}

/* All nodes in the order of a hash; the first ones are the pool and the landmarks. */
static unsigned *random_order(unsigned n)
{
	unsigned *order = x_calloc(n, sizeof(*order));

	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i-- > 1;) {
		unsigned k = (unsigned)(mix(i ^ 0x0de4ULL) % (i + 1)), was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	return order;
}

static void simulate(struct net *t)
{
	unsigned *order = random_order(t->n);
	unsigned *used = pool_by_use(t, order, 3 * (unsigned)lround(sqrt(t->n)));
	struct figures f, after;
	struct regions r;

	make_regions(t, &r, order);
	measure(t, NULL, &r, order, used, &f);
	measure(t, t->dead, &r, order, used, &after);
	print(t, &r, &f, &after);
	free_regions(&r);
	free(used);
	free(order);
}

int main(int argc, char **argv)
{
	struct net t = { .noise = 0.05 };
	int at = 1;

	if (argc > 3 && strcmp(argv[1], "--noise") == 0) {
		t.noise = atof(argv[2]) / 100;
		at = 3;
	}
	if (argc < at + 2 || !read_sites(&t, argv[at])) {
		fprintf(stderr, "usage: sim_large [--noise PERCENT] MATRIX N ...\n");
		return 2;
	}
	while (++at < argc) {
		t.n = (unsigned)strtoul(argv[at], NULL, 10);
		if (t.n < 100 || t.n > 100000) {
			fprintf(stderr, "sim_large: N is from 100 to 100000\n");
			return 2;
		}
		make_nodes(&t);
		simulate(&t);
		free(t.site_of);
		free(t.access);
		free(t.dead);
	}
	free(t.site);
	return 0;
}
