// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All connections and the limits, see hub.h. A connected stranger holds one of few places for a
 * limited time. If all places are in use, or all of its source, a newer stranger replaces a random
 * one of them.
 */
#include "hub.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"

#define TICK_MS	 1000
#define PAUSE_MS 10u

/* --- the list --- */

struct tls_link *hub_find(struct hub *r, uint32_t id)
{
	for (struct tls_link *s = r->streams; s; s = s->next)
		if (s->id == id && s->state != STREAM_ENDED)
			return s;
	return NULL;
}

void hub_add(struct hub *r, struct tls_link *s)
{
	s->next = r->streams;
	r->streams = s;
	r->n_streams++;
}

void hub_reap(struct hub *r)
{
	struct tls_link **at = &r->streams;

	while (*at) {
		struct tls_link *s = *at;

		if (s->state != STREAM_ENDED) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		r->n_streams--;
		tls_link_free(s);
	}
}

/* --- strangers --- */

static bool is_stranger(const struct tls_link *s)
{
	return !s->kept && s->state != STREAM_ENDED;
}

static bool same_source(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->family == b->family && memcmp(a->b, b->b, a->family == 6 ? 8 : 4) == 0;
}

/* Makes room for a connection from the address: a stranger of a full share, or of a full table,
 * ends. A source behind a NAT or a proxy has one share for all its hosts. */
static bool make_room(struct hub *r, const struct endpoint *from)
{
	unsigned n = 0, of_source = 0, victim;
	bool full;

	for (struct tls_link *s = r->streams; s; s = s->next) {
		n += is_stranger(s);
		of_source += is_stranger(s) && same_source(&s->remote.ip, &from->ip);
	}
	if (r->n_streams >= STREAMS_MAX)
		return false;
	full = of_source >= STRANGERS_PER_SOURCE;
	if (!full && n < STRANGERS_MAX)
		return true;
	victim = tls_random() % (full ? of_source : n);
	for (struct tls_link *s = r->streams; s; s = s->next) {
		if (!is_stranger(s) || (full && !same_source(&s->remote.ip, &from->ip)) || victim--)
			continue;
		tls_link_end(s, "replaced by a newer connection");
		break;
	}
	r->counts.refused++;
	return true;
}

static void accept_one(struct hub *r, int fd, const struct sockaddr_storage *ss)
{
	struct endpoint from;

	if (endpoint_from_sockaddr(ss, &from) < 0 || !make_room(r, &from)) {
		r->counts.refused++;
		close(fd);
		return;
	}
	r->counts.accepted++;
	hub_add(r, tls_link_accepted(r, fd, &from,
				     STREAM_ACCEPTED | (++r->next_id & ~(STREAM_ACCEPTED))));
}

/* The kernel keeps further connections in its queue of limited length. */
static void pause_accepting(struct hub *r, bool pause)
{
	if (pause == r->paused)
		return;
	r->paused = pause;
	for (unsigned i = 0; i < array_size(r->listener); i++)
		if (r->listener[i] >= 0)
			loop_fd_mod(r->loop, r->listener[i], pause ? 0 : EPOLLIN);
	if (pause)
		timer_set(r->accepting, mono_add_ms(loop_now(r->loop), PAUSE_MS));
}

static void on_pause_over(void *arg, mono_t now attr_unused)
{
	pause_accepting(arg, false);
}

static void on_connection(void *arg, int fd, uint32_t events attr_unused)
{
	struct hub *r = arg;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int tcp;

	if (!bucket_pass(&r->accepts, loop_now(r->loop), NS_PER_S / ACCEPTS_PER_S, NS_PER_S)) {
		pause_accepting(r, true);
		return;
	}
	tcp = accept4(fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (tcp < 0) {
		/* Without descriptors the connection stays in the queue. */
		if (errno != EAGAIN)
			pause_accepting(r, true);
		return;
	}
	accept_one(r, tcp, &ss);
	hub_reap(r);
}

void hub_listen(struct hub *r, int fd)
{
	unsigned i = r->listener[0] < 0 ? 0 : 1;

	if (!r->server || r->listener[i] >= 0) {
		close(fd);
		return;
	}
	r->listener[i] = fd;
	loop_fd_add(r->loop, fd, EPOLLIN, on_connection, r);
}

/* --- time --- */

static void on_tick(void *arg, mono_t now)
{
	struct stream_report p = { .news = STREAM_COUNTS };
	struct hub *r = arg;

	timer_set(r->tick, mono_add_ms(now, TICK_MS));
	for (struct tls_link *s = r->streams; s; s = s->next) {
		if (mono_sub_ms(now, s->since) < STRANGER_MS || s->state == STREAM_ENDED)
			continue;
		if (!s->kept) {
			r->counts.expired++;
			tls_link_end(s, "not a member after its time");
		} else if (s->state != STREAM_OPEN) {
			tls_link_end(s, "no answer");
		}
	}
	hub_reap(r);
	p.counts = r->counts;
	hub_report(r, &p);
}

void hub_renew(struct hub *r, const struct stream_command *c)
{
	char err[STREAM_REASON_LEN];
	struct tls_context *server = tls_server(c->certificate, c->key, err, sizeof(err));

	if (!server) {
		log_warn("tls", "the present certificate stays, the files cannot be used: %s", err);
		return;
	}
	tls_context_free(r->server);
	r->server = server;
}

bool hub_setup(struct hub *r, const struct stream_command *c, char *err, size_t err_len)
{
	r->sockets = c->sockets;
	r->client = tls_client(err, err_len);
	/* Nodes check no certificate, so unusable files do not cut off a site. */
	r->server = tls_server("", "", err, err_len);
	if (!r->client || !r->server)
		return false;
	if (*c->certificate)
		hub_renew(r, c);
	r->rx = udp_rx_new(RX_MESSAGES, 65536);
	r->tx = udp_tx_new(TX_MESSAGES, TX_PIECES);
	r->accepting = timer_new(r->loop, on_pause_over, r);
	r->tick = timer_new(r->loop, on_tick, r);
	on_tick(r, loop_now(r->loop));
	return true;
}
