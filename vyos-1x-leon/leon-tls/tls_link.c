// SPDX-License-Identifier: GPL-2.0-or-later
/* One connection. */
#include "hub.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/tcp_socket.h"
#include "stream.h"

/* Unsent bytes in the kernel, as time at the delivery rate. The rest waits in the queue, which
 * drops the oldest. At 5 ms, TCP has a third less throughput with 1 % of loss. */
#define UNSENT_MS  20
#define UNSENT_MIN 3000 /* two frames */
#define UNSENT_MAX 65536
/* A dead peer: unconfirmed data, and silence. */
#define DEAD_MS 10000
#define IDLE_S	5
#define PROBE_S 2
#define PROBES	3
/* Batches of a callback; other connections take turns. */
#define TURNS 8

static void tune(int fd)
{
	socket_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	socket_set_int(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, TLS_RECORD_MAX);
	socket_set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, DEAD_MS);
	socket_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S);
	socket_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S);
	socket_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
	socket_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

static void listen_for(struct tls_link *s, uint32_t events)
{
	loop_fd_mod(s->r->loop, s->tcp, events);
}

/* --- end --- */

void tls_link_end(struct tls_link *s, const char *reason)
{
	struct stream_report p = { .news = STREAM_DOWN, .id = s->id };

	if (s->state == STREAM_ENDED)
		return;
	/* leond learns of accepted connections only when open. */
	if (s->state == STREAM_OPEN || !(s->id & STREAM_ACCEPTED)) {
		snprintf(p.reason, sizeof(p.reason), "%s", reason);
		hub_report(s->r, &p);
	}
	if (s->tls)
		tls_close(s->tls);
	loop_fd_del(s->r->loop, s->tcp);
	close(s->tcp);
	if (s->udp >= 0) {
		loop_fd_del(s->r->loop, s->udp);
		close(s->udp);
	}
	s->state = STREAM_ENDED;
}

void tls_link_free(struct tls_link *s)
{
	tls_free(s->tls);
	free(s->queue);
	free(s->record);
	free(s->text);
	free(s);
}

static void end_failed(struct tls_link *s, const char *what)
{
	char why[STREAM_REASON_LEN / 2], reason[STREAM_REASON_LEN];

	tls_reason(why, sizeof(why));
	snprintf(reason, sizeof(reason), "%s: %s", what, why);
	tls_link_end(s, reason);
}

/* --- datagrams to the connection --- */

/* Returns false if the stream ended. */
static bool write_record(struct tls_link *s)
{
	switch (tls_write(s->tls, s->record, s->record_len)) {
	case TLS_DONE:
		s->record_len = 0;
		return true;
	case TLS_WANT_READ:
	case TLS_WANT_WRITE:
		s->full = true;
		return true;
	default:
		end_failed(s, "write");
		return false;
	}
}

/* A full socket on a slow line: its bytes would delay newer frames for longer than UNSENT_MS. */
static void limit_unsent(struct tls_link *s)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	uint64_t bytes;

	if (getsockopt(s->tcp, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 || !info.tcpi_delivery_rate)
		return;
	bytes = info.tcpi_delivery_rate * UNSENT_MS / 1000;
	s->unsent = (size_t)max_of(min_of(bytes, (uint64_t)UNSENT_MAX), (uint64_t)UNSENT_MIN);
	socket_set_int(s->tcp, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)s->unsent);
}

/* The kernel alone exceeds TCP_NOTSENT_LOWAT by a segment of 64 KiB before segmentation. */
static bool has_room(const struct tls_link *s)
{
	int unsent = 0;

	return ioctl(s->tcp, SIOCOUTQNSD, &unsent) < 0 || unsent < (int)s->unsent;
}

/* Passes the queue to the socket, as far as the socket has room. */
static void pump(struct tls_link *s)
{
	struct hub *r = s->r;
	bool was_full = s->full;

	s->full = false;
	while (!s->full) {
		if (!s->record_len) {
			r->counts.tx_dropped += send_queue_expire(s->queue, loop_now(r->loop));
			s->full = !has_room(s);
			if (s->full)
				break;
			s->record_len = send_queue_pull(s->queue, s->record,
							min_of(s->unsent, (size_t)TLS_RECORD_MAX),
							&r->counts.tx_datagrams);
			r->counts.tx_bytes += s->record_len;
		}
		if (!s->record_len)
			break;
		if (!write_record(s))
			return;
	}
	if (s->full)
		limit_unsent(s);
	if (s->full != was_full)
		listen_for(s, EPOLLIN | (s->full ? EPOLLOUT : 0));
}

