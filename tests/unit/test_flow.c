// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/flow/flow: a leader and a follower, step by step. */
#include <errno.h>

#include "base/defs.h"
#include "flow_lab.h"

static void test_quiet_one_is_intercepted_at_once(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	assert_true(flow_can_intercept(&l.leader.flow));
	take(&l);
	assert_starts(&l.leader, 1100, 5100);
	assert_starts(&l.follower, 5100, 1100);
	/* The proxy sockets now handle the data, and late copies are dropped. */
	l.leader.n_near = l.follower.n_far = 0;
	across(&l, &l.follower, 5100, 50, 1100);
	assert_int_equal(l.follower.n_inside, 1);
	assert_int_equal(l.follower.n_far, 0);
	assert_int_equal(l.leader.n_near, 0);
	end(&l);
}

/* Data in flight must arrive first. Newer data is held, but its ACK is forwarded. */
static void test_data_in_flight(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	assert_int_equal(last_notified(&l.leader)->offer.view.near.seq, 1200);
	deliver(&l, &l.leader);
	deliver(&l, &l.follower);
	/* The host of the follower has not acknowledged 1200. */
	assert_int_equal(l.leader.flow.state, FLOW_OFFERED);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	l.leader.n_far = 0;
	segment(&l, &l.leader, &l.leader, 1200, 100, 5100, TCP_ACK);
	assert_int_equal(flow_n_held(&l.leader.flow), 1);
	assert_int_equal(l.leader.n_far, 1);
	assert_int_equal(l.leader.far[0], 1200);
	/* The host retransmits data together with new data. The part before the takeover point is
	 * forwarded. */
	segment(&l, &l.leader, &l.leader, 1150, 200, 5100, TCP_ACK);
	assert_int_equal(l.leader.far[1], 1200);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	assert_int_equal(l.follower.near[l.follower.n_near - 1], 1200);
	assert_int_equal(flow_held(&l.leader.flow), 150);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1200, TCP_ACK);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_ACCEPT);
	assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
	assert_true(l.follower.made && !l.follower.stands);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
	/* Held data is passed to the proxy socket. */
	assert_int_equal(l.leader.n_inside, 2);
	assert_int_equal(l.leader.inside[0], 1300);
	assert_int_equal(l.leader.inside[1], 1350);
	assert_int_equal(l.leader.flow.near.next, 1350);
	assert_int_equal(flow_held(&l.leader.flow), 0);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
	end(&l);
}

