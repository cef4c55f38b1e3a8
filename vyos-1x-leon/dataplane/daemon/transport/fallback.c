// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transports of the links to configured peers, see transport.h.
 */
#include "daemon/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "proto/overlay.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define TICK_MS	      250
#define UDP_SILENT_MS 3000
#define UDP_AGAIN_MS  1000  /* interval of PINGs over UDP while TLS is in use */
#define UDP_HOLDS_MS  60000 /* UDP that fails sooner is tried again later each time */
#define DIAL_WAIT_MS  1000  /* after the first failure, and after one without a connection */
#define WAIT_MAX_MS   60000

struct attempt {
	uint32_t id;		/* connection; 0: none */
	struct endpoint stream; /* family 0: not up yet */
	mono_t silent_since;	/* UDP gets no answer; never: it does */
	mono_t dial_at;
	int64_t dial_wait_ms;
	unsigned dials;
	unsigned next; /* address of the peer for the next attempt */
	char reason[STREAM_REASON_LEN];
	/* While TLS is in use. */
	bool on_stream, backup_turn;
	mono_t udp_at, udp_since;
	int64_t udp_wait_ms;
};

struct fallback {
	struct timer *timer;
	uint32_t n;
	uint64_t *name; /* of each peer, over reloads */
	struct attempt *attempt;
};

static bool is_watched(const struct leond *d, uint32_t i)
{
	return d->conf->peer[i].tls_port && !d->conf->peer[i].disable;
}

/* The next address of UDP of the peer; false: none is known. */
static bool next_address(const struct overlay_seed *s, unsigned *next, struct endpoint *out)
{
	for (unsigned k = 0; k < s->n; k++) {
		const struct endpoint *ep = &s->address[(*next)++ % s->n].ep;

		if (endpoint_is_stream(ep))
			continue;
		*out = *ep;
		return true;
	}
	return false;
}

static void dial(struct leond *d, uint32_t i, const struct overlay_seed *s, mono_t now)
{
	struct attempt *a = &d->states->fallback->attempt[i];
	struct endpoint ep = { 0 };

	if (mono_before(now, a->dial_at))
		return;
	next_address(s, &a->next, &ep);
	a->id = streams_dial(d, &d->conf->peer[i], &ep.ip, a->dials++, a->reason);
	/* Without a connection nothing was sent: the host has no route, or no address of the
	 * proxy yet. */
	if (!a->id) {
		a->dial_at = mono_add_ms(now, DIAL_WAIT_MS);
		return;
	}
	a->dial_wait_ms =
		min_of(max_of(2 * a->dial_wait_ms, (int64_t)DIAL_WAIT_MS), (int64_t)WAIT_MAX_MS);
	a->dial_at = mono_add_ms(now, a->dial_wait_ms);
}

/* UDP that answers for a moment only must not take the link back and forth. */
static void note_transport(struct attempt *a, bool on_stream, mono_t now)
{
	bool held = mono_is_never(a->udp_since) || mono_sub_ms(now, a->udp_since) > UDP_HOLDS_MS;

	if (on_stream == a->on_stream)
		return;
	a->on_stream = on_stream;
	if (!on_stream) {
		a->udp_since = now;
		return;
	}
	a->udp_wait_ms = held ? UDP_AGAIN_MS : min_of(2 * a->udp_wait_ms, (int64_t)WAIT_MAX_MS);
	a->udp_at = mono_add_ms(now, a->udp_wait_ms);
}

/* A session exists: chooses the transport of its link. */
static void choose(struct leond *d, struct attempt *a, const struct overlay_seed *s,
		   const struct overlay_link *link, mono_t now)
{
	struct endpoint udp;
	bool wanted;

	note_transport(a, endpoint_is_stream(&link->ep), now);
	/* Also in place of a stream that ended while relays kept the session. */
	wanted = a->on_stream ? !link->up && !endpoint_equal(&link->ep, &a->stream)
			      : !mono_is_never(a->silent_since);
	if (a->stream.ip.family && wanted) {
		overlay_offer_endpoint(d->overlay, s->node, &a->stream);
		return;
	}
	if (!a->on_stream)
		return;
	if (mono_before(now, a->udp_at))
		return;
	a->udp_at = mono_add_ms(now, UDP_AGAIN_MS);
	/* The address before, or one of the configuration. */
	a->backup_turn = !a->backup_turn;
	if (a->backup_turn && endpoint_is_usable(&link->backup))
		udp = link->backup;
	else if (!next_address(s, &a->next, &udp))
		return;
	overlay_offer_endpoint(d->overlay, s->node, &udp);
}

