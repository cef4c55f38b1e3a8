// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The proxy socket of one connection, see conn_state.h: its parameters from the frames of both
 * hosts, and its start.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "base/log.h"
#include "conn/conn_state.h"
#include "flow/proxy_sock.h"
#include "engine.h"
#include "peer/peer.h"

/* --- credit and buffers of a connection --- */

/* Undelivered bytes are in the proxy socket of the sender, in transit, and in the proxy socket of
 * the receiver. The credit bounds the bytes in transit. Most parts of the limit belong to the
 * credit, because it limits the bytes of a round trip. */
#define UNDELIVERED_PARTS 16
#define CREDIT_PARTS	  12
#define RECEIVE_PARTS	  1
#define RECEIVE_PARTS_MAX 3
#define SEND_PARTS	  1
#define PORTIONS	  16 /* of a share. The credit of the last portion is unused. */

static uint32_t credit_of_one(const struct engine *e)
{
	uint32_t share = CREDIT_ALL / max_of(e->n_intercepted, 1u);

	share = min_of(share, e->settings.undelivered / UNDELIVERED_PARTS * CREDIT_PARTS);
	return max_of(share, CREDIT_MIN);
}

uint32_t credit_due(const struct conn *c)
{
	uint32_t share = credit_of_one(c->e), has = c->window.given + (uint32_t)c->in.len;
	int64_t left = max_of((int64_t)CREDIT_ALL - c->e->promised, (int64_t)0);
	uint32_t least = CREDIT_MIN > has ? CREDIT_MIN - has : 0;
	uint32_t due = share > has ? share - has : 0;
	uint32_t portion = left > share ? share / PORTIONS : 0;

	if (due > left)
		due = max_of((uint32_t)left, min_of(least, due));
	/* Credit is granted in large portions. */
	return due < max_of(portion, (uint32_t)CREDIT_MIN / 4) ? 0 : due;
}

uint32_t credit_receive_window(const struct conn *c)
{
	const struct flow *f = &c->flow;
	uint32_t part = c->e->settings.undelivered / UNDELIVERED_PARTS;

	return min_of(part * RECEIVE_PARTS + 2 * flow_held(f), part * RECEIVE_PARTS_MAX);
}

uint32_t credit_send_buffer(const struct conn *c)
{
	return c->e->settings.undelivered / UNDELIVERED_PARTS * SEND_PARTS;
}

uint64_t conn_undelivered(const struct conn *c)
{
	uint64_t to_far = c->window.largest - min_of(c->window.largest, c->window.may_send);

	if (c->socket.fd < 0)
		return 0;
	return proxy_sock_unread(c->socket.fd) + to_far + c->in.len +
	       proxy_sock_unacknowledged(c->socket.fd);
}

#define RECEIVE_WINDOW_BLIND (64u << 20) /* stated with a shift of 14, the host has another */
#define MSS_V4_MIN	     536
#define MSS_V6_MIN	     1220
#define MSS_MIN		     88
#define MSS_MAX		     1460
#define TS_OPTION_LEN	     12

/* Limits the MSS to the range of the kernel and of a LAN. */
static uint16_t clamp_mss(uint16_t mss)
{
	if (mss < MSS_MIN)
		return MSS_MIN;
	return mss < MSS_MAX ? mss : MSS_MAX;
}

static uint16_t mss_of(const struct flow *f)
{
	uint16_t least = f->key.near.family == 4 ? MSS_V4_MIN : MSS_V6_MIN;
	uint16_t seen = (uint16_t)(f->far.largest + (f->far.has_ts ? TS_OPTION_LEN : 0));

	/* Without a SYN: every host accepts the least one. */
	return clamp_mss(f->near.syn.mss ? f->near.syn.mss : seen > least ? seen : least);
}

/* Shifts of received and stated windows. If no SYN was seen, stated windows use the largest shift,
 * and are too small, never too large. */
static void choose_scales(const struct flow *f, struct proxy_sock *s)
{
	const struct accel_options *near = &f->near.syn, *far = &f->far.syn;

	if (flow_knows_scales(f)) {
		s->scaling = near->scaling && far->scaling;
		s->near_scale = near->scale;
		s->far_scale = far->scale;
		s->sack = near->sack && far->sack;
		return;
	}
	s->scaling = true;
	s->near_scale = flow_end_scale(&f->near);
	s->far_scale = TCP_SCALE_MAX;
	s->receive_window = RECEIVE_WINDOW_BLIND;
	s->sack = f->near.sack_seen || f->far.sack_seen;
}

void conn_give_credit(struct conn *c)
{
	struct accel_frame f = { .type = ACCEL_CREDIT, .stream = c->flow.stream };

	f.credit.bytes = c->flow.stream ? credit_due(c) : 0;
	if (!f.credit.bytes)
		return;
	c->window.given += f.credit.bytes;
	c->e->promised += f.credit.bytes;
	peer_notify(c->peer, &f);
}

void conn_watch(struct conn *c, uint32_t events)
{
	if (c->socket.watched == events)
		return;
	c->socket.watched = events;
	loop_fd_mod(c->e->loop, c->socket.fd, events);
}

