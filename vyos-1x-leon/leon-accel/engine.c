// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of leon-accel put together, see engine.h: input from leond, input from the kernel of
 * the namespace, and timers.
 */
#include "engine.h"

#include <errno.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "conn/conn_state.h"
#include "io/tcp_socket.h"
#include "peer/peer.h"
#include "wire/accel.h"
#include "wire/bytes.h"

#define BATCH	64 /* messages of a descriptor before the next descriptor */
#define TICK_MS 5
#define STOP_MS 10000
/* A process without a tick for STALL_MS was stalled. leond may notice a stall until STALL_END_MS
 * after the end. */
#define STALL_MS	2500
#define LEOND_GAP_MS	2500 /* leond sends a message each second */
#define STALL_END_MS	10000
#define INTERPROXY_NAME "carrier"

/* --- from leond --- */

/* A packet of the accelerator of a node, for the kernel of the namespace. leond has checked the
 * addresses. The second check protects the kernel from a defect of leond. */
static void take_interproxy(struct engine *e, const uint8_t *vnet, const uint8_t *frame, size_t len,
			    node_id_t node)
{
	struct accel_peer *p = peer_find(e, node);
	struct eth_view v;

	if (!e->interproxy_is_open)
		return;
	if (eth_parse(frame, len, &v) == 0 && accel_is_between(frame, len, &v, node, e->self))
		tun_write(&e->interproxy, vnet, frame, len, v.l3_offset);
	else if (p)
		peer_misuse(p, ACCEL_FOREIGN);
}

/* A frame between two hosts. A frame without a tracked connection goes on unchanged. */
static void take_hosts(struct engine *e, uint8_t *message, size_t message_len, node_id_t node)
{
	uint8_t *frame = message + ACCEL_QUEUE_HDR + ACCEL_VNET_LEN;
	size_t len = message_len - ACCEL_QUEUE_HDR - ACCEL_VNET_LEN;
	bool from_lan = message[0] == ACCEL_LAN;
	enum accel_where on = from_lan ? ACCEL_NODE : ACCEL_LAN;
	struct eth_view v;
	struct tcp_view t;
	struct conn_frame cf = { .from_lan = from_lan,
				 .is_claim = message[0] == ACCEL_CLAIM,
				 .peer = peer_find(e, node),
				 .frame = { message, message_len, frame, len, 0, &v, &t } };

	cf.frame.gso_size = engine_gso_size(message + ACCEL_QUEUE_HDR);
	if (from_lan && node == e->self) {
		if (eth_parse(frame, len, &v) == 0 && tcp_parse(frame, len, &v, &t) == 0)
			conn_frame_local(e, &cf.frame, loop_now(e->loop));
		return;
	}
	if (cf.peer && eth_parse(frame, len, &v) == 0 && tcp_parse(frame, len, &v, &t) == 0 &&
	    conn_frame(e, &cf, loop_now(e->loop)))
		return;
	accel_queue_put(message, on, node);
	engine_send(e, node, on, node, NULL, message, message_len);
}

static void take_message(struct engine *e, uint8_t *message, size_t len)
{
	size_t at = ACCEL_QUEUE_HDR + ACCEL_VNET_LEN;

	if (len <= at)
		return;
	if (message[0] == ACCEL_PEER)
		take_interproxy(e, message + ACCEL_QUEUE_HDR, message + at, len - at,
				get_u32(message + 4));
	else if (message[0] == ACCEL_LAN || message[0] == ACCEL_NODE || message[0] == ACCEL_CLAIM)
		take_hosts(e, message, len, get_u32(message + 4));
}

static void close_queues(struct engine *e)
{
	for (unsigned i = 0; i < e->n_queues; i++) {
		loop_fd_del(e->loop, e->queue[i]);
		close(e->queue[i]);
	}
	e->n_queues = 0;
}

/* Returns the length of the message, or 0 without a message. */
static size_t take_queued(struct engine *e, int fd)
{
	ssize_t n = recv(fd, e->message, ACCEL_QUEUE_MAX, MSG_DONTWAIT);

	/* leond has ended, and its socket would be readable for ever. */
	if (n == 0)
		close_queues(e);
	if (n <= 0)
		return 0;
	e->received = loop_now(e->loop);
	take_message(e, e->message, (size_t)n);
	return (size_t)n;
}

static void on_queue(void *arg, int fd, uint32_t events attr_unused)
{
	struct engine *e = arg;

	for (unsigned i = 0; i < BATCH && take_queued(e, fd); i++)
		;
}

/* Handles the frames that are queued now. */
static void empty_queues(struct engine *e)
{
	for (unsigned i = 0; i < e->n_queues; i++) {
		int queued = 0;
		size_t n = 1;

		ioctl(e->queue[i], FIONREAD, &queued);
		while (n && queued > 0) {
			n = take_queued(e, e->queue[i]);
			queued -= (int)n;
		}
	}
}

/* --- from the kernel of the namespace --- */

