// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/flow/flow: one node makes an offer, or both do. */
#include "flow_lab.h"

/* The first node that sees data makes the offer: the follower sees data of its host half a round
 * trip earlier. */
static void test_follower_begins(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	offer(&l, &l.follower);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_OFFER);
	assert_int_equal(last_notified(&l.follower)->offer.view.near.seq, 5100);
	deliver(&l, &l.follower);
	/* The leader has all data and need not wait. */
	assert_int_equal(l.leader.flow.state, FLOW_ACCEPTED);
	assert_int_equal(l.leader.n_notified, 1);
	assert_int_equal(l.leader.told[0].type, ACCEL_ACCEPT);
	assert_int_equal(l.leader.told[0].offer.view.near.seq, 1100);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	assert_int_equal(flow_n_held(&l.follower.flow), 1);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_TAKE);
	assert_int_equal(l.follower.n_inside, 1);
	assert_starts(&l.follower, 5100, 1100);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
	assert_true(l.leader.stands && l.follower.stands);
	assert_starts(&l.leader, 1100, 5100);
	end(&l);
}

/* The other node waits for data in flight in both directions, which arrives in frames. */
static void test_data_in_flight_both_ways(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	offer(&l, &l.follower);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1200, 0, 5200, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.leader, &l.follower, 1200, 0, 5200, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5200, 0, 1200, TCP_ACK);
	segment(&l, &l.follower, &l.leader, 5200, 0, 1200, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_ACCEPTED);
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
	assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
	assert_starts(&l.follower, 5200, 1200);
	end(&l);
}

/* An OFFER overtakes the first data of the other host: the leader waits for that data. */
static void test_offered_before_the_first_data(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.leader.flow.far.seen = false;
	l.clock_hz = 1000;
	across(&l, &l.leader, 1100, 0, 5100);
	segment(&l, &l.follower, &l.follower, 5000, 100, 1100, TCP_ACK);
	l.now = mono_add_ms(l.now, 50);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1100, TCP_ACK);
	offer(&l, &l.follower);
	assert_false(flow_can_intercept(&l.leader.flow));
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.follower, &l.leader, 5000, 100, 1100, TCP_ACK);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	l.now = mono_add_ms(l.now, 50);
	segment(&l, &l.follower, &l.leader, 5100, 0, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_ACCEPTED);
	end(&l);
}

/* Both nodes make an offer: the offer of the follower stays, and the leader drops its own. */
static void test_both_begin(void **state)
{
	struct lab l;

	(void)state;
	for (int follower_first = 0; follower_first <= 1; follower_first++) {
		begin(&l);
		segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
		offer(&l, &l.follower);
		offer(&l, &l.leader);
		segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
		assert_int_equal(flow_n_held(&l.leader.flow), 1);
		if (!follower_first)
			deliver(&l, &l.leader);
		deliver(&l, &l.follower);
		assert_int_equal(l.follower.flow.stream, ACCEL_FOLLOWERS + 1);
		assert_int_equal(l.leader.flow.stream, ACCEL_FOLLOWERS + 1);
		assert_int_equal(last_notified(&l.leader)->type, ACCEL_REFUSE);
		assert_int_equal(last_notified(&l.leader)->stream, 7);
		assert_int_equal(flow_n_held(&l.leader.flow), 1);
		segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
		segment(&l, &l.leader, &l.leader, 1200, 0, 5200, TCP_ACK);
		segment(&l, &l.leader, &l.follower, 1100, 0, 5200, TCP_ACK);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
		assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
		assert_starts(&l.follower, 5200, 1100);
		end(&l);
	}
}

/* The leader drops its offer for the offer of the follower, which has given up. No node is
 * bound. */
static void test_both_begin_and_one_gives_up(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	offer(&l, &l.follower);
	flow_cancel(&l.follower.flow, l.now);
	offer(&l, &l.leader);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_false(l.leader.reset || l.follower.reset);
	end(&l);
}

/* An offer does not bind its node: the inter-proxy connection may end, and a host may migrate. */
static void test_an_offer_binds_nobody(void **state)
{
	struct lab l;

	(void)state;
	for (int follows = 0; follows <= 1; follows++) {
		struct side *s = follows ? &l.follower : &l.leader;

		begin(&l);
		offer(&l, s);
		flow_interproxy_gone(&s->flow, l.now);
		assert_int_equal(s->flow.state, FLOW_PLAIN);
		assert_false(s->reset);
		end(&l);

		begin(&l);
		offer(&l, s);
		flow_unseen(&s->flow, l.now);
		assert_int_equal(s->flow.state, FLOW_PLAIN);
		assert_false(s->flow.near.seen);
		end(&l);
	}
}

