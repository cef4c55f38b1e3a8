// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sealed datagrams that are sent again after the pair of lines in use failed: which, once, in
 * order, within the limits of the ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fwd_one.h"
#include "sealed_one.h"

#define BODY 100

static uint8_t out[2048];
static bool has_lines;
static uint32_t failures;
static uint16_t mtu;
static mono_t failed;

static void configure(struct snap *s)
{
	sealed_keys(s);
	s->failures = failures;
	s->node[1].has_lines = has_lines;
	s->node[1].failures = failures;
	s->node[1].failed = failed;
	s->node[1].link_mtu = mtu;
}

static int setup(void **state)
{
	(void)state;
	if (!sealed_open())
		return -1;
	has_lines = true;
	failures = 0;
	failed = MONO_NEVER;
	mtu = FX_MTU;
	fx_publish(&fx, configure);
	return 0;
}

static void sends(uint8_t dst, size_t len)
{
	memset(out, 0, TAP_VNET_LEN);
	fx_eth(out + TAP_VNET_LEN, dst, HOST, ETHERTYPE_TEST);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

/* The next datagram at slot 1 was sealed with this counter of worker 0. */
static bool arrives(uint64_t counter)
{
	struct datagram d;

	return fx_node_gets(&fx, 1, &d) && (get_u64(d.b + d.hdr_len) & SEAL_COUNTER_MAX) == counter;
}

static bool nothing_arrives(void)
{
	struct datagram d;

	return !fx_node_gets(&fx, 1, &d);
}

static void look(void)
{
	worker_begin(fx.w);
	resend_look(fx.w);
	worker_end(fx.w);
}

/* The pair fails; data after `since` may be lost. */
static void fails(mono_t since)
{
	failures++;
	failed = since;
	fx_publish(&fx, configure);
	look();
}

static mono_t before_now(int64_t ms)
{
	worker_begin(fx.w);
	worker_end(fx.w);
	return mono_add_ms(fx.w->now, -ms);
}

static void lost_datagrams_are_sent_again_once(void **state)
{
	mono_t since;

	(void)state;
	sends(REMOTE, BODY);
	assert_true(arrives(1));
	since = mono_add_ns(before_now(0), 1);
	sends(REMOTE, BODY);
	sends(FAR, BODY); /* another key: its counter is 1 */
	sends(REMOTE, BODY + 1);
	assert_true(arrives(2) && arrives(1) && arrives(3));
	look();
	assert_true(nothing_arrives());
	fails(since);
	assert_true(arrives(2) && arrives(1) && arrives(3));
	assert_true(nothing_arrives());
	assert_int_equal(fx_count(&fx, CNT_resent_tx), 3);
	/* The counter of traffic contains each datagram once. */
	assert_int_equal(atomic_load(&fx.w->traffic[1].link_tx), 4);
	look();
	assert_true(nothing_arrives());
	/* The other pair fails too. */
	fails(since);
	assert_true(arrives(2) && arrives(1) && arrives(3));
	/* The node left and joined: it has no failure yet. */
	failures = 0;
	fx_publish(&fx, configure);
	look();
	assert_true(nothing_arrives());
}

static void a_node_with_one_pair_costs_nothing(void **state)
{
	(void)state;
	has_lines = false;
	fx_publish(&fx, configure);
	sends(REMOTE, BODY);
	assert_true(arrives(1));
	assert_false(resend_waits(&fx.w->resend));
}

static void a_datagram_above_the_new_mtu_stays(void **state)
{
	(void)state;
	sends(REMOTE, 1000);
	sends(REMOTE, BODY);
	assert_true(arrives(1) && arrives(2));
	mtu = 600;
	fails(before_now(1000));
	assert_true(arrives(2));
	assert_true(nothing_arrives());
}

static void old_datagrams_are_forgotten(void **state)
{
	(void)state;
	sends(REMOTE, BODY);
	assert_true(arrives(1));
	worker_begin(fx.w);
	fx.w->now = mono_add_ms(fx.w->now, RESEND_MS + 1);
	resend_look(fx.w);
	worker_end(fx.w);
	assert_false(resend_waits(&fx.w->resend));
}

/* Fills the ring several times: the newest datagrams remain, whole and in order. */
static void the_ring_keeps_the_newest(void **state)
{
	const unsigned n = 5 * RESEND_BYTES / 1100;
	struct datagram d;
	uint64_t first = 0, count = 0;

	(void)state;
	for (unsigned i = 1; i <= n; i++) {
		sends(REMOTE, 1000 + i % 200);
		assert_true(arrives(i));
	}
	failures = 1;
	failed = before_now(60000);
	fx_publish(&fx, configure);
	/* The socket of the test holds fewer datagrams than the ring. */
	for (struct resend *r = &fx.w->resend; r->next - r->first > 64;)
		r->first++;
	first = n - 63;
	look();
	while (fx_node_gets(&fx, 1, &d)) {
		uint8_t aad[LEON_HDR_LEN_MAX], *payload = d.b + d.hdr_len;

		assert_int_equal(get_u64(payload) & SEAL_COUNTER_MAX, first + count);
		assert_int_equal(seal_open(seal[1], 0, aad, leon_sealed_header(d.b, 1, aad),
					   payload, d.len - d.hdr_len),
				 1000 + (first + count) % 200);
		count++;
	}
	assert_int_equal(count, 64);
}

static void the_ring_is_full_of_datagrams(void **state)
{
	const struct resend *r = &fx.w->resend;
	uint64_t bytes = 0;

	(void)state;
	for (unsigned i = 1; i <= RESEND_ENTRIES + 100; i++) {
		sends(REMOTE, BODY);
		assert_true(arrives(i));
	}
	assert_int_equal(r->next - r->first, RESEND_ENTRIES);
	for (unsigned i = 1; i <= 2 * RESEND_BYTES / 1000; i++) {
		sends(REMOTE, 1000);
		assert_true(arrives(RESEND_ENTRIES + 100 + i));
	}
	for (uint32_t i = r->first; i != r->next; i++)
		bytes += r->entry[i % RESEND_ENTRIES].len;
	assert_in_range(bytes, RESEND_BYTES - 3000, RESEND_BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, sealed_teardown)
	const struct CMUnitTest tests[] = {
		TEST(lost_datagrams_are_sent_again_once), TEST(a_node_with_one_pair_costs_nothing),
		TEST(a_datagram_above_the_new_mtu_stays), TEST(old_datagrams_are_forgotten),
		TEST(the_ring_keeps_the_newest),	  TEST(the_ring_is_full_of_datagrams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
