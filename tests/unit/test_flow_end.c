// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/flow/flow_end: the counters of a host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flow/flow.h"

#define MSS 1000u

/* Forwards `len` bytes from this sequence number. */
static void took(struct flow_end *e, uint32_t seq, uint32_t len, uint16_t gso_size)
{
	struct tcp_view t = { .seq = seq, .payload_len = len, .end = seq + len };

	flow_end_took(e, &t, gso_size);
}

static void new_segments(struct flow_end *e, unsigned n)
{
	while (n--)
		took(e, e->next, MSS, 0);
}

static void test_sent_twice(void **state)
{
	struct flow_end e = { .seen = true };

	(void)state;
	new_segments(&e, 3);
	took(&e, e.next, 5 * MSS, MSS);
	assert_int_equal(e.segments, 8);
	assert_int_equal(e.again, 0);
	took(&e, e.next - MSS, MSS, 0);
	assert_int_equal(e.again, 1);
	/* At most the number of its segments. */
	took(&e, e.next - 5 * MSS, 4 * MSS + 1, MSS);
	assert_int_equal(e.again, 6);
	/* Acknowledgements and keepalives do not count. */
	took(&e, e.next, 0, 0);
	took(&e, e.next - 1, 0, 0);
	took(&e, e.next - 1, 1, 0);
	assert_int_equal(e.again, 6);
	assert_int_equal(e.segments, 8);
}

/* A path that becomes worse or better is detected, independent of its past. */
static void test_lately(void **state)
{
	struct flow_end e = { .seen = true };

	(void)state;
	new_segments(&e, 100000);
	assert_int_equal(e.segments, 100000);
	assert_in_range(e.recent, 512, 1023);
	for (unsigned i = 0; i < 50; i++) {
		new_segments(&e, 10);
		took(&e, e.next - MSS, MSS, 0);
	}
	assert_true(e.again * 32 > e.recent);
	new_segments(&e, 10000);
	assert_int_equal(e.again, 0);
}

static uint8_t scale_of(uint16_t widest, uint8_t seen)
{
	struct flow_end e = { .widest = widest, .scale_seen = seen };

	return flow_end_scale(&e);
}

/* Without the SYN, the widest window of the host counts as at most 64 KiB. */
static void test_scale_without_syn(void **state)
{
	(void)state;
	assert_int_equal(scale_of(63, 0), 10);
	assert_int_equal(scale_of(502, 0), 7);
	assert_int_equal(scale_of(64240, 0), 0);
	assert_int_equal(scale_of(1, 0), TCP_SCALE_MAX);
	assert_int_equal(scale_of(0, 0), 0); /* no window was seen */
	/* Bytes in flight prove a larger one. */
	assert_int_equal(scale_of(502, 9), 9);
}

/* After a long silence, no order of two timestamps is known. */
static void test_clock_after_silence(void **state)
{
	struct flow_end e = { 0 };
	struct tcp_view t = { .has_ts = true, .ts_val = 1000 };
	mono_t now = { NS_PER_S };

	(void)state;
	flow_end_receive(&e, &t, now);
	t.ts_val = 900;
	now = mono_add_ms(now, 60000);
	flow_end_receive(&e, &t, now);
	assert_int_equal(e.ts_val, 1000);
	now = mono_add_ms(now, 25LL * 86400000);
	t.ts_val = 1000 + 25u * 86400000;
	flow_end_receive(&e, &t, now);
	assert_int_equal(e.ts_val, t.ts_val);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent_twice),
		cmocka_unit_test(test_lately),
		cmocka_unit_test(test_scale_without_syn),
		cmocka_unit_test(test_clock_after_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
