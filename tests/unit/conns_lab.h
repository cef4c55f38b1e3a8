// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The connection table of leon-accel without a network namespace, on virtual time. The lab builds
 * frames and reads the messages to leond from the other end of the queue.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "conn/conn_state.h"
#include "peer/peer.h"
#include "wire/frame/tcp.h"

#define SELF	   1
#define NEAR_MAC   0x020000000001
#define FAR_MAC	   0x020000000002
#define LIAR_MAC   0x020000000003
#define FAR_NODE   2
#define OTHER_NODE 3

struct conns_lab {
	struct loop *loop;
	struct engine e;
	int leond; /* leond's end of the queue */
	mono_t now;
};

static inline void on_tick(void *arg, mono_t now)
{
	(void)arg;
	(void)now;
}

static inline void conns_lab_learn(struct conns_lab *l, node_id_t id)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_NODE,
					.node = { id, 50000, 1400, false } };

	/* The node has no carrier device, and mode off adds no route. */
	peer_learn(&l->e, &f, l->now);
}

static inline void conns_lab_open(struct conns_lab *l)
{
	int pair[2];

	memset(l, 0, sizeof(*l));
	l->loop = loop_sim_new();
	l->now = mono_add_ms((mono_t){ 0 }, 100000);
	loop_sim_run_until(l->loop, l->now);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	l->e = (struct engine){
		.loop = l->loop, .self = SELF, .listener = -1, .peer_ops = &peer_frames_ops
	};
	assert_int_equal(intercepted_open(&l->e.intercepted, NULL), 0);
	l->e.message = x_buffer(ACCEL_QUEUE_MAX, 1);
	l->e.queue[0] = pair[0];
	l->e.n_queues = 1;
	l->e.n_lans = LANS_MAX; /* prevents the device of another VLAN */
	l->leond = pair[1];
	l->e.tick = timer_new(l->loop, on_tick, NULL);
	conns_lab_learn(l, FAR_NODE);
	conns_lab_learn(l, OTHER_NODE);
}

static inline void conns_lab_close(struct conns_lab *l)
{
	conns_free(&l->e);
	peers_free(&l->e);
	moved_free(&l->e.moved);
	intercepted_close(l->e.intercepted);
	free(l->e.message);
	timer_free(l->e.tick);
	close(l->e.queue[0]);
	close(l->leond);
	loop_free(l->loop);
}

/* A segment from the near host 10.0.0.1 to 10.0.0.2 behind the far node. */
static inline struct tcp_segment from_near_host(uint32_t seq, uint32_t ack)
{
	return (struct tcp_segment){ .dst_mac = mac_from_u64(FAR_MAC),
				     .src_mac = mac_from_u64(NEAR_MAC),
				     .src = { 4, { 10, 0, 0, 1 } },
				     .dst = { 4, { 10, 0, 0, 2 } },
				     .src_port = 1,
				     .dst_port = 2,
				     .seq = seq,
				     .ack = ack,
				     .window = 100,
				     .flags = TCP_ACK };
}

static inline struct tcp_segment from_far_host(uint32_t seq, uint32_t ack)
{
	struct tcp_segment s = from_near_host(seq, ack);

	s.dst_mac = mac_from_u64(NEAR_MAC);
	s.src_mac = mac_from_u64(FAR_MAC);
	s.src = (struct ip_addr){ 4, { 10, 0, 0, 2 } };
	s.dst = (struct ip_addr){ 4, { 10, 0, 0, 1 } };
	s.src_port = 2;
	s.dst_port = 1;
	return s;
}

/* Returns the result of conn_frame(): true if the frame needs no further processing. */
static inline bool conns_lab_frame(struct conns_lab *l, enum accel_where where, node_id_t node,
				   const struct tcp_segment *s)
{
	uint8_t message[ACCEL_QUEUE_HDR + ACCEL_VNET_LEN + TCP_FRAME_MAX] = { 0 };
	uint8_t *frame = message + ACCEL_QUEUE_HDR + ACCEL_VNET_LEN;
	size_t len = tcp_make(s, frame);
	struct eth_view v;
	struct tcp_view t;
	struct conn_frame cf = { .from_lan = where == ACCEL_LAN,
				 .is_claim = where == ACCEL_CLAIM,
				 .peer = peer_find(&l->e, node),
				 .frame = { message, sizeof(message), frame, len, 0, &v, &t } };

	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
	return conn_frame(&l->e, &cf, l->now);
}

static inline struct conn *conns_lab_conn(struct conns_lab *l, const struct tcp_segment *far)
{
	uint8_t frame[TCP_FRAME_MAX];
	size_t len = tcp_make(far, frame);
	struct eth_view v;
	struct tcp_view t;

	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(tcp_parse(frame, len, &v, &t), 0);
	return conn_of_packet(&l->e, 0, &t);
}

/* Makes a plain connection by a frame in each direction. */
static inline struct conn *conns_lab_track(struct conns_lab *l)
{
	struct tcp_segment near = from_near_host(1000, 5000), far = from_far_host(5000, 1000);
	struct conn *c;

	assert_true(conns_lab_frame(l, ACCEL_LAN, FAR_NODE, &near));
	assert_true(conns_lab_frame(l, ACCEL_NODE, FAR_NODE, &far));
	c = conns_lab_conn(l, &far);
	assert_non_null(c);
	return c;
}

/* Counts the messages to leond since the last call, by enum accel_where. */
static inline void conns_lab_count(struct conns_lab *l, unsigned *n)
{
	uint8_t message[ACCEL_QUEUE_MAX];

	while (recv(l->leond, message, sizeof(message), MSG_DONTWAIT) > 0)
		n[message[0]]++;
}

/* Returns the number of messages to leond since the last call, and the node of the last message. */
static inline unsigned conns_lab_sent(struct conns_lab *l, node_id_t *node)
{
	uint8_t message[ACCEL_QUEUE_MAX];
	unsigned n = 0;

	while (recv(l->leond, message, sizeof(message), MSG_DONTWAIT) > 0) {
		*node = get_u32(message + 4);
		n++;
	}
	return n;
}

/* An inter-proxy connection to the far node. Returns the end of the node. */
static inline int conns_lab_connected(struct conns_lab *l, struct accel_peer **p)
{
	int pair[2];

	conns_lab_open(l);
	*p = peer_find(&l->e, FAR_NODE);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	peer_begin(*p, pair[0], PEER_GREETING, l->now);
	peer_greet(*p);
	(*p)->state = PEER_UP;
	return pair[1];
}
