// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server behind `leonctl metrics --listen`, see run.h. One thread, one poll(). The server
 * requests the metrics at most once in SAME_MS for any number of clients, and all clients of that
 * time share the text. A client has a deadline for its request and a deadline for each piece of the
 * answer. If all slots are in use, a new connection replaces the connection that has been idle for
 * the longest time.
 */
#include "run.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/mem.h"
#include "io/clock.h"
#include "live/live.h"
#include "io/ctlsock.h"
#include "io/tcp_socket.h"
#include "text/text.h"

#define PORT		   5366 /* TCP; the daemon uses this port with UDP */
#define CLIENTS_MAX	   32
#define BACKLOG		   64
#define SAME_MS		   1000	 /* life of a cached answer */
#define REQUEST_MS	   5000	 /* limit for the head of a request */
#define STALL_MS	   10000 /* limit for each piece of the answer */
#define REQUEST_TIMEOUT_MS 5000
#define FULL_MS		   100 /* pause without descriptors */
#define HEAD_ROOM	   256

static const char ok[] = "200 OK", not_allowed[] = "405 Method Not Allowed",
		  unavailable[] = "503 Service Unavailable";
static const char ask[] = "{\"version\":1,\"command\":\"metrics\",\"arguments\":{}}";

/* An answer that one or several clients receive. */
struct body {
	unsigned users;
	char *text; /* head and body */
	size_t head_len, len;
};

struct client {
	int fd; /* -1: free slot */
	int64_t since, deadline;
	size_t n_head; /* bytes of the request head, until there is a body */
	char head[HTTP_HEAD_MAX];
	struct body *body; /* NULL: the request is incomplete */
	size_t sent, to_send;
};

struct server {
	const struct target *target;
	int listener;
	int64_t now;
	struct body *latest; /* NULL before the first request */
	int64_t requested_at;
	struct client client[CLIENTS_MAX];
};

/* --- answers --- */

static struct body *body_new(const char *status, const char *text)
{
	struct body *b = x_new(struct body);
	size_t len = strlen(text);

	b->users = 1;
	b->text = x_calloc(1, HEAD_ROOM + len + 1);
	b->head_len = (size_t)snprintf(
		b->text, HEAD_ROOM,
		"HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		"Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
		status, len, status == not_allowed ? "Allow: GET, HEAD\r\n" : "");
	memcpy(b->text + b->head_len, text, len);
	b->len = b->head_len + len;
	return b;
}

static void body_put(struct body *b)
{
	if (!b || --b->users)
		return;
	free(b->text);
	free(b);
}

static struct body *read_answer(const char *answer, size_t len)
{
	struct jsonr *doc = jsonr_parse(answer, len, CTL_ANSWER_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	const char *text = "";
	struct body *b;

	if (root && jsonr_str(root, "text", &text))
		b = body_new(ok, text);
	else
		b = body_new(unavailable, "leond returned no metrics\n");
	jsonr_free(doc);
	return b;
}

static struct body *request_daemon(struct server *s)
{
	char *answer = NULL;
	struct body *b;
	size_t len;
	int r = target_request(s->target, ask, REQUEST_TIMEOUT_MS, &answer, &len);

	if (r == 0)
		b = read_answer(answer, len);
	else
		b = body_new(unavailable, text_format("%s\n", target_reason(s->target, r)));
	free(answer);
	return b;
}

/* Returns a reference to the cached text of the daemon. A failure is cached for the same time. */
static struct body *metrics(struct server *s)
{
	if (!s->latest || s->now - s->requested_at >= SAME_MS) {
		body_put(s->latest);
		s->latest = request_daemon(s);
		s->now = s->requested_at = mono_now_ms();
	}
	s->latest->users++;
	return s->latest;
}

static struct body *answer_to(struct server *s, enum http_verdict v)
{
	switch (v) {
	case HTTP_METRICS:
	case HTTP_METRICS_HEAD:
		return metrics(s);
	case HTTP_ROOT:
		return body_new(ok, "leonctl serves the metrics of leond at /metrics\n");
	case HTTP_NOT_FOUND:
		return body_new("404 Not Found", "not found; the only resource is /metrics\n");
	case HTTP_BAD_METHOD:
		return body_new(not_allowed, "method not allowed; use GET /metrics\n");
	default:
		return body_new("400 Bad Request", "bad request; use GET /metrics\n");
	}
}

/* --- clients --- */

static void end(struct client *c)
{
	close(c->fd);
	body_put(c->body);
	*c = (struct client){ .fd = -1 };
}

/* Returns true while data remains to be sent. */
static void send_some(struct server *s, struct client *c)
{
	ssize_t n = send(c->fd, c->body->text + c->sent, c->to_send - c->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		end(c);
		return;
	}
	if (n > 0) {
		c->sent += (size_t)n;
		c->deadline = s->now + STALL_MS;
	}
	if (c->sent == c->to_send) {
		/* Unread input would turn the close into a reset, which can destroy the answer at
		 * the client. */
		shutdown(c->fd, SHUT_WR);
		while (recv(c->fd, c->head, sizeof(c->head), MSG_DONTWAIT) > 0)
			;
		end(c);
	}
}

static void receive_some(struct server *s, struct client *c)
{
	ssize_t n = recv(c->fd, c->head + c->n_head, sizeof(c->head) - c->n_head, MSG_DONTWAIT);
	enum http_verdict v;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end(c);
	if (n <= 0)
		return;
	c->n_head += (size_t)n;
	v = http_request(c->head, c->n_head);
	if (v == HTTP_MORE)
		return;
	c->body = answer_to(s, v);
	c->to_send = v == HTTP_METRICS_HEAD ? c->body->head_len : c->body->len;
	c->deadline = s->now + STALL_MS;
	send_some(s, c);
}

/* Returns a free slot, else the slot of the longest idle client, else that of the slowest
 * reader. */
static struct client *make_place(struct server *s)
{
	struct client *oldest = NULL;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0)
			return c;
		if (!oldest || (!c->body && oldest->body) ||
		    (!c->body == !oldest->body && c->since < oldest->since))
			oldest = c;
	}
	end(oldest);
	return oldest;
}

