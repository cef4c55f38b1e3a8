// SPDX-License-Identifier: GPL-2.0-or-later
/* Own load: the part of a link's delay that is an own queue, on a simulated bottleneck link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "line.h"
#include "state/latency/latdb.h"

/* A measured link, and the extremes of its metric since the start of run(). */
struct link {
	struct line line;
	struct link_load load;
	struct link_filter filter;
	int64_t least, most;
};

static struct link slow_line(void)
{
	struct link k = { .line = { .kbits = 10000,
				    .buffer_ms = 200,
				    .base_ms = 20,
				    .jitter_ms = 1,
				    .tcp.streams = 4,
				    .tcp_others.streams = 4 } };

	link_load_reset(&k.load);
	link_filter_reset(&k.filter, 600);
	return k;
}

static void run(struct link *k, int64_t ms)
{
	struct load_sample s;

	k->least = INT64_MAX;
	k->most = 0;
	for (int64_t end = k->line.ms + ms; k->line.ms < end;) {
		line_step(&k->line);
		while (line_answer(&k->line, &s)) {
			k->filter.load_us = link_load_note(&k->load, &s, line_now(&k->line));
			link_filter_answer(&k->filter, s.rtt_us, line_now(&k->line));
			k->least = min_of(k->least, k->filter.now_us);
			k->most = max_of(k->most, k->filter.now_us);
		}
	}
}

/* The link is idle, and then own bulk traffic or an own stream begins. */
static struct link busy_line(double kbits, unsigned streams, double wants_kbits)
{
	struct link k = slow_line();

	k.line.kbits = kbits;
	k.line.tcp.streams = streams;
	run(&k, 20000);
	k.line.wants_kbits = wants_kbits;
	return k;
}

/* Own bulk traffic has filled the link for some time. */
static struct link full_line(double kbits)
{
	struct link k = busy_line(kbits, 4, 1e6);

	run(&k, 20000);
	return k;
}

/* Own bulk traffic fills the link for ten minutes, and the metric stays at the value of the idle
 * link. */
static void own_load_is_taken_off(void **state)
{
	struct link k = slow_line();

	(void)state;
	run(&k, 20000);
	assert_in_range(k.most, 20000, 23000);
	k.line.wants_kbits = 1e6;
	run(&k, 600000);
	assert_in_range(k.least, 18000, 23000);
	assert_in_range(k.most, 20000, 26000);
	/* The queue existed and was measured. */
	assert_in_range(k.load.load_us, 50000, 220000);
	assert_in_range(k.load.delivered_kbits, 9000, 11000);
	assert_true(k.filter.srtt_us > 80000);
	k.line.wants_kbits = 0;
	run(&k, 5000);
	assert_in_range(k.most, 18000, 26000);
	assert_int_equal(k.load.load_us, 0);
}

/* Load of the other end is subtracted too. */
static void load_of_the_other_end_too(void **state)
{
	struct link k = slow_line();

	(void)state;
	run(&k, 20000);
	k.line.back_kbits = 10000;
	for (int i = 0; i < 600; i++) {
		k.line.back_ms = 150 + i % 50;
		run(&k, 100);
		if (k.most)
			assert_in_range(k.most, 18000, 27000);
	}
	assert_in_range(k.load.load_us, 140000, 210000);
}

/* A queue of others justifies another path, even if this node also sends a little. */
static void load_of_others_counts(void **state)
{
	struct link k = slow_line();

	(void)state;
	run(&k, 20000);
	k.line.wants_kbits = 9000;
	run(&k, 5000);
	k.line.wants_kbits = 100;
	run(&k, 5000);
	k.line.others_kbits = 12000;
	run(&k, 10000);
	assert_in_range(k.filter.now_us, 150000, 260000);
	assert_int_equal(k.load.load_us, 0);
}

/* This node sends a steady stream of less than half of the link rate. Additional bulk traffic of
 * others justifies another path. */
static void load_of_others_beside_a_stream(void **state)
{
	static const double kbits[] = { 200, 1000, 3000, 4500 };

	(void)state;
	for (unsigned i = 0; i < array_size(kbits); i++) {
		struct link k = full_line(10000);

		k.line.wants_kbits = kbits[i];
		run(&k, 20000);
		assert_in_range(k.most, 18000, 26000);
		k.line.others_kbits = 1e6;
		run(&k, 5000);
		run(&k, 20000);
		assert_true(k.least > 80000);
		assert_int_equal(k.load.load_us, 0);
	}
}

