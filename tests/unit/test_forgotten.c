// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/conns, peer_frames: connections that only one of two accelerators still has. */
#include <sys/epoll.h>

#include "conns_lab.h"
#include "peer/peer.h"

/* Makes an intercepted connection with a proxy socket that has ended both directions. Returns the
 * end of the host. */
static struct conn *intercept(struct conns_lab *l, int *host)
{
	struct conn *c = conns_lab_track(l);
	node_id_t node;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	c->socket.fd = pair[0];
	*host = pair[1];
	c->ended.lingers = true; /* the socket is in no loop */
	c->flow.state = FLOW_INTERCEPTED;
	c->flow.stream = 1;
	l->e.n_intercepted = 1;
	conns_lab_sent(l, &node);
	return c;
}

static void after_s(struct conns_lab *l, unsigned s)
{
	for (; s; s--) {
		l->now = mono_add_ms(l->now, 1000);
		loop_sim_run_until(l->loop, l->now);
		conns_lab_learn(l, FAR_NODE);
		conns_lab_learn(l, OTHER_NODE);
		conns_second(&l->e, l->now);
	}
}

/* The host of a proxy socket with unacknowledged data moves away, and the other accelerator has
 * ended the connection in order. No frame or message arrives any more. */
static void a_host_that_left_is_not_awaited_for_ever(void **state)
{
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	conns_moved(&l.e, 0, mac_from_u64(NEAR_MAC), OTHER_NODE, l.now);
	assert_true(place_near_is_migrated(c));
	after_s(&l, 30);
	assert_int_equal(c->flow.state, FLOW_INTERCEPTED);
	/* A message about the stream proves that the other accelerator has the connection. */
	assert_true(conn_message(
		c, &(struct accel_frame){ .type = ACCEL_CREDIT, .stream = 1, .credit = { 1 } },
		l.now));
	after_s(&l, 30);
	assert_int_equal(c->flow.state, FLOW_INTERCEPTED);
	after_s(&l, 1);
	assert_int_equal(c->flow.state, FLOW_CLOSED);
	assert_int_equal(l.e.n_intercepted, 0);
	assert_int_equal(l.e.counters.reset, 1);
	close(host);
	conns_lab_close(&l);
}

/* Both hosts have sent FIN during a release that failed, and the socket reports nothing more. */
static void both_fins_end_the_connection(void **state)
{
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	c->ended.lingers = false;
	c->ended.near_eof = true;
	c->ended.far = FAR_FIN_PASSED;
	after_s(&l, 1);
	assert_int_equal(c->flow.state, FLOW_CLOSED);
	assert_int_equal(l.e.n_intercepted, 0);
	close(host);
	conns_lab_close(&l);
}

/* Delivers a message of the far node, and returns the type of the answer. 0: no answer. */
static uint8_t answer_to(struct conns_lab *l, uint8_t type, uint32_t stream)
{
	static uint8_t byte[1];
	struct accel_peer *p = peer_find(&l->e, FAR_NODE);
	struct accel_frame f = { .type = type, .stream = stream }, out;
	uint8_t buf[ACCEL_SMALL_MAX];
	ssize_t n;
	size_t used;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	p->fd = pair[0];
	p->state = PEER_UP;
	p->watched = EPOLLIN;
	if (accel_has_data(type))
		f.data.data = byte, f.data.len = sizeof(byte);
	assert_true(peer_frames_ops.take(p, &f, l->now));
	p->state = PEER_DOWN; /* a peer that is down owns no buffer */
	p->fd = -1;
	fifo_free(&p->out);
	n = recv(pair[1], buf, sizeof(buf), 0);
	close(pair[0]);
	close(pair[1]);
	if (n <= 0)
		return 0;
	assert_int_equal(accel_decode(buf, (size_t)n, &out, &used), ACCEL_OK);
	assert_int_equal(used, n);
	assert_int_equal(out.stream, stream);
	return out.type;
}

/* A stream ends in order only after the FIN of both hosts, so DATA of an unknown stream has no
 * receiver. The other messages also follow an orderly end, and their sender may still have data for
 * its host. */
static void data_of_an_unknown_stream_is_refused(void **state)
{
	struct conns_lab l;

	(void)state;
	conns_lab_open(&l);
	assert_int_equal(answer_to(&l, ACCEL_DATA, 5), ACCEL_RESET);
	for (uint8_t type = ACCEL_REFUSE; type < ACCEL_TYPES; type++)
		if (type != ACCEL_DATA && type != ACCEL_PACKED && type != ACCEL_PING)
			assert_int_equal(answer_to(&l, type, 5), 0);
	conns_lab_close(&l);
}

