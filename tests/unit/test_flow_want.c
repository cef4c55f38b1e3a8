// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/flow: the follower begins. */
#include "flow_lab.h"

#define WANTED (1u << 31 | 1)

/* What comes first begins: the follower sees data of its host half a round trip earlier. */
static void test_follower_begins(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	assert_false(flow_may_want(&l.leader.flow, l.now));
	assert_true(flow_may_want(&l.follower.flow, l.now));
	flow_want(&l.follower.flow, WANTED, l.now);
	assert_int_equal(last_told(&l.follower)->type, ACCEL_WANT);
	assert_int_equal(last_told(&l.follower)->offer.point, 5100);
	deliver(&l, &l.follower);
	/* It has all, and need not ask. */
	assert_int_equal(l.leader.flow.state, FLOW_TAKEN);
	assert_int_equal(l.leader.n_told, 2);
	assert_int_equal(l.leader.told[0].type, ACCEL_ACCEPT);
	assert_int_equal(l.leader.told[0].accept.point, 1100);
	assert_int_equal(l.leader.told[1].type, ACCEL_TAKE);
	assert_int_equal(l.leader.told[1].stream, WANTED);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	assert_int_equal(l.follower.flow.n_held, 1);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_TAKEN);
	assert_true(l.leader.stands && l.follower.stands);
	assert_int_equal(l.follower.n_told, 1);
	assert_int_equal(l.follower.n_inside, 1);
	assert_starts(&l.follower, 5100, 1100);
	assert_starts(&l.leader, 1100, 5100);
	end(&l);
}

/* The leader waits for what is under way in both directions; frames tell it. */
static void test_wanted_with_data_in_flight(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	flow_want(&l.follower.flow, WANTED, l.now);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1200, 0, 5200, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5200, 0, 1200, TCP_ACK);
	segment(&l, &l.follower, &l.leader, 5200, 0, 1200, TCP_ACK);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_TAKEN);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_TAKEN);
	assert_starts(&l.follower, 5200, 1200);
	end(&l);
}

/* A WANT that is faster than the first data of the other host: the leader waits for that. */
static void test_wanted_before_the_first_data(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.leader.flow.far.seen = false;
	l.clock_hz = 1000;
	across(&l, &l.leader, 1100, 0, 5100);
	flow_want(&l.follower.flow, WANTED, l.now);
	assert_false(flow_can_be_taken(&l.leader.flow, l.now));
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	segment(&l, &l.follower, &l.leader, 5000, 100, 1100, TCP_ACK);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_DRAINING);
	l.now = mono_add_ms(l.now, 50);
	segment(&l, &l.follower, &l.leader, 5100, 0, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_TAKEN);
	end(&l);
}

/* Both begin: the leader goes on with what the follower wants, whose word binds. */
static void test_both_begin(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	flow_want(&l.follower.flow, WANTED, l.now);
	flow_offer(&l.leader.flow, 7, l.now);
	segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
	assert_int_equal(l.leader.flow.n_held, 1);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.stream, WANTED);
	deliver(&l, &l.follower);
	assert_int_equal(last_told(&l.leader)->type, ACCEL_ABORT);
	assert_int_equal(last_told(&l.leader)->stream, 7);
	assert_int_equal(l.leader.flow.stream, WANTED);
	assert_int_equal(l.leader.flow.n_held, 1);
	segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1200, 0, 5200, TCP_ACK);
	assert_int_equal(l.leader.flow.state, FLOW_TAKEN);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_TAKEN);
	assert_starts(&l.follower, 5200, 1100);
	end(&l);
}

/* Not drained in time: the follower may be offered it, and begins by itself only later. */
static void test_wanted_and_given_up(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	flow_want(&l.follower.flow, WANTED, l.now);
	deliver(&l, &l.follower);
	segment(&l, &l.follower, &l.follower, 5200, 100, 1100, TCP_ACK);
	l.now = mono_add_ms(l.now, 600);
	flow_tick(&l.follower.flow, 100, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.far[l.follower.n_far - 1], 5300);
	assert_false(flow_may_want(&l.follower.flow, l.now));
	assert_true(flow_can_be_taken(&l.follower.flow, l.now));
	assert_false(flow_can_answer(&l.leader.flow, l.now));
	l.now = mono_add_ms(l.now, 2000);
	assert_true(flow_may_want(&l.follower.flow, l.now));
	assert_true(flow_can_answer(&l.leader.flow, l.now));
	end(&l);
}

