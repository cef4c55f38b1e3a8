// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Automatic shaping on virtual time, datagram by datagram: TCP streams and a ping share an access
 * link with a buffer of 200 ms. FQ-CoDel, the shaper account, link_load and autorate are those of
 * the product. The model has the link, CUBIC (RFC 9438, HyStart) and the intervals of PINGs.
 *
 * The matrix has the cells of bench_load.py: additional delay of the ping, throughput relative to
 * the capacity, and relative to streams without a shaper. All datagrams count with their size on
 * the link. The scenarios change the link. `own` and `others` are the used parts of the capacity.
 * At the end of each part, `limit` is the rate of autorate relative to the capacity. `none` is the
 * part of all runs without a limit.
 *
 *   sim_rate [all | matrix | SCENARIO [SEED]]
 *
 * Exit status 1: more than 2 of 36 runs of the matrix have a 99th percentile above 10 ms.
 */
#include <stdio.h>
#include <string.h>

#include "access_link.h"

#define IDLE_S	   60 /* the jitter of the link is known after 32 answers */
#define FINDING_S  5
#define MEASURED_S 7
#define CLOCK_PPM  50 /* difference between the clocks of both ends */
#define LIMIT_MS   10
#define CELLS	   18
#define RUNS	   2 /* of each cell and scenario, with different seeds */
#define LATE_MAX   2
#define SEEDS	   10000 /* of one SEED of the command line */
#define EVERY_MS   10	 /* of the ping */
#define FAST_MS	   100	 /* PINGs of a busy link */
#define SLOW_MS	   1000

/* --- measurement and control --- */

static void send_probe(void)
{
	to_line(new_packet(PROBE_FLOW, PING_LEN));
}

static uint32_t peer_us(int64_t ns)
{
	return (uint32_t)((ns + ns / (1000000 / CLOCK_PPM)) / NS_PER_US);
}

static void answer(struct packet *p)
{
	struct load_sample sample = {
		.rtt_us = (uint32_t)((s.ns - p->sent) / NS_PER_US),
		.forward_us = peer_us(p->arrived) - (uint32_t)(p->sent / NS_PER_US),
		.reverse_us = (uint32_t)(s.ns / NS_PER_US) - peer_us(p->arrived),
		.counted_us = peer_us(p->arrived),
		.delivered = (uint32_t)p->received,
		.epoch = 1,
		.tx_datagrams = s.tx,
		.tx_bytes = s.tx_bytes,
	};

	link_load_note(&s.load, &sample, (mono_t){ s.ns });
	free(p);
}

static void control(void)
{
	struct site_load in = { .backlog = s.fq.n > 0 };
	mono_t now = { s.ns };

	schedule(s.ns + AUTORATE_STEP_MS * NS_PER_MS, EV_STEP, NULL);
	if (!s.automatic)
		return;
	if (s.load.known && site_load_counts(&s.load, link_load_sent(&s.load)))
		site_load_add(&in, &s.load);
	in.fresh = in.links && mono_before(s.seen, s.load.at);
	s.seen = in.fresh ? s.load.at : s.seen;
	set_limit(autorate_step(&s.rate, &in, now));
	if (autorate_probe_ended(&s.rate, now))
		send_probe();
	serve_queue();
}

static void dispatch(const struct event *e)
{
	switch (e->kind) {
	case EV_LINK:
		leave_line();
		break;
	case EV_SHAPER:
		s.waits = false;
		serve_queue();
		break;
	case EV_ACK:
	case EV_LOSS:
		acknowledge(e->packet, e->kind == EV_LOSS);
		break;
	case EV_PING:
		/* `ping` is no data of an idle site. */
		if (s.now.own)
			send_own(new_packet(PING_FLOW, PING_LEN));
		schedule(s.ns + EVERY_MS * NS_PER_MS, EV_PING, NULL);
		break;
	case EV_PROBE:
		send_probe();
		schedule(s.ns + ms_ns((s.ns < s.used_until ? FAST_MS : SLOW_MS) *
				      (.9 + .2 * random_01())),
			 EV_PROBE, NULL);
		break;
	case EV_PONG:
		answer(e->packet);
		break;
	case EV_STEP:
		control();
		break;
	}
}

