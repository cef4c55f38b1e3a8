// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/in/copies accepts each of a million frames once, although two copies arrive late and out of
 * order. The counter of the sender wraps and may restart at any value. Two threads process the two
 * copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/defs.h"
#include "fwd/in/received_tables.h"
#include "fwd/send/send_state.h"
#include "random.h"

#define FRAMES 1000000u
#define SLOTS  3

static struct copies *copies;

static int setup(void **state)
{
	(void)state;
	copies = copies_new(SLOTS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	copies_free(copies);
	return 0;
}

static uint64_t lost;

static enum copy_verdict take(uint16_t slot, uint8_t worker, uint64_t counter)
{
	struct copy_hdr h = { worker, counter & COPY_COUNTER_MASK, 1 };
	unsigned lost_one;
	enum copy_verdict v = copies_take(copies, slot, &h, &lost_one);

	lost += lost_one;
	return v;
}

/* Returns the delivery order of one path: shuffled blocks of `distance` frames. */
static uint32_t *shuffled(uint32_t distance)
{
	uint32_t *order = malloc(FRAMES * sizeof(*order));

	for (uint32_t i = 0; i < FRAMES; i++)
		order[i] = i;
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t end = (i / distance + 1) * distance;
		uint32_t j = i + random_below((end < FRAMES ? end : FRAMES) - i), k = order[i];

		order[i] = order[j];
		order[j] = k;
	}
	return order;
}

/* The other path is `late` frames behind. */
static void million(uint64_t start, uint32_t late)
{
	uint32_t *one = shuffled(500), *other = shuffled(1000), n[4] = { 0 };
	uint8_t *taken = calloc(FRAMES, 1);

	for (uint32_t i = 0; i < FRAMES + late; i++) {
		const uint32_t now[] = { i < FRAMES ? one[i] : FRAMES,
					 i >= late ? other[i - late] : FRAMES };

		for (unsigned k = 0; k < 2; k++) {
			enum copy_verdict v;

			if (now[k] == FRAMES)
				continue;
			v = take(1, 2, start + now[k]);
			taken[now[k]] += v == COPY_FIRST;
			n[v]++;
		}
	}
	assert_int_equal(n[COPY_FIRST], FRAMES);
	assert_int_equal(n[COPY_SECOND], FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++)
		assert_int_equal(taken[i], 1);
	free(one);
	free(other);
	free(taken);
}

static void test_million(void **state)
{
	(void)state;
	million(0, 0);
	million(5 * FRAMES, 5000);
	/* The delay is almost as long as the window. */
	million(1ULL << 50, COPIES_WINDOW - 3000);
}

static void test_wrap(void **state)
{
	(void)state;
	/* The counter wraps, and then the 32 bits of the window number. */
	million(COPY_COUNTER_MASK - FRAMES / 2, 5000);
	copies_forget(copies, 1);
	million((1ULL << 46) - FRAMES / 2, 5000);
}

static void test_too_late(void **state)
{
	(void)state;
	assert_int_equal(take(1, 0, 1000000), COPY_FIRST);
	assert_int_equal(take(1, 0, 1000000 + COPIES_WINDOW), COPY_FIRST);
	assert_int_equal(take(1, 0, 1000000), COPY_SECOND);
	assert_int_equal(take(1, 0, 1000000 + COPIES_WINDOW + 16), COPY_FIRST);
	assert_int_equal(take(1, 0, 1000000), COPY_OLD);
}

static void test_others_do_not_matter(void **state)
{
	(void)state;
	for (uint16_t slot = 0; slot < SLOTS; slot++)
		for (uint8_t worker = 0; worker < COPY_WORKERS_MAX; worker++)
			assert_int_equal(take(slot, worker, 77), COPY_FIRST);
	assert_int_equal(take(0, 0, 77), COPY_SECOND);
	copies_forget(copies, 0);
	assert_int_equal(take(0, 0, 77), COPY_FIRST);
	assert_int_equal(take(1, 0, 77), COPY_SECOND);
}

/* A sender that restarts takes the time of day in microseconds as its counter. A clock set back
 * makes it much smaller. No frame of the new run may be lost. */
static void test_restart(void **state)
{
	uint64_t day = 86400ULL * 1000000, now = 20000 * day;
	uint64_t start[] = { now, now + day, now - day, now + 10, now - 40 * day, now + 900 * day };

	(void)state;
	for (size_t run = 0; run < array_size(start); run++)
		for (uint32_t i = 0; i < 100000; i++) {
			/* now + 10: the frames of the previous run are far above. */
			assert_int_equal(take(2, 7, start[run] + i), COPY_FIRST);
			assert_int_equal(take(2, 7, start[run] + i), COPY_SECOND);
		}
}

static void test_lost_one(void **state)
{
	uint64_t first = 0;

	(void)state;
	lost = 0;
	for (uint32_t i = 0; i < FRAMES; i++) {
		first += take(0, 3, i) == COPY_FIRST;
		if (i % 20)
			take(0, 3, i);
	}
	assert_int_equal(first, FRAMES);
	/* One frame of 20 has one copy only. Frames in the open window are not counted. */
	assert_in_range(lost, (FRAMES - COPIES_WINDOW - 32) / 20, FRAMES / 20);
}

/* --- two workers --- */

static _Atomic uint32_t taken_by_both;

static void *path(void *arg)
{
	uint32_t *order = arg, mine = 0;

	for (uint32_t i = 0; i < FRAMES; i++) {
		struct copy_hdr h = { 0, order[i], 1 };
		unsigned lost_one;

		mine += copies_take(copies, 1, &h, &lost_one) == COPY_FIRST;
	}
	taken_by_both += mine;
	return NULL;
}

static void test_two_workers(void **state)
{
	uint32_t *one = shuffled(500), *other = shuffled(500);
	pthread_t t;

	(void)state;
	taken_by_both = 0;
	assert_int_equal(pthread_create(&t, NULL, path, one), 0);
	path(other);
	pthread_join(t, NULL);
	/* A path may fall behind by more than the window. A frame of that path alone is then lost,
	 * but no frame is accepted twice. */
	assert_true(taken_by_both <= FRAMES);
	assert_true(taken_by_both >= FRAMES - FRAMES / 100);
	free(one);
	free(other);
}

/* --- the budget of two workers --- */

#define KBITS  8000
#define FRAME  200
#define TRIES  400000u
#define PER_NS 10000 /* one frame per worker every 10 us: 40 times the budget */

static struct budget budget;

static void *spend(void *arg)
{
	uint64_t *bytes = arg;

	for (uint32_t i = 0; i < TRIES; i++) {
		mono_t now = { NS_PER_S + (int64_t)i * PER_NS };

		*bytes += budget_take(&budget, KBITS, FRAME, now) ? FRAME : 0;
	}
	return NULL;
}

/* Two workers share one budget. */
static void test_one_budget(void **state)
{
	uint64_t here = 0, there = 0, allowed = KBITS / 8 * (TRIES / (1000000 / PER_NS));
	pthread_t t;

	(void)state;
	atomic_store(&budget.paid_ns, 0);
	assert_int_equal(pthread_create(&t, NULL, spend, &there), 0);
	spend(&here);
	pthread_join(t, NULL);
	/* The budget of 4 s plus a saved quarter of a second. The time of one worker may lag, and
	 * must not refill the budget. */
	assert_in_range(here + there, allowed, allowed + KBITS * 1000 / 8 / 4 + FRAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_million, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_do_not_matter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_workers, setup, teardown),
		cmocka_unit_test(test_one_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
