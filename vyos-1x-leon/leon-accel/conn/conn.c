// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One connection, see conn.h. Performs the requested actions of the flow, with sockets, TAPs and
 * the inter-proxy connection. Bytes of the near host go from the proxy socket to the inter-proxy
 * connection, within the credit of the other end. Bytes of the inter-proxy connection go to the
 * proxy socket, and the other end gets new credit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "conn/conn_state.h"
#include "peer/peer.h"
#include "flow/proxy_sock.h"
#include "peer/benefit.h"

/* --- actions of a flow --- */

static bool leads(const struct flow *f)
{
	return peer_leads(container_of(f, const struct conn, flow)->peer);
}

static void stream_ended(struct flow *f, uint32_t stream)
{
	streams_unbind(&conn_of(f)->peer->streams, stream);
}

static const uint8_t *vnet_of(const struct flow_frame *f)
{
	return f->message ? f->message + ACCEL_QUEUE_HDR : no_offload;
}

static void to_far(struct flow *f, const struct flow_frame *frame)
{
	struct conn *c = conn_of(f);

	/* The frame came from the present node of the host, or from the LAN of the other host. A
	 * frame from here would have the wrong source. The host retransmits the data. */
	if (!place_near_is_migrated(c) && !place_is_here(c))
		place_send(c, ACCEL_NODE, vnet_of(frame), frame->data, frame->len);
}

static void to_near(struct flow *f, const struct flow_frame *frame)
{
	place_send(conn_of(f), ACCEL_LAN, vnet_of(frame), frame->data, frame->len);
}

static void to_proxy_sock(struct flow *f, const struct flow_frame *frame)
{
	struct conn *c = conn_of(f);
	struct lan *lan = engine_lan(c->e, f->key.vlan);

	if (lan)
		tun_write(&lan->tun, vnet_of(frame), frame->data, frame->len, frame->v->l3_offset);
}

/* A refusal of this node or of the other node. */
static void count_refusal(struct conn *c, uint8_t reason)
{
	c->e->counters.refused++;
	c->peer->counted.refused++;
	c->e->counters.again += reason == ACCEL_NOT_DRAINED;
	c->e->counters.fault[ACCEL_FAULT_NUMBERS_DIFFER] += reason == ACCEL_NUMBERS_DIFFER;
	c->e->counters.fault[ACCEL_FAULT_FIN_DIFFERS] += reason == ACCEL_FIN_DIFFERS;
	c->e->counters.fault[ACCEL_FAULT_OPTIONS_DIFFER] += reason == ACCEL_OPTIONS_DIFFER;
	c->e->counters.fault[ACCEL_FAULT_CLOCKS_DIFFER] += reason == ACCEL_CLOCKS_DIFFER;
}

static void notify(struct flow *f, const struct accel_frame *frame)
{
	struct conn *c = conn_of(f);

	if (frame->type == ACCEL_REFUSE)
		count_refusal(c, frame->refuse.reason);
	peer_notify(c->peer, frame);
	/* The other node sends data with its TAKE, not a round trip later. */
	if (frame->type == ACCEL_ACCEPT)
		conn_give_credit(c);
}

static bool may_hold(struct flow *f, int64_t bytes)
{
	struct conn *c = conn_of(f);
	struct engine *e = c->e;

	if (!share_hold(&c->peer->share, bytes, e->held, HELD_MAX)) {
		e->counters.held_dropped++;
		return false;
	}
	e->held += bytes;
	return true;
}

/* Reports whether the proxy socket is part of the connection. */
static bool is_started(const struct conn *c)
{
	enum flow_state state = c->flow.state;

	return c->socket.fd >= 0 && (state == FLOW_INTERCEPTED || state == FLOW_RELEASING);
}

void conn_detach(struct conn *c)
{
	bool started = is_started(c);

	if (c->socket.fd >= 0 && !c->ended.lingers)
		loop_fd_del(c->e->loop, c->socket.fd);
	c->e->n_intercepted -= started;
	c->peer->counted.intercepted_now -= started;
	c->ended.lingers = false;
	c->socket.fd = -1;
	c->e->promised -= (int64_t)c->window.given + (int64_t)c->in.len;
	fifo_free(&c->in);
	local_pair_free(c);
	c->window.may_send = c->window.largest = c->window.given = 0;
}

static void refuse_far(struct flow *f, const struct flow_frame *frame)
{
	conn_refuse(conn_of(f), ACCEL_NODE, frame);
}

static void refuse_near(struct flow *f, const struct flow_frame *frame)
{
	conn_refuse(conn_of(f), ACCEL_LAN, frame);
}

static void end_by_release(struct conn *c, int fd)
{
	/* The other end may have requested the release for this reason, and both start again. */
	c->no_benefit |= conn_is_no_benefit_for(c, CONN_NO_BENEFIT_MS, loop_now(c->e->loop));
	c->e->counters.returned++;
	c->peer->counted.returned++;
	log_info("accel", "released");
	proxy_sock_leave(fd);
}

