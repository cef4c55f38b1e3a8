// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/conns: frames of a connection from a node other than the node of the far host. */
#include "conns_lab.h"

static struct conn *intercept(struct conns_lab *l)
{
	struct conn *c = conns_lab_track(l);
	node_id_t node;

	c->flow.state = FLOW_INTERCEPTED;
	c->flow.stream = 1;
	conns_lab_sent(l, &node);
	return c;
}

static void assert_goes_on(struct conns_lab *l, const struct conn *c, unsigned strays)
{
	node_id_t node;

	assert_int_equal(c->flow.state, FLOW_INTERCEPTED);
	assert_int_equal(c->away.far_at, NODE_ID_NONE);
	assert_false(place_near_is_migrated(c));
	assert_int_equal(conns_lab_sent(l, &node), 0);
	assert_int_equal(l->e.counters.misuse[ACCEL_STRAY], strays);
}

static void a_stray_changes_nothing(void **state)
{
	struct conns_lab l;
	struct tcp_segment s;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	/* The frame uses the address of the far host, with any sequence number, including the
	 * expected one. */
	s = from_far_host(77, 99);
	assert_true(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &s));
	assert_goes_on(&l, c, 1);
	s = from_far_host(5000, 1000);
	assert_true(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &s));
	assert_goes_on(&l, c, 2);
	s.flags = TCP_RST;
	assert_true(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &s));
	s.flags = TCP_SYN;
	assert_true(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &s));
	assert_goes_on(&l, c, 4);
	/* The source is a host at that node, and not the far host. */
	s.flags = TCP_ACK;
	s.src_mac = mac_from_u64(LIAR_MAC);
	assert_true(conns_lab_frame(&l, ACCEL_NODE, OTHER_NODE, &s));
	assert_goes_on(&l, c, 5);
	conns_lab_close(&l);
}

/* leond reports the far host at the other node. */
static void a_host_that_moved_is_followed(void **state)
{
	struct conns_lab l;
	struct tcp_segment s = from_far_host(5000, 1000);
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	assert_true(conns_lab_frame(&l, ACCEL_NODE, OTHER_NODE, &s));
	assert_int_equal(c->away.far_at, OTHER_NODE);
	assert_int_equal(c->flow.state, FLOW_RELEASING);
	conns_lab_close(&l);

	conns_lab_open(&l);
	c = intercept(&l);
	conns_moved(&l.e, 0, mac_from_u64(FAR_MAC), OTHER_NODE, l.now);
	assert_int_equal(c->away.far_at, OTHER_NODE);
	assert_int_equal(c->flow.state, FLOW_RELEASING);
	conns_lab_close(&l);

	/* leond sends frames of the near host to the other node. */
	conns_lab_open(&l);
	c = intercept(&l);
	s = from_near_host(1000, 5000);
	assert_true(conns_lab_frame(&l, ACCEL_LAN, OTHER_NODE, &s));
	assert_int_equal(c->away.far_at, OTHER_NODE);
	conns_lab_close(&l);
}

/* leond queues a frame of the LAN for leon-accel. */
static void queue_frame(struct conns_lab *l, const struct tcp_segment *s)
{
	uint8_t message[ACCEL_QUEUE_HDR + ACCEL_VNET_LEN + TCP_FRAME_MAX] = { 0 };
	size_t len = tcp_make(s, message + ACCEL_QUEUE_HDR + ACCEL_VNET_LEN);

	accel_queue_put(message, ACCEL_LAN, FAR_NODE);
	len += ACCEL_QUEUE_HDR + ACCEL_VNET_LEN;
	assert_int_equal(send(l->leond, message, len, 0), len);
}

/* Frames of a host from before its move wait in the queue. They are handled first, and the near
 * host is elsewhere. */
static void a_frame_from_before_the_move_proves_nothing(void **state)
{
	struct accel_notify_frame moved = { .what = ACCEL_NOTIFY_MOVED,
					    .moved = { .mac = mac_from_u64(NEAR_MAC),
						       .node = OTHER_NODE } };
	struct tcp_segment s = from_near_host(1000, 5000);
	struct conns_lab l;
	struct conn *c;
	uint8_t byte;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	for (unsigned i = 0; i < 100; i++)
		queue_frame(&l, &s);
	engine_moved(&l.e, &moved);
	assert_true(place_near_is_migrated(c));
	assert_int_equal(recv(l.e.queue[0], &byte, 1, MSG_DONTWAIT), -1);
	/* The host has returned. */
	assert_true(conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &s));
	assert_false(place_near_is_migrated(c));
	conns_lab_close(&l);
}

