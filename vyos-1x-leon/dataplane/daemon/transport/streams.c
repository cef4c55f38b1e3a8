// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program leon-tls and its connections, see transport.h.
 */
#include "daemon/transport/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/tap.h"
#include "io/tcp_socket.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "state/conf/conf.h"

#define UNUSED_MS	60000 /* a connection without a node at its other end */
#define PROXY_RESOLVE_S 60
#define PROXY_RETRY_S	5 /* after a failure */
#define SILENT_S	15

/* A TLS connection that carries datagrams. */
struct stream_link {
	uint32_t id;		/* ipc/stream_control.h */
	struct endpoint local;	/* the stream, as workers and the protocol see it */
	struct endpoint remote; /* the TCP endpoint of the other end */
	mono_t used;		/* last time at which a node was there */
	bool kept;		/* leon-tls knows that a node is there */
};

struct stream_relay {
	struct leond *d;
	struct udp udp; /* sockets to leon-tls */
	uint32_t n_links;
	struct stream_link *link;

	struct child child; /* leon-tls */
	unsigned silent;    /* seconds of the loop since the last report */
	bool reported;	    /* since it got the certificate */
	bool hung;	    /* in the read of the certificate */
	bool listening[2], listen_failed;
	uint32_t last_id;
	streams_changed_fn changed;
	struct stream_counts now, before; /* of this leon-tls; of its predecessors */

	int resolver;		     /* the proxy has a name; -1: none yet */
	struct resolve_answer proxy; /* id: number of the configuration; n 0: unknown */
	mono_t resolve_at;
	bool unresolved; /* the failure was logged */
};

int streams_open(struct leond *d)
{
	struct udp_config c = { .n = d->tap->n_queues, .v4 = true, .source4 = IP_STREAM_HOST };

	if (!d->conf->transport_tls)
		return 0;
	d->states->streams = x_new(struct stream_relay);
	*d->states->streams = (struct stream_relay){ .d = d, .child = CHILD_INIT, .resolver = -1 };
	return udp_open(&d->states->streams->udp, &c);
}

const struct udp *streams_udp(const struct leond *d)
{
	return d->states->streams ? &d->states->streams->udp : NULL;
}

/* --- table --- */

uint32_t streams_links(const struct leond *d)
{
	return d->states->streams ? d->states->streams->n_links : 0;
}

const struct endpoint *streams_remote(const struct leond *d, const struct endpoint *local)
{
	for (uint32_t i = 0; i < streams_links(d); i++)
		if (endpoint_equal(&d->states->streams->link[i].local, local))
			return &d->states->streams->link[i].remote;
	return NULL;
}

unsigned streams_far_ends(const struct leond *d, struct ip_addr **ip)
{
	const struct stream_relay *s = d->states->streams;
	unsigned n = 0;

	if (!s)
		return 0;
	*ip = x_realloc(*ip, s->n_links + s->proxy.n + 1, sizeof(**ip));
	for (uint32_t i = 0; i < s->n_links; i++)
		if (s->link[i].kept || !(s->link[i].id & STREAM_ACCEPTED))
			(*ip)[n++] = s->link[i].remote.ip;
	for (unsigned i = 0; i < s->proxy.n; i++)
		(*ip)[n++] = s->proxy.ep[i].ip;
	return n;
}

static struct stream_link *find(const struct stream_relay *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->n_links; i++)
		if (s->link[i].id == id)
			return &s->link[i];
	return NULL;
}

static struct stream_link *add_link(struct stream_relay *s, const struct stream_report *p,
				    mono_t now)
{
	struct stream_link *l;

	s->link = x_realloc(s->link, s->n_links + 1, sizeof(*s->link));
	l = &s->link[s->n_links++];
	/* A connection belongs to the first line. */
	*l = (struct stream_link){ .id = p->id,
				   .local = { .ip = p->local.ip, .port = p->local.port },
				   .remote = { .ip = p->remote.ip, .port = p->remote.port },
				   .used = now };
	return l;
}

static void remove_link(struct stream_relay *s, struct stream_link *l)
{
	struct endpoint local = l->local;

	*l = s->link[--s->n_links];
	overlay_endpoint_ended(s->d->overlay, &local);
}