static void test_given_up_in_time(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	segment(&l, &l.leader, &l.leader, 1200, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	l.now = mono_add_ms(l.now, 400);
	flow_tick(&l.leader.flow, 100, l.now);
	flow_tick(&l.follower.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_OFFERED);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	l.now = mono_add_ms(l.now, 150);
	/* The follower gives up first. The leader learns this from a message, or waits for one more
	 * round trip. */
	flow_tick(&l.leader.flow, 100, l.now);
	flow_tick(&l.follower.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_OFFERED);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(last_notified(&l.follower)->refuse.reason, ACCEL_NOT_DRAINED);
	assert_int_equal(l.follower.far[l.follower.n_far - 1], 5200);
	l.now = mono_add_ms(l.now, 60);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(last_notified(&l.leader)->type, ACCEL_REFUSE);
	/* Held data is forwarded, and no new takeover is tried for some time. */
	assert_int_equal(l.leader.far[l.leader.n_far - 1], 1300);
	assert_true(mono_before(l.now, l.leader.flow.retry.not_before));
	assert_true(mono_before(l.now, l.follower.flow.retry.not_before));
	assert_false(mono_before(mono_add_ms(l.now, 2000), l.leader.flow.retry.not_before));
	/* An answer in flight changes nothing. */
	deliver_all(&l);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	end(&l);
}

/* A connection of hosts with timestamps. The time of the comparison is over. */
static void begin_with_clocks(struct lab *l)
{
	begin(l);
	l->clock_hz = 1000;
	across(l, &l->leader, 1100, 0, 5100);
	across(l, &l->follower, 5100, 0, 1100);
	l->now = mono_add_ms(l->now, 50);
	across(l, &l->leader, 1100, 0, 5100);
	across(l, &l->follower, 5100, 0, 1100);
}

/* The host of the leader sends new data twice, with later timestamps. */
static void send_later(struct lab *l, uint32_t seq)
{
	for (uint32_t i = 0; i < 2; i++) {
		l->now = mono_add_ms(l->now, 10);
		segment(l, &l->leader, &l->leader, seq + 100 * i, 100, 5100, TCP_ACK);
	}
	assert_int_equal(flow_n_held(&l->leader.flow), 2);
}

/* Returns the last timestamp. A receiver accepts all of them. */
static uint32_t last_in_order(const uint32_t *ts, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		assert_false(seq_before(ts[i], ts[i - 1]));
	return ts[n - 1];
}

static uint32_t clock_of(const struct lab *l)
{
	return (uint32_t)(l->now.ns / 1000000);
}

/* The acknowledgements of held data overtake the data, and a retransmission does, too. The receiver
 * has their timestamps and would discard older ones (PAWS). */
static void test_given_up_without_old_timestamps(void **state)
{
	uint16_t sum[2];

	(void)state;
	for (int partial = 0; partial <= 1; partial++) {
		struct lab l;
		uint32_t newest;

		begin_with_clocks(&l);
		l.partial = partial;
		segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
		flow_offer(&l.leader.flow, 7, l.now);
		send_later(&l, 1200);
		l.now = mono_add_ms(l.now, 10);
		segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
		newest = clock_of(&l);
		l.now = mono_add_ms(l.now, 700);
		flow_tick(&l.leader.flow, 100, l.now);
		assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
		assert_int_equal(l.leader.far[l.leader.n_far - 2], 1300);
		assert_int_equal(l.leader.far[l.leader.n_far - 1], 1400);
		assert_int_equal(last_in_order(l.leader.far_ts, l.leader.n_far), newest);
		sum[partial] = l.leader.far_sum;
		end(&l);
	}
	/* The TSval has 10 ms more, which a partial checksum does not cover. */
	assert_int_equal((uint16_t)(sum[1] - sum[0]), 10);
}

/* The same with the proxy socket, if a release fails. */
static void test_kept_without_old_timestamps(void **state)
{
	struct lab l;
	uint32_t newest;

	(void)state;
	begin_with_clocks(&l);
	take(&l);
	flow_release(&l.leader.flow, l.now);
	send_later(&l, 1100);
	newest = clock_of(&l);
	l.now = mono_add_ms(l.now, 20001);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_INTERCEPTED);
	assert_int_equal(l.leader.inside[l.leader.n_inside - 1], 1300);
	assert_int_equal(last_in_order(l.leader.inside_ts, l.leader.n_inside), newest);
	end(&l);
}

static void release(struct lab *l)
{
	l->leader.drained = l->follower.drained = true;
	flow_release(&l->leader.flow, l->now);
	deliver_all(l);
	assert_int_equal(l->leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l->follower.flow.state, FLOW_PLAIN);
}

static uint32_t last_near_ts(const struct side *s)
{
	return s->near_ts[(s->n_near - 1) % LOG_MAX];
}

/* A proxy socket has the clock of its node. If the clock of the far host was paused, the near host
 * would discard the segments of the far host after a release (PAWS). */
static void test_paused_clock(void **state)
{
	uint16_t sum[2];

	(void)state;
	for (int partial = 0; partial <= 1; partial++) {
		struct lab l;
		uint32_t least;

		begin_with_clocks(&l);
		l.partial = partial;
		take(&l);
		l.now = mono_add_ms(l.now, 60000);
		l.behind = 20000;
		least = clock_of(&l) | 1;
		l.leader.proof.ts_val = least;
		release(&l);
		across(&l, &l.follower, 5100, 100, 1100);
		assert_int_equal(last_near_ts(&l.leader), least);
		sum[partial] = l.leader.near_sum;
		/* A timestamp of another node is not the present one of the host. */
		across(&l, &l.leader, 1100, 0, 5200);
		offer(&l, &l.leader);
		deliver_all(&l);
		assert_int_equal(last_notified(&l.follower)->refuse.reason, ACCEL_CLOCKS_DIFFER);
		/* The clock passes the timestamp of the proxy socket. */
		l.now = mono_add_ms(l.now, 20002);
		across(&l, &l.follower, 5200, 100, 1100);
		assert_int_equal(last_near_ts(&l.leader), clock_of(&l) - l.behind);
		l.behind++;
		across(&l, &l.follower, 5300, 100, 1100);
		assert_int_equal(last_near_ts(&l.leader), clock_of(&l) - l.behind);
		end(&l);
	}
	/* A partial checksum does not cover the TSval. */
	assert_int_not_equal(sum[0], sum[1]);
}