/* Own bulk traffic ends while others fill the link and an own stream continues. */
static void load_of_others_when_ours_ends(void **state)
{
	struct link k = full_line(10000);

	(void)state;
	k.line.others_kbits = 1e6;
	run(&k, 60000);
	k.line.wants_kbits = 200;
	run(&k, 5000);
	run(&k, 20000);
	assert_true(k.least > 80000);
	assert_int_equal(k.load.load_us, 0);
}

/* The link rate falls to a fifth or a tenth during or before own bulk traffic. */
static void own_load_of_a_line_that_falls(void **state)
{
	static const double kbits[] = { 50000, 100000 };

	(void)state;
	for (unsigned i = 0; i < array_size(kbits) * 2; i++) {
		struct link k = full_line(kbits[i / 2]);

		if (i % 2) {
			k.line.wants_kbits = 0;
			run(&k, 15000);
			k.line.wants_kbits = 1e6;
		}
		k.line.kbits = 10000;
		run(&k, 2000);
		for (unsigned minute = 0; minute < 3; minute++) {
			run(&k, 60000);
			assert_in_range(k.least, 18000, 23000);
			assert_in_range(k.most, 20000, 30000);
		}
	}
}

/* The propagation delay grows while own traffic does not fill the link. The growth is not load. */
static void a_longer_way_beside_own_traffic(void **state)
{
	static const struct {
		double kbits, wants_kbits;
		unsigned streams; /* 0: a sender without congestion control */
	} traffic[] = { { 100000, 40000, 1 }, { 100000, 80000, 16 }, { 1000000, 40000, 4 },
			{ 100000, 40000, 0 }, { 20000, 12000, 4 },   { 100000, 95000, 0 } };
	static const uint32_t longer_ms[] = { 10, 60, 180 };

	(void)state;
	for (unsigned i = 0; i < array_size(traffic) * array_size(longer_ms); i++) {
		struct link k = busy_line(traffic[i / 3].kbits, traffic[i / 3].streams,
					  traffic[i / 3].wants_kbits);
		uint32_t persistent_us = longer_ms[i % 3] * 1000;

		run(&k, 20000);
		k.line.longer_ms = longer_ms[i % 3];
		run(&k, 5000);
		run(&k, 60000);
		assert_in_range(k.least, 20000 + persistent_us - 5000,
				20000 + persistent_us + 1000);
		assert_in_range(k.most, 20000 + persistent_us - 2000, 20000 + persistent_us + 2000);
		k.line.longer_ms = 0;
		run(&k, 20000);
		assert_in_range(k.filter.now_us, 20000, 24000);
	}
}

/* The propagation delay grows before bulk traffic, which begins in bursts and fills the link. The
 * load is subtracted as usual, and the propagation delay is not subtracted twice. */
static void own_load_on_a_way_that_got_longer(void **state)
{
	static const struct {
		double kbits, part_kbits;
		unsigned streams;
	} bulk[] = { { 10000, 100, 1 },	  { 10000, 8000, 16 },	{ 50000, 20000, 1 },
		     { 50000, 40000, 4 }, { 50000, 40000, 16 }, { 50000, 40000, 0 } };

	(void)state;
	for (unsigned i = 0; i < array_size(bulk); i++) {
		struct link k = busy_line(bulk[i].kbits, bulk[i].streams, 100);

		k.line.longer_ms = 60;
		run(&k, 60000);
		for (unsigned j = 0; j < 20; j++) {
			k.line.wants_kbits = j % 2 ? 100 : bulk[i].part_kbits;
			run(&k, 300);
		}
		k.line.tcp.streams = 4;
		k.line.wants_kbits = 1e6;
		run(&k, 60000);
		assert_in_range(k.least, 77000, 83000);
		assert_in_range(k.most, 78000, 86000);
		assert_in_range(k.load.load_us, 50000, 220000);
	}
}

/* The propagation delay grows and returns again and again. */
static void own_load_on_a_way_that_flaps(void **state)
{
	struct link k = busy_line(50000, 4, 20000);

	(void)state;
	run(&k, 20000);
	for (unsigned j = 0; j < 40; j++) {
		k.line.longer_ms = j % 2 ? 0 : 60;
		run(&k, 3000);
	}
	run(&k, 20000);
	k.line.wants_kbits = 1e6;
	run(&k, 60000);
	assert_in_range(k.most, 19000, 26000);
}