/* --- messages --- */

static int send_command(const struct stream_relay *s, struct stream_command *c, int fd)
{
	c->protocol = STREAM_PROTOCOL;
	return s->child.control < 0 ? -ENOTCONN : stream_send(s->child.control, c, sizeof(*c), fd);
}

static int order(const struct stream_relay *s, enum stream_order what, uint32_t id, int fd)
{
	return send_command(s, &(struct stream_command){ .order = what, .id = id }, fd);
}

void streams_close(struct leond *d, uint32_t id)
{
	if (d->states->streams && id)
		order(d->states->streams, STREAM_CLOSE, id, -1);
}

static void took(struct stream_relay *s, const struct stream_report *p)
{
	struct stream_link *l = find(s, p->id);
	bool dialed = !(p->id & STREAM_ACCEPTED) && p->id;

	s->silent = 0;
	s->reported = true;
	switch (p->news) {
	case STREAM_UP:
		l = add_link(s, p, loop_now(s->d->loop));
		s->child.wait_s = 1;
		if (dialed && s->changed)
			s->changed(s->d, p->id, &l->local, "");
		break;
	case STREAM_DOWN:
		if (!p->id)
			log_error("tls", "leon-tls cannot start: %s", p->reason);
		if (l)
			remove_link(s, l);
		if (dialed && s->changed)
			s->changed(s->d, p->id, NULL, p->reason);
		break;
	case STREAM_COUNTS:
		s->now = p->counts;
		break;
	}
}

/* --- the program --- */

static void add_counts(struct stream_counts *sum, const struct stream_counts *c)
{
#define AS_SUM(member, help) sum->member += c->member;
	STREAM_COUNTS_OF(AS_SUM)
#undef AS_SUM
}

struct stream_counts streams_counts(const struct leond *d)
{
	struct stream_counts sum = { 0 };

	if (d->states->streams) {
		add_counts(&sum, &d->states->streams->before);
		add_counts(&sum, &d->states->streams->now);
	}
	return sum;
}

/* The program ended, or has to end. All its connections are gone. */
static void end_program(struct stream_relay *s)
{
	child_end(&s->child, s->d->loop);
	child_delay(&s->child);
	s->listening[0] = s->listening[1] = false;
	add_counts(&s->before, &s->now);
	s->now = (struct stream_counts){ 0 };
	while (s->n_links) {
		uint32_t id = s->link[0].id;

		remove_link(s, &s->link[0]);
		if (!(id & STREAM_ACCEPTED) && s->changed)
			s->changed(s->d, id, NULL, "leon-tls ended");
	}
	/* Attempts in progress. */
	if (s->changed)
		s->changed(s->d, 0, NULL, "leon-tls ended");
}

static void on_control(void *arg, int control, uint32_t events attr_unused)
{
	struct stream_relay *s = arg;
	struct stream_report p;
	int rc;

	while ((rc = stream_receive(control, &p, sizeof(p), NULL)) == 0)
		if (p.protocol == STREAM_PROTOCOL)
			took(s, &p);
	if (rc == -EAGAIN)
		return;
	log_warn("tls", "leon-tls ended; links over TLS are down until it runs again");
	end_program(s);
}

/* The kernel keeps the connections of a program that hangs, so neither end notices. child_is_due()
 * kills the program. */
static void end_silent_program(struct stream_relay *s)
{
	if (s->child.control < 0 || ++s->silent <= SILENT_S)
		return;
	log_warn("tls",
		 "leon-tls has not answered for %d s and is ended; links over TLS are down until "
		 "it runs again%s",
		 SILENT_S, s->reported ? "" : ", with a certificate of its own until a reload");
	end_program(s);
	s->hung |= !s->reported;
}

/* Nodes check no certificate. leon-tls makes its own one if it hung, until a reload. */
static void configure(struct stream_relay *s)
{
	struct stream_command c = {
		.order = STREAM_SETUP,
		.sockets = { .ip = IP_STREAM_HOST, .port = s->udp.port },
	};

	if (!s->hung) {
		snprintf(c.certificate, sizeof(c.certificate), "%s", s->d->conf->tls_certificate);
		snprintf(c.key, sizeof(c.key), "%s", s->d->conf->tls_key);
	}
	send_command(s, &c, -1);
	s->reported = false;
}