static void give_up(struct flow *f, enum flow_end_of how)
{
	struct conn *c = conn_of(f);
	int fd = c->socket.fd;
	bool started = is_started(c);

	if (how == FLOW_UNUSED && fd < 0)
		return;
	conn_detach(c);
	/* A reset connection stays in the file until its host was asked. */
	if (how != FLOW_RESET)
		conn_unlist(c);
	if (how == FLOW_RESET) {
		/* A proxy socket before its start sends no RST, because the host has other
		 * numbers. */
		if (fd >= 0 && !started)
			proxy_sock_leave(fd);
		conn_end_by_reset(c, started ? fd : -1);
	} else if (how == FLOW_RELEASED && fd >= 0) {
		end_by_release(c, fd);
	} else {
		proxy_sock_leave(fd);
	}
	if (place_is_here(c))
		here_find_hosts(c);
}

static void probe(struct flow *f)
{
	conn_request_host(conn_of(f), ACCEL_LAN);
}

static struct flow_proof proof(struct flow *f)
{
	const struct conn *c = conn_of(f);

	if (!is_started(c) || c->ended.lingers)
		return (struct flow_proof){ .acknowledged = true };
	return proxy_sock_proof(c->socket.fd, c->socket.made, loop_now(c->e->loop));
}

static bool is_drained(struct flow *f)
{
	struct conn *c = conn_of(f);

	/* The other host may also send directly. The host may then have acknowledged more data than
	 * the proxy socket sent. The kernel ignores such an acknowledgement. */
	if (c->socket.fd >= 0 && (c->away.far_at || place_near_is_migrated(c)) &&
	    !seq_before(f->near.acked, f->drain.far_point))
		return true;
	return c->socket.fd >= 0 && !c->in.len &&
	       c->socket.written + (c->ended.far == FAR_FIN_PASSED ? 1 : 0) ==
		       f->drain.far_point - f->far_start &&
	       !proxy_sock_unacknowledged(c->socket.fd);
}

static bool is_sent(struct flow *f)
{
	const struct conn *c = conn_of(f);

	return c->socket.read + c->ended.near_eof == f->drain.near_point - f->near_start;
}

static void on_socket(void *arg, int fd, uint32_t events);

static int open_proxy_sock(struct flow *f)
{
	return conn_open_proxy_sock(conn_of(f), on_socket);
}

const struct flow_ops conn_ops = {
	.leads = leads,
	.stream_ended = stream_ended,
	.to_far = to_far,
	.to_near = to_near,
	.to_proxy_sock = to_proxy_sock,
	.notify = notify,
	.proxy_sock = open_proxy_sock,
	.start = conn_start_proxy_sock,
	.is_drained = is_drained,
	.is_sent = is_sent,
	.refuse_far = refuse_far,
	.refuse_near = refuse_near,
	.give_up = give_up,
	.probe = probe,
	.proof = proof,
	.may_hold = may_hold,
};

void conn_release(struct conn *c, mono_t now)
{
	struct accel_frame ask = { .type = ACCEL_RELEASE,
				   .stream = c->flow.stream,
				   .at = { c->flow.near.next } };

	if (c->flow.state != FLOW_INTERCEPTED || c->ended.lingers)
		return;
	c->no_benefit = conn_is_no_benefit_for(c, CONN_NO_BENEFIT_MS, now);
	if (peer_leads(c->peer))
		flow_release(&c->flow, now);
	else
		peer_notify(c->peer, &ask);
	engine_start_tick(c->e);
}

/* --- bytes --- */

static void choose_events(struct conn *c)
{
	bool reads = !c->ended.near_eof && c->window.may_send &&
		     !streams_wait(&c->peer->streams, c->flow.stream);
	uint32_t events = (reads ? EPOLLIN : 0u) | (c->in.len ? EPOLLOUT : 0u);

	/* EPOLLHUP cannot be masked, and lasts while both directions are shut. */
	conn_watch(c, events ? events : EPOLLET);
}

/*
 * Both hosts have sent FIN and received the FIN of the other one. A host that does not read yet
 * lacks data, and the kernel discards an orphaned socket after a while with its data. The socket is
 * examined once a second. A release that failed may have found both directions shut, too, which the
 * socket reports once only.
 */
bool conn_end_where_done(struct conn *c)
{
	int fd = c->socket.fd;

	if (!is_started(c) || !c->ended.near_eof || c->ended.far != FAR_FIN_PASSED ||
	    c->flow.state == FLOW_RELEASING)
		return false;
	if (proxy_sock_unacknowledged(fd) && !proxy_sock_is_over(fd)) {
		if (!c->ended.lingers)
			loop_fd_del(c->e->loop, fd);
		c->ended.lingers = true;
		return true;
	}
	conn_detach(c);
	conn_unlist(c);
	close(fd);
	flow_closed(&c->flow, loop_now(c->e->loop));
	return true;
}