/* Names of parts that start without a measurement, and without an estimate. */
#define RESTART	  "after a restart"
#define SET_AGAIN "slower, set again"

/* `shaper automatic` is deleted and set. */
static void set_again(void)
{
	autorate_reset(&s.rate);
	s.limit_kbits = 0;
}

/* leond starts again and knows nothing of the link. */
static void forget(void)
{
	set_again();
	link_load_reset(&s.load);
}

static void run(const struct part *part)
{
	int64_t end = s.ns + (int64_t)(part->seconds * NS_PER_S);

	s.now = *part;
	if (part->name && !strcmp(part->name, RESTART))
		forget();
	if (part->name && !strcmp(part->name, SET_AGAIN))
		set_again();
	s.own_bytes = s.other_bytes = s.n_added = 0;
	set_streams(0, part->own);
	set_streams(STREAMS, part->others);
	while (s.heap[0].at <= end) {
		struct event e = next_event();

		s.ns = e.at;
		dispatch(&e);
	}
	s.ns = end;
}

static void begin(uint64_t seed, bool automatic)
{
	struct event *heap = s.heap;

	while (s.n_events)
		free(s.heap[--s.n_events].packet);
	for (struct fq_item *item; (item = fq_shed(&s.fq, FQ_LACK_LARGE));)
		free(container_of(item, struct packet, item));
	while (s.line.head)
		free(container_of(fq_chain_take(&s.line), struct packet, item));
	s = (struct sim){ .ns = NS_PER_S,
			  .random = 88172645463325252ull + 7919ull * seed,
			  .heap = heap,
			  .automatic = automatic };
	fq_init(&s.fq, &(struct fq_params){ FQ_TARGET_NS, FQ_INTERVAL_NS, 1514 }, &s.dropped);
	for (unsigned i = 0; i < 10; i++)
		random_01();
	forget();
	schedule(s.ns + ms_ns(random_01() * EVERY_MS), EV_PING, NULL);
	schedule(s.ns + ms_ns(random_01() * FAST_MS), EV_PROBE, NULL);
	schedule(s.ns + ms_ns(random_01() * AUTORATE_STEP_MS), EV_STEP, NULL);
}

/* --- reports --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Additional delay in ms that `percent` of all pings do not exceed. */
static double percentile(unsigned percent)
{
	qsort(s.added, s.n_added, sizeof(s.added[0]), compare);
	return s.n_added ? s.added[min_of(s.n_added * percent / 100, s.n_added - 1)] : 0;
}

static double used(double bytes, double seconds)
{
	return bytes * 8 / (s.now.mbits * 1e6 * seconds);
}

/* One run of a cell: p99 of the ping, and own bytes in the 12 s of bulk. */
static double cell(struct part bulk, uint64_t seed, bool automatic, double *bytes)
{
	struct part idle = bulk;

	idle.seconds = IDLE_S;
	idle.own = 0;
	begin(seed, automatic);
	run(&idle);
	bulk.seconds = FINDING_S;
	run(&bulk);
	*bytes = s.own_bytes;
	bulk.seconds = MEASURED_S;
	run(&bulk);
	*bytes += s.own_bytes;
	return percentile(99);
}

static bool matrix(uint64_t seed)
{
	static const double mbits[] = { 10, 50, 200 }, rtt_ms[] = { 20, 80 };
	static const unsigned streams[] = { 1, 4, 16 };
	double least = 1, sum = 0;
	unsigned late = 0;

	printf("%-9s %6s %8s %9s %9s %9s\n", "Mbit/s", "rtt ms", "streams", "p99 ms", "used",
	       "relative");
	for (unsigned i = 0; i < CELLS; i++) {
		struct part bulk = { .mbits = mbits[i / 6],
				     .rtt_ms = rtt_ms[i / 3 % 2],
				     .jitter_ms = .1,
				     .own = streams[i % 3] };
		double p99 = 0, part = 0, ratio = 0;

		for (unsigned k = 0; k < RUNS; k++) {
			double bytes, plain, p;

			cell(bulk, seed + i * 100 + k, false, &plain);
			p = cell(bulk, seed + i * 100 + k, true, &bytes);
			late += p > LIMIT_MS;
			p99 += p / RUNS;
			part += used(bytes, FINDING_S + MEASURED_S) / RUNS;
			ratio += bytes / plain / RUNS;
		}
		printf("%-9.0f %6.0f %8u %9.1f %9.2f %9.2f\n", bulk.mbits, bulk.rtt_ms, bulk.own,
		       p99, part, ratio);
		least = min_of(least, ratio);
		sum += ratio / CELLS;
	}
	printf("p99 of %u ms or less in %u of %u; relative throughput %.3f, least %.2f\n\n",
	       LIMIT_MS, CELLS * RUNS - late, CELLS * RUNS, sum, least);
	return late > LATE_MAX;
}