static void on_datagrams(void *arg, int fd, uint32_t events)
{
	struct tls_link *s = arg;
	struct hub *r = s->r;
	struct udp_error e;

	if (events & EPOLLERR)
		while (udp_error_next(fd, &e))
			;
	for (int turn = 0; turn < TURNS && s->state == STREAM_OPEN; turn++) {
		int n = leond_udp_take(r, fd, s->queue);

		if (n > 0 && (!s->full || s->record_len == 0))
			pump(s);
		if (n < RX_MESSAGES)
			break;
	}
	if (s->state == STREAM_OPEN && s->full)
		r->counts.tx_dropped += send_queue_expire(s->queue, loop_now(r->loop));
}

/* --- datagrams from the connection --- */

/* Returns false if the bytes are no frames. */
static bool deliver(struct tls_link *s, const uint8_t *data, size_t len)
{
	long taken = leond_udp_deliver(s->r, s->udp, data, len);

	if (taken < 0)
		return false;
	s->rest_len = len - (size_t)taken;
	memcpy(s->rest, data + taken, s->rest_len);
	return true;
}

/* Reads a record at a time from libssl into the buffer behind the incomplete frame. */
static enum tls_result read_some(struct tls_link *s, size_t *len)
{
	struct hub *r = s->r;
	enum tls_result result = TLS_DONE;
	size_t n;

	memcpy(r->read, s->rest, s->rest_len);
	*len = s->rest_len;
	while (sizeof(r->read) - *len >= TLS_RECORD_MAX) {
		result = tls_read(s->tls, r->read + *len, sizeof(r->read) - *len, &n);
		*len += n;
		if (result != TLS_DONE)
			break;
	}
	return result;
}

static void receive(struct tls_link *s)
{
	for (int turn = 0; turn < TURNS; turn++) {
		size_t len;
		enum tls_result result = read_some(s, &len);

		s->received += len - s->rest_len;
		if (!deliver(s, s->r->read, len)) {
			tls_link_end(s, "the other end does not send datagrams of LEON");
			return;
		}
		if (!s->kept && s->received > STRANGER_BYTES) {
			s->r->counts.expired++;
			tls_link_end(s, "too much data of a stranger");
			return;
		}
		switch (result) {
		case TLS_DONE:
			continue;
		case TLS_WANT_READ:
		case TLS_WANT_WRITE:
			return;
		case TLS_CLOSED:
			tls_link_end(s, "the other end closed the connection");
			return;
		case TLS_FAILED:
			end_failed(s, "read");
			return;
		}
	}
	/* libssl may hold records unknown to epoll. */
	listen_for(s, EPOLLIN | EPOLLOUT);
	s->full = true;
}

/* --- begin --- */

static void open_stream(struct tls_link *s)
{
	struct stream_report p = { .news = STREAM_UP, .id = s->id, .remote = s->remote };

	s->udp = leond_udp_open(s->r, s->id & STREAM_ACCEPTED, &p.local);
	if (s->udp < 0) {
		tls_link_end(s, "no socket for datagrams");
		return;
	}
	s->queue = send_queue_new();
	s->record = x_calloc(TLS_RECORD_MAX, 1);
	s->state = STREAM_OPEN;
	loop_fd_add(s->r->loop, s->udp, EPOLLIN, on_datagrams, s);
	listen_for(s, EPOLLIN);
	hub_report(s->r, &p);
	receive(s);
}

static void shake(struct tls_link *s)
{
	switch (tls_handshake(s->tls)) {
	case TLS_DONE:
		open_stream(s);
		return;
	case TLS_WANT_READ:
		listen_for(s, EPOLLIN);
		return;
	case TLS_WANT_WRITE:
		listen_for(s, EPOLLOUT);
		return;
	default:
		s->r->counts.failed++;
		end_failed(s, "TLS handshake");
	}
}