/* A new connection of the host has a timestamp of its own. */
static void test_clock_of_new_connection(void **state)
{
	struct lab l;

	(void)state;
	begin_with_clocks(&l);
	take(&l);
	l.leader.proof.ts_val = clock_of(&l) + 1000;
	release(&l);
	segment(&l, &l.leader, &l.leader, 9000, 0, 0, TCP_SYN);
	segment(&l, &l.follower, &l.leader, 7000, 0, 9001, TCP_SYN | TCP_ACK);
	assert_int_equal(last_near_ts(&l.leader), clock_of(&l));
	segment(&l, &l.follower, &l.leader, 7001, 10, 9001, TCP_ACK);
	assert_int_equal(last_near_ts(&l.leader), clock_of(&l));
	end(&l);
}

static void test_given_back(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	segment(&l, &l.leader, &l.leader, 1100, 100, 5100, TCP_ACK);
	flow_release(&l.leader.flow, l.now);
	assert_int_equal(last_notified(&l.leader)->at.point, 1200);
	segment(&l, &l.leader, &l.leader, 1200, 100, 5100, TCP_ACK);
	assert_int_equal(flow_n_held(&l.leader.flow), 1);
	deliver(&l, &l.leader);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_RELEASING);
	l.leader.drained = true;
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_RELEASING);
	l.follower.drained = true;
	flow_tick(&l.follower.flow, 100, l.now);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_DRAINED);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_false(l.leader.stands || l.leader.reset);
	assert_int_equal(l.leader.far[l.leader.n_far - 1], 1300);
	/* The first frame of the leader may overtake its message. */
	segment(&l, &l.leader, &l.follower, 1200, 100, 5100, TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.near[l.follower.n_near - 1], 1300);
	assert_false(l.follower.stands || l.follower.reset);
	end(&l);
}

/* After a release, the first segment of a host contains FIN. The flow must record that FIN.
 * Otherwise one side would intercept a connection that the other side knows to be over. */
static void test_first_segment_is_a_fin(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	l.leader.drained = l.follower.drained = true;
	flow_release(&l.leader.flow, l.now);
	deliver(&l, &l.leader);
	deliver(&l, &l.follower);
	deliver(&l, &l.leader);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	l.now = mono_add_ms(l.now, 5000);
	segment(&l, &l.follower, &l.follower, 5100, 10, 1100, TCP_ACK | TCP_FIN);
	segment(&l, &l.follower, &l.leader, 5100, 10, 1100, TCP_ACK | TCP_FIN);
	assert_true(l.follower.flow.near.fin && l.leader.flow.far.fin);
	assert_int_equal(l.leader.flow.far.next, 5111);
	assert_true(flow_can_intercept(&l.leader.flow));
	across(&l, &l.leader, 1100, 0, 5111);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5111, TCP_ACK | TCP_FIN);
	assert_false(flow_can_intercept(&l.leader.flow));
	end(&l);
}

static void test_late_copy_returns_nothing(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	l.follower.drained = true;
	flow_release(&l.leader.flow, l.now);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_RELEASING);
	segment(&l, &l.leader, &l.follower, 1000, 100, 5100, TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_RELEASING);
	assert_true(l.follower.stands);
	end(&l);
}

/* The full queue of the leader sheds a frame, while the proxy socket of the follower still has data
 * of its host. */
static void test_shed_frame_returns_nothing(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	take(&l);
	segment(&l, &l.follower, &l.follower, 5100, 100, 1100, TCP_ACK);
	l.follower.drained = l.follower.unsent = true;
	flow_release(&l.leader.flow, l.now);
	deliver_all(&l);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_DRAINED);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_RELEASING);
	assert_true(l.follower.stands);
	l.follower.unsent = false;
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	end(&l);
}

static void test_reset_while_drained(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1100, TCP_RST);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.far[l.follower.n_far - 1], 5100);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_RESET);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_false(l.leader.reset);
	end(&l);
}