#define PARTS 10

static const struct scenario {
	const char *name;
	struct part part[PARTS];
} scenarios[] = {
	{ "slower",
	  { { NULL, 60, 50, 20, .1, 0, 0 },
	    { NULL, 10, 50, 20, .1, 4, 0 },
	    { "half the rate", 3, 25, 20, .1, 4, 0 },
	    { "later", 5, 25, 20, .1, 4, 0 },
	    { "a tenth", 3, 5, 20, .1, 4, 0 },
	    { "later", 5, 5, 20, .1, 4, 0 } } },
	{ "faster",
	  { { NULL, 60, 25, 40, .1, 0, 0 },
	    { NULL, 10, 25, 40, .1, 4, 0 },
	    { "double rate", 3, 50, 40, .1, 4, 0 },
	    { "later", 5, 50, 40, .1, 4, 0 },
	    { "four times", 3, 200, 40, .1, 4, 0 },
	    { "later", 5, 200, 40, .1, 4, 0 } } },
	{ "others",
	  { { NULL, 60, 20, 20, .1, 0, 0 },
	    { NULL, 10, 20, 20, .1, 4, 0 },
	    { "one of others", 20, 20, 20, .1, 4, 1 },
	    { "four of others", 20, 20, 20, .1, 4, 4 },
	    { "alone", 5, 20, 20, .1, 4, 0 },
	    { "later", 90, 20, 20, .1, 4, 0 },
	    { "later", 20, 20, 20, .1, 4, 0 } } },
	{ "longer",
	  { { NULL, 60, 50, 20, .1, 0, 0 },
	    { NULL, 10, 50, 20, .1, 4, 0 },
	    { "30 ms longer", 5, 50, 50, .1, 4, 0 },
	    { "later", 10, 50, 50, .1, 4, 0 },
	    { "30 ms longer", 5, 50, 80, .1, 4, 0 },
	    { "later", 20, 50, 80, .1, 4, 0 } } },
	{ "longer-idle",
	  { { NULL, 60, 50, 5, .1, 0, 0 },
	    { NULL, 3, 50, 60, .1, 0, 0 },
	    { "bulk", 5, 50, 60, .1, 4, 0 },
	    { "later", 15, 50, 60, .1, 4, 0 } } },
	{ "fresh",
	  { { NULL, 3, 10, 20, .1, 0, 0 },
	    { "bulk", 5, 10, 20, .1, 4, 0 },
	    { "later", 10, 10, 20, .1, 4, 0 } } },
	{ "pause",
	  { { NULL, 60, 50, 20, .1, 0, 0 },
	    { NULL, 10, 50, 20, .1, 4, 0 },
	    { NULL, 60, 50, 20, .1, 0, 0 },
	    { "bulk", 2, 50, 20, .1, 4, 0 },
	    { "later", 5, 50, 20, .1, 4, 0 },
	    { NULL, 60, 10, 20, .1, 0, 0 },
	    { "slower since", 2, 10, 20, .1, 4, 0 },
	    { "later", 5, 10, 20, .1, 4, 0 } } },
	{ "jitter",
	  { { NULL, 60, 20, 40, 4, 0, 0 },
	    { "bulk", 10, 20, 40, 4, 4, 0 },
	    { "later", 60, 20, 40, 4, 4, 0 } } },
	{ "others-first",
	  { { NULL, 60, 20, 20, .1, 0, 0 },
	    { NULL, 20, 20, 20, .1, 0, 4 },
	    { NULL, 2, 20, 20, .1, 0, 0 },
	    { "bulk after them", 5, 20, 20, .1, 4, 0 },
	    { "later", 10, 20, 20, .1, 4, 0 } } },
	{ "others-beside",
	  { { NULL, 60, 20, 20, .1, 0, 0 },
	    { NULL, 10, 20, 20, .1, 0, 4 },
	    { "beside them", 10, 20, 20, .1, 4, 4 },
	    { "later", 120, 20, 20, .1, 4, 4 },
	    { "alone", 5, 20, 20, .1, 4, 0 },
	    { "later", 30, 20, 20, .1, 4, 0 } } },
	{ "restart",
	  { { NULL, 60, 10, 20, .1, 0, 0 },
	    { NULL, 12, 10, 20, .1, 16, 0 },
	    { RESTART, 4, 10, 20, .1, 0, 0 },
	    { "bulk after it", 5, 10, 20, .1, 16, 0 },
	    { "later", 10, 10, 20, .1, 16, 0 },
	    { NULL, 20, 10, 20, .1, 0, 16 },
	    { RESTART, 2, 10, 20, .1, 0, 16 },
	    { NULL, 3, 10, 20, .1, 0, 0 },
	    { "bulk after others", 5, 10, 20, .1, 16, 0 },
	    { "later", 10, 10, 20, .1, 16, 0 } } },
	{ "set-again",
	  { { NULL, 60, 50, 20, .1, 0, 0 },
	    { NULL, 15, 50, 20, .1, 16, 0 },
	    { NULL, 3, 10, 20, .1, 0, 0 },
	    { SET_AGAIN, 5, 10, 20, .1, 16, 0 },
	    { "later", 10, 10, 20, .1, 16, 0 } } },
	{ "slower-paused",
	  { { NULL, 60, 50, 20, .1, 0, 0 },
	    { NULL, 10, 50, 20, .1, 4, 0 },
	    { NULL, 15, 5, 20, .1, 0, 0 },
	    { "slower since", 5, 5, 20, .1, 4, 0 },
	    { "later", 10, 5, 20, .1, 4, 0 },
	    { NULL, 15, 2, 20, .1, 0, 0 },
	    { "slower since", 5, 2, 20, .1, 4, 0 },
	    { "later", 10, 2, 20, .1, 4, 0 } } },
};