/* A plain connection is not intercepted at the node that its near host has left. */
static void a_host_that_left_is_not_intercepted(void **state)
{
	struct tcp_segment near = from_near_host(1000, 5000);
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = conns_lab_track(&l);
	assert_true(c->flow.near.seen);
	conns_moved(&l.e, 0, mac_from_u64(NEAR_MAC), OTHER_NODE, l.now);
	assert_false(c->flow.near.seen);
	assert_true(conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &near));
	assert_true(c->flow.near.seen);
	conns_lab_close(&l);
}

/* A move of a host costs a search of the connections only if a frame has named the host. */
static void a_move_of_another_host_costs_no_search(void **state)
{
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	c->flow.far.mac = mac_from_u64(LIAR_MAC); /* by no frame */
	conns_moved(&l.e, 0, mac_from_u64(LIAR_MAC), OTHER_NODE, l.now);
	assert_int_equal(c->away.far_at, NODE_ID_NONE);
	c->flow.state = FLOW_PLAIN;
	conns_second(&l.e, l.now);
	c->flow.state = FLOW_INTERCEPTED;
	c->flow.near.mac = mac_from_u64(FAR_MAC); /* named before that second */
	conns_moved(&l.e, 0, mac_from_u64(FAR_MAC), OTHER_NODE, l.now);
	assert_false(place_near_is_migrated(c));
	conns_moved(&l.e, 0, mac_from_u64(LIAR_MAC), OTHER_NODE, l.now);
	assert_int_equal(c->away.far_at, OTHER_NODE);
	conns_lab_close(&l);
}

/* For a plain connection the frame passes to the host, and nothing is learned. */
static void a_stray_of_a_plain_one_passes(void **state)
{
	struct tcp_segment far = from_far_host(5000, 1000);
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = conns_lab_track(&l);
	assert_false(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &far));
	assert_int_equal(c->peer->id, FAR_NODE);
	assert_true(c->flow.near.seen && c->flow.far.seen);
	c->flow.state = FLOW_DRAINING;
	far.flags = TCP_RST;
	assert_false(conns_lab_frame(&l, ACCEL_CLAIM, OTHER_NODE, &far));
	assert_int_equal(c->flow.state, FLOW_DRAINING);
	assert_int_equal(l.e.counters.misuse[ACCEL_STRAY], 0);
	/* leond reports the host at the other node, and the connection moves there. */
	c->flow.state = FLOW_PLAIN;
	assert_true(conns_lab_frame(&l, ACCEL_NODE, OTHER_NODE, &far));
	assert_int_equal(c->peer->id, OTHER_NODE);
	conns_lab_close(&l);
}

/* DATA within the credit is accepted, also in parts. */
static void data_beyond_credit_is_refused(void **state)
{
	uint8_t data[100] = { 0 };
	struct conns_lab l;
	struct conn *c;
	int pair[2];

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	c->socket.fd = pair[0];
	c->ended.lingers = true; /* the socket is in no loop */
	l.e.n_intercepted = 1;
	assert_false(conn_data(c, data, 1, 1));
	c->window.given = 100;
	l.e.promised = 100;
	assert_true(conn_data(c, data, 60, 60));
	assert_false(conn_data(c, data, 41, 41));
	assert_true(conn_data(c, data, 40, 40));
	assert_false(conn_data(c, data, 1, 1));
	assert_int_equal(c->in.len, 100);
	conn_detach(c);
	assert_int_equal(l.e.promised, 0);
	close(pair[0]);
	close(pair[1]);
	conns_lab_close(&l);
}

/* The far host moves during an attempt. A late message of its former node has no connection. */
static void an_attempt_ends_at_the_former_node(void **state)
{
	struct tcp_segment near = from_near_host(1000, 5000);
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l);
	c->flow.state = FLOW_PLAIN;
	streams_bind(&c->peer->streams, 1, c);
	flow_offer(&c->flow, 1, l.now);
	assert_int_equal(streams_count(&peer_find(&l.e, FAR_NODE)->streams), 1);
	assert_true(conns_lab_frame(&l, ACCEL_LAN, OTHER_NODE, &near));
	assert_int_equal(c->peer->id, OTHER_NODE);
	assert_int_equal(streams_count(&peer_find(&l.e, FAR_NODE)->streams), 0);
	conns_lab_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stray_changes_nothing),
		cmocka_unit_test(a_host_that_moved_is_followed),
		cmocka_unit_test(a_frame_from_before_the_move_proves_nothing),
		cmocka_unit_test(a_host_that_left_is_not_intercepted),
		cmocka_unit_test(a_move_of_another_host_costs_no_search),
		cmocka_unit_test(a_stray_of_a_plain_one_passes),
		cmocka_unit_test(an_attempt_ends_at_the_former_node),
		cmocka_unit_test(data_beyond_credit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