/* The other end may have intercepted the connection, so it cannot continue as plain. */
static void test_interproxy_breaks(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	flow_interproxy_gone(&l.leader.flow, l.now);
	flow_interproxy_gone(&l.follower.flow, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	end(&l);

	begin(&l);
	flow_offer(&l.leader.flow, 7, l.now);
	deliver(&l, &l.leader);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_ACCEPT);
	flow_interproxy_gone(&l.follower.flow, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_CLOSED);
	assert_true(l.follower.reset);
	end(&l);

	begin(&l);
	take(&l);
	flow_interproxy_gone(&l.leader.flow, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_CLOSED);
	assert_true(l.leader.reset);
	/* The host at the other end has lost its accelerator and gets RST for its next segment. */
	segment(&l, &l.follower, &l.leader, 5100, 10, 1100, TCP_ACK);
	assert_int_equal(l.leader.n_refused, 1);
	/* The local host gets RST again too, because the first RST may be lost. */
	segment(&l, &l.leader, &l.leader, 1100, 10, 5100, TCP_ACK);
	assert_int_equal(l.leader.n_refused, 2);
	/* A migrated host gets RST at its new node. */
	assert_true(flow_other_node(&l.leader.flow));
	segment(&l, &l.follower, &l.leader, 5110, 10, 1100, TCP_ACK);
	assert_int_equal(l.leader.n_refused, 3);
	/* Equal addresses and ports begin another connection. */
	segment(&l, &l.leader, &l.leader, 9000, 0, 0, TCP_SYN);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);
}

/* After interception by a dead process, both hosts are refused until they begin again. */
static void test_buried(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	flow_quench(&l.leader.flow, l.now);
	assert_int_equal(l.leader.flow.state, FLOW_CLOSED);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.leader, 5100, 10, 1100, TCP_ACK);
	assert_int_equal(l.leader.n_refused, 2);
	segment(&l, &l.leader, &l.leader, 9000, 0, 0, TCP_SYN);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);
}

/* If any call fails at any node, the connection stays plain and no host is reset, independent of
 * the offering side. */
static void test_no_socket(void **state)
{
	static const int errors[] = { -EACCES,	      -EPERM,  -EADDRINUSE,
				      -EADDRNOTAVAIL, -EMFILE, -ENFILE,
				      -ENOBUFS,	      -ENOMEM, -EIO };

	(void)state;
	for (unsigned i = 0; i < array_size(errors) * 4; i++) {
		struct lab l;
		struct side *offers = i & 1 ? &l.leader : &l.follower;
		struct side *other = i & 1 ? &l.follower : &l.leader;
		struct side *fails = i & 2 ? offers : other;

		begin(&l);
		fails->proxy_sock = errors[i / 4];
		offer(&l, offers);
		segment(&l, offers, offers, offers->flow.near.next, 100, offers->flow.near.acked,
			TCP_ACK);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_false(l.leader.reset || l.follower.reset || offers->made || other->made);
		assert_int_equal(other->n_unused, fails == offers);
		assert_int_equal(last_notified(fails)->refuse.reason, ACCEL_NO_SOCKET);
		/* Held data is forwarded. */
		assert_int_equal(flow_n_held(&offers->flow), 0);
		assert_int_equal(offers->far[offers->n_far - 1], offers->flow.near.next);
		assert_true(mono_before(l.now, offers->flow.retry.not_before));
		end(&l);
	}
}

static void test_memory_is_bounded(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	for (uint32_t i = 0; i < 20; i++)
		segment(&l, &l.leader, &l.leader, 1200 + 100 * i, 100, 5100, TCP_ACK);
	assert_true(flow_n_held(&l.leader.flow) > 0 && flow_n_held(&l.leader.flow) < 10);
	assert_true(l.leader.held <= 1000);
	end(&l);
}

static void test_one_end_is_done(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK | TCP_FIN);
	segment(&l, &l.leader, &l.follower, 1100, 0, 5100, TCP_ACK | TCP_FIN);
	across(&l, &l.follower, 5100, 0, 1101);
	take(&l);
	/* Both proxy sockets begin before the FIN, which is sent again. */
	assert_int_equal(l.leader.flow.near_start, 1100);
	assert_int_equal(l.follower.flow.far_start, 1100);
	assert_int_equal(l.leader.flow.far_start, 5100);
	end(&l);

	begin(&l);
	segment(&l, &l.leader, &l.leader, 1100, 0, 5100, TCP_ACK | TCP_FIN);
	segment(&l, &l.follower, &l.leader, 5100, 0, 1101, TCP_ACK | TCP_FIN);
	assert_false(flow_can_intercept(&l.leader.flow));
	end(&l);
}

static void test_foreign(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	assert_true(flow_can_intercept(&l.leader.flow));
	l.foreign = true;
	segment(&l, &l.follower, &l.leader, 5100, 0, 1100, TCP_ACK);
	assert_false(flow_can_intercept(&l.leader.flow));
	/* The refusal also occurs if only the follower saw the option. */
	segment(&l, &l.follower, &l.follower, 5100, 0, 1100, TCP_ACK);
	l.leader.flow.foreign = false;
	flow_offer(&l.leader.flow, 7, l.now);
	deliver(&l, &l.leader);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_REFUSE);
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);
}