static void on_interproxy(void *arg, int fd, uint32_t events attr_unused)
{
	struct engine *e = arg;
	uint8_t *vnet = e->message, *frame = vnet + ACCEL_VNET_LEN;

	for (unsigned i = 0; i < BATCH; i++) {
		ssize_t n = read(fd, e->message, ACCEL_QUEUE_MAX);
		struct eth_view v;
		size_t len = (size_t)n - ACCEL_VNET_LEN;
		node_id_t node;

		if (n <= ACCEL_VNET_LEN)
			break;
		if (eth_parse(frame, len, &v) < 0 || v.ip_version != 6 || len < v.l3_offset + 40u)
			continue;
		node = get_u32(frame + v.l3_offset + 36);
		if (accel_is_between(frame, len, &v, e->self, node))
			engine_send(e, node, ACCEL_PEER, node, vnet, frame, len);
	}
}

/* Inserts the tag of the LAN behind the addresses. The buffer has space for it in front. */
static uint8_t *add_tag(uint8_t *vnet, uint16_t vlan)
{
	uint8_t *start = vnet - 4, *frame = start + ACCEL_VNET_LEN;
	struct virtio_net_hdr h;

	memcpy(&h, vnet, sizeof(h));
	h.csum_start = (uint16_t)(h.csum_start + (h.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? 4 : 0));
	h.hdr_len = (uint16_t)(h.hdr_len + (h.hdr_len ? 4 : 0));
	memcpy(start, &h, sizeof(h));
	put_u16(frame + 2 * MAC_LEN, ETHERTYPE_DOT1Q);
	put_u16(frame + 2 * MAC_LEN + 2, vlan);
	return start;
}

/* A packet of a proxy socket, sent as if it came from the far host. */
static void take_packet(struct lan *lan, uint8_t *vnet, size_t len)
{
	struct engine *e = lan->e;
	uint8_t *frame = vnet + ACCEL_VNET_LEN;
	struct conn *c;
	struct eth_view v;
	struct tcp_view t;

	if (eth_parse(frame, len, &v) < 0 || tcp_parse(frame, len, &v, &t) < 0)
		return;
	c = conn_of_packet(e, lan->vlan, &t);
	if (!c)
		return;
	/* A packet of a socket that has no connection any more. */
	if (c->flow.state == FLOW_PLAIN || flow_is_draining(&c->flow))
		return;
	if (lan->vlan) {
		vnet = add_tag(vnet, lan->vlan);
		frame = vnet + ACCEL_VNET_LEN;
		len += 4;
	}
	memcpy(frame, c->flow.near.mac.b, MAC_LEN);
	memcpy(frame + MAC_LEN, c->flow.far.mac.b, MAC_LEN);
	place_send(c, ACCEL_LAN, vnet, frame, len);
}

static void on_lan(void *arg, int fd, uint32_t events attr_unused)
{
	struct lan *lan = arg;
	/* Behind the space for a tag. */
	uint8_t *vnet = lan->e->message + 4;

	for (unsigned i = 0; i < BATCH; i++) {
		ssize_t n = read(fd, vnet, ACCEL_QUEUE_MAX - 4);

		if (n <= ACCEL_VNET_LEN)
			break;
		take_packet(lan, vnet, (size_t)n - ACCEL_VNET_LEN);
	}
}

/* --- inter-proxy connections --- */

static void on_listener(void *arg, int fd, uint32_t events attr_unused)
{
	struct engine *e = arg;
	int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (peer >= 0)
		peer_accept(e, peer, loop_now(e->loop));
	else if (errno != EAGAIN)
		/* Without a descriptor, the connection waits until the next second. */
		loop_fd_mod(e->loop, fd, 0);
}

static int listen_for_interproxies(struct engine *e)
{
	struct tcp_config own = { .source6 = accel_address(e->self) };
	int fd = tcp_listen(&own, 6, ACCEL_PORT);

	if (fd < 0)
		return fd;
	e->listener = fd;
	return loop_fd_add(e->loop, fd, EPOLLIN, on_listener, e);
}

static int open_interproxy(struct engine *e)
{
	struct ip_addr own = accel_address(e->self);
	int rc =
		tun_open_interproxy(&e->interproxy, e->nl, INTERPROXY_NAME, &own, ACCEL_PREFIX_LEN);

	if (rc < 0)
		return rc;
	e->interproxy_is_open = true;
	rc = loop_fd_add(e->loop, e->interproxy.tap.fd[0], EPOLLIN, on_interproxy, e);
	return rc < 0 ? rc : listen_for_interproxies(e);
}

/* --- messages of leond --- */

static bool is_stalled(const struct engine *e, mono_t now)
{
	return mono_sub_ms(now, e->ticked) > STALL_MS;
}

/* Time since which frames may have bypassed leon-accel. Frames in the queues survive a stall of
 * this process, frames beyond the size of the queues do not. */
