// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/flow/flow: two nodes intercept a connection only if both saw equal data. The nodes
 * reset the connection if the hosts do not match the proxy sockets. No proxy socket gets urgent
 * data.
 */
#include "flow_lab.h"

/* The frames of a half-closed connection. `of_leader`: sent by the host behind the leader. */
struct leond_seen {
	bool of_leader;
	uint32_t seq, len, ack;
	uint8_t flags;
};

static const struct leond_seen HALF_CLOSED[] = {
	{ true, 1000, 100, 5000, TCP_ACK }, { false, 5000, 100, 1100, TCP_ACK },
	{ true, 1100, 0, 5100, TCP_ACK },   { true, 1100, 0, 5100, TCP_ACK | TCP_FIN },
	{ false, 5100, 0, 1101, TCP_ACK },  { false, 5100, 50, 1101, TCP_ACK },
	{ true, 1101, 0, 5150, TCP_ACK },
};

#define N_SAID (sizeof(HALF_CLOSED) / sizeof(HALF_CLOSED[0]))
#define SENT_L 1101u /* all data that the hosts have sent and acknowledged */
#define SENT_F 5150u

static void see(struct lab *l, struct side *at, unsigned which)
{
	for (unsigned i = 0; i < N_SAID; i++) {
		const struct leond_seen *s = &HALF_CLOSED[i];

		if (which & 1u << i)
			segment(l, s->of_leader ? &l->leader : &l->follower, at, s->seq, s->len,
				s->ack, s->flags);
	}
}

static void begin_with(struct lab *l, unsigned leader_saw, unsigned follower_saw)
{
	begin(l);
	end(l);
	flow_init(&l->leader.flow, &OPS, &(struct accel_key){ 0 }, l->now);
	flow_init(&l->follower.flow, &OPS, &(struct accel_key){ 0 }, l->now);
	see(l, &l->leader, leader_saw);
	see(l, &l->follower, follower_saw);
}

/* A proxy socket expects the next byte of its host, and sends the byte that its host expects. Or
 * both begin one number earlier, before a FIN that is sent again. */
static void assert_fits(const struct side *s, uint32_t sent_near, uint32_t sent_far)
{
	assert_int_equal(s->flow.near_start + s->flow.near.fin, sent_near);
	assert_int_equal(s->flow.far_start + s->flow.far.fin, sent_far);
}

/* The last frame of each host was seen by at least one node, because that frame started the
 * takeover. */
static bool is_current(unsigned saw)
{
	unsigned any = saw | saw >> N_SAID;

	return any & 1u << 5 && any & 1u << 6;
}

/* Restarts, migrations and failures in one direction determine the frames that each node has seen.
 * In each case both nodes intercept the connection and match the hosts, or both leave it plain. No
 * connection hangs or is reset. */
static void test_half_closed_whatever_was_seen(void **state)
{
	unsigned intercepted = 0, plain = 0;

	(void)state;
	for (unsigned saw = 0; saw < 1u << (2 * N_SAID + 1); saw++) {
		struct lab l;
		struct side *offers;

		if (!is_current(saw))
			continue;
		begin_with(&l, saw & ((1u << N_SAID) - 1), saw >> N_SAID & ((1u << N_SAID) - 1));
		offers = saw >> (2 * N_SAID) ? &l.leader : &l.follower;
		if (flow_can_intercept(&offers->flow))
			offer(&l, offers);
		deliver_all(&l);
		l.now = mono_add_ms(l.now, 2000);
		flow_tick(&l.leader.flow, 100, l.now);
		flow_tick(&l.follower.flow, 100, l.now);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, l.follower.flow.state);
		assert_false(l.leader.reset || l.follower.reset);
		if (l.leader.flow.state == FLOW_INTERCEPTED) {
			assert_fits(&l.leader, SENT_L, SENT_F);
			assert_fits(&l.follower, SENT_F, SENT_L);
			assert_int_equal(l.leader.flow.near.fin, l.follower.flow.far.fin);
			intercepted++;
		} else {
			assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
			plain++;
		}
		end(&l);
	}
	assert_true(intercepted > 1000 && plain > 1000);
}

static const struct accel_frame *refused(const struct lab *l)
{
	const struct accel_frame *m = last_notified(&l->leader);

	return m->type == ACCEL_REFUSE ? m : last_notified(&l->follower);
}

/* The node of the host that sent FIN has restarted, or that host has migrated. Only the other node
 * knows about the FIN. */