static struct tcp_config tcp_of(const struct conf *c)
{
	return (struct tcp_config){ .source4 = c->source4,
				    .source6 = c->source6,
				    .device = c->source_interface[0] ? c->source_interface : NULL,
				    .fwmark = c->fwmark };
}

static const char *hint_of(int rc)
{
	return rc == -EACCES	   ? " (a port below 1024 needs CAP_NET_BIND_SERVICE)"
	       : rc == -EADDRINUSE ? " (another program uses the port, see `ss -ltnp`)"
				   : "";
}

/* An address may be absent now, or another program may have the port: tried each second. */
static void listen_there(struct stream_relay *s)
{
	struct tcp_config tc = tcp_of(s->d->conf);
	const int in_use[] = { s->d->udp->fd4[0], s->d->udp->fd6[0] };
	bool failed = false;

	for (unsigned i = 0; i < array_size(in_use) && s->d->conf->tls_listen_port; i++) {
		int fd;

		if (in_use[i] < 0 || s->listening[i] || s->child.control < 0)
			continue;
		fd = tcp_listen(&tc, i ? 6 : 4, s->d->conf->tls_listen_port);
		if (fd >= 0) {
			s->listening[i] = order(s, STREAM_LISTEN, 0, fd) == 0;
			close(fd);
			continue;
		}
		failed = true;
		if (!s->listen_failed)
			log_error("tls", "cannot listen: %s%s family=%s port=%u", strerror(-fd),
				  hint_of(fd), i ? "ipv6" : "ipv4", s->d->conf->tls_listen_port);
	}
	s->listen_failed = failed;
}

static void start_program(struct stream_relay *s)
{
	const struct child_program leon_tls = { "leon-tls", "LEON_TLS_PROGRAM", on_control, s };
	int rc = child_start(&s->child, s->d->loop, &leon_tls);

	if (rc < 0) {
		log_error("tls", "leon-tls cannot be started: %s", strerror(-rc));
		return;
	}
	s->silent = 0;
	configure(s);
	listen_there(s);
}

/* --- proxy --- */

static void take_answer(struct stream_relay *s, const struct resolve_answer *a)
{
	/* The answer names the proxy of an earlier configuration. */
	if (a->id != s->proxy.id)
		return;
	if (a->n) {
		s->proxy = *a;
		s->unresolved = false;
		return;
	}
	s->resolve_at = mono_add_ms(loop_now(s->d->loop), PROXY_RETRY_S * 1000);
	if (!s->unresolved)
		log_warn("tls", "proxy %.60s cannot be resolved: %s", s->d->conf->proxy.host,
			 a->error);
	s->unresolved = true;
}

static void on_proxy_resolved(void *arg, int fd attr_unused, uint32_t events attr_unused)
{
	struct stream_relay *s = arg;
	struct resolve_answer a;

	while (resolver_next(s->resolver, &a))
		take_answer(s, &a);
}

static void resolve_proxy(struct stream_relay *s, mono_t now)
{
	const struct conf_proxy *p = &s->d->conf->proxy;

	if (!p->host[0] || p->ep.ip.family) {
		s->proxy.n = 1;
		s->proxy.ep[0] = p->ep;
		return;
	}
	if (mono_before(now, s->resolve_at))
		return;
	s->resolve_at = mono_add_ms(now, PROXY_RESOLVE_S * 1000);
	if (s->resolver < 0 && (s->resolver = resolver_open()) >= 0)
		loop_fd_add(s->d->loop, s->resolver, EPOLLIN, on_proxy_resolved, s);
	if (s->resolver >= 0)
		resolver_request(s->resolver, s->proxy.id, p->host, p->ep.port);
}

/* --- connections of this node --- */

