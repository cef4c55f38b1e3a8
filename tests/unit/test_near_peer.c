// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/peers: the inter-proxy connection to a node that has become near. */
#include "base/json/jsonw.h"
#include "conn/conn_state.h"
#include "conns_lab.h"

#define LIMIT_S	     60 /* seconds after which an unneeded inter-proxy connection is closed */
#define THRESHOLD_US 100000
#define NEAR_US	     79000 /* below 80 % of the threshold */
#define DISTANT_US   80000

/* An inter-proxy connection of a leader to a node with that RTT. Returns the end of the node. */
static int open_lab(struct conns_lab *l, struct accel_peer **p, uint32_t rtt_us)
{
	int far = conns_lab_connected(l, p);

	l->e.settings =
		(struct accel_settings){ .mode = ACCEL_LATENCY, .threshold_us = THRESHOLD_US };
	(*p)->rtt_us = rtt_us;
	peer_find(&l->e, OTHER_NODE)->rtt_us = 0; /* prevents a connection */
	return far;
}

/* The node reads and answers each second, if fd is not -1. */
static void after_s(struct conns_lab *l, struct accel_peer *p, int fd, unsigned s)
{
	char some[4096];

	for (; s; s--) {
		l->now = mono_add_ms(l->now, 1000);
		loop_sim_run_until(l->loop, l->now);
		p->silent = 0;
		while (fd >= 0 && recv(fd, some, sizeof(some), MSG_DONTWAIT) > 0)
			continue;
		peers_second(&l->e, l->now);
	}
}

static void close_lab(struct conns_lab *l, int far)
{
	close(far);
	conns_lab_close(l);
}

static void a_near_node_frees_its_place(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	after_s(&l, p, far, LIMIT_S - 1);
	assert_true(p->state == PEER_UP);
	assert_int_equal(l.e.n_interproxies, 1);
	after_s(&l, p, far, 1);
	assert_int_equal(p->state, PEER_DOWN);
	assert_int_equal(l.e.n_interproxies, 0);
	/* No attempt follows while the node is near. */
	after_s(&l, p, far, LIMIT_S);
	assert_int_equal(p->state, PEER_DOWN);
	close_lab(&l, far);
}

/* A latency that varies around the limit closes nothing. */
static void a_node_that_was_just_distant_keeps_its_place(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = open_lab(&l, &p, DISTANT_US);

	(void)state;
	after_s(&l, p, far, 2 * LIMIT_S);
	assert_true(p->state == PEER_UP);
	for (unsigned i = 0; i < 4; i++) {
		p->rtt_us = NEAR_US;
		after_s(&l, p, far, LIMIT_S - 1);
		p->rtt_us = DISTANT_US;
		after_s(&l, p, far, 1);
	}
	assert_true(p->state == PEER_UP);
	/* An unknown latency is not near. */
	p->rtt_us = 0;
	after_s(&l, p, far, 2 * LIMIT_S);
	assert_true(p->state == PEER_UP);
	close_lab(&l, far);
}

static void a_stream_keeps_the_place(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	c = conns_lab_track(&l);
	streams_bind(&p->streams, 1, c);
	after_s(&l, p, far, 2 * LIMIT_S);
	assert_true(p->state == PEER_UP);
	streams_unbind(&p->streams, 1);
	after_s(&l, p, far, LIMIT_S - 1);
	assert_true(p->state == PEER_UP);
	after_s(&l, p, far, 1);
	assert_true(p->state != PEER_UP);
	close_lab(&l, far);
}

/* The far accelerator still has data for a slow host, and requests a release. */
static void a_stream_of_the_other_node_keeps_the_place(void **state)
{
	const struct accel_frame release = { .type = ACCEL_RELEASE, .stream = 5 };
	const struct accel_frame ping = { .type = ACCEL_PING };
	struct conns_lab l;
	struct accel_peer *p;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		after_s(&l, p, far, LIMIT_S - 1);
		assert_true(peer_frames_ops.take(p, &release, l.now));
	}
	assert_true(p->state == PEER_UP);
	after_s(&l, p, far, LIMIT_S - 1);
	assert_true(peer_frames_ops.take(p, &ping, l.now));
	after_s(&l, p, far, 1);
	assert_true(p->state != PEER_UP);
	close_lab(&l, far);
}

