// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accelerators of all other nodes, see peer.h: the table, the decision on inter-proxy
 * connections, the timer and the reports.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine.h"
#include "peer/peer.h"
#include "peer/streams.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define INTERPROXIES_MAX 64 /* of 1 MiB of buffers each */
#define RETRY_MS	 1000
#define UNNEEDED_MS	 60000 /* time after which the connection to a near node is closed */

struct peer_entry {
	struct accel_peer peer;
	UT_hash_handle hh;
};

struct accel_peer *peer_find(struct engine *e, node_id_t id)
{
	struct peer_entry *entry;

	HASH_FIND(hh, e->peers, &id, sizeof(id), entry);
	return entry ? &entry->peer : NULL;
}

unsigned peers_attempts(const struct engine *e)
{
	unsigned n = 0;

	for (const struct peer_entry *i = e->peers; i; i = i->hh.next)
		n += peer_attempts(&i->peer);
	return n;
}

/* Reports whether an inter-proxy connection to the node is wanted, at that percentage of the
 * threshold. */
static bool is_wanted_at(const struct accel_peer *p, uint32_t percent, mono_t now)
{
	const struct accel_settings *s = &p->e->settings;

	if (s->mode == ACCEL_OFF || !p->rtt_us || p->room < ETH_HDR_LEN + PEER_MTU_MIN ||
	    !peer_is_known(p, now))
		return false;
	return peer_is_far_at(p, percent);
}

static bool is_wanted(const struct accel_peer *p, mono_t now)
{
	return is_wanted_at(p, 100, now) && p->e->n_interproxies < INTERPROXIES_MAX;
}

/* The other node measures its own RTT, so a node slightly below the threshold is accepted. */
static bool is_welcome(struct accel_peer *p, mono_t now)
{
	if (is_wanted_at(p, ACCEL_KEEP_PERCENT, now) && p->e->n_interproxies < INTERPROXIES_MAX)
		return true;
	peer_misuse(p, ACCEL_UNWANTED);
	return false;
}

void peer_accept(struct engine *e, int fd, mono_t now)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct accel_peer *p = NULL;
	struct endpoint from;

	if (getpeername(fd, (struct sockaddr *)&ss, &len) == 0 &&
	    endpoint_from_sockaddr(&ss, &from) == 0 && from.ip.family == 6)
		p = peer_find(e, get_u32(from.ip.b + 12));
	if (p && !peer_leads(p))
		peer_down(p, "replaced by a new one", now);
	if (!p || peer_leads(p) || !is_welcome(p, now) || !peer_fit_route(p)) {
		close(fd);
		return;
	}
	peer_begin(p, fd, PEER_GREETING, now);
	peer_greet(p);
}

void peer_learn(struct engine *e, const struct accel_notify_frame *f, mono_t now)
{
	struct accel_peer *p = peer_find(e, f->node.id);
	struct peer_entry *entry;

	if (f->node.id == e->self || f->node.id == NODE_ID_NONE)
		return;
	if (!p) {
		entry = x_new(struct peer_entry);
		p = &entry->peer;
		p->e = e;
		p->id = f->node.id;
		p->fd = -1;
		p->counted.id = p->id;
		HASH_ADD(hh, e->peers, peer.id, sizeof(p->id), entry);
	}
	p->rtt_us = f->node.rtt_us;
	p->room = f->node.room;
	p->bypassed = f->node.bypassed;
	p->learned = now;
	/* The route is also set before a connection is made. The other node may connect first, and
	 * the answer to its SYN already uses the route. */
	if (p->state != PEER_DOWN || is_wanted(p, now))
		peer_fit_route(p);
}

/* Reports whether the node has been near for a while, and no connection is intercepted. The leader
 * alone closes, because the follower cannot connect again. Bytes in transit postpone the end. */
static bool is_unneeded(struct accel_peer *p, mono_t now)
{
	bool is_near = p->e->settings.mode != ACCEL_OFF && p->rtt_us &&
		       !peer_is_far_at(p, ACCEL_KEEP_PERCENT);

	if (!is_near || streams_count(&p->streams))
		p->needed = now;
	return peer_leads(p) && mono_sub_ms(now, p->needed) >= UNNEEDED_MS && !peer_is_unsent(p);
}

static void second(struct accel_peer *p, mono_t now)
{
	bool wanted = is_wanted(p, now);

	if (p->state == PEER_DOWN) {
		if (wanted && peer_leads(p) && !p->e->stopping &&
		    mono_sub_ms(now, p->since) >= RETRY_MS)
			peer_connect(p, now);
		return;
	}
	/* Seconds of this loop: a process without processor time hears nobody. The ticks of an end
	 * are shorter. */
	p->silent += !p->e->stopping;
	if (p->silent > PEER_SILENT_MS / 1000)
		peer_down(p, "silent", now);
	else if (!buffers_fit(&p->interproxy.buffers, p->fd, p->e->n_interproxies, now))
		peer_down(p, "kernel buffers exceed the share", now);
	else if (is_unneeded(p, now))
		peer_down(p, "the node is near", now);
	else if (p->state == PEER_UP && !p->e->stopping)
		peer_ping(p, now);
}

void peers_second(struct engine *e, mono_t now)
{
	struct peer_entry *i, *next;

	HASH_ITER(hh, e->peers, i, next)
		second(&i->peer, now);
}

bool peers_unsent(const struct engine *e)
{
	for (const struct peer_entry *i = e->peers; i; i = i->hh.next)
		if (peer_is_unsent(&i->peer))
			return true;
	return false;
}

void peers_write(const struct engine *e, struct jsonw *w)
{
	static const char *const name[] = { "down", "connecting", "connecting", "up" };

	for (const struct peer_entry *i = e->peers; i; i = i->hh.next) {
		const struct accel_peer *p = &i->peer;

		jsonw_object(w, NULL);
		accel_node_write(&p->counted, w);
		jsonw_str(w, "carrier", name[p->state]);
		jsonw_u64(w, "latency_us", p->rtt_us);
		jsonw_u64(w, "streams", streams_count(&p->streams));
		jsonw_end(w);
	}
}

void peers_free(struct engine *e)
{
	struct peer_entry *i, *next;

	HASH_ITER(hh, e->peers, i, next) {
		peer_down(&i->peer, "stopping", loop_now(e->loop));
		HASH_DEL(e->peers, i);
		streams_free(&i->peer.streams);
		free(i);
	}
}