static void look(struct leond *d, uint32_t i, mono_t now)
{
	struct attempt *a = &d->states->fallback->attempt[i];
	struct overlay_link link = { 0 };
	struct overlay_seed s;
	const struct node *n = NULL;

	if (!overlay_seed(d->overlay, i, &s))
		return;
	if (s.reached)
		n = nodedb_find(overlay_nodes(d->overlay), s.node);
	if (n && !overlay_link(d->overlay, n->slot, &link))
		n = NULL;
	if (n && link.up && !link.silent)
		a->silent_since = MONO_NEVER;
	else if (mono_is_never(a->silent_since))
		a->silent_since = now;
	if (n)
		choose(d, a, &s, &link, now);
	if (!a->id && !mono_is_never(a->silent_since) &&
	    mono_sub_ms(now, a->silent_since) >= UDP_SILENT_MS)
		dial(d, i, &s, now);
}

static void on_tick(void *arg, mono_t now)
{
	struct leond *d = arg;

	for (uint32_t i = 0; i < d->states->fallback->n && i < d->conf->n_configured_peers; i++)
		if (is_watched(d, i))
			look(d, i, now);
	timer_set(d->states->fallback->timer, mono_add_ms(now, TICK_MS));
}

/* --- connections --- */

static void on_changed(struct leond *d, uint32_t id, const struct endpoint *stream,
		       const char *reason)
{
	for (uint32_t i = 0; i < d->states->fallback->n; i++) {
		struct attempt *a = &d->states->fallback->attempt[i];

		/* 0: all connections ended. */
		if (!a->id || (id && a->id != id))
			continue;
		a->stream = stream ? *stream : (struct endpoint){ 0 };
		snprintf(a->reason, sizeof(a->reason), "%s", stream ? "" : reason);
		seeds_set_stream(d, i, &a->stream);
		if (!stream) {
			a->id = 0;
			continue;
		}
		a->dial_wait_ms = 0;
		timer_set(d->states->fallback->timer, loop_now(d->loop));
	}
}

/* --- module --- */

static uint64_t name_of(const struct conf_peer *p)
{
	uint64_t h = hash_mix64((uint64_t)p->ep.port << 16 | p->tls_port);

	for (const char *s = p->name; *s; s++)
		h = hash_mix64(h ^ (uint8_t)*s);
	for (const char *s = p->host; *s; s++)
		h = hash_mix64(h ^ (uint8_t)*s);
	return h;
}

/* Peers that remain keep their connection. The next attempt does not wait, because the reload may
 * have corrected the reason of a failure. */
static void keep(struct leond *d, uint32_t i, struct fallback *old)
{
	struct fallback *f = d->states->fallback;

	for (uint32_t k = 0; k < old->n; k++) {
		if (old->name[k] != f->name[i] || !is_watched(d, i))
			continue;
		f->attempt[i] = old->attempt[k];
		f->attempt[i].dial_at = (mono_t){ 0 };
		f->attempt[i].dial_wait_ms = 0;
		old->attempt[k].id = 0;
	}
}

void fallback_apply_conf(struct leond *d)
{
	struct fallback *f = d->states->fallback, old;

	if (!f)
		return;
	old = *f;
	f->n = d->conf->n_configured_peers;
	f->name = x_calloc(max_of(f->n, 1u), sizeof(*f->name));
	f->attempt = x_calloc(max_of(f->n, 1u), sizeof(*f->attempt));
	for (uint32_t i = 0; i < f->n; i++) {
		f->attempt[i] =
			(struct attempt){ .silent_since = MONO_NEVER, .udp_since = MONO_NEVER };
		f->name[i] = name_of(&d->conf->peer[i]);
		keep(d, i, &old);
		seeds_set_stream(d, i, &f->attempt[i].stream);
	}
	for (uint32_t k = 0; k < old.n; k++)
		streams_close(d, old.attempt[k].id);
	free(old.name);
	free(old.attempt);
}

void fallback_start(struct leond *d)
{
	if (!d->conf->transport_tls)
		return;
	d->states->fallback = x_new(struct fallback);
	d->states->fallback->timer = leond_timer(d, on_tick, d);
	streams_set_watcher(d, on_changed);
	timer_set(d->states->fallback->timer, loop_now(d->loop));
}

void fallback_stop(struct leond *d)
{
	struct fallback *f = d->states->fallback;

	if (!f)
		return;
	free(f->name);
	free(f->attempt);
	x_free(d->states->fallback);
}

struct fallback_view fallback_view(const struct leond *d, uint32_t i)
{
	const struct fallback *f = d->states->fallback;
	const struct attempt *a;

	if (!f || i >= f->n || !is_watched(d, i))
		return (struct fallback_view){ 0 };
	a = &f->attempt[i];
	return (struct fallback_view){
		.state = !a->id		       ? "idle"
			 : a->stream.ip.family ? "connected"
					       : "connecting",
		.reason = a->reason[0] ? a->reason : NULL,
	};
}