/* The leader has ended the stream in order, and hears nothing of it after a failed release. */
static void a_follower_that_delivers_says_so(void **state)
{
	struct accel_frame f = { 0 };
	uint8_t buf[ACCEL_SMALL_MAX];
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	size_t used;
	ssize_t n;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	assert_true(recv(far, buf, sizeof(buf), 0) > 0); /* HELLO */
	c = conns_lab_track(&l);
	streams_bind(&p->streams, 1, c);
	c->flow.state = FLOW_INTERCEPTED;
	c->flow.stream = 1;
	c->flow.retry.not_before = mono_add_ms(l.now, 120000);
	c->ended.far = FAR_FIN_RECEIVED;
	fifo_put(&c->in, buf, 1);
	l.e.promised = 1;
	/* A stream that the other node still has, and the leader, need no message. */
	l.e.self = FAR_NODE + 1;
	conns_second(&l.e, l.now);
	c->ended.near_eof = true;
	l.e.self = SELF;
	conns_second(&l.e, l.now);
	assert_int_equal(recv(far, buf, sizeof(buf), 0), -1);
	l.e.self = FAR_NODE + 1;
	conns_second(&l.e, l.now);
	n = recv(far, buf, sizeof(buf), 0);
	assert_true(n > 0);
	assert_int_equal(accel_decode(buf, (size_t)n, &f, &used), ACCEL_OK);
	assert_int_equal(f.type, ACCEL_CREDIT);
	assert_int_equal(f.stream, 1);
	assert_int_equal(f.credit.bytes, 0);
	close_lab(&l, far);
}

static void unsent_data_is_not_lost(void **state)
{
	struct conns_lab l;
	struct accel_peer *p;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	after_s(&l, p, -1, 2 * LIMIT_S);
	assert_true(p->state == PEER_UP);
	after_s(&l, p, far, 1);
	assert_true(p->state != PEER_UP);
	close_lab(&l, far);
}

/* The follower cannot connect, so the leader decides. Other modes have no near nodes. */
static void others_keep_the_place(void **state)
{
	const enum accel_mode modes[] = { ACCEL_ALWAYS, ACCEL_OFF };
	struct conns_lab l;
	struct accel_peer *p;
	int far = open_lab(&l, &p, NEAR_US);

	(void)state;
	l.e.self = FAR_NODE + 1;
	after_s(&l, p, far, 2 * LIMIT_S);
	assert_true(p->state == PEER_UP);
	close_lab(&l, far);
	for (unsigned i = 0; i < array_size(modes); i++) {
		far = open_lab(&l, &p, NEAR_US);
		l.e.settings.mode = modes[i];
		after_s(&l, p, far, 2 * LIMIT_S);
		assert_true(p->state == PEER_UP);
		close_lab(&l, far);
	}
}

/* Returns the state of a connection to a near node, that time after a failed release. */
static enum flow_state after_failed_release(int64_t ms, node_id_t far_at, bool stopping)
{
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	enum flow_state state;
	int far = open_lab(&l, &p, NEAR_US);

	c = conns_lab_track(&l);
	c->flow.state = FLOW_INTERCEPTED;
	c->flow.retry.not_before = mono_add_ms(l.now, 60000);
	c->away.far_at = far_at;
	l.e.stopping = stopping;
	conns_second(&l.e, mono_add_ms(l.now, ms));
	state = c->flow.state;
	close_lab(&l, far);
	return state;
}

static void a_failed_release_waits(void **state)
{
	(void)state;
	assert_int_equal(after_failed_release(59999, NODE_ID_NONE, false), FLOW_INTERCEPTED);
	assert_int_equal(after_failed_release(60000, NODE_ID_NONE, false), FLOW_RELEASING);
	/* The hosts of these connections cannot wait. */
	assert_int_equal(after_failed_release(0, OTHER_NODE, false), FLOW_RELEASING);
	assert_int_equal(after_failed_release(0, NODE_ID_NONE, true), FLOW_RELEASING);
}

/* The figure of the check equals the figure of the decision. */
static void attempts_use_places(void **state)
{
	struct jsonw *w = jsonw_new();
	struct conns_lab l;
	struct accel_peer *p;
	struct conn *c;
	size_t len;
	int far = open_lab(&l, &p, DISTANT_US);

	(void)state;
	l.e.settings.maximum = 1;
	c = conns_lab_track(&l);
	streams_bind(&p->streams, 1, c);
	jsonw_object(w, NULL);
	eligibility_explain(c, w, l.now);
	jsonw_end(w);
	assert_non_null(
		strstr(jsonw_text(w, &len), "\"value\":1,\"limit\":1,\"unit\":\"connections\""));
	jsonw_free(w);
	streams_unbind(&p->streams, 1);
	close_lab(&l, far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_near_node_frees_its_place),
		cmocka_unit_test(a_node_that_was_just_distant_keeps_its_place),
		cmocka_unit_test(a_stream_keeps_the_place),
		cmocka_unit_test(a_stream_of_the_other_node_keeps_the_place),
		cmocka_unit_test(a_follower_that_delivers_says_so),
		cmocka_unit_test(unsent_data_is_not_lost),
		cmocka_unit_test(others_keep_the_place),
		cmocka_unit_test(a_failed_release_waits),
		cmocka_unit_test(attempts_use_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