/* leond may report its own node, which has the hosts of this LAN, or a node that has left. */
static void a_node_is_no_peer_of_itself(void **state)
{
	struct conns_lab l;

	(void)state;
	conns_lab_open(&l);
	conns_lab_learn(&l, SELF);
	assert_null(peer_find(&l.e, SELF));
	conns_lab_learn(&l, NODE_ID_NONE);
	assert_null(peer_find(&l.e, NODE_ID_NONE));
	assert_non_null(peer_find(&l.e, FAR_NODE));
	conns_lab_close(&l);
}

/* leond is gone while the inter-proxy connection ends, so the RST to the host is lost. The host
 * only waits for data. */
static void a_host_is_asked_after_the_return_of_leond(void **state)
{
	struct tcp_segment rst = from_near_host(1000, 5000);
	struct conns_lab l;
	node_id_t node;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	l.e.n_queues = 0;
	flow_reset(&c->flow, false, l.now);
	after_s(&l, 20);
	assert_int_equal(conns_lab_sent(&l, &node), 0);
	l.e.n_queues = 1;
	after_s(&l, 2);
	assert_int_equal(conns_lab_sent(&l, &node), 2);
	/* The host answers with a RST, because it has no connection. */
	rst.flags = TCP_RST;
	conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &rst);
	conns_lab_sent(&l, &node);
	after_s(&l, 20);
	assert_int_equal(conns_lab_sent(&l, &node), 4);
	assert_int_equal(node, FAR_NODE);
	close(host);
	conns_lab_close(&l);
}

/* The far accelerator has released the connection, and was killed or lost the message. It does not
 * reset its host, which only waits for data. The first probe meets its restart. */
static void the_far_host_is_asked_too(void **state)
{
	struct tcp_segment near = from_near_host(1000, 5000), far = from_far_host(5000, 1000);
	struct conns_lab l;
	node_id_t node;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	flow_reset(&c->flow, true, l.now);
	conns_lab_sent(&l, &node);
	/* The near host has no connection any more. */
	near.flags = TCP_RST;
	conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &near);
	conns_lab_sent(&l, &node);
	after_s(&l, 2);
	assert_int_equal(conns_lab_sent(&l, &node), 2);
	assert_int_equal(node, FAR_NODE);
	far.flags = TCP_RST;
	conns_lab_frame(&l, ACCEL_NODE, FAR_NODE, &far);
	conns_lab_sent(&l, &node);
	after_s(&l, 20);
	assert_int_equal(conns_lab_sent(&l, &node), 0);
	close(host);
	conns_lab_close(&l);
}

/* A probe in the name of a host that has moved away would claim its address for this node. */
static void a_host_that_moved_away_is_not_claimed(void **state)
{
	struct conns_lab l;
	node_id_t node;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	flow_reset(&c->flow, true, l.now);
	after_s(&l, 1);
	conns_moved(&l.e, 0, mac_from_u64(NEAR_MAC), OTHER_NODE, l.now);
	conns_lab_sent(&l, &node);
	after_s(&l, 20);
	assert_int_equal(conns_lab_sent(&l, &node), 0);
	close(host);
	conns_lab_close(&l);
}

/* The process is killed before the host has answered, so the next one repeats the question. */
static void a_reset_connection_stays_in_the_file(void **state)
{
	struct intercepted_one one = { .node = FAR_NODE };
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	c->socket.file_index = intercepted_put(l.e.intercepted, &one);
	flow_reset(&c->flow, false, l.now);
	after_s(&l, 2);
	assert_int_equal(c->socket.file_index, 0);
	assert_int_equal(intercepted_put(l.e.intercepted, &one), 1);
	after_s(&l, 8);
	assert_int_equal(c->socket.file_index, -1);
	close(host);
	conns_lab_close(&l);
}

/* Two hosts on one LAN take turns. A reset connection gets no turn. */
static void a_reset_during_a_release_waits_for_no_turn(void **state)
{
	unsigned n[ACCEL_CLAIM + 1] = { 0 };
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	c->flow.state = FLOW_RELEASING;
	c->away.far_at = SELF;
	flow_reset(&c->flow, false, l.now);
	conns_lab_count(&l, n);
	assert_int_equal(n[ACCEL_LAN], 4); /* RST, an old segment, and two ARP requests */
	assert_int_equal(l.e.held, 0);
	close(host);
	conns_lab_close(&l);
}