static void test_fin_at_one_node_only(void **state)
{
	const unsigned all = (1u << N_SAID) - 1, behind = 1u << 4 | 1u << 5 | 1u << 6;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct lab l;
		struct side *offers = i & 1 ? &l.leader : &l.follower;

		begin_with(&l, i & 2 ? all : behind, i & 2 ? behind : all);
		offer(&l, offers);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_int_equal(refused(&l)->refuse.reason, ACCEL_FIN_DIFFERS);
		assert_true(mono_before(mono_add_ms(l.now, 59000), offers->flow.retry.not_before));
		end(&l);
	}
}

/* A SYN was sent again without its options, and one node missed that SYN. */
static void test_options_differ(void **state)
{
	struct accel_options seven = { .scale = 7, .scaling = true, .sack = true, .mss = 1460 };
	struct accel_options none = { .scale = 0 };
	struct accel_options clamped = { .scale = 7, .scaling = true, .sack = true, .mss = 1200 };
	struct lab l;

	(void)state;
	begin(&l);
	l.leader.flow.near.syn = seven;
	l.follower.flow.far.syn = none;
	offer(&l, &l.leader);
	deliver_all(&l);
	assert_int_equal(last_notified(&l.follower)->refuse.reason, ACCEL_OPTIONS_DIFFER);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);

	/* leond lowers the MSS in between. A node learns options that only the other node saw. */
	begin(&l);
	l.leader.flow.near.syn = seven;
	l.follower.flow.far.syn = clamped;
	l.follower.flow.near.syn = seven;
	take(&l);
	assert_int_equal(l.leader.flow.far.syn.scale, 7);
	end(&l);
}

/* One node saw timestamps of the other node's host, or later ones than that node. */
static void test_clocks_differ(void **state)
{
	(void)state;
	for (int i = 0; i <= 2; i++) {
		struct lab l;
		struct flow_end *end_of_leaders = &l.follower.flow.far;

		begin(&l);
		end_of_leaders->has_ts = i < 2;
		end_of_leaders->ts_val = 1000;
		end_of_leaders->ts_at = l.now;
		end_of_leaders->ts_first_at = mono_add_ms(l.now, -1000);
		l.leader.flow.near = i ? *end_of_leaders : l.leader.flow.near;
		l.leader.flow.near.next = 1100;
		l.leader.flow.near.acked = 5100;
		l.leader.flow.near.ts_val = i == 1 ? 999 : 1000;
		offer(&l, &l.leader);
		deliver_all(&l);
		if (i < 2)
			assert_int_equal(refused(&l)->refuse.reason, ACCEL_CLOCKS_DIFFER);
		assert_int_equal(l.leader.flow.state, i < 2 ? FLOW_PLAIN : FLOW_INTERCEPTED);
		end(&l);
	}
}

/* The inter-proxy connection breaks after any number of messages. The connection is plain at both
 * nodes, or is reset if a node was bound. */
static void test_interproxy_breaks_anywhere(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct lab l;
		struct side *offers = i & 1 ? &l.leader : &l.follower;
		struct side *other = i & 1 ? &l.follower : &l.leader;

		begin(&l);
		offer(&l, offers);
		for (unsigned n = 0; n < i / 2; n++)
			deliver(&l, n % 2 ? other : offers);
		flow_interproxy_gone(&l.leader.flow, l.now);
		flow_interproxy_gone(&l.follower.flow, l.now);
		assert_int_equal(offers->flow.state, i / 2 < 2 ? FLOW_PLAIN : FLOW_CLOSED);
		assert_int_equal(other->flow.state, i / 2 < 1 ? FLOW_PLAIN : FLOW_CLOSED);
		assert_false(l.leader.made || l.follower.made);
		end(&l);
	}
}

/* --- after TAKE --- */

static bool watch(struct lab *l, struct side *s, unsigned seconds)
{
	bool was_reset = false;

	for (unsigned i = 0; i < seconds; i++) {
		l->now = mono_add_ms(l->now, 1000);
		was_reset |= flow_watch(&s->flow, 100, l->now);
	}
	return was_reset;
}

static void test_silent_host_is_not_reset(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	assert_false(watch(&l, &l.leader, 100));
	assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
	assert_int_equal(l.leader.n_probed, 100);
	/* The host answers at last. No data was sent to the host, so there is no further proof. */
	l.leader.proof.answered = true;
	assert_false(watch(&l, &l.leader, 100));
	assert_int_equal(l.leader.n_probed, 100);
	/* The link of the host is down: the host is silent in spite of retransmissions. */
	for (unsigned i = 0; i < 10; i++) {
		l.leader.proof.retries++;
		l.leader.proof.sent_at = l.now;
		assert_false(watch(&l, &l.leader, 1));
	}
	l.leader.proof.acknowledged = true;
	assert_false(watch(&l, &l.leader, 1));
	assert_true(l.leader.flow.proof.proved);
	end(&l);
}