static void name_peer(struct stream_command *c, const struct conf *conf, const struct conf_peer *p)
{
	bool v6 = p->is_ip && p->ep.ip.family == 6;

	if (!p->is_ip)
		snprintf(c->server, sizeof(c->server), "%s", p->host);
	if (conf->proxy.host[0])
		snprintf(c->connect, sizeof(c->connect), "%s%s%s:%u", v6 ? "[" : "", p->host,
			 v6 ? "]" : "", p->tls_port);
	snprintf(c->login, sizeof(c->login), "%s", conf->proxy.login);
}

uint32_t streams_dial(struct leond *d, const struct conf_peer *peer, const struct ip_addr *ip,
		      unsigned turn, char reason[STREAM_REASON_LEN])
{
	struct stream_relay *s = d->states->streams;
	struct tcp_config tc = tcp_of(d->conf);
	struct endpoint to = { .ip = *ip, .port = peer->tls_port };
	struct stream_command c = { .order = STREAM_DIAL };
	int fd, rc;

	if (d->conf->proxy.host[0])
		to = s->proxy.ep[turn % max_of(s->proxy.n, 1u)];
	if (!to.ip.family) {
		snprintf(reason, STREAM_REASON_LEN, "the name of the %s is not resolved",
			 d->conf->proxy.host[0] ? "proxy" : "peer");
		return 0;
	}
	/* TLS uses the address families of UDP, which are those of source-address. */
	fd = (to.ip.family == 6 ? d->udp->fd6[0] : d->udp->fd4[0]) < 0 ? -EAFNOSUPPORT
								       : tcp_connect(&tc, &to);
	if (fd < 0) {
		snprintf(reason, STREAM_REASON_LEN, "%s", strerror(-fd));
		return 0;
	}
	s->last_id = (s->last_id + 1) & ~(STREAM_ACCEPTED);
	c.id = s->last_id = max_of(s->last_id, 1u);
	name_peer(&c, d->conf, peer);
	rc = send_command(s, &c, fd);
	close(fd);
	if (rc == 0)
		return c.id;
	snprintf(reason, STREAM_REASON_LEN, "leon-tls does not run");
	return 0;
}

/* --- module --- */

/* A stranger becomes a member when the protocol uses its connection. */
void streams_look(struct leond *d, mono_t now)
{
	for (uint32_t i = 0; i < streams_links(d); i++) {
		struct stream_link *l = &d->states->streams->link[i];

		if (!(l->id & STREAM_ACCEPTED))
			continue;
		if (overlay_uses_endpoint(d->overlay, &l->local)) {
			l->used = now;
			if (!l->kept)
				l->kept = order(d->states->streams, STREAM_KEEP, l->id, -1) == 0;
		} else if (mono_sub_ms(now, l->used) > UNUSED_MS) {
			streams_close(d, l->id);
		}
	}
}

void streams_set_watcher(struct leond *d, streams_changed_fn fn)
{
	if (d->states->streams)
		d->states->streams->changed = fn;
}

void streams_second(struct leond *d, mono_t now)
{
	struct stream_relay *s = d->states->streams;

	if (!s)
		return;
	end_silent_program(s);
	if (child_is_due(&s->child, now))
		start_program(s);
	resolve_proxy(s, now);
	listen_there(s);
	streams_look(d, now);
}

void streams_apply_conf(struct leond *d)
{
	struct stream_relay *s = d->states->streams;

	if (!s)
		return;
	end_program(s);
	s->child.start_at = loop_now(d->loop);
	s->child.wait_s = 1;
	s->resolve_at = (mono_t){ 0 };
	s->proxy = (struct resolve_answer){ .id = s->proxy.id + 1 };
	s->unresolved = s->listen_failed = s->hung = false;
}

void streams_renew(struct leond *d)
{
	if (!d->states->streams || !d->conf->tls_certificate[0])
		return;
	d->states->streams->hung = false;
	configure(d->states->streams);
}

void streams_start(struct leond *d)
{
	streams_second(d, loop_now(d->loop));
}

void streams_stop(struct leond *d)
{
	struct stream_relay *s = d->states->streams;

	if (!s)
		return;
	/* leon-tls ends when it sees that; it is no zombie longer than leond. */
	child_end(&s->child, d->loop);
	if (s->resolver >= 0)
		close(s->resolver);
	udp_close(&s->udp);
	free(s->link);
	x_free(d->states->streams);
}
