// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/in/hold delivers datagrams of two lines in the order of their counters. Cases: gaps that
 * fill, gaps that stay, the maximum wait, the bounds, and two workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "fwd/in/received_tables.h"

#define WAIT_US 40000
#define BASE	1000u

static struct hold *hold;
static mono_t now;
static uint64_t order[64]; /* delivered counters */
static unsigned n;

static int setup(void **state)
{
	(void)state;
	hold = hold_new();
	now = (mono_t){ NS_PER_S };
	n = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hold_free(hold);
	return 0;
}

static struct hold_datagram datagram(uint64_t counter, uint8_t line, bool marked)
{
	return (struct hold_datagram){ .h = { .source = 7 },
				       .counter = counter,
				       .source = 1,
				       .line = line,
				       .marked = marked,
				       .payload = (const uint8_t *)"bulk",
				       .len = 4 };
}

static void drain(unsigned worker)
{
	const struct hold_datagram *d;

	while ((d = hold_next(hold, worker, now))) {
		assert_memory_equal(d->payload, "bulk", d->len);
		order[n++] = d->counter;
	}
}

static enum hold_verdict take_at(unsigned worker, struct hold_datagram d)
{
	enum hold_verdict v = hold_take(hold, worker, &d, WAIT_US, now);

	if (v != HOLD_KEPT)
		order[n++] = d.counter;
	drain(worker);
	return v;
}

static enum hold_verdict take(uint64_t counter, uint8_t line)
{
	return take_at(0, datagram(counter, line, true));
}

static void end(unsigned worker)
{
	while (!hold_end(hold, worker, now))
		drain(worker);
}