/* The kernel accepts no answer of the host, because both have different sequence numbers. */
static void test_host_that_does_not_fit_is_reset(void **state)
{
	struct lab l;
	bool was_reset = false;
	unsigned seconds = 0;

	(void)state;
	begin(&l);
	take(&l);
	while (!was_reset && seconds++ < 10) {
		l.now = mono_add_ms(l.now, 1);
		segment(&l, &l.follower, &l.follower, 5100, 0, 1200, TCP_ACK);
		was_reset = watch(&l, &l.follower, 1);
	}
	assert_int_equal(seconds, 3);
	assert_true(l.follower.reset);
	deliver_all(&l);
	assert_true(l.leader.reset);
	end(&l);
}

/* The host answers each retransmission and acknowledges no data. */
static void test_host_that_acknowledges_no_data_is_reset(void **state)
{
	struct lab l;
	bool was_reset = false;

	(void)state;
	begin(&l);
	take(&l);
	l.leader.proof.answered = true;
	assert_false(watch(&l, &l.leader, 20));
	while (!was_reset) {
		l.leader.proof.retries++;
		l.leader.proof.sent_at = l.now;
		l.now = mono_add_ms(l.now, 1);
		segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK);
		was_reset = watch(&l, &l.leader, 1);
	}
	assert_int_equal(l.leader.proof.retries, 3);
	assert_true(l.leader.reset);
	end(&l);
}

/* --- urgent data --- */

#define URGENT (TCP_ACK | TCP_URG)

static void test_urgent_while_plain(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.leader, &l.leader, 1100, 1, 5100, URGENT);
	assert_false(flow_can_intercept(&l.leader.flow));
	/* Only the other node saw the urgent data. */
	l.leader.flow.foreign = false;
	segment(&l, &l.leader, &l.follower, 1100, 1, 5100, URGENT);
	offer(&l, &l.leader);
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_REFUSE);
	end(&l);
}

static void test_urgent_while_offered(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	offer(&l, &l.leader);
	segment(&l, &l.leader, &l.leader, 1100, 1, 5100, URGENT);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.leader.far[l.leader.n_far - 1], 1101);
	deliver_all(&l);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_false(l.leader.reset || l.follower.reset);
	end(&l);
}

/* Both sides release the connection. The urgent byte follows as an ordinary frame. */
static void return_it(struct lab *l, struct side *s, uint32_t urgent)
{
	l->leader.drained = l->follower.drained = true;
	deliver_all(l);
	flow_tick(&l->leader.flow, 100, l->now);
	flow_tick(&l->follower.flow, 100, l->now);
	deliver_all(l);
	flow_tick(&l->leader.flow, 100, l->now);
	deliver_all(l);
	assert_int_equal(l->leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l->follower.flow.state, FLOW_PLAIN);
	assert_false(l->leader.reset || l->follower.reset);
	for (unsigned i = 0; i < s->n_inside; i++)
		assert_true(seq_before(s->inside[i], urgent));
	assert_int_equal(s->far[s->n_far - 1], urgent);
	assert_false(flow_can_intercept(&s->flow));
}

static void test_urgent_while_intercepted(void **state)
{
	struct lab l;

	(void)state;
	for (int follows = 0; follows <= 1; follows++) {
		struct side *s = follows ? &l.follower : &l.leader;
		uint32_t seq = follows ? 5100 : 1100, ack = follows ? 1100 : 5100;

		begin(&l);
		take(&l);
		segment(&l, s, s, seq, 10, ack, TCP_ACK);
		segment(&l, s, s, seq + 10, 1, ack, URGENT);
		segment(&l, s, s, seq + 10, 1, ack, TCP_ACK);
		assert_int_equal(s->inside[0], seq + 10);
		assert_int_equal(last_notified(s)->type, ACCEL_RELEASE);
		return_it(&l, s, seq + 11);
		end(&l);
	}
}

