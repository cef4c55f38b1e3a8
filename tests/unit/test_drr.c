// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/peer/drr: the streams of one inter-proxy connection share its rate by bytes. On
 * virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/defs.h"
#include "peer/streams.h"

#define LINE	  50000000 /* bit/s */
#define BACKLOG	  (128l << 10)
#define SECONDS	  28
#define TICKS	  1000 /* per second */
#define STREAMS	  8
#define SEGMENT	  1448
#define UNLIMITED (1l << 40)

struct flow {
	struct drr_entry turn;
	long rate;		  /* sending rate of the host in bytes per second */
	long waiting;		  /* bytes */
	long credit;		  /* bytes that the receiver accepts */
	long sent, last, silence; /* silence: the longest pause in ticks */
};

struct line {
	struct drr drr;
	struct flow flow[STREAMS];
	unsigned n;
	long backlog;
};

static void serve(struct line *l, long now)
{
	struct drr_entry *t;

	while (l->backlog < BACKLOG && (t = drr_next(&l->drr))) {
		struct flow *f = container_of(t, struct flow, turn);
		long n = min_of(t->deficit, f->credit);

		n = min_of(n, f->waiting);
		f->waiting -= n;
		f->credit -= n;
		f->sent += n;
		l->backlog += n;
		if (n) {
			f->silence = max_of(f->silence, now - f->last);
			f->last = now;
		}
		drr_sent(&l->drr, t, (size_t)n);
	}
}

static void run(struct line *l)
{
	for (long now = 0; now < SECONDS * TICKS; now++) {
		l->backlog -= min_of(l->backlog, (long)LINE / 8 / TICKS);
		for (unsigned i = 0; i < l->n; i++) {
			struct flow *f = &l->flow[i];

			f->waiting += f->rate / TICKS;
			if (f->waiting >= min_of(f->rate, (long)SEGMENT) && f->credit)
				drr_add(&l->drr, &f->turn);
		}
		serve(l, now);
	}
	for (unsigned i = 0; i < l->n; i++)
		l->flow[i].silence = max_of(l->flow[i].silence, SECONDS * TICKS - l->flow[i].last);
}

static void add(struct line *l, long rate)
{
	l->flow[l->n++] = (struct flow){ .rate = rate, .credit = UNLIMITED };
}

/* Jain's index of the first n flows, in thousandths. */
static long jain(const struct line *l, unsigned n)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += (double)l->flow[i].sent;
		squares += (double)l->flow[i].sent * (double)l->flow[i].sent;
	}
	return (long)(1000 * sum * sum / (n * squares));
}

static void bulk_and_steady(void **state)
{
	struct line l = { 0 };

	(void)state;
	/* The rates of the hosts differ by a factor of 20 and exceed the shares. */
	add(&l, 2000000);
	add(&l, 5000000);
	add(&l, 40000000);
	add(&l, 10000000);
	add(&l, 60000);
	add(&l, 60000);
	run(&l);
	assert_true(jain(&l, 4) >= 990);
	for (unsigned i = 0; i < 4; i++)
		assert_true(l.flow[i].silence <= 100);
	for (unsigned i = 4; i < 6; i++) {
		assert_true(l.flow[i].silence <= 100);
		assert_true(l.flow[i].sent >= 60000l * (SECONDS - 1));
	}
}

static void beside_an_unlimited_stream(void **state)
{
	struct line l = { 0 };

	(void)state;
	add(&l, 1000000000);
	for (unsigned i = 1; i < STREAMS; i++)
		add(&l, 60000);
	run(&l);
	for (unsigned i = 1; i < STREAMS; i++) {
		assert_true(l.flow[i].silence <= 100);
		assert_true(l.flow[i].sent >= 60000l * (SECONDS - 1));
	}
	/* The link stays busy. */
	assert_true(l.flow[0].sent >= (long)LINE / 8 * (SECONDS - 3));
}

/* A receiver that does not read gives no credit. The stream leaves the list and delays no other
 * stream. */
static void a_receiver_that_does_not_read(void **state)
{
	struct line l = { 0 };

	(void)state;
	add(&l, 40000000);
	add(&l, 40000000);
	add(&l, 40000000);
	l.flow[0].credit = 1 << 20;
	run(&l);
	assert_int_equal(l.flow[0].sent, 1 << 20);
	assert_false(l.flow[0].turn.is_listed);
	assert_true(l.flow[1].silence <= 100 && l.flow[2].silence <= 100);
	assert_true(l.flow[1].sent + l.flow[2].sent >= (long)LINE / 8 * (SECONDS - 1));
}

static void streams_that_end(void **state)
{
	struct drr ts = { 0 };
	struct drr_entry a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	assert_null(drr_next(&ts));
	drr_add(&ts, &a);
	drr_add(&ts, &b);
	drr_add(&ts, &b);
	drr_remove(&ts, &b);
	drr_add(&ts, &c);
	drr_remove(&ts, &a);
	drr_remove(&ts, &a);
	assert_ptr_equal(drr_next(&ts), &c);
	/* The stream is no longer new, and is empty again. */
	drr_sent(&ts, &c, 0);
	assert_ptr_equal(drr_next(&ts), &c);
	drr_sent(&ts, &c, 0);
	assert_null(drr_next(&ts));
	assert_false(c.is_listed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bulk_and_steady),
		cmocka_unit_test(beside_an_unlimited_stream),
		cmocka_unit_test(a_receiver_that_does_not_read),
		cmocka_unit_test(streams_that_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