static void is_refused(struct lab *l, struct side *s, enum accel_refusal reason)
{
	struct accel_frame m = { .type = ACCEL_REFUSE,
				 .stream = s->flow.stream,
				 .refuse = { (uint8_t)reason } };

	assert_true(flow_message(&s->flow, &m, l->now));
	assert_int_equal(s->flow.state, FLOW_PLAIN);
}

static bool waits(const struct lab *l, const struct side *s)
{
	return mono_before(l->now, s->flow.retry.not_before);
}

/* The settings of the other node exclude the connection, or the difference is permanent. Each try
 * would waste the round trip of a drain. */
static void test_excluded(void **state)
{
	static const enum accel_refusal reason[] = { ACCEL_NOT_THIS_ONE, ACCEL_FIN_DIFFERS,
						     ACCEL_OPTIONS_DIFFER };
	struct lab l;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(&l);
		offer(&l, &l.follower);
		is_refused(&l, &l.follower, reason[i]);
		l.now = mono_add_ms(l.now, 59000);
		assert_true(waits(&l, &l.follower));
		l.now = mono_add_ms(l.now, 1000);
		assert_false(waits(&l, &l.follower));
		end(&l);
	}
}

/* The other node has no free place and waits for one. The offering node does not increase its
 * back-off. */
static void test_no_place(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	for (int i = 0; i < 8; i++) {
		offer(&l, &l.leader);
		is_refused(&l, &l.leader, ACCEL_NO_PLACE);
		assert_true(waits(&l, &l.leader));
		l.now = mono_add_ms(l.now, 2000);
		assert_false(waits(&l, &l.leader));
	}
	end(&l);
}

/* A host resets the connection. The other node has committed, or commits with the next message. */
static void test_reset_while_accepted(void **state)
{
	struct lab l;

	(void)state;
	for (int intercepted = 0; intercepted <= 1; intercepted++) {
		begin(&l);
		offer(&l, &l.leader);
		deliver(&l, &l.leader);
		assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
		if (intercepted)
			deliver(&l, &l.follower);
		assert_int_equal(l.leader.flow.state,
				 intercepted ? FLOW_INTERCEPTED : FLOW_OFFERED);
		segment(&l, &l.follower, &l.follower, 5100, 0, 1100, TCP_RST);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_int_equal(l.follower.n_unused, 1);
		deliver_all(&l);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_int_equal(l.leader.flow.state, FLOW_CLOSED);
		assert_true(l.leader.reset);
		end(&l);
	}
}

/* A SYN of the handshake is retransmitted: a round-trip time of one second equals the
 * retransmission timeout of a SYN. */
static void test_syn_again_while_drained(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.follower.flow.far.began = l.follower.flow.near.began = true;
	l.follower.flow.far.start = 1100;
	l.follower.flow.near.start = 5000;
	offer(&l, &l.follower);
	segment(&l, &l.leader, &l.follower, 1099, 0, 0, TCP_SYN);
	segment(&l, &l.follower, &l.follower, 4999, 0, 1000, TCP_SYN | TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_OFFERED);
	assert_int_equal(l.follower.n_notified, 1);
	/* The SYN is forwarded. A SYN of another connection ends this one, with any sequence
	 * number. */
	assert_int_equal(l.follower.far[l.follower.n_far - 1], 5000);
	segment(&l, &l.leader, &l.follower, 99, 0, 0, TCP_SYN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_RESET);
	end(&l);
}

/* leond forwarded a frame without this process after the other node had answered. A host has
 * acknowledged bytes that a proxy socket would wait for. */
static void test_acknowledged_beyond_the_point(void **state)
{
	struct lab l;

	(void)state;
	for (int of_near = 0; of_near < 2; of_near++) {
		begin(&l);
		offer(&l, &l.follower);
		deliver(&l, &l.follower);
		assert_int_equal(l.leader.flow.state, FLOW_ACCEPTED);
		if (of_near)
			segment(&l, &l.follower, &l.follower, 5100, 0, 1150, TCP_ACK);
		else
			segment(&l, &l.leader, &l.follower, 1100, 0, 5150, TCP_ACK);
		deliver(&l, &l.leader);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_int_equal(last_notified(&l.follower)->type, ACCEL_REFUSE);
		assert_int_equal(last_notified(&l.follower)->refuse.reason, ACCEL_NUMBERS_DIFFER);
		deliver(&l, &l.follower);
		assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
		assert_false(l.leader.reset || l.follower.reset);
		end(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follower_begins),
		cmocka_unit_test(test_data_in_flight_both_ways),
		cmocka_unit_test(test_offered_before_the_first_data),
		cmocka_unit_test(test_both_begin),
		cmocka_unit_test(test_both_begin_and_one_gives_up),
		cmocka_unit_test(test_an_offer_binds_nobody),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_reset_while_accepted),
		cmocka_unit_test(test_syn_again_while_drained),
		cmocka_unit_test(test_acknowledged_beyond_the_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