/* The propagation delay of this link grew by 60 ms a long time ago, and the new value is known. */
static struct link longer_line(void)
{
	struct link k = busy_line(10000, 4, 200);

	k.line.longer_ms = 60;
	run(&k, 30000);
	assert_in_range(k.load.propagation_us, 57000, 61000);
	assert_int_equal(link_load_standing(&k.load), 0);
	return k;
}

/* Own bulk traffic does not change the known propagation delay, unless a shorter delay is
 * measured. */
static void a_standing_way_beside_own_load(void **state)
{
	struct link k = longer_line();

	(void)state;
	k.line.wants_kbits = 1e6;
	run(&k, 60000);
	assert_true(k.load.forward.ours);
	assert_in_range(k.load.propagation_us, 55000, 61000);
	assert_true(k.load.standing_us > 80000);
	assert_in_range(link_load_standing(&k.load), k.load.standing_us - 61000,
			k.load.standing_us - 55000);
	k.line.longer_ms = 0;
	k.line.buffer_ms = 30;
	run(&k, 10000);
	assert_true(k.load.forward.ours);
	assert_true(k.load.propagation_us <= 31000);
	k.line.wants_kbits = 200;
	run(&k, 20000);
	assert_in_range(k.load.propagation_us, 0, 1000);
}

/* A download does not change the known propagation delay. */
static void a_standing_way_beside_a_download(void **state)
{
	struct link k = longer_line();

	(void)state;
	k.line.back_kbits = 10000;
	for (int i = 0; i < 300; i++) {
		k.line.back_ms = 50 + i % 50;
		run(&k, 100);
		assert_in_range(k.load.propagation_us, 55000, 61000);
	}
	assert_true(k.load.reverse.ours);
	assert_false(k.load.forward.ours);
}

/* An own queue on another link is not propagation delay of this link, and the known value stays. */
static void a_standing_way_beside_load_of_the_site(void **state)
{
	static const uint32_t site_us[] = { 60000, 100000 };

	(void)state;
	for (unsigned i = 0; i < 2 * array_size(site_us); i++) {
		struct link k = i % 2 ? longer_line() : busy_line(10000, 4, 200);
		struct load_sample s;

		k.line.longer_ms += 60;
		for (int ms = 0; ms < 30000; ms++) {
			line_step(&k.line);
			while (line_answer(&k.line, &s)) {
				s.site_forward_us = site_us[i / 2];
				link_load_note(&k.load, &s, line_now(&k.line));
			}
		}
		if (i % 2)
			assert_in_range(k.load.propagation_us, 55000, 61000);
		else
			assert_in_range(k.load.propagation_us, 0, 1000);
	}
}

/* Bulk traffic fills the link with pauses, at any times. */
static void own_load_with_pauses(void **state)
{
	static const double kbits[] = { 2000, 10000, 50000, 200000 };
	static const unsigned streams[] = { 1, 4, 16 };

	(void)state;
	for (unsigned i = 0; i < array_size(kbits) * 6; i++) {
		struct link k = busy_line(kbits[i / 6], streams[i % 3], 0);
		bool seen = false;

		k.line.base_ms = i % 6 < 3 ? 20 : 80;
		for (unsigned j = 0; j < 300; j++) {
			k.line.wants_kbits = 1e6;
			run(&k, 300 + j % 50 * 40);
			assert_true(k.most < (k.line.base_ms + 10) * 1000);
			seen |= k.load.load_us > 100000;
			k.line.wants_kbits = kbits[i / 6] / 4;
			run(&k, 100 + j % 3 * 300);
			assert_true(k.most < (k.line.base_ms + 10) * 1000);
		}
		assert_true(seen);
	}
}

/* The link rate changes five times per second, as on a wireless link. */
static void own_load_of_an_uneven_line(void **state)
{
	static const double kbits[] = { 10000, 50000 };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct link k = busy_line(kbits[i / 4], i % 2 ? 1 : 4, 1e6);

		k.line.base_ms = i % 4 < 2 ? 20 : 80;
		for (unsigned j = 0; j < 3000; j++) {
			k.line.kbits = kbits[i / 4] * (.5 + line_random(&k.line));
			run(&k, 200);
			assert_true(k.most < (k.line.base_ms + 15) * 1000);
		}
	}
}

