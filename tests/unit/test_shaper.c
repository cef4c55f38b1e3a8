// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The shaper: the resulting rate for any turns, workers with a common rate, and earlier turns of
 * sparse flows. Also the limits of saved and owed time, no passing time, and the least rate of
 * queued frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fwd/send/send_state.h"

#define KBITS 10000

static mono_t at_us(int64_t us)
{
	return (mono_t){ NS_PER_S + us * NS_PER_US };
}

/* Queued bytes leave. */
static void leave(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now)
{
	shaper_served(s, kbits, bytes, now);
	shaper_pay(s, kbits, bytes, now);
}

/* Sends frames of `len` bytes for ten seconds, with a turn of all workers at once every `every` us.
 * Returns the rate in kbit/s. */
static double rate_at(uint32_t kbits, int64_t every, size_t len, unsigned workers)
{
	struct shaper s = { 0 };
	size_t sent = 0;

	for (int64_t us = 0; us < 10000000; us += every) {
		size_t room = shaper_room(&s, kbits, false, at_us(us)), now = 0;

		while (now < room)
			now += len;
		for (unsigned i = 0; i < workers; i++)
			leave(&s, kbits, now, at_us(us));
		sent += now * workers;
	}
	return (double)sent * 8 / 10000;
}

static double rate_of(int64_t every, size_t len, unsigned workers)
{
	return rate_at(KBITS, every, len, workers);
}

static void rate_is_kept(void **state)
{
	static const int64_t every[] = { 10, 100, 1000, 1900 };

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned workers = 1; workers <= 3; workers++) {
			double kbits = rate_of(every[i], 1500, workers);

			assert_true(kbits <= KBITS * 1.001 + 8 * 1.5 * workers);
			assert_true(kbits >= (i < 3 ? KBITS * 0.99 : KBITS * 0.6));
			assert_true(rate_of(every[i], 60, workers) <= KBITS * 1.001 + 12);
		}
}

/* One frame takes longer than the debt of a fast line. */
static void slow_rate_is_kept(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 5; workers++) {
		double kbits = rate_at(64, 1000, 1500, workers);

		assert_true(kbits <= 64.1 + 1.2 * workers);
		assert_true(kbits >= 64 * 0.98);
	}
}

static void waits_for_the_line(void **state)
{
	struct shaper s = { 0 };

	(void)state;
	/* Before the first frame: the bytes of one millisecond. */
	assert_int_equal(shaper_room(&s, KBITS, false, at_us(0)), 1250);
	/* 12500 bytes take 10 ms, and 4 ms were saved. */
	leave(&s, KBITS, 12500, at_us(0));
	assert_int_equal(shaper_due(&s, false).ns, at_us(6000).ns);
	assert_int_equal(shaper_room(&s, KBITS, false, at_us(5999)), 0);
	assert_int_equal(shaper_room(&s, KBITS, false, at_us(6000)), 1250);
	/* A second call at one time saves nothing more. */
	leave(&s, KBITS, 1250, at_us(6000));
	leave(&s, KBITS, 1250, at_us(6000));
	assert_int_equal(shaper_due(&s, false).ns, at_us(8000).ns);
	/* A sparse flow may send one frame two milliseconds earlier. */
	assert_int_equal(shaper_room(&s, KBITS, true, at_us(5999)), 0);
	assert_int_equal(shaper_room(&s, KBITS, true, at_us(6000)), 1);
	assert_int_equal(shaper_room(&s, KBITS, true, at_us(8000)), 1250);
}

static void debts_are_forgotten(void **state)
{
	struct shaper s = { 0 };

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		leave(&s, KBITS, 65000, at_us(0));
	assert_int_equal(shaper_due(&s, false).ns, at_us(100000).ns);
	/* The slowest and the fastest rate. */
	assert_int_equal(shaper_room(&s, 1, false, at_us(100000)), 1);
	leave(&s, 1, 1500, at_us(100000));
	assert_int_equal(shaper_due(&s, false).ns, at_us(1100000).ns);
	assert_int_equal(shaper_room(&s, UINT32_MAX, false, at_us(1100000)), 536870911);
	leave(&s, UINT32_MAX, 65507, at_us(1100000));
	assert_true(shaper_due(&s, false).ns <= at_us(1100001).ns);
	/* A reload disables the shaper in the middle of a batch. */
	leave(&s, 0, 1500, at_us(1100000));
	leave(&s, 0, 0, at_us(1100000));
}

/* Relayed datagrams at twice the rate for ten seconds. Queued frames get a sixteenth. */
static void other_traffic_leaves_a_part(void **state)
{
	static const uint32_t rates[] = { 2000, KBITS, 200000 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t rate = rates[i];
		struct shaper s = { 0 };
		size_t sent = 0;

		for (int64_t us = 0; us < 10000000; us += 500) {
			size_t room = shaper_room(&s, rate, false, at_us(us)), now = 0;

			shaper_pay(&s, rate, rate / 8, at_us(us));
			while (now < room)
				now += 1000;
			if (now)
				leave(&s, rate, now, at_us(us));
			sent += now;
		}
		assert_in_range(sent, rate * 1250u / 17, rate * 1250u / 15 + 1000);
	}
}

/* Frames of a full queue wait at most for the largest debt. */
static void the_wait_is_bounded(void **state)
{
	struct shaper s = { 0 };

	(void)state;
	for (int64_t ms = 0; ms < 1000; ms++)
		leave(&s, KBITS, 1250, at_us(ms * 1000));
	shaper_pay(&s, KBITS, 125000, at_us(1000000));
	for (int64_t ms = 1000; ms < 1099; ms++) {
		assert_int_equal(shaper_room(&s, KBITS, true, at_us(ms * 1000)), 0);
		shaper_pay(&s, KBITS, 2500, at_us(ms * 1000));
	}
	assert_int_equal(shaper_room(&s, KBITS, false, at_us(1099000)), 1250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_kept),
		cmocka_unit_test(slow_rate_is_kept),
		cmocka_unit_test(waits_for_the_line),
		cmocka_unit_test(debts_are_forgotten),
		cmocka_unit_test(other_traffic_leaves_a_part),
		cmocka_unit_test(the_wait_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
