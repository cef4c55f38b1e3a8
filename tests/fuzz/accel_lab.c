// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine of leon-accel on socket pairs and virtual time, see accel_lab.h. */
#include "accel_lab.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/loop_ops.h"
#include "base/mem.h"
#include "conn/conn.h"
#include "peer/peer.h"
#include "flow/proxy_sock.h"
#include "io/tcp_socket.h"
#include "wire/frame/tcp.h"

#define FDS_MAX	   128
#define TIMERS_MAX 16
#define ROUNDS_MAX 64 /* limit of polls in one accel_lab_run() */

static struct accel_lab *lab;
static struct {
	int fd; /* -1: free */
	uint32_t events;
	loop_fd_fn fn;
	void *arg;
} watched[FDS_MAX];

/* --- a loop on virtual time, with descriptors --- */

int __wrap_loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg);
int __wrap_loop_fd_mod(struct loop *l, int fd, uint32_t events);
void __wrap_loop_fd_del(struct loop *l, int fd);

int __wrap_loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	(void)l;
	for (unsigned i = 0; i < FDS_MAX; i++) {
		if (watched[i].fd == fd)
			abort();
		if (watched[i].fd >= 0)
			continue;
		watched[i].fd = fd;
		watched[i].events = events;
		watched[i].fn = fn;
		watched[i].arg = arg;
		return 0;
	}
	return -ENOSPC;
}

int __wrap_loop_fd_mod(struct loop *l, int fd, uint32_t events)
{
	(void)l;
	for (unsigned i = 0; i < FDS_MAX; i++)
		if (watched[i].fd == fd)
			watched[i].events = events;
	return 0;
}

void __wrap_loop_fd_del(struct loop *l, int fd)
{
	(void)l;
	for (unsigned i = 0; i < FDS_MAX; i++)
		if (watched[i].fd == fd)
			watched[i].fd = -1;
}

struct lab_timer {
	struct timer timer;
	bool is_set;
	mono_t at;
};

static struct lab_timer *timers[TIMERS_MAX];

static mono_t now_of(struct loop *l)
{
	(void)l;
	return lab->now;
}

static struct timer *add_timer(struct loop *l)
{
	(void)l;
	for (unsigned i = 0; i < TIMERS_MAX; i++) {
		if (timers[i])
			continue;
		timers[i] = x_new(struct lab_timer);
		return &timers[i]->timer;
	}
	abort();
}

static void set_timer(struct timer *t, mono_t at)
{
	struct lab_timer *own = container_of(t, struct lab_timer, timer);

	own->is_set = true;
	own->at = at;
}

static void stop_timer(struct timer *t)
{
	container_of(t, struct lab_timer, timer)->is_set = false;
}

static bool timer_waits(const struct timer *t)
{
	return ((const struct lab_timer *)t)->is_set; /* is_set is its first member */
}

static void free_timer(struct timer *t)
{
	for (unsigned i = 0; i < TIMERS_MAX; i++)
		if (timers[i] && &timers[i]->timer == t) {
			free(timers[i]);
			timers[i] = NULL;
			return;
		}
}

static void free_loop(struct loop *l)
{
	free(l);
}

static const struct loop_ops ops = {
	.free = free_loop,
	.now = now_of,
	.timer_new = add_timer,
	.timer_set = set_timer,
	.timer_stop = stop_timer,
	.timer_is_set = timer_waits,
	.timer_free = free_timer,
};

static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

static struct loop *new_loop(void)
{
	struct loop *l = x_new(struct loop);

	log_set_sink(silent, NULL);
	l->ops = &ops;
	for (unsigned i = 0; i < FDS_MAX; i++)
		watched[i].fd = -1;
	return l;
}

/* Returns false if no timer is due at `until` or earlier. */
static bool run_first_timer(mono_t until)
{
	struct lab_timer *first = NULL;

	for (unsigned i = 0; i < TIMERS_MAX; i++)
		if (timers[i] && timers[i]->is_set &&
		    (!first || mono_before(timers[i]->at, first->at)))
			first = timers[i];
	if (!first || mono_before(until, first->at))
		return false;
	first->is_set = false;
	if (mono_before(lab->now, first->at))
		lab->now = first->at;
	first->timer.fn(first->timer.arg, lab->now);
	return true;
}