static void begin_tls(struct tls_link *s)
{
	struct hub *r = s->r;

	s->tls = tls_new(s->id & STREAM_ACCEPTED ? r->server : r->client, s->tcp, s->server);
	s->state = STREAM_SHAKING;
	if (s->tls)
		shake(s);
	else
		end_failed(s, "TLS");
}

static void read_answer(struct tls_link *s)
{
	char reason[STREAM_REASON_LEN];
	ssize_t n = recv(s->tcp, s->text + s->text_len, PROXY_ANSWER_MAX - s->text_len, 0);
	int status;
	long len;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		tls_link_end(s, "the proxy closed the connection");
		return;
	}
	s->text_len += (size_t)n;
	len = proxy_answer(s->text, s->text_len, &status);
	if (len == 0)
		return;
	if (len < 0 || status / 100 != 2) {
		snprintf(reason, sizeof(reason), "the proxy answers %d", len < 0 ? 0 : status);
		tls_link_end(s, len < 0 ? "the proxy does not answer in HTTP" : reason);
		return;
	}
	/* A TLS server says nothing before its client. */
	free(s->text);
	s->text = NULL;
	begin_tls(s);
}

static void connected(struct tls_link *s)
{
	char reason[STREAM_REASON_LEN];
	socklen_t len = sizeof(int);
	int error = 0;

	struct sockaddr_storage ss;

	getsockopt(s->tcp, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error) {
		snprintf(reason, sizeof(reason), "%s", strerror(error));
		tls_link_end(s, reason);
		return;
	}
	len = sizeof(ss);
	if (getpeername(s->tcp, (struct sockaddr *)&ss, &len) == 0)
		endpoint_from_sockaddr(&ss, &s->remote);
	if (!s->text) {
		begin_tls(s);
		return;
	}
	/* The request fits the empty buffer of a new connection. */
	if (send(s->tcp, s->text, s->text_len, MSG_NOSIGNAL) != (ssize_t)s->text_len) {
		tls_link_end(s, "the proxy does not take the request");
		return;
	}
	s->text_len = 0;
	s->state = STREAM_PROXYING;
	listen_for(s, EPOLLIN);
}

static void on_tcp(void *arg, int fd attr_unused, uint32_t events)
{
	struct tls_link *s = arg;

	switch (s->state) {
	case STREAM_CONNECTING:
		connected(s);
		break;
	case STREAM_PROXYING:
		read_answer(s);
		break;
	case STREAM_SHAKING:
		shake(s);
		break;
	case STREAM_OPEN:
		if (events & EPOLLOUT)
			pump(s);
		if (s->state == STREAM_OPEN)
			receive(s);
		break;
	case STREAM_ENDED:
		break;
	}
}

static struct tls_link *new_stream(struct hub *r, int fd, uint32_t id)
{
	struct tls_link *s = x_new(struct tls_link);

	*s = (struct tls_link){
		.r = r,
		.id = id,
		.tcp = fd,
		.udp = -1,
		.since = loop_now(r->loop),
		.unsent = TLS_RECORD_MAX,
	};
	tune(fd);
	return s;
}

struct tls_link *tls_link_accepted(struct hub *r, int fd, const struct endpoint *from, uint32_t id)
{
	struct tls_link *s = new_stream(r, fd, id);

	s->remote = *from;
	if (loop_fd_add(r->loop, fd, EPOLLIN, on_tcp, s) < 0)
		tls_link_end(s, "no memory");
	else
		begin_tls(s);
	return s;
}

struct tls_link *tls_link_dialed(struct hub *r, int fd, const struct stream_command *c)
{
	char login[2 * STREAM_NAME_LEN] = "";
	struct tls_link *s = new_stream(r, fd, c->id);

	s->kept = true;
	snprintf(s->server, sizeof(s->server), "%s", c->server);
	if (c->connect[0]) {
		tls_base64(c->login, strlen(c->login), login);
		s->text = x_calloc(1, PROXY_ANSWER_MAX);
		s->text_len = proxy_request(s->text, c->connect, login);
	}
	if (loop_fd_add(r->loop, fd, EPOLLOUT, on_tcp, s) < 0)
		tls_link_end(s, "no memory");
	return s;
}