static void expect(const uint64_t *wanted, unsigned n_wanted)
{
	end(0);
	assert_int_equal(n, n_wanted);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(order[i], wanted[i]);
}
#define EXPECT(...)                                                                                \
	expect((const uint64_t[]){ __VA_ARGS__ },                                                  \
	       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void test_order(void **state)
{
	(void)state;
	assert_false(hold_in_use(hold));
	assert_int_equal(take(BASE, 0), HOLD_NOW);
	assert_true(hold_in_use(hold));
	assert_int_equal(take(BASE + 3, 0), HOLD_KEPT);
	assert_int_equal(take(BASE + 4, 0), HOLD_KEPT);
	assert_int_equal(take(BASE + 1, 1), HOLD_NOW);
	assert_int_equal(take(BASE + 2, 1), HOLD_NOW);
	EXPECT(BASE, BASE + 1, BASE + 2, BASE + 3, BASE + 4);
	assert_true(mono_is_never(hold_due(hold)));
}

static void test_datagram_without_mark_fills_a_gap(void **state)
{
	(void)state;
	take(BASE, 0);
	take(BASE + 2, 1);
	assert_int_equal(take_at(0, datagram(BASE + 1, 0, false)), HOLD_NOW);
	EXPECT(BASE, BASE + 1, BASE + 2);
}

static void test_datagram_without_mark_never_waits(void **state)
{
	(void)state;
	take(BASE, 0);
	assert_int_equal(take_at(0, datagram(BASE + 2, 0, false)), HOLD_NOW);
	take(BASE + 1, 1);
	EXPECT(BASE, BASE + 2, BASE + 1);
	assert_int_equal(take(BASE + 3, 0), HOLD_NOW);
}

static enum hold_verdict take_relayed(uint64_t counter)
{
	return take_at(0, datagram(counter, HOLD_RELAYED, false));
}

static void test_relayed_datagram_fills_a_gap(void **state)
{
	(void)state;
	take(BASE, 0);
	take(BASE + 2, 1);
	assert_int_equal(take_relayed(BASE + 1), HOLD_NOW);
	/* Early, late. */
	assert_int_equal(take_relayed(BASE + 4), HOLD_NOW);
	assert_int_equal(take(BASE + 5, 0), HOLD_KEPT);
	assert_int_equal(take(BASE + 3, 1), HOLD_NOW);
	assert_int_equal(take_relayed(BASE + 3), HOLD_LATE);
	EXPECT(BASE, BASE + 1, BASE + 2, BASE + 4, BASE + 3, BASE + 5, BASE + 3);
}

/* A relay may be faster or slower than both lines, so it shows no loss on them. */
static void test_relay_is_no_line(void **state)
{
	(void)state;
	take(BASE, 0);
	take(BASE + 2, 1);
	take_relayed(BASE + 3);
	end(0);
	assert_int_equal(n, 2);
	assert_int_equal(take(BASE + 1, 0), HOLD_NOW);
	EXPECT(BASE, BASE + 3, BASE + 1, BASE + 2);
}

static void test_early_relayed_datagram_gives_nothing_up(void **state)
{
	(void)state;
	take(BASE, 0);
	assert_int_equal(take_relayed(BASE + HOLD_WINDOW + 50), HOLD_NOW);
	assert_int_equal(take(BASE + 2, 1), HOLD_KEPT);
	assert_int_equal(take_relayed(BASE + HOLD_WINDOW + 51), HOLD_NOW);
	assert_int_equal(take(BASE + 1, 0), HOLD_NOW);
	EXPECT(BASE, BASE + HOLD_WINDOW + 50, BASE + HOLD_WINDOW + 51, BASE + 1, BASE + 2);
}

static void test_both_lines_show_a_loss(void **state)
{
	(void)state;
	take(BASE, 0);
	take(BASE + 2, 0);
	assert_int_equal(n, 1);
	take(BASE + 3, 1);
	EXPECT(BASE, BASE + 2, BASE + 3);
	/* The lost one arrives after all. */
	assert_int_equal(take(BASE + 1, 0), HOLD_LATE);
}

static void test_maximum_wait(void **state)
{
	(void)state;
	take(BASE, 0);
	take(BASE + 2, 0);
	end(0);
	assert_int_equal(mono_sub_us(hold_due(hold), now), WAIT_US);
	now = mono_add_us(now, WAIT_US - 1);
	end(0);
	assert_int_equal(n, 1);
	now = mono_add_us(now, 1);
	EXPECT(BASE, BASE + 2);
	assert_true(mono_is_never(hold_due(hold)));
}

static void test_bounds(void **state)
{
	struct hold_datagram large = datagram(BASE + 5, 0, true);

	(void)state;
	take(BASE, 0);
	take(BASE + 2, 0);
	/* Behind the window: delivered at once, and the gap is given up. */
	assert_int_equal(take(BASE + 1 + HOLD_WINDOW, 0), HOLD_LATE);
	EXPECT(BASE, BASE + 1 + HOLD_WINDOW, BASE + 2);
	n = 0;
	large.len = HOLD_BYTES + 1;
	large.payload = calloc(1, large.len);
	assert_int_equal(hold_take(hold, 0, &large, WAIT_US, now), HOLD_FULL);
	free((void *)large.payload);
}

static void test_memory_is_bounded(void **state)
{
	unsigned kept = 0;

	(void)state;
	take(BASE, 0);
	for (unsigned i = 0; i < HOLD_BUFFERS; i++) {
		n = 0;
		kept += take(BASE + 2 + i, 0) == HOLD_KEPT;
	}
	assert_int_equal(kept, HOLD_BUFFERS / 2);
	n = 0;
	assert_int_equal(take(BASE + 2 + HOLD_BUFFERS, 0), HOLD_FULL);
	assert_int_equal(n, 1);
	/* All of them are free again after the gap. */
	now = mono_add_us(now, WAIT_US);
	for (unsigned i = 0; i < kept; i++)
		assert_non_null(hold_next(hold, 0, now));
	assert_null(hold_next(hold, 0, now));
	end(0);
	n = 0;
	assert_int_equal(take(BASE + HOLD_BUFFERS + 20, 0), HOLD_KEPT);
}

static struct hold_datagram of_source(node_id_t id, uint64_t series, uint64_t counter)
{
	struct hold_datagram d = datagram(counter | series << 52, 0, true);

	d.h.source = id;
	return d;
}

/* Number of waiting datagrams of a source that sends as many as possible behind a gap. */
static unsigned fill_buffers(node_id_t id)
{
	unsigned kept = 0;

	take_at(0, of_source(id, 0, BASE));
	for (unsigned i = 0; i < HOLD_BUFFERS; i++) {
		n = 0;
		kept += take_at(0, of_source(id, 0, BASE + 2 + i)) == HOLD_KEPT;
	}
	n = 0;
	return kept;
}

/* Number of streams of a source that opens as many as possible. */
static unsigned fill_streams(node_id_t id)
{
	unsigned opened = 0;

	for (uint64_t series = 0; series < HOLD_STREAMS; series++) {
		n = 0;
		opened += take_at(0, of_source(id, series, BASE)) == HOLD_NOW;
	}
	n = 0;
	return opened;
}

static void test_one_source_leaves_memory_to_others(void **state)
{
	(void)state;
	assert_int_equal(fill_buffers(7), HOLD_BUFFERS / 2);
	assert_int_equal(fill_buffers(8), HOLD_BUFFERS / 4);
	assert_int_equal(fill_buffers(9), HOLD_BUFFERS / 8);
}

static void test_one_source_leaves_streams_to_others(void **state)
{
	(void)state;
	assert_int_equal(fill_streams(7), HOLD_STREAMS / 2);
	assert_int_equal(fill_streams(8), HOLD_STREAMS / 4);
	assert_int_equal(fill_streams(9), HOLD_STREAMS / 8);
	/* A datagram without the mark opens no stream, and is not counted. */
	assert_int_equal(take_at(0, datagram(BASE + (999ULL << 52), 0, false)), HOLD_NOW);
	/* Idle streams are free again. */
	end(0);
	now = mono_add_ms(now, HOLD_IDLE_MS);
	end(0);
	assert_int_equal(fill_streams(8), HOLD_STREAMS / 2);
}

static void test_idle_stream_ends(void **state)
{
	(void)state;
	take(BASE, 0);
	end(0);
	now = mono_add_ms(now, HOLD_IDLE_MS);
	end(0);
	assert_false(hold_in_use(hold));
	n = 0;
	/* The next stream has no gap. */
	assert_int_equal(take(BASE + 100, 0), HOLD_NOW);
	EXPECT(BASE + 100);
}

/* Nobody closes an idle stream while no datagram arrives. */
static void test_first_datagram_after_a_pause_has_no_past(void **state)
{
	(void)state;
	take(BASE + 5000, 0);
	end(0);
	now = mono_add_ms(now, HOLD_IDLE_MS - 1);
	assert_int_equal(take(BASE, 0), HOLD_LATE);
	end(0);
	now = mono_add_ms(now, HOLD_IDLE_MS);
	assert_int_equal(take(BASE, 0), HOLD_NOW);
	assert_int_equal(take(BASE + 1, 1), HOLD_NOW);
	EXPECT(BASE + 5000, BASE, BASE, BASE + 1);
}

static void test_senders_are_apart(void **state)
{
	struct hold_datagram other = datagram(BASE + 9, 0, true);

	(void)state;
	take(BASE, 0);
	take(BASE + 2, 0);
	other.h.source = 8;
	assert_int_equal(take_at(0, other), HOLD_NOW);
	other = datagram(BASE + 9 + (1ULL << 52), 0, true); /* another worker of the sender */
	assert_int_equal(take_at(0, other), HOLD_NOW);
	assert_int_equal(n, 3);
}

static void test_other_worker_waits_for_the_owner(void **state)
{
	(void)state;
	take(BASE, 0);
	/* In order, but worker 0 has not written the one before. */
	assert_int_equal(take_at(1, datagram(BASE + 1, 1, true)), HOLD_KEPT);
	assert_true(hold_end(hold, 1, now));
	assert_int_equal(n, 1);
	assert_false(hold_end(hold, 0, now));
	drain(0);
	EXPECT(BASE, BASE + 1);
	assert_int_equal(take_at(1, datagram(BASE + 2, 1, true)), HOLD_NOW);
}

/* Worker 0 is preempted before hold_end(). */
static void test_owner_that_does_not_run_loses_the_stream(void **state)
{
	(void)state;
	take(BASE, 0);
	assert_int_equal(take_at(1, datagram(BASE + 1, 1, true)), HOLD_KEPT);
	now = mono_add_us(now, WAIT_US);
	assert_int_equal(take_at(1, datagram(BASE + 2, 0, true)), HOLD_KEPT);
	now = mono_add_us(now, 1);
	assert_int_equal(take_at(1, datagram(BASE + 3, 1, true)), HOLD_KEPT);
	assert_int_equal(n, 4);
	/* Worker 0 runs again, and the stream is not its own. */
	drain(0);
	assert_true(hold_end(hold, 0, now));
	assert_int_equal(take_at(1, datagram(BASE + 4, 0, true)), HOLD_NOW);
	EXPECT(BASE, BASE + 1, BASE + 2, BASE + 3, BASE + 4);
}

static void test_stream_of_an_owner_that_does_not_run_needs_no_further_datagram(void **state)
{
	(void)state;
	take(BASE, 0);
	assert_int_equal(take_at(1, datagram(BASE + 1, 1, true)), HOLD_KEPT);
	assert_true(hold_end(hold, 1, now));
	now = hold_due(hold);
	assert_false(mono_is_never(now));
	drain(1);
	EXPECT(BASE, BASE + 1);
	assert_true(hold_end(hold, 1, now));
	assert_true(mono_is_never(hold_due(hold)));
}

/* A long batch of worker 0 has the time of its begin. */
static void test_owner_that_runs_keeps_the_stream(void **state)
{
	mono_t begin = now;

	(void)state;
	take(BASE, 0);
	for (unsigned i = 1; i < 8; i++) {
		now = mono_add_us(begin, i * WAIT_US / 2);
		assert_int_equal(take_at(1, datagram(BASE + i, 1, true)), HOLD_KEPT);
		assert_int_equal(n, i);
		now = begin;
		drain(0);
		assert_int_equal(n, i + 1);
	}
}

/* --- two threads --- */

#define DATAGRAMS 200000u
#define TRAIN	  8

static _Atomic uint64_t delivered, latest, behind;

static void deliver(uint64_t counter)
{
	atomic_fetch_add(&delivered, 1);
	if (counter < atomic_load(&latest))
		atomic_fetch_add(&behind, 1);
	atomic_store(&latest, counter);
}

/* One line: each second train. No time passes. */
static void *carry(void *arg)
{
	unsigned worker = arg ? 1 : 0;
	const struct hold_datagram *d;

	for (uint64_t i = 0; i < DATAGRAMS; i++) {
		struct hold_datagram one = datagram(BASE + i, (uint8_t)worker, true);

		if (i / TRAIN % 2 != worker)
			continue;
		/* A line is at most a part of the buffers ahead. */
		while (i > atomic_load(&delivered) + HOLD_BUFFERS / 4) {
			while ((d = hold_next(hold, worker, now)))
				deliver(d->counter);
			hold_end(hold, worker, now);
		}
		if (hold_take(hold, worker, &one, WAIT_US, now) != HOLD_KEPT)
			deliver(one.counter);
		if (i % TRAIN != TRAIN - 1)
			continue;
		do
			while ((d = hold_next(hold, worker, now)))
				deliver(d->counter);
		while (!hold_end(hold, worker, now));
	}
	return NULL;
}

static void test_two_workers(void **state)
{
	static int second;
	pthread_t thread[2];

	(void)state;
	/* The stream begins with the first datagram. */
	take(BASE - 1, 0);
	end(0);
	pthread_create(&thread[0], NULL, carry, NULL);
	pthread_create(&thread[1], NULL, carry, &second);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(atomic_load(&delivered), DATAGRAMS);
	assert_int_equal(atomic_load(&behind), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_order),
		TEST(test_datagram_without_mark_fills_a_gap),
		TEST(test_datagram_without_mark_never_waits),
		TEST(test_relayed_datagram_fills_a_gap),
		TEST(test_relay_is_no_line),
		TEST(test_early_relayed_datagram_gives_nothing_up),
		TEST(test_both_lines_show_a_loss),
		TEST(test_maximum_wait),
		TEST(test_bounds),
		TEST(test_memory_is_bounded),
		TEST(test_one_source_leaves_memory_to_others),
		TEST(test_one_source_leaves_streams_to_others),
		TEST(test_idle_stream_ends),
		TEST(test_first_datagram_after_a_pause_has_no_past),
		TEST(test_senders_are_apart),
		TEST(test_other_worker_waits_for_the_owner),
		TEST(test_owner_that_does_not_run_loses_the_stream),
		TEST(test_stream_of_an_owner_that_does_not_run_needs_no_further_datagram),
		TEST(test_owner_that_runs_keeps_the_stream),
		TEST(test_two_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