/* Restarts the file with the connection in it, as after a kill. */
static void file_of_a_killed_process(struct conns_lab *l, const struct conn *c)
{
	char path[] = "/tmp/leon-taken-XXXXXX";
	struct intercepted_one one = { .key = c->flow.key,
				       .near_mac = c->flow.near.mac,
				       .far_mac = c->flow.far.mac,
				       .node = FAR_NODE };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	intercepted_close(l->e.intercepted);
	assert_int_equal(intercepted_open(&l->e.intercepted, path), 0);
	assert_true(intercepted_put(l->e.intercepted, &one) >= 0);
	intercepted_close(l->e.intercepted);
	assert_int_equal(intercepted_open(&l->e.intercepted, path), 0);
	unlink(path);
}

/* The frames of a connection of a killed process led to an offer, before the node was known. */
static void an_offer_does_not_save_a_lost_connection(void **state)
{
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	conn_detach(c);
	c->flow.state = FLOW_PLAIN;
	c->flow.stream = 0;
	file_of_a_killed_process(&l, c);
	flow_offer(&c->flow, 1, l.now);
	after_s(&l, 1);
	assert_int_equal(c->flow.state, FLOW_CLOSED);
	assert_true(c->flow.was_reset);
	close(host);
	conns_lab_close(&l);
}

/* Both processes were killed, and the new ones agreed before they read their files. Each resets its
 * host, so an entry without a reset would leave the other host without a connection. */
static void an_agreement_does_not_save_a_lost_connection(void **state)
{
	const enum flow_state later[] = { FLOW_ACCEPTED, FLOW_INTERCEPTED, FLOW_RELEASING };
	struct intercepted_one one = { .node = FAR_NODE };

	(void)state;
	for (unsigned i = 0; i < array_size(later); i++) {
		struct conns_lab l;
		struct conn *c;
		int host;

		conns_lab_open(&l);
		c = intercept(&l, &host);
		file_of_a_killed_process(&l, c);
		c->socket.file_index = intercepted_put(l.e.intercepted, &one);
		c->flow.state = later[i];
		after_s(&l, 1);
		assert_int_equal(c->flow.state, FLOW_CLOSED);
		assert_true(c->flow.was_reset);
		close(host);
		conns_lab_close(&l);
	}
}

/* The host of the other accelerator may be plain again, because the message of a release was lost.
 */
static void a_connection_of_a_killed_process_is_asked_for_at_both_hosts(void **state)
{
	unsigned n[ACCEL_CLAIM + 1] = { 0 };
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	conn_detach(c);
	c->flow.state = FLOW_PLAIN;
	c->flow.stream = 0;
	file_of_a_killed_process(&l, c);
	after_s(&l, 20);
	conns_lab_count(&l, n);
	assert_int_equal(n[ACCEL_LAN], 5);
	assert_int_equal(n[ACCEL_NODE], 5);
	assert_int_equal(c->socket.file_index, -1);
	close(host);
	conns_lab_close(&l);
}

/* The hosts began another connection with the same addresses, and the process saw the SYN. */
static void another_connection_of_the_same_addresses_lives(void **state)
{
	struct tcp_segment syn = from_near_host(7000, 0);
	struct conns_lab l;
	struct conn *c;
	int host;

	(void)state;
	conns_lab_open(&l);
	c = intercept(&l, &host);
	conn_detach(c);
	c->flow.state = FLOW_PLAIN;
	c->flow.stream = 0;
	file_of_a_killed_process(&l, c);
	syn.flags = TCP_SYN;
	conns_lab_frame(&l, ACCEL_LAN, FAR_NODE, &syn);
	after_s(&l, 1);
	assert_int_equal(c->flow.state, FLOW_PLAIN);
	assert_null(intercepted_before(l.e.intercepted, 0));
	close(host);
	conns_lab_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_fins_end_the_connection),
		cmocka_unit_test(a_host_that_left_is_not_awaited_for_ever),
		cmocka_unit_test(data_of_an_unknown_stream_is_refused),
		cmocka_unit_test(a_node_is_no_peer_of_itself),
		cmocka_unit_test(a_host_is_asked_after_the_return_of_leond),
		cmocka_unit_test(an_offer_does_not_save_a_lost_connection),
		cmocka_unit_test(an_agreement_does_not_save_a_lost_connection),
		cmocka_unit_test(a_connection_of_a_killed_process_is_asked_for_at_both_hosts),
		cmocka_unit_test(another_connection_of_the_same_addresses_lives),
		cmocka_unit_test(the_far_host_is_asked_too),
		cmocka_unit_test(a_host_that_moved_away_is_not_claimed),
		cmocka_unit_test(a_reset_connection_stays_in_the_file),
		cmocka_unit_test(a_reset_during_a_release_waits_for_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