static void accept_one(struct server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	if (fd < 0) {
		/* Without a descriptor, the connection stays in the queue. */
		if (errno != EAGAIN)
			poll(NULL, 0, FULL_MS);
		return;
	}
	c = make_place(s);
	c->fd = fd;
	c->since = s->now;
	c->deadline = s->now + REQUEST_MS;
}

/* --- the loop --- */

static int fill(struct server *s, struct pollfd pfd[1 + CLIENTS_MAX])
{
	int64_t wait = -1;

	pfd[0] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && c->deadline <= s->now)
			end(c);
		/* poll() ignores a negative descriptor. */
		pfd[1 + i] = (struct pollfd){ .fd = c->fd, .events = c->body ? POLLOUT : POLLIN };
		if (c->fd >= 0 && (wait < 0 || c->deadline - s->now < wait))
			wait = c->deadline - s->now;
	}
	return (int)wait;
}

static void work(struct server *s)
{
	struct pollfd pfd[1 + CLIENTS_MAX];
	int n, wait;

	s->now = mono_now_ms();
	wait = fill(s, pfd);
	n = poll(pfd, array_size(pfd), wait);
	s->now = mono_now_ms();
	for (int i = 0; n > 0 && i < CLIENTS_MAX; i++) {
		struct client *c = &s->client[i];

		if (!pfd[1 + i].revents)
			continue;
		if (c->body)
			send_some(s, c);
		else
			receive_some(s, c);
	}
	if (n > 0 && pfd[0].revents)
		accept_one(s);
}

static int listen_at(const struct endpoint *ep)
{
	bool v4 = ep->ip.family == 4;
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	socket_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	/* The address may belong to the overlay, which can come up later. */
	socket_set_int(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_FREEBIND : IPV6_FREEBIND, 1);
	rc = socket_bind(fd, &ep->ip, ep->ip.family, ep->port);
	if (rc == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	rc = rc ? rc : -errno;
	close(fd);
	return rc;
}

/* True if a bind without IP_FREEBIND finds the address on this host. */
static bool is_here(const struct endpoint *ep)
{
	int fd = socket(ep->ip.family == 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool here = fd < 0 || socket_bind(fd, &ep->ip, ep->ip.family, 0) != -EADDRNOTAVAIL;

	if (fd >= 0)
		close(fd);
	return here;
}

static bool is_where(const char *where, struct endpoint *ep)
{
	return endpoint_parse(where, PORT, ep) == 0 && ep->port != 0 &&
	       !ip_is_v6_link_local(&ep->ip);
}

int serve_metrics(struct target *t, const char *where)
{
	struct server *s;
	struct endpoint ep;
	int fd, code = target_find(t);

	if (code >= 0)
		return code;
	if (!is_where(where, &ep)) {
		target_complain(
			t,
			"metrics --listen needs an IP address of this host, with or without "
			"a port, such as 127.0.0.1:%d or [::1]:%d",
			PORT, PORT);
		return EXIT_USAGE;
	}
	fd = listen_at(&ep);
	if (fd < 0) {
		target_complain(t, "cannot listen at %s: %s", ENDPOINT_TEXT(&ep), strerror(-fd));
		return EXIT_REFUSED;
	}
	s = x_new(struct server);
	s->target = t;
	s->listener = fd;
	for (int i = 0; i < CLIENTS_MAX; i++)
		s->client[i].fd = -1;
	fprintf(stderr, "leonctl: metrics at http://%s/metrics%s\n", ENDPOINT_TEXT(&ep),
		is_here(&ep) ? "" : " (no interface of this host has the address yet)");
	for (;;)
		work(s);
}