/* The near host does not retransmit acknowledged data. */
static void repeat_fin(struct conn *c)
{
	const struct flow *f = &c->flow;
	struct tcp_segment s = { .src = f->key.near,
				 .dst = f->key.far,
				 .src_port = f->key.near_port,
				 .dst_port = f->key.far_port,
				 .seq = f->near_start,
				 .ack = f->far_start,
				 .window = f->near.window,
				 .flags = TCP_FIN | TCP_ACK,
				 .has_ts = f->near.has_ts && f->far.has_ts,
				 .ts_val = f->near.ts_val,
				 .ts_ecr = f->far.ts_val };
	struct lan *lan = engine_lan(c->e, f->key.vlan);
	uint8_t frame[TCP_FRAME_MAX];
	size_t len = tcp_make(&s, frame);

	if (lan)
		tun_write(&lan->tun, no_offload, frame, len, ETH_HDR_LEN);
}

void conn_unlist(struct conn *c)
{
	intercepted_drop(c->e->intercepted, c->socket.file_index);
	c->socket.file_index = -1;
}

static void remember(struct conn *c)
{
	const struct flow *f = &c->flow;
	struct intercepted_one one = { .key = f->key,
				       .near_mac = f->near.mac,
				       .far_mac = f->far.mac,
				       .node = c->peer->id,
				       .near_start = f->near_start,
				       .far_start = f->far_start };

	conn_unlist(c);
	c->socket.file_index = intercepted_put(c->e->intercepted, &one);
}

static struct proxy_sock proxy_sock_of(struct conn *c, const struct lan *lan)
{
	const struct flow *f = &c->flow;
	struct proxy_sock s = { .device = lan->name,
				.near = { .ip = f->key.near, .port = f->key.near_port },
				.far = { .ip = f->key.far, .port = f->key.far_port },
				.send_seq = f->far_start,
				.receive_seq = f->near_start,
				.window = f->near.window,
				.receive_window = credit_receive_window(c),
				.send_buffer = credit_send_buffer(c),
				.mss = mss_of(f),
				.timestamps = f->near.has_ts && f->far.has_ts,
				.timestamp = f->far.ts_val };

	choose_scales(f, &s);
	return s;
}

static enum accel_fault fault_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return ACCEL_FAULT_SOCKET_DENIED;
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return ACCEL_FAULT_SOCKET_IN_USE;
	case EMFILE:
	case ENFILE:
		return ACCEL_FAULT_SOCKET_FILES;
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC:
		return ACCEL_FAULT_SOCKET_MEMORY;
	default:
		return ACCEL_FAULT_SOCKET_OTHER;
	}
}

/* A connection without a proxy socket stays plain, and another attempt follows. */
static struct log_limit socket_limit = LOG_LIMIT_INIT(5, 1);

bool conn_has_device(struct conn *c, mono_t now)
{
	int error;

	if (engine_lan(c->e, c->flow.key.vlan))
		return true;
	error = errno;
	log_limited(&socket_limit, now, LOG_LVL_WARN, "accel",
		    "no proxy socket can be made: no device for VLAN %u: %s errno=%d",
		    c->flow.key.vlan, strerror(error), error);
	c->e->counters.fault[fault_of(error)]++;
	c->refused = ACCEL_REASON_NONE;
	flow_failed(&c->flow, now);
	return false;
}

int conn_open_proxy_sock(struct conn *c, conn_event_fn on_socket)
{
	struct proxy_sock s = proxy_sock_of(c, engine_lan(c->e, c->flow.key.vlan));
	int fd = proxy_sock_open(&s);

	if (fd >= 0 && loop_fd_add(c->e->loop, fd, 0, on_socket, c) < 0) {
		proxy_sock_leave(fd);
		fd = -ENOMEM;
	}
	if (fd < 0) {
		log_limited(&socket_limit, loop_now(c->e->loop), LOG_LVL_WARN, "accel",
			    "no proxy socket can be made: %s errno=%d", strerror(-fd), -fd);
		c->e->counters.fault[fault_of(-fd)]++;
		return fd;
	}
	c->socket.fd = fd;
	c->socket.watched = 0;
	c->socket.made = loop_now(c->e->loop);
	/* From now on the other node may start, also while the next process of this node does. */
	remember(c);
	return 0;
}

static void count_intercepted(struct conn *c)
{
	c->e->n_intercepted++;
	c->e->counters.intercepted++;
	c->peer->counted.intercepted++;
	c->peer->counted.intercepted_now++;
	if (c->times < UINT16_MAX)
		c->times++;
}

void conn_pass_fin(struct conn *c)
{
	c->ended.far = FAR_FIN_PASSED;
	shutdown(c->socket.fd, SHUT_WR);
}

bool conn_start_proxy_sock(struct flow *f)
{
	struct conn *c = conn_of(f);
	struct proxy_sock s = proxy_sock_of(c, engine_lan(c->e, f->key.vlan));
	int rc = proxy_sock_start(c->socket.fd, &s);

	if (rc < 0)
		log_error("accel", "a proxy socket does not start: %s", strerror(-rc));
	log_info("accel", "intercepted stream=%u peer_window=%u scales=%u/%u mss=%u held=%u",
		 c->flow.stream, s.window, s.near_scale, s.far_scale, s.mss, flow_n_held(f));
	c->benefit_at = loop_now(c->e->loop);
	c->no_benefit = false;
	c->refused = ACCEL_REASON_NONE;
	count_intercepted(c);
	c->socket.written = c->socket.read = 0;
	c->ended.far = FAR_SENDS;
	c->ended.near_eof = false;
	/* The near host has acknowledged the FIN. A socket discards each segment that acknowledges
	 * more than the socket has sent, so the FIN precedes the held frames. */
	if (f->far.fin)
		conn_pass_fin(c);
	conn_watch(c, EPOLLIN);
	if (f->near.fin)
		repeat_fin(c);
	conn_give_credit(c);
	return rc == 0;
}