/* An own queue on another link of the site explains an equal delay here, and no more. */
static void queue_of_the_site(void **state)
{
	struct link k = slow_line();
	struct load_sample s;

	(void)state;
	run(&k, 20000);
	k.line.others_kbits = 12000;
	for (int i = 0; i < 5000; i++) {
		line_step(&k.line);
		while (line_answer(&k.line, &s)) {
			s.site_forward_us = 60000;
			link_load_note(&k.load, &s, line_now(&k.line));
		}
	}
	assert_in_range(k.load.load_us, 59000, 60000);
}

/* No sample yet, several at one time, counters of another run, and a clock that jumped. */
static void odd_samples(void **state)
{
	struct load_sample s = { .rtt_us = 20000, .forward_us = 5, .reverse_us = 19995 };
	struct link_load l;
	mono_t t = { NS_PER_S };

	(void)state;
	link_load_reset(&l);
	for (int i = 0; i < 5; i++)
		assert_int_equal(link_load_note(&l, &s, t), 0);
	assert_int_equal(l.delivered_kbits, 0);
	s.tx_datagrams = 1000;
	s.tx_bytes = 1000000;
	s.counted_us = 100000;
	assert_int_equal(link_load_note(&l, &s, mono_add_ms(t, 100)), 0);
	s.epoch = 7;
	s.delivered = 3000000000u;
	assert_int_equal(link_load_note(&l, &s, mono_add_ms(t, 200)), 0);
	assert_int_equal(l.epoch, 7);
	assert_int_equal(l.delivered_kbits, 0);
	s.forward_us = 2000000000u;
	assert_int_equal(link_load_note(&l, &s, mono_add_ms(t, 300)), 0);
	assert_int_equal(l.queue_us, 0);
}

/* `datagrams` of 1,000 bytes in `us`, then an answer. */
static void carry(struct link_load *l, struct load_sample *s, mono_t *now, int64_t us,
		  uint32_t datagrams)
{
	*now = mono_add_us(*now, us);
	s->counted_us += (uint32_t)us;
	s->delivered += datagrams;
	s->tx_datagrams += datagrams;
	s->tx_bytes += datagrams * UINT64_C(1000);
	link_load_note(l, s, *now);
}

/* The clock of the peer is known modulo 72 minutes. */
static void rate_after_a_long_silence(void **state)
{
	static const int64_t silence_s[] = { 500, 1500, 2400, 4000, 4290, 4300, 7000 };

	(void)state;
	for (unsigned i = 0; i < array_size(silence_s); i++) {
		struct load_sample s = { .rtt_us = 20000, .forward_us = 5, .reverse_us = 19995 };
		struct link_load l;
		mono_t now = { NS_PER_S };

		link_load_reset(&l);
		for (unsigned k = 0; k < 30; k++)
			carry(&l, &s, &now, 100000, 100);
		assert_in_range(l.delivered_kbits, 7900, 8100);
		carry(&l, &s, &now, silence_s[i] * 1000000, 500);
		for (unsigned k = 0; k < 30; k++) {
			carry(&l, &s, &now, 100000, 300);
			assert_in_range(l.delivered_kbits, 0, 24100);
		}
		assert_in_range(l.delivered_kbits, 23900, 24100);
		assert_in_range(l.latest_kbits, 23900, 24100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_load_is_taken_off),
		cmocka_unit_test(load_of_the_other_end_too),
		cmocka_unit_test(load_of_others_counts),
		cmocka_unit_test(load_of_others_beside_a_stream),
		cmocka_unit_test(load_of_others_when_ours_ends),
		cmocka_unit_test(own_load_of_a_line_that_falls),
		cmocka_unit_test(a_longer_way_beside_own_traffic),
		cmocka_unit_test(own_load_on_a_way_that_got_longer),
		cmocka_unit_test(own_load_on_a_way_that_flaps),
		cmocka_unit_test(a_standing_way_beside_own_load),
		cmocka_unit_test(a_standing_way_beside_a_download),
		cmocka_unit_test(a_standing_way_beside_load_of_the_site),
		cmocka_unit_test(own_load_with_pauses),
		cmocka_unit_test(own_load_of_an_uneven_line),
		cmocka_unit_test(queue_of_the_site),
		cmocka_unit_test(odd_samples),
		cmocka_unit_test(rate_after_a_long_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
