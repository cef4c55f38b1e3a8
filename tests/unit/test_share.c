// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/share, conns: no node and no host exhausts the table of tracked connections. */
#include "conns_lab.h"

#define FLOOD 68000

/* A host behind the node begins a connection. The address of the host contains its number. */
static bool begin(struct conns_lab *l, node_id_t node, unsigned number)
{
	struct tcp_segment s = from_far_host(5000, 0);

	s.src.b[1] = (uint8_t)(number >> 16);
	s.src.b[2] = (uint8_t)node;
	s.src_port = (uint16_t)number;
	s.flags = TCP_SYN;
	return conns_lab_frame(l, ACCEL_NODE, node, &s);
}

static void flood(struct conns_lab *l, node_id_t node)
{
	for (unsigned i = 0; i < FLOOD; i++)
		assert_true(begin(l, node, i));
}

/* A handshake between the hosts of from_near_host(). */
static struct conn *handshake(struct conns_lab *l, node_id_t node)
{
	struct tcp_segment syn = from_near_host(1000, 0), answer = from_far_host(5000, 1001);
	struct tcp_segment ack = from_near_host(1001, 5001);

	syn.flags = TCP_SYN;
	answer.flags = TCP_SYN | TCP_ACK;
	assert_true(conns_lab_frame(l, ACCEL_LAN, node, &syn));
	assert_true(conns_lab_frame(l, ACCEL_NODE, node, &answer));
	assert_true(conns_lab_frame(l, ACCEL_LAN, node, &ack));
	return conns_lab_conn(l, &answer);
}

static void a_flood_of_syns_leaves_room(void **state)
{
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	flood(&l, OTHER_NODE);
	assert_int_equal(l.e.n_conns, CONNS_MAX / 2);
	assert_int_equal(peer_find(&l.e, OTHER_NODE)->share.n, CONNS_MAX / 2);
	assert_int_equal(l.e.counters.misuse[ACCEL_OVER_SHARE], FLOOD - CONNS_MAX / 2);
	/* A handshake with another node, including both SYNs. */
	c = handshake(&l, FAR_NODE);
	assert_non_null(c);
	assert_true(c->flow.near.began && c->flow.far.began);
	assert_int_equal(c->peer->counted.misuse[ACCEL_OVER_SHARE], 0);
	assert_int_equal(c->peer->share.n, 1);
	conns_lab_close(&l);
}

/* The flooding node itself: unanswered connections are displaced, an answered one stays. */
static void an_answered_connection_stays(void **state)
{
	struct tcp_segment far = from_far_host(5001, 1001);
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	flood(&l, FAR_NODE);
	c = handshake(&l, FAR_NODE);
	flood(&l, FAR_NODE);
	assert_ptr_equal(conns_lab_conn(&l, &far), c);
	assert_true(c->flow.near.began && c->flow.far.began);
	/* A host that repeats its SYN may be silent for 9 s, but not for 11 s. */
	l.now = mono_add_ms(l.now, 9000);
	assert_true(begin(&l, FAR_NODE, 1u << 20));
	conns_second(&l.e, l.now);
	assert_int_equal(l.e.n_conns, CONNS_MAX / 2);
	l.now = mono_add_ms(l.now, 2000);
	conns_second(&l.e, l.now);
	assert_int_equal(l.e.n_conns, 2);
	assert_ptr_equal(conns_lab_conn(&l, &far), c);
	conns_lab_close(&l);
}

/* A refusal is not an answer. */
static void a_refused_connection_makes_room(void **state)
{
	struct tcp_segment syn = from_near_host(1000, 0), no = from_far_host(0, 1001);
	struct node_share *s;
	struct conns_lab l;

	(void)state;
	conns_lab_open(&l);
	s = &peer_find(&l.e, FAR_NODE)->share;
	syn.flags = TCP_SYN;
	no.flags = TCP_RST | TCP_ACK;
	assert_true(conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &syn));
	assert_true(conns_lab_frame(&l, ACCEL_NODE, FAR_NODE, &no));
	assert_ptr_equal(share_oldest(s), conns_lab_conn(&l, &no));
	/* A migrated host moves its connection to the share of the other node. */
	assert_true(conns_lab_frame(&l, ACCEL_NODE, OTHER_NODE, &no));
	assert_int_equal(s->n, 0);
	assert_null(share_oldest(s));
	s = &peer_find(&l.e, OTHER_NODE)->share;
	assert_int_equal(s->n, 1);
	assert_ptr_equal(share_oldest(s), conns_lab_conn(&l, &no));
	conns_lab_close(&l);
}

/* A node with answered connections only gets no more than its share. */
static void a_full_share_stays_full(void **state)
{
	const struct node_share half = { .n = CONNS_MAX / 2 }, none = { 0 };
	const unsigned two = CONNS_MAX / 2 + CONNS_MAX / 4;

	(void)state;
	assert_true(share_is_used(&half, CONNS_MAX / 2, CONNS_MAX));
	assert_false(share_is_used(&none, CONNS_MAX / 2, CONNS_MAX));
	assert_true(share_is_used(&(struct node_share){ .n = CONNS_MAX / 4 }, two, CONNS_MAX));
	assert_false(share_is_used(&none, CONNS_MAX - 1, CONNS_MAX));
	assert_true(share_is_used(&none, CONNS_MAX, CONNS_MAX));
}

/* An unresponsive accelerator of one node leaves memory for the held frames of others. */
static void held_frames_have_a_share(void **state)
{
	struct node_share one = { 0 }, other = { 0 };
	int64_t all = 0;

	(void)state;
	while (share_hold(&one, 1500, all, HELD_MAX))
		all += 1500;
	assert_in_range(all, HELD_MAX / 2 - 1500, HELD_MAX / 2 + 1500);
	assert_true(share_hold(&other, HELD_MAX / 8, all, HELD_MAX));
	all += HELD_MAX / 8;
	assert_false(share_hold(&one, 1500, all, HELD_MAX));
	/* Memory can be released at any level. */
	assert_true(share_hold(&one, -one.held, all, HELD_MAX));
	assert_int_equal(one.held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_of_syns_leaves_room),
		cmocka_unit_test(an_answered_connection_stays),
		cmocka_unit_test(a_refused_connection_makes_room),
		cmocka_unit_test(a_full_share_stays_full),
		cmocka_unit_test(held_frames_have_a_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