static mono_t unseen_since(const struct engine *e, mono_t now)
{
	mono_t stall_began = e->received;

	if (is_stalled(e, now))
		stall_began = e->ticked;
	else if (e->stall_ended.ns && mono_sub_ms(now, e->stall_ended) < STALL_END_MS)
		stall_began = e->stall_began;
	return mono_before(stall_began, e->received) ? stall_began : e->received;
}

int engine_setup(struct engine *e, const struct accel_notify_frame *f, const int *fd, unsigned n)
{
	mono_t now = loop_now(e->loop);

	close_queues(e);
	conns_unseen(e, unseen_since(e, now), now);
	e->leond_since = now; /* leond may be a new process. */
	for (unsigned i = 0; i < n; i++) {
		e->queue[i] = fd[i];
		loop_fd_add(e->loop, fd[i], EPOLLIN, on_queue, e);
	}
	e->n_queues = n;
	e->device = f->setup.device;
	if (e->interproxy_is_open && e->self == f->setup.self)
		return 0;
	/* The inter-proxy connections have the address of the former node-id. */
	if (e->interproxy_is_open) {
		conns_reset_all(e, now);
		return -ESTALE;
	}
	e->self = f->setup.self;
	return open_interproxy(e);
}

void engine_leond_seen(struct engine *e)
{
	mono_t now = loop_now(e->loop);

	if (mono_sub_ms(now, e->leond_seen) > LEOND_GAP_MS)
		e->leond_since = now;
	e->leond_seen = now;
}

void engine_moved(struct engine *e, const struct accel_notify_frame *f)
{
	empty_queues(e);
	conns_moved(e, f->moved.vlan, f->moved.mac, f->moved.node, loop_now(e->loop));
}

void engine_set(struct engine *e, const struct accel_settings *s)
{
	bool answered = engine_answers(e);

	if (accel_settings_equal(&e->settings, s))
		return;
	e->settings = *s;
	if (answered && !engine_answers(e))
		conns_release_all(e, loop_now(e->loop));
	conns_second(e, loop_now(e->loop));
}

bool engine_is_idle(const struct engine *e)
{
	/* Nor is a connection drained that the other end may have intercepted. */
	return !engine_answers(e) && !e->n_intercepted && !timer_is_set(e->tick) &&
	       !peers_unsent(e);
}

/* --- timers --- */

static void on_tick(void *arg, mono_t now)
{
	struct engine *e = arg;

	if (conns_tick(e, now))
		timer_set(e->tick, mono_add_ms(now, TICK_MS));
}

static void on_second(void *arg, mono_t now)
{
	struct engine *e = arg;

	timer_set(e->second, mono_add_ms(now, e->stopping ? 50 : 1000));
	if (is_stalled(e, now)) {
		e->stall_began = e->ticked;
		e->stall_ended = now;
	}
	e->ticked = now;
	conns_second(e, now);
	peers_second(e, now);
	if (e->listener >= 0)
		loop_fd_mod(e->loop, e->listener, EPOLLIN);
	if (!e->stopping || (!engine_is_idle(e) && mono_sub_ms(now, e->stop_at) < STOP_MS))
		return;
	conns_reset_all(e, now);
	loop_quit(e->loop, 0);
}

void engine_init(struct engine *e, struct loop *loop, struct nl *nl,
		 struct intercepted_file *intercepted)
{
	*e = (struct engine){ .loop = loop,
			      .nl = nl,
			      .intercepted = intercepted,
			      .listener = -1,
			      .on_lan = on_lan,
			      .peer_ops = &peer_frames_ops };
	if (getrandom(&e->hash_key, sizeof(e->hash_key), 0) != sizeof(e->hash_key))
		bug("no random bytes");
	e->message = x_buffer(ACCEL_QUEUE_MAX, 1);
	e->tick = timer_new(loop, on_tick, e);
	e->second = timer_new(loop, on_second, e);
	e->ticked = loop_now(loop);
	timer_set(e->second, mono_add_ms(e->ticked, 1000));
	tun_tune();
}

void engine_stop(struct engine *e)
{
	mono_t now = loop_now(e->loop);

	e->stopping = true;
	e->stop_at = now;
	conns_release_all(e, now);
	timer_set(e->second, mono_add_ms(now, 50));
}

void engine_fini(struct engine *e)
{
	conns_free(e);
	peers_free(e);
	close_queues(e);
	for (unsigned i = 0; i < VLANS; i++) {
		if (!e->lan[i])
			continue;
		loop_fd_del(e->loop, e->lan[i]->tun.tap.fd[0]);
		tun_close(&e->lan[i]->tun);
		free(e->lan[i]);
	}
	if (e->listener >= 0) {
		loop_fd_del(e->loop, e->listener);
		close(e->listener);
	}
	if (e->interproxy_is_open) {
		loop_fd_del(e->loop, e->interproxy.tap.fd[0]);
		tun_close(&e->interproxy);
	}
	moved_free(&e->moved);
	intercepted_close(e->intercepted);
	timer_free(e->tick);
	timer_free(e->second);
	free(e->message);
}