/* The urgent byte is held while the answer is in flight, and also afterwards. */
static void test_urgent_while_accepted(void **state)
{
	struct lab l;

	(void)state;
	for (int follows = 0; follows <= 1; follows++) {
		struct side *s = follows ? &l.follower : &l.leader;
		uint32_t seq = follows ? 5100 : 1100, ack = follows ? 1100 : 5100;

		begin(&l);
		offer(&l, follows ? &l.leader : &l.follower);
		deliver(&l, follows ? &l.leader : &l.follower);
		assert_int_equal(s->flow.state, FLOW_ACCEPTED);
		segment(&l, s, s, seq, 1, ack, URGENT);
		return_it(&l, s, seq + 1);
		end(&l);
	}
}

/* The connection cannot be released in time. The connection is reset, because an acknowledged byte
 * must not be lost. */
static void test_urgent_and_never_drained(void **state)
{
	struct lab l;

	(void)state;
	for (int follows = 0; follows <= 1; follows++) {
		struct side *s = follows ? &l.follower : &l.leader;

		begin(&l);
		take(&l);
		segment(&l, s, s, follows ? 5100 : 1100, 1, follows ? 1100 : 5100, URGENT);
		deliver_all(&l);
		l.now = mono_add_ms(l.now, 21000);
		flow_tick(&l.leader.flow, 100, l.now);
		deliver_all(&l);
		assert_true(l.leader.reset && l.follower.reset);
		for (unsigned i = 0; i < s->n_inside; i++)
			assert_int_equal(s->inside[i], follows ? 5100 : 1100);
		end(&l);
	}
}

/* A host reads slowly. Each release holds new data of the hosts for 20 s, so the next one waits. */
static void test_kept_for_longer(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	assert_false(mono_before(l.now, l.leader.flow.retry.not_before));
	for (unsigned i = 0; i < 5; i++) {
		int64_t ms = 60000 << min_of(i, 3u);

		flow_release(&l.leader.flow, l.now);
		deliver_all(&l);
		l.now = mono_add_ms(l.now, 20001);
		flow_tick(&l.leader.flow, 100, l.now);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
		assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
		assert_int_equal(mono_sub_ms(l.leader.flow.retry.not_before, l.now), ms);
		assert_int_equal(mono_sub_ms(l.follower.flow.retry.not_before, l.now), ms);
	}
	end(&l);
}

static void begin_release(struct lab *l)
{
	begin(l);
	take(l);
	flow_release(&l->leader.flow, l->now);
	deliver_all(l);
}

/* DRAINED of a failed release is in transit while the next release begins. */
static void test_late_drained(void **state)
{
	struct lab l;

	(void)state;
	begin_release(&l);
	l.now = mono_add_ms(l.now, 20001);
	flow_tick(&l.leader.flow, 100, l.now); /* TAKE is in transit */
	l.follower.drained = true;
	flow_tick(&l.follower.flow, 100, l.now); /* DRAINED is in transit */
	l.follower.drained = false;
	segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
	l.leader.drained = true;
	flow_release(&l.leader.flow, l.now);
	deliver(&l, &l.follower);
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_RELEASING);
	assert_int_equal(l.follower.flow.state, FLOW_RELEASING);
	l.follower.drained = true;
	flow_tick(&l.follower.flow, 100, l.now);
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	end(&l);
}

/* The leader has accepted a late DRAINED. Data for the host of the follower would be lost. */
static void test_return_without_drained(void **state)
{
	const struct accel_frame back = { .type = ACCEL_RETURN, .stream = 7 };
	struct lab l;

	(void)state;
	begin_release(&l);
	assert_true(flow_message(&l.follower.flow, &back, l.now));
	deliver_all(&l);
	assert_true(l.leader.reset && l.follower.reset);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_closed_whatever_was_seen),
		cmocka_unit_test(test_fin_at_one_node_only),
		cmocka_unit_test(test_options_differ),
		cmocka_unit_test(test_clocks_differ),
		cmocka_unit_test(test_interproxy_breaks_anywhere),
		cmocka_unit_test(test_silent_host_is_not_reset),
		cmocka_unit_test(test_host_that_does_not_fit_is_reset),
		cmocka_unit_test(test_host_that_acknowledges_no_data_is_reset),
		cmocka_unit_test(test_urgent_while_plain),
		cmocka_unit_test(test_urgent_while_offered),
		cmocka_unit_test(test_urgent_while_intercepted),
		cmocka_unit_test(test_urgent_while_accepted),
		cmocka_unit_test(test_urgent_and_never_drained),
		cmocka_unit_test(test_kept_for_longer),
		cmocka_unit_test(test_late_drained),
		cmocka_unit_test(test_return_without_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
