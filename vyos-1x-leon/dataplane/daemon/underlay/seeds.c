// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of the configured peers for the protocol: literal addresses at once, names through the
 * resolver. Names of unreached peers are resolved again (after 5 s, doubling to 60 s). Cached
 * members follow the configured peers. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "proto/overlay_seeds.h"
#include "state/conf/conf.h"

#define BACKOFF_FIRST_S 5
#define BACKOFF_LAST_S	60

struct seed_hosts {
	uint32_t generation; /* answers for an earlier list of peers are ignored */
	int resolver;
	uint32_t n;
	struct seed_host *host;
};

struct seed_host *seeds_host(const struct leond *d, uint32_t i)
{
	return i < d->states->seeds->n ? &d->states->seeds->host[i] : NULL;
}

/* Addresses of UDP, then the stream. */
static void set_all(struct leond *d, uint32_t i, const struct endpoint *ep, unsigned n)
{
	const struct endpoint *stream = &seeds_host(d, i)->stream;
	struct endpoint all[SEED_ENDPOINTS];

	n = min_of(n, (unsigned)SEED_ENDPOINTS - 1);
	memcpy(all, ep, n * sizeof(all[0]));
	if (stream->ip.family)
		all[n++] = *stream;
	overlay_set_seed(d->overlay, i, all, n);
}

static void set_address(struct leond *d, uint32_t i)
{
	if (i >= d->conf->n_configured_peers) {
		const struct member_entry *m = cache_member(d, i - d->conf->n_configured_peers);

		overlay_set_seed(d->overlay, i, m->ep, m->n);
	} else if (d->conf->peer[i].disable) {
		return;
	} else if (d->conf->peer[i].is_ip) {
		set_all(d, i, &d->conf->peer[i].ep, 1);
	} else {
		set_all(d, i, seeds_host(d, i)->ep, seeds_host(d, i)->n);
	}
}

void seeds_set_stream(struct leond *d, uint32_t i, const struct endpoint *stream)
{
	struct seed_host *s = seeds_host(d, i);

	if (i >= d->conf->n_configured_peers || !s || endpoint_equal(&s->stream, stream))
		return;
	s->stream = *stream;
	set_address(d, i);
}

/* The name of a peer does not count, as in is_same_peer() of the protocol. */
static uint64_t identity_of(const struct conf_peer *p)
{
	uint64_t h = hash_mix64((uint64_t)p->ep.port << 1 | p->disable);

	for (const char *s = p->host; *s; s++)
		h = hash_mix64(h ^ (uint8_t)*s);
	return h;
}

/* Peers that remain keep their addresses, their state and its time if other peers change: the name
 * of a reached peer is not resolved again. */
static void keep_reach(struct seed_host *s, const struct seed_host *old, uint32_t n_old)
{
	for (uint32_t i = 0; i < n_old; i++) {
		if (old[i].name != s->name)
			continue;
		s->n = old[i].n;
		memcpy(s->ep, old[i].ep, sizeof(s->ep));
		s->stream = old[i].stream; /* fallback_apply_conf() removes that of a closed one */
		s->resolved_at = old[i].resolved_at;
		s->reached = old[i].reached;
		s->reported = old[i].reported;
		s->since = old[i].since;
	}
}

void seeds_reset(struct leond *d)
{
	struct seed_hosts *s = d->states->seeds, old = *s;

	s->n = d->conf->n_peers;
	s->host = x_calloc(max_of(s->n, 1u), sizeof(*s->host));
	s->generation++;
	for (uint32_t i = 0; i < s->n; i++) {
		s->host[i].backoff_s = BACKOFF_FIRST_S;
		s->host[i].since = loop_now(d->loop);
		s->host[i].name = identity_of(&d->conf->peer[i]);
		keep_reach(&s->host[i], old.host, old.n);
		set_address(d, i);
	}
	free(old.host);
	seeds_run(d, loop_now(d->loop));
}

void seeds_run(struct leond *d, mono_t now)
{
	for (uint32_t i = 0; i < d->states->seeds->n && i < d->conf->n_configured_peers; i++) {
		const struct conf_peer *p = &d->conf->peer[i];
		struct seed_host *s = seeds_host(d, i);

		if (p->is_ip || p->disable || s->asking)
			continue;
		if (!overlay_seed_wants_resolve(d->overlay, i)) {
			s->backoff_s = BACKOFF_FIRST_S;
			continue;
		}
		if (mono_before(now, s->request_at))
			continue;
		s->asking = resolver_request(d->states->seeds->resolver,
					     (uint64_t)d->states->seeds->generation << 32 | i,
					     p->host, p->ep.port);
		s->request_at = mono_add_ms(now, (int64_t)s->backoff_s * 1000);
		s->backoff_s = min_of(s->backoff_s * 2, (uint32_t)BACKOFF_LAST_S);
	}
}

static void report_failure(struct leond *d, uint32_t i, const char *why)
{
	if (seeds_host(d, i)->failing)
		return;
	seeds_host(d, i)->failing = true;
	report_event(d, FACTS(EV_PEER_UNRESOLVED, .detail = why),
		     "peer %.40s: name %.60s cannot be resolved: %s", d->conf->peer[i].name,
		     d->conf->peer[i].host, why);
}

/* Setting equal addresses again would abort a handshake in progress. */
static bool answer_differs(const struct seed_host *s, const struct resolve_answer *a)
{
	if (s->n != a->n)
		return true;
	for (unsigned i = 0; i < a->n; i++)
		if (!endpoint_equal(&s->ep[i], &a->ep[i]))
			return true;
	return false;
}

static void take_answer(struct leond *d, const struct resolve_answer *a)
{
	uint32_t i = (uint32_t)(a->id & UINT32_MAX);
	struct seed_host *s = seeds_host(d, i);

	if (a->id >> 32 != d->states->seeds->generation || !s)
		return;
	s->asking = false;
	if (a->error[0]) {
		/* The previous addresses stay: an old answer is better than none. */
		snprintf(s->error, sizeof(s->error), "%s", a->error);
		report_failure(d, i, a->error);
		return;
	}
	s->failing = false;
	s->error[0] = '\0';
	s->resolved_at = loop_now(d->loop);
	if (!answer_differs(s, a))
		return;
	memcpy(s->ep, a->ep, sizeof(a->ep));
	s->n = a->n;
	set_all(d, i, a->ep, a->n);
}

static void on_answers(void *arg, int fd attr_unused, uint32_t epoll_events attr_unused)
{
	struct leond *d = arg;
	struct resolve_answer a;

	while (resolver_next(d->states->seeds->resolver, &a))
		take_answer(d, &a);
}

void seeds_stop(struct leond *d)
{
	if (!d->states->seeds)
		return;
	if (d->states->seeds->resolver >= 0)
		close(d->states->seeds->resolver);
	free(d->states->seeds->host);
	free(d->states->seeds);
}

int seeds_start(struct leond *d)
{
	struct seed_hosts *s = d->states->seeds = x_new(struct seed_hosts);

	s->resolver = resolver_open();
	if (s->resolver < 0) {
		log_error("peers", "resolver cannot be started: %s", strerror(-s->resolver));
		return s->resolver;
	}
	seeds_reset(d);
	return loop_fd_add(d->loop, s->resolver, EPOLLIN, on_answers, d);
}