/* Returns whether a connection can be intercepted after this time, if the hosts have such a
 * clock. */
static bool fits(unsigned clock_hz, int64_t ms)
{
	struct lab l;
	bool can;

	begin(&l);
	flow_fini(&l.leader.flow);
	flow_init(&l.leader.flow, &OPS, &(struct accel_key){ 0 }, l.now);
	l.clock_hz = clock_hz;
	across(&l, &l.leader, 1000, 100, 5000);
	across(&l, &l.follower, 5000, 100, 1100);
	l.now = mono_add_ms(l.now, ms);
	across(&l, &l.leader, 1100, 0, 5100);
	across(&l, &l.follower, 5100, 0, 1100);
	can = flow_can_intercept(&l.leader.flow);
	end(&l);
	return can;
}

/* The clock of a proxy socket counts milliseconds. If the connection is released to a host with a
 * slower clock, the other host would discard all segments as old (PAWS). After some time this also
 * happens with a much faster clock. */
static void test_clocks(void **state)
{
	(void)state;
	assert_true(fits(0, 0));
	assert_false(fits(1000, 0)); /* the clock rate is unknown yet */
	assert_true(fits(1000, 50));
	assert_true(fits(1000, 100000));
	assert_true(fits(1000, 10000000));
	assert_false(fits(2, 5000));
	assert_false(fits(100, 50));
	assert_false(fits(100, 5000));
	assert_false(fits(1000000, 500));
}

/* A host migrates: an undecided takeover is cancelled, and a side that has accepted waits. */
static void test_called_off(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_DRAINING);
	flow_cancel(&l.follower.flow, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	assert_true(mono_before(l.now, l.follower.flow.retry.not_before));
	deliver(&l, &l.follower);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	end(&l);

	begin(&l);
	flow_offer(&l.leader.flow, 7, l.now);
	deliver(&l, &l.leader);
	assert_int_equal(last_notified(&l.follower)->type, ACCEL_ACCEPT);
	flow_cancel(&l.follower.flow, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
	assert_false(flow_other_node(&l.follower.flow));
	flow_cancel(&l.leader.flow, l.now);
	assert_int_equal(last_notified(&l.leader)->type, ACCEL_REFUSE);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	end(&l);
}

/* A plain connection keeps the options of the SYNs and learns the data in flight again. */
static void test_other_node(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.leader.flow.near.syn.scale = 7;
	assert_true(flow_other_node(&l.leader.flow));
	assert_int_equal(l.leader.flow.near.syn.scale, 7);
	assert_false(flow_can_intercept(&l.leader.flow));
	across(&l, &l.leader, 9000, 100, 8000);
	across(&l, &l.follower, 8000, 0, 9100);
	assert_true(flow_can_intercept(&l.leader.flow));
	assert_int_equal(l.leader.flow.near.scale_seen, 0);
	end(&l);
}

/* If frames bypassed the accelerator, the data in flight is learned again before interception. */
static void test_unseen(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	l.leader.flow.near.syn.scale = 7;
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	flow_unseen(&l.leader.flow, l.now);
	across(&l, &l.follower, 5100, 10, 1200);
	assert_false(flow_can_intercept(&l.leader.flow));
	across(&l, &l.leader, 1200, 0, 5110);
	assert_true(flow_can_intercept(&l.leader.flow));
	assert_int_equal(l.leader.flow.near.syn.scale, 7);
	take(&l);
	assert_int_equal(l.leader.flow.near_start, 1200);
	end(&l);
}

/* Frames bypass the accelerator during the drain. The takeover is cancelled if permitted, or ends
 * after the message of the leader. */
static void test_unseen_while_drained(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	flow_unseen(&l.leader.flow, l.now);
	assert_int_equal(last_notified(&l.leader)->type, ACCEL_REFUSE);
	assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
	assert_false(l.leader.flow.near.seen);
	end(&l);

	for (int intercepted = 0; intercepted <= 1; intercepted++) {
		begin(&l);
		flow_offer(&l.leader.flow, 7, l.now);
		deliver(&l, &l.leader);
		assert_int_equal(last_notified(&l.follower)->type, ACCEL_ACCEPT);
		flow_unseen(&l.follower.flow, l.now);
		assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
		if (intercepted)
			deliver(&l, &l.follower);
		else
			flow_cancel(&l.leader.flow, l.now);
		deliver(&l, &l.leader);
		assert_int_equal(l.follower.flow.state, intercepted ? FLOW_CLOSED : FLOW_PLAIN);
		assert_int_equal(l.follower.reset, intercepted);
		assert_false(l.follower.stands);
		deliver(&l, &l.follower);
		assert_int_equal(l.leader.flow.state, intercepted ? FLOW_CLOSED : FLOW_PLAIN);
		assert_false(l.follower.flow.state == FLOW_PLAIN && l.follower.flow.near.seen);
		end(&l);
	}
}

/* The leader gives up in time, and its held data overtakes its message. The host of the follower
 * then has more data than the offer states. The follower cancels, and the next offer succeeds. */
static void test_frames_overtake_refusal(void **state)
{
	struct lab l;

	(void)state;
	begin_offer(&l);
	deliver(&l, &l.leader);
	segment(&l, &l.leader, &l.leader, 1200, 100, 5100, TCP_ACK);
	l.now = mono_add_ms(l.now, 700);
	flow_tick(&l.leader.flow, 100, l.now);
	assert_int_equal(last_notified(&l.leader)->type, ACCEL_REFUSE);
	segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
	segment(&l, &l.leader, &l.follower, 1200, 100, 5100, TCP_ACK);
	segment(&l, &l.follower, &l.follower, 5100, 0, 1300, TCP_ACK);
	assert_int_equal(last_notified(&l.follower)->refuse.reason, ACCEL_NUMBERS_DIFFER);
	assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
	deliver_all(&l);
	segment(&l, &l.follower, &l.leader, 5100, 0, 1300, TCP_ACK);
	take(&l);
	assert_int_equal(l.leader.flow.near_start, 1300);
	end(&l);
}

/* One side missed data that the other host already has. A proxy socket with these numbers would
 * wait for that data forever. */
static void test_old_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct lab l;
		struct side *offers = i & 1 ? &l.leader : &l.follower;
		bool misses = i & 2; /* the offering node, or the other one */

		begin(&l);
		if (misses == (offers == &l.leader)) {
			segment(&l, &l.leader, &l.follower, 1100, 100, 5100, TCP_ACK);
			across(&l, &l.follower, 5100, 0, 1200);
		} else {
			segment(&l, &l.follower, &l.leader, 5100, 100, 1100, TCP_ACK);
			across(&l, &l.leader, 1100, 0, 5200);
		}
		offer(&l, offers);
		deliver_all(&l);
		assert_int_equal(l.leader.flow.state, FLOW_PLAIN);
		assert_int_equal(l.follower.flow.state, FLOW_PLAIN);
		assert_false(l.leader.reset || l.follower.reset);
		assert_int_equal(last_notified(offers == &l.leader ? &l.follower : &l.leader)->type,
				 ACCEL_REFUSE);
		assert_true(mono_before(l.now, offers->flow.retry.not_before));
		end(&l);
	}
}

