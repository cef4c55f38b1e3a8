// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/conns: a VLAN beyond the maximum of devices holds no data of its connections. */
#include "conn/conn_state.h"
#include "conns_lab.h"

/* Connections are intercepted from their first segments on. The lab has all devices in use.
 * Returns the end of the far node, which has answered a PING. */
static int open_lab(struct conns_lab *l, struct accel_peer **p, uint32_t segments)
{
	int far = conns_lab_connected(l, p);
	uint8_t hello[ACCEL_SMALL_MAX];

	(*p)->ponged = l->now;
	l->e.settings = (struct accel_settings){ .mode = ACCEL_ALWAYS,
						 .segments = segments,
						 .maximum = 10 };
	assert_true(recv(far, hello, sizeof(hello), 0) > 0);
	return far;
}

/* Returns the type of the next message to the far node. 0: no message. */
static uint8_t next_message(int far, struct accel_frame *f)
{
	uint8_t buf[ACCEL_SMALL_MAX];
	ssize_t n = recv(far, buf, sizeof(buf), 0);
	size_t used;

	if (n <= 0)
		return 0;
	assert_int_equal(accel_decode(buf, (size_t)n, f, &used), ACCEL_OK);
	return f->type;
}

static void send_more(struct conns_lab *l, int64_t after_ms)
{
	struct tcp_segment near = from_near_host(1000, 5000);

	l->now = mono_add_ms(l->now, after_ms);
	loop_sim_run_until(l->loop, l->now);
	peer_find(&l->e, FAR_NODE)->ponged = l->now;
	assert_true(conns_lab_frame(l, ACCEL_LAN, FAR_NODE, &near));
}

static void an_offer_needs_a_device(void **state)
{
	struct lan lan = { .tun.tap.fd = { -1 } };
	struct accel_frame f;
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	int far = open_lab(&l, &p, 0);

	(void)state;
	c = conns_lab_track(&l);
	assert_int_equal(c->flow.state, FLOW_PLAIN);
	assert_int_equal(next_message(far, &f), 0);
	assert_int_equal(eligibility(c, l.now), ACCEL_REASON_LATER);
	assert_int_equal(l.e.counters.fault[ACCEL_FAULT_SOCKET_OTHER], 1);
	/* Not for each frame, and with each failure later. */
	send_more(&l, 1000);
	assert_int_equal(l.e.counters.fault[ACCEL_FAULT_SOCKET_OTHER], 1);
	send_more(&l, 2000);
	assert_int_equal(l.e.counters.fault[ACCEL_FAULT_SOCKET_OTHER], 2);
	send_more(&l, 3000);
	assert_int_equal(l.e.counters.fault[ACCEL_FAULT_SOCKET_OTHER], 2);
	/* With a device, the connection is offered. */
	l.e.lan[0] = &lan;
	send_more(&l, 2000);
	assert_int_equal(c->flow.state, FLOW_OFFERED);
	assert_int_equal(next_message(far, &f), ACCEL_OFFER);
	close(far);
	conns_lab_close(&l);
}

static void offer_of_peer(struct conns_lab *l, struct accel_peer *p, const struct conn *c)
{
	struct accel_frame f = { .type = ACCEL_OFFER, .stream = ACCEL_FOLLOWERS + 1 };

	f.offer.key = accel_key_mirrored(&c->flow.key);
	f.offer.view.near.seq = 6000; /* the near host has not acknowledged all data */
	assert_true(peer_frames_ops.take(p, &f, l->now));
}

static void an_offer_of_the_peer_is_refused_before_the_drain(void **state)
{
	struct lan lan = { .tun.tap.fd = { -1 } };
	struct accel_frame f;
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	int far = open_lab(&l, &p, 1000);

	(void)state;
	c = conns_lab_track(&l);
	offer_of_peer(&l, p, c);
	assert_int_equal(c->flow.state, FLOW_PLAIN);
	assert_int_equal(next_message(far, &f), ACCEL_REFUSE);
	assert_int_equal(f.stream, ACCEL_FOLLOWERS + 1);
	assert_int_equal(f.refuse.reason, ACCEL_NOT_THIS_ONE);
	/* With a device, the answer follows the drain. */
	l.e.lan[0] = &lan;
	offer_of_peer(&l, p, c);
	assert_int_equal(c->flow.state, FLOW_DRAINING);
	assert_int_equal(next_message(far, &f), 0);
	close(far);
	conns_lab_close(&l);
}

/* The stream of the first connection would be lost, and so would its end. */
static void a_number_in_use_is_invalid(void **state)
{
	struct accel_frame f = { .type = ACCEL_OFFER, .stream = ACCEL_FOLLOWERS + 1 };
	struct tcp_segment near = from_near_host(1000, 5000);
	struct lan lan = { .tun.tap.fd = { -1 } };
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	int far = open_lab(&l, &p, 1000);

	(void)state;
	l.e.lan[0] = &lan;
	c = conns_lab_track(&l);
	near.src_port = 9;
	assert_true(conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &near));
	offer_of_peer(&l, p, c);
	f.offer.key = accel_key_mirrored(&c->flow.key);
	f.offer.key.far_port = 9;
	assert_false(peer_frames_ops.take(p, &f, l.now));
	peer_down(p, "test", l.now);
	assert_int_equal(c->flow.state, FLOW_PLAIN);
	assert_int_equal(streams_count(&p->streams), 0);
	close(far);
	conns_lab_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offer_needs_a_device),
		cmocka_unit_test(an_offer_of_the_peer_is_refused_before_the_drain),
		cmocka_unit_test(a_number_in_use_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