/* Until the leader answers the follower does not let go, whatever it hears: it may be taken. */
static void test_wanted_is_bound(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	flow_want(&l.follower.flow, WANTED, l.now);
	flow_call_off(&l.follower.flow, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	flow_carrier_gone(&l.follower.flow, l.now);
	assert_true(l.follower.reset);
	assert_int_equal(l.follower.flow.state, FLOW_CLOSED);
	end(&l);

	for (int refused = 0; refused <= 1; refused++) {
		struct accel_frame no = { .type = ACCEL_REFUSE, .stream = WANTED };

		begin(&l);
		flow_want(&l.follower.flow, WANTED, l.now);
		flow_unseen(&l.follower.flow, l.now);
		assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
		if (refused) {
			assert_true(flow_message(&l.follower.flow, &no, l.now));
			assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
			assert_false(l.follower.flow.near.seen);
		} else {
			deliver(&l, &l.follower);
			deliver(&l, &l.leader);
			assert_true(l.follower.reset && !l.follower.stands);
			deliver(&l, &l.follower);
			assert_true(l.leader.reset && !l.leader.stands);
		}
		end(&l);
	}
}

static void is_refused(struct lab *l, struct side *s, uint32_t stream, enum accel_refusal why)
{
	struct accel_frame m = { .type = ACCEL_REFUSE, .stream = stream, .refuse = { why } };

	assert_true(flow_message(&s->flow, &m, l->now));
	assert_int_equal(s->flow.state, FLOW_PLAIN);
}

/* Settings there exclude it: the round trip in which it is drained would be lost each time. */
static void test_excluded(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	flow_want(&l.follower.flow, WANTED, l.now);
	is_refused(&l, &l.follower, WANTED, ACCEL_NOT_THIS_ONE);
	flow_offer(&l.leader.flow, 7, l.now);
	is_refused(&l, &l.leader, 7, ACCEL_NOT_THIS_ONE);
	l.now = mono_add_ms(l.now, 59000);
	assert_false(flow_may_want(&l.follower.flow, l.now));
	assert_false(flow_can_be_taken(&l.leader.flow, l.now));
	l.now = mono_add_ms(l.now, 1000);
	assert_true(flow_may_want(&l.follower.flow, l.now));
	assert_true(flow_can_be_taken(&l.leader.flow, l.now));
	end(&l);
}

/* There is no place: its node waits for that, and this one not longer each time. */
static void test_no_place(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	for (int i = 0; i < 8; i++) {
		flow_offer(&l.leader.flow, 7, l.now);
		is_refused(&l, &l.leader, 7, ACCEL_NO_PLACE);
		l.now = mono_add_ms(l.now, 2000);
		assert_true(flow_can_be_taken(&l.leader.flow, l.now));
	}
	end(&l);
}

/* Its host resets it meanwhile: so does the leader, which may have taken it already. */
static void test_reset_while_wanted(void **state)
{
	struct lab l;

	(void)state;
	for (int taken = 0; taken <= 1; taken++) {
		begin(&l);
		segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
		flow_want(&l.follower.flow, WANTED, l.now);
		deliver(&l, &l.follower);
		if (taken) {
			segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
			segment(&l, &l.leader, &l.leader, 1100, 0, 5200, TCP_ACK);
		}
		assert_int_equal(l.leader.flow.state, taken ? FLOW_TAKEN : FLOW_DRAINING);
		segment(&l, &l.follower, &l.follower, 5200, 0, 1100, TCP_RST);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		deliver(&l, &l.leader);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		deliver(&l, &l.follower);
		assert_int_equal(l.leader.flow.state, taken ? FLOW_CLOSED : FLOW_PLAIN);
		assert_int_equal(l.leader.reset, taken);
		end(&l);
	}
}

/* Of the handshake, said again: a round trip of a second is as long as the timer of a SYN. */
static void test_syn_again_while_wanted(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.follower.flow.far.began = l.follower.flow.near.began = true;
	l.follower.flow.far.start = 1100;
	l.follower.flow.near.start = 5000;
	flow_want(&l.follower.flow, WANTED, l.now);
	segment(&l, &l.leader, &l.follower, 1099, 0, 0, TCP_SYN);
	segment(&l, &l.follower, &l.follower, 4999, 0, 1000, TCP_SYN | TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	assert_int_equal(l.follower.n_told, 1);
	/* It goes on its way; one of another connection ends it, wherever its numbers begin. */
	assert_int_equal(l.follower.far[l.follower.n_far - 1], 5000);
	segment(&l, &l.leader, &l.follower, 99, 0, 0, TCP_SYN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(last_told(&l.follower)->type, ACCEL_RESET);
	end(&l);
}

/* One of the nodes missed what its host said, and the other host has it. */
static void test_wanted_with_old_numbers(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5200, TCP_ACK);
	flow_want(&l.follower.flow, WANTED, l.now);
	deliver(&l, &l.follower);
	assert_int_equal(last_told(&l.leader)->type, ACCEL_ABORT);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);

	begin(&l);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1200, TCP_ACK);
	segment(&l, &l.follower, &l.leader, 5100, 0, 1200, TCP_ACK);
	flow_want(&l.follower.flow, WANTED, l.now);
	deliver(&l, &l.follower);
	assert_int_equal(last_told(&l.leader)->type, ACCEL_ABORT);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_false(l.leader.stands);
	end(&l);

	/* The leader takes it, and the follower's host has more than the leader saw. */
	begin(&l);
	flow_want(&l.follower.flow, WANTED, l.now);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_TAKEN);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1200, TCP_ACK);
	deliver(&l, &l.leader);
	assert_true(l.follower.reset);
	deliver(&l, &l.follower);
	assert_true(l.leader.reset);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follower_begins),
		cmocka_unit_test(test_wanted_with_data_in_flight),
		cmocka_unit_test(test_wanted_before_the_first_data),
		cmocka_unit_test(test_both_begin),
		cmocka_unit_test(test_wanted_and_given_up),
		cmocka_unit_test(test_wanted_is_bound),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_reset_while_wanted),
		cmocka_unit_test(test_syn_again_while_wanted),
		cmocka_unit_test(test_wanted_with_old_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