/* EPOLLIN, EPOLLOUT, EPOLLERR and EPOLLHUP have the values of poll(2). */
static bool handle_ready(void)
{
	bool any = false;

	for (unsigned i = 0; i < FDS_MAX; i++) {
		struct pollfd p = { .fd = watched[i].fd, .events = (short)watched[i].events };

		if (p.fd < 0 || poll(&p, 1, 0) <= 0)
			continue;
		any = true;
		watched[i].fn(watched[i].arg, p.fd, (uint32_t)p.revents);
	}
	return any;
}

void accel_lab_run(struct accel_lab *l, int64_t ms)
{
	mono_t until = mono_add_ms(l->now, ms);

	for (unsigned i = 0; i < ROUNDS_MAX && handle_ready(); i++)
		;
	while (run_first_timer(until))
		;
	l->now = until;
}

/* --- replacements of kernel calls --- */

static int pair(int type, int *other)
{
	int fd[2];

	if (socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) < 0)
		abort();
	*other = fd[1];
	return fd[0];
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int __wrap_tun_open_lan(struct tun *t, struct nl *nl, const char *name, uint32_t number);
int __wrap_tun_open_interproxy(struct tun *t, struct nl *nl, const char *name,
			       const struct ip_addr *own, uint8_t prefix_len);
void __wrap_tun_close(struct tun *t);
int __wrap_tun_fit_route(struct tun *t, struct nl *nl, const struct ip_addr *to, uint32_t mtu,
			 uint32_t first_segments);
bool __wrap_tun_write(const struct tun *t, const uint8_t *vnet, const uint8_t *frame, size_t len,
		      uint16_t l3);
void __wrap_tun_tune(void);
int __wrap_proxy_sock_open(const struct proxy_sock *s);
void __wrap_proxy_sock_leave(int fd);
void __wrap_proxy_sock_reset(int fd);
uint32_t __wrap_proxy_sock_unacknowledged(int fd);
bool __wrap_proxy_sock_is_over(int fd);
int __wrap_tcp_listen(const struct tcp_config *c, uint8_t family, uint16_t port);
int __wrap_tcp_connect(const struct tcp_config *c, const struct endpoint *to);
int __wrap_getpeername(int fd, struct sockaddr *a, socklen_t *len);

static int open_tun(struct tun *t)
{
	int other;

	*t = (struct tun){ .tap = { .n_queues = 1 } };
	t->tap.fd[0] = pair(SOCK_DGRAM, &other);
	close(other); /* the kernel of the namespace sends nothing */
	return 0;
}

int __wrap_tun_open_lan(struct tun *t, struct nl *nl, const char *name, uint32_t number)
{
	(void)nl;
	(void)name;
	(void)number;
	return open_tun(t);
}

int __wrap_tun_open_interproxy(struct tun *t, struct nl *nl, const char *name,
			       const struct ip_addr *own, uint8_t prefix_len)
{
	(void)nl;
	(void)name;
	(void)own;
	(void)prefix_len;
	return open_tun(t);
}

void __wrap_tun_close(struct tun *t)
{
	close_one(&t->tap.fd[0]);
}

int __wrap_tun_fit_route(struct tun *t, struct nl *nl, const struct ip_addr *to, uint32_t mtu,
			 uint32_t first_segments)
{
	(void)t;
	(void)nl;
	(void)to;
	(void)mtu;
	(void)first_segments;
	return 0;
}

/* Reads each byte of the frame, so that AddressSanitizer detects a wrong length. */
bool __wrap_tun_write(const struct tun *t, const uint8_t *vnet, const uint8_t *frame, size_t len,
		      uint16_t l3)
{
	volatile uint8_t sum = vnet[ACCEL_VNET_LEN - 1];

	(void)t;
	if (l3 > len)
		abort();
	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + frame[i]);
	return true;
}

void __wrap_tun_tune(void)
{
}

int __wrap_proxy_sock_open(const struct proxy_sock *s)
{
	if (s->near_scale > TCP_SCALE_MAX || s->far_scale > TCP_SCALE_MAX || !s->mss)
		abort();
	for (unsigned i = 0; i < ACCEL_LAB_PROXY; i++) {
		if (lab->proxy[i] >= 0)
			continue;
		close_one(&lab->host[i]);
		lab->proxy[i] = pair(SOCK_STREAM, &lab->host[i]);
		return lab->proxy[i];
	}
	return -ENOBUFS;
}

static void forget_proxy(int fd)
{
	for (unsigned i = 0; i < ACCEL_LAB_PROXY; i++)
		if (lab->proxy[i] == fd)
			lab->proxy[i] = -1;
	close(fd);
}