static void failed(struct conn *c)
{
	flow_reset(&c->flow, false, loop_now(c->e->loop));
}

static void count(struct conn *c, enum saved_direction d, size_t n)
{
	const struct flow *f = &c->flow;
	uint32_t rtt_us = c->peer->rtt_us;
	mono_t now = loop_now(c->e->loop);
	struct saved_step step = { .direction = d,
				   .bytes = n,
				   .rtt_us = rtt_us,
				   .window = flow_widest(f, d == SAVED_OUT ? &f->far : &f->near) };

	time_saved_add(&c->time_saved, &step, now);
	meter_add(&c->through[d], n, rtt_us, now);
	if (judge_is_worth_keeping(c, d, meter_best(&c->through[d], rtt_us, now)))
		c->benefit_at = now;
	if (d == SAVED_OUT)
		c->bytes.out += n;
	else
		c->bytes.in += n;
}

static bool can_send(const struct conn *c)
{
	return is_started(c) && !c->ended.lingers && !c->ended.near_eof && c->window.may_send;
}

size_t conn_send(struct conn *c, size_t max)
{
	static uint8_t buf[ACCEL_DATA_MAX]; /* single-threaded */
	struct accel_frame fin = { .type = ACCEL_FIN, .stream = c->flow.stream };
	size_t carried;
	ssize_t n;

	if (!can_send(c))
		return 0;
	max = min_of(max, (size_t)c->window.may_send);
	n = recv(c->socket.fd, buf, min_of(max, sizeof(buf)), 0);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		failed(c);
	if (n == 0) {
		c->ended.near_eof = true;
		peer_notify(c->peer, &fin);
	}
	if (n <= 0)
		return 0;
	c->window.may_send -= (uint32_t)n;
	c->socket.read += (uint32_t)n;
	count(c, SAVED_OUT, (size_t)n);
	carried = peer_send(c->peer, c->flow.stream, buf, (size_t)n);
	c->bytes.carried_out += carried;
	return carried;
}

/* Moves waiting bytes to the near host. Returns false if the connection has ended. */
static bool pump_in(struct conn *c)
{
	while (c->in.len) {
		ssize_t n = send(c->socket.fd, fifo_data(&c->in), c->in.len, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0) {
			failed(c);
			return false;
		}
		fifo_drop(&c->in, (size_t)n);
		c->e->promised -= n;
		c->socket.written += (uint32_t)n;
	}
	conn_give_credit(c);
	if (c->ended.far == FAR_FIN_RECEIVED && !c->in.len)
		conn_pass_fin(c);
	return true;
}

void conn_turn_over(struct conn *c)
{
	if (is_started(c) && !c->ended.lingers && !conn_end_where_done(c))
		choose_events(c);
}

static void pump(struct conn *c)
{
	if (!is_started(c) || c->ended.lingers || !pump_in(c))
		return;
	if (can_send(c))
		peer_serve(c->peer, c->flow.stream);
	conn_turn_over(c);
}

static void on_socket(void *arg, int fd, uint32_t events)
{
	struct conn *c = arg;
	int error = 0;
	socklen_t len = sizeof(error);

	if (events & EPOLLERR && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error) {
		failed(c);
		return;
	}
	pump(c);
}

bool conn_data(struct conn *c, const void *data, size_t len, size_t carried)
{
	if (!is_started(c))
		return true;
	if (len > c->window.given)
		return false;
	place_received(c, loop_now(c->e->loop));
	c->window.given -= (uint32_t)len;
	c->bytes.carried_in += carried;
	count(c, SAVED_IN, len);
	fifo_put(&c->in, data, len);
	pump(c);
	return true;
}

/* --- messages --- */

bool conn_message(struct conn *c, const struct accel_frame *f, mono_t now)
{
	place_received(c, now);
	switch (f->type) {
	case ACCEL_CREDIT:
		c->window.may_send += min_of(f->credit.bytes, UINT32_MAX - c->window.may_send);
		c->window.largest = max_of(c->window.largest, c->window.may_send);
		break;
	case ACCEL_FIN:
		c->flow.far.fin = true;
		if (c->ended.far == FAR_SENDS)
			c->ended.far = FAR_FIN_RECEIVED;
		break;
	case ACCEL_REFUSE:
		c->refused = (uint8_t)eligibility_of_refusal(f->refuse.reason);
		count_refusal(c, f->refuse.reason);
		/* fall through */
	default:
		if (!flow_message(&c->flow, f, now))
			return false;
		break;
	}
	pump(c);
	engine_start_tick(c->e);
	return true;
}

void conn_interproxy_gone(struct conn *c, mono_t now)
{
	/* An ended connection needs no credit. */
	if (c->ended.lingers) {
		flow_set_stream(&c->flow, 0);
		return;
	}
	flow_interproxy_gone(&c->flow, now);
}