/* The other node accepts, and the answer is late: one of the processes got no processor time. The
 * inter-proxy connection delivers the answer, or its end resets the hosts. */
static void test_late_answer(void **state)
{
	struct lab l;

	(void)state;
	begin(&l);
	offer(&l, &l.leader);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
	l.now = mono_add_ms(l.now, 60000);
	flow_tick(&l.follower.flow, 100, l.now);
	assert_int_equal(l.follower.flow.state, FLOW_ACCEPTED);
	deliver(&l, &l.follower);
	deliver(&l, &l.leader);
	assert_int_equal(l.follower.flow.state, FLOW_INTERCEPTED);
	assert_false(l.follower.reset);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_one_is_intercepted_at_once),
		cmocka_unit_test(test_data_in_flight),
		cmocka_unit_test(test_given_up_in_time),
		cmocka_unit_test(test_given_up_without_old_timestamps),
		cmocka_unit_test(test_kept_without_old_timestamps),
		cmocka_unit_test(test_paused_clock),
		cmocka_unit_test(test_clock_of_new_connection),
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_first_segment_is_a_fin),
		cmocka_unit_test(test_late_copy_returns_nothing),
		cmocka_unit_test(test_shed_frame_returns_nothing),
		cmocka_unit_test(test_reset_while_drained),
		cmocka_unit_test(test_interproxy_breaks),
		cmocka_unit_test(test_buried),
		cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_one_end_is_done),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_called_off),
		cmocka_unit_test(test_other_node),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_unseen_while_drained),
		cmocka_unit_test(test_frames_overtake_refusal),
		cmocka_unit_test(test_old_numbers),
		cmocka_unit_test(test_late_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