void __wrap_proxy_sock_leave(int fd)
{
	forget_proxy(fd);
}

void __wrap_proxy_sock_reset(int fd)
{
	forget_proxy(fd);
}

uint32_t __wrap_proxy_sock_unacknowledged(int fd)
{
	(void)fd;
	return lab->unacknowledged;
}

bool __wrap_proxy_sock_is_over(int fd)
{
	(void)fd;
	return false;
}

/* No peer connects to the listener: accel_lab_connect() passes a descriptor. */
int __wrap_tcp_listen(const struct tcp_config *c, uint8_t family, uint16_t port)
{
	(void)c;
	(void)family;
	(void)port;
	close_one(&lab->beside_listener);
	return pair(SOCK_STREAM, &lab->beside_listener);
}

int __wrap_tcp_connect(const struct tcp_config *c, const struct endpoint *to)
{
	(void)c;
	(void)to;
	close_one(&lab->interproxy);
	return pair(SOCK_STREAM, &lab->interproxy);
}

int __wrap_getpeername(int fd, struct sockaddr *a, socklen_t *len)
{
	struct endpoint from = { .ip = accel_address(lab->peer), .port = 40000 };
	struct sockaddr_storage ss;

	(void)fd;
	*len = endpoint_to_sockaddr(&from, &ss);
	memcpy(a, &ss, *len);
	return 0;
}

/* --- the lab --- */

struct accel_key accel_lab_key(void)
{
	struct accel_key k;

	memset(&k, 0, sizeof(k));
	k.vlan = ACCEL_LAB_VLAN;
	k.near = (struct ip_addr){ 4, { 10, 0, 0, 2 } };
	k.far = (struct ip_addr){ 4, { 10, 0, 0, 1 } };
	k.near_port = 2;
	k.far_port = 1;
	return k;
}

void accel_lab_node(struct accel_lab *l, uint32_t rtt_us, uint16_t room, bool bypassed)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_NODE,
					.node = { l->peer, rtt_us, room, bypassed } };

	engine_leond_seen(&l->e);
	peer_learn(&l->e, &f, loop_now(l->loop));
}

void accel_lab_connect(struct accel_lab *l)
{
	int other;

	if (l->interproxy >= 0)
		return;
	if (l->peer > ACCEL_LAB_SELF) { /* the engine connects */
		accel_lab_run(l, 2000);
		return;
	}
	peer_accept(&l->e, pair(SOCK_STREAM, &other), loop_now(l->loop));
	l->interproxy = other;
}

void accel_lab_begin(struct accel_lab *l, node_id_t peer, const struct accel_settings *s)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_SETUP,
					.setup = { .self = ACCEL_LAB_SELF, .n_queues = 1 } };
	struct intercepted_file *intercepted;
	int queue;

	lab = l;
	memset(l, 0, sizeof(*l));
	l->now = (mono_t){ NS_PER_S };
	l->peer = peer;
	l->queue = l->interproxy = l->beside_listener = -1;
	for (unsigned i = 0; i < ACCEL_LAB_PROXY; i++)
		l->host[i] = l->proxy[i] = -1;
	l->loop = new_loop();
	if (intercepted_open(&intercepted, NULL) < 0)
		abort();
	engine_init(&l->e, l->loop, NULL, intercepted);
	queue = pair(SOCK_SEQPACKET, &l->queue);
	if (engine_setup(&l->e, &f, &queue, 1) < 0)
		abort();
	engine_set(&l->e, s);
	accel_lab_node(l, 200000, 1500, false);
	accel_lab_connect(l);
	accel_lab_run(l, 0);
}

void accel_lab_drain(struct accel_lab *l)
{
	static uint8_t buf[ACCEL_QUEUE_MAX];

	while (l->queue >= 0 && recv(l->queue, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	while (l->interproxy >= 0 && recv(l->interproxy, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

void accel_lab_end(struct accel_lab *l)
{
	conns_reset_all(&l->e, loop_now(l->loop));
	if (l->e.held != 0 || l->e.n_intercepted != 0)
		abort();
	engine_fini(&l->e);
	for (unsigned i = 0; i < FDS_MAX; i++)
		if (watched[i].fd >= 0)
			abort();
	loop_free(l->loop);
	for (unsigned i = 0; i < ACCEL_LAB_PROXY; i++)
		close_one(&l->host[i]);
	close_one(&l->queue);
	close_one(&l->interproxy);
	close_one(&l->beside_listener);
}