static void scenario(const struct scenario *c, uint64_t seed)
{
	struct {
		double p50, p99, own, others, limit, none;
	} sum[PARTS] = { 0 };

	printf("%-41s %7s %7s %7s %7s %7s %7s\n", c->name, "p50 ms", "p99 ms", "own", "others",
	       "limit", "none");
	for (unsigned k = 0; k < RUNS; k++) {
		begin(seed + k, true);
		for (unsigned i = 0; i < PARTS && c->part[i].seconds > 0; i++) {
			run(&c->part[i]);
			sum[i].p50 += percentile(50) / RUNS;
			sum[i].p99 += percentile(99) / RUNS;
			sum[i].own += used(s.own_bytes, s.now.seconds) / RUNS;
			sum[i].others += used(s.other_bytes, s.now.seconds) / RUNS;
			sum[i].limit += s.rate.kbits / (s.now.mbits * 1000) / RUNS;
			sum[i].none += (s.limit_kbits == 0) / (double)RUNS;
		}
	}
	for (unsigned i = 0; i < PARTS; i++)
		if (c->part[i].name)
			printf("%4.0f Mbit/s %3.0f ms %3.0f s %-16s %7.1f %7.1f %7.2f %7.2f %7.2f "
			       "%7.2f\n",
			       c->part[i].mbits, c->part[i].rtt_ms, c->part[i].seconds,
			       c->part[i].name, sum[i].p50, sum[i].p99, sum[i].own, sum[i].others,
			       sum[i].limit, sum[i].none);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	uint64_t seed = argc > 2 ? strtoul(argv[2], NULL, 10) * SEEDS : 0;
	bool all = !only || !strcmp(only, "all"), failed = false;

	if (all || !strcmp(only, "matrix"))
		failed = matrix(seed);
	for (unsigned i = 0; i < array_size(scenarios); i++)
		if (all || !strcmp(only, scenarios[i].name))
			scenario(&scenarios[i], seed);
	return failed;
}
