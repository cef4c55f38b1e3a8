// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All tracked connections, see conn.h: the table, the choice of intercepted connections, and the
 * timers.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn/conn_state.h"
#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "peer/peer.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define PLAIN_SILENT_MS	 300000
#define CLOSED_SILENT_MS 70000
/* Limit of an unanswered connection (share.h). A host repeats a SYN after 1, 2, 4 and 8 s. */
#define UNANSWERED_SILENT_MS 10000
/* Silence before frames bypass leon-accel, or duration of the bypass, after which a connection is
 * forgotten (TIME_WAIT is over). */
#define UNSEEN_MS     5000
#define UNSEEN_ALL_MS 60000

struct conn_entry {
	struct conn conn;
	UT_hash_handle hh;
};

/* --- the table --- */

struct conn *conns_next(const struct engine *e, const struct conn *c)
{
	struct conn_entry *next =
		c ? container_of(c, const struct conn_entry, conn)->hh.next : e->conns;

	return next ? &next->conn : NULL;
}

/* Keys are compared as bytes, so they have no padding. */
_Static_assert(sizeof(struct accel_key) == 3 * 2 + 2 * sizeof(struct ip_addr), "no padding");

static struct accel_key key_of(const struct tcp_view *t, uint16_t vlan, bool from_near)
{
	const struct accel_key k = { vlan, t->src, t->dst, t->src_port, t->dst_port };

	return from_near ? k : accel_key_mirrored(&k);
}

static unsigned hash_of(const struct engine *e, const struct accel_key *k)
{
	return (unsigned)siphash(&e->hash_key, k, sizeof(*k));
}

static struct conn *find(struct engine *e, const struct accel_key *k)
{
	unsigned hash = hash_of(e, k);
	struct conn_entry *entry;

	HASH_FIND_BYHASHVALUE(hh, e->conns, k, sizeof(*k), hash, entry);
	return entry ? &entry->conn : NULL;
}

static struct conn *add(struct engine *e, struct accel_peer *p, const struct accel_key *k,
			mono_t now)
{
	struct conn_entry *entry = x_new(struct conn_entry);
	struct conn *c = &entry->conn;
	unsigned hash = hash_of(e, k);

	c->e = e;
	c->peer = p;
	c->socket.fd = c->socket.file_index = -1;
	c->serial = ++e->last_serial;
	flow_init(&c->flow, &conn_ops, k, now);
	HASH_ADD_BYHASHVALUE(hh, e->conns, conn.flow.key, sizeof(*k), hash, entry);
	e->n_conns++;
	share_add(&p->share, c);
	return c;
}

static void forget(struct conn *c)
{
	struct conn_entry *entry = container_of(c, struct conn_entry, conn);
	struct engine *e = c->e;
	struct accel_time time = time_saved_total(&c->time_saved);

	e->forgotten.with_ms += time.with_ms;
	e->forgotten.without_ms += time.without_ms;
	flow_fini(&c->flow);
	if (c->socket.fd >= 0)
		close(c->socket.fd);
	conn_detach(c);
	conn_unlist(c);
	share_remove(&c->peer->share, c);
	HASH_DEL(e->conns, entry);
	e->n_conns--;
	free(entry);
}

/* Removes the oldest unanswered connection of a node with a full share. Returns false if all are
 * answered. The new connection is then not tracked. */
static bool make_room(struct engine *e, struct accel_peer *p)
{
	struct node_share *s = &p->share;
	struct conn *oldest;

	if (!share_is_used(s, e->n_conns, CONNS_MAX))
		return true;
	peer_misuse(p, ACCEL_OVER_SHARE);
	oldest = share_oldest(s);
	if (oldest)
		forget(oldest);
	return oldest;
}

static void consider(struct conn *c, mono_t now)
{
	struct engine *e = c->e;
	enum accel_reason reason;
	uint32_t stream;

	if (c->flow.state != FLOW_PLAIN)
		return;
	reason = eligibility(c, now);
	if (reason == ACCEL_REASON_FULL && !mono_before(now, c->flow.retry.not_before)) {
		e->counters.full++;
		e->full_at = now;
		c->refused = ACCEL_REASON_FULL;
		flow_wait(&c->flow, now);
	}
	if (reason || !conn_has_device(c, now))
		return;
	if (c->refused == ACCEL_REASON_FULL)
		c->refused = ACCEL_REASON_NONE;
	stream = peer_new_stream(c->peer);
	streams_bind(&c->peer->streams, stream, c);
	flow_offer(&c->flow, stream, now);
	engine_start_tick(e);
}

/* The far host moved to another node. */
static void change_peer(struct conn *c, struct accel_peer *p, mono_t now)
{
	const struct accel_key key = c->flow.key;

	share_remove(&c->peer->share, c);
	c->peer = p;
	share_add(&p->share, c);
	if (flow_other_node(&c->flow))
		return;
	conn_detach(c);
	conn_unlist(c);
	flow_fini(&c->flow);
	flow_init(&c->flow, &conn_ops, &key, now);
}

/* Reports whether the connection has a proxy socket or may soon have one. */
static bool is_intercepted(const struct conn *c)
{
	return flow_is_draining(&c->flow) || c->flow.state == FLOW_INTERCEPTED ||
	       c->flow.state == FLOW_RELEASING;
}

/* Reports whether leond has the far host behind the node of the frame. A frame of the LAN goes to
 * the node that leond knows. A frame of a node proves nothing, because each member can forge
 * frames. */
static bool is_placed(const struct conn *c, const struct conn_frame *cf)
{
	uint64_t far = mac_to_u64(c->flow.far.mac);

	return cf->peer == c->peer || cf->from_lan ||
	       (!cf->is_claim && (!far || far == mac_to_u64(cf->frame.v->src)));
}

/* Handles a frame of a node that does not have the far host. Returns true if the frame is
 * dropped, because a proxy socket has the connection. Otherwise the host decides, as without an
 * accelerator. */
static bool refuse_stray(struct conn *c, struct accel_peer *from)
{
	if (c->flow.state != FLOW_INTERCEPTED && c->flow.state != FLOW_RELEASING)
		return false;
	peer_misuse(from, ACCEL_STRAY);
	return true;
}

/* Handles a frame from or to a node that may not have the far host. Returns true if the frame needs
 * no further handling. */
static bool is_elsewhere(struct conn *c, const struct conn_frame *cf, mono_t now)
{
	if (c->peer != cf->peer)
		flow_cancel(&c->flow, now);
	if (is_intercepted(c))
		return migrated_frame(c, cf, now);
	c->away.far_at = NODE_ID_NONE;
	c->away.near_seen = (mono_t){ 0 };
	if (c->peer != cf->peer)
		change_peer(c, cf->peer, now);
	return false;
}

bool conn_frame(struct engine *e, const struct conn_frame *cf, mono_t now)
{
	const struct flow_frame *f = &cf->frame;
	struct accel_key k = key_of(f->t, f->v->vlan, cf->from_lan);
	struct conn *c = find(e, &k);

	if (!c && !make_room(e, cf->peer))
		return false;
	if (!c)
		c = add(e, cf->peer, &k, now);
	if (!is_placed(c, cf))
		return refuse_stray(c, cf->peer);
	share_note(&c->peer->share, c, cf->from_lan, f->t->flags);
	if (is_elsewhere(c, cf, now))
		return true;
	if (f->t->payload_len && c->flow.state == FLOW_PLAIN)
		meter_add(&c->plain[cf->from_lan ? SAVED_OUT : SAVED_IN], f->t->payload_len,
			  c->peer->rtt_us, now);
	if (f->t->flags & TCP_URG && is_intercepted(c))
		e->counters.fault[ACCEL_FAULT_URGENT]++;
	if (!cf->from_lan)
		peer_acknowledged(c->peer, flow_acknowledges(&c->flow, f->t), now);
	if (cf->from_lan)
		place_from_near(c, f, now);
	else
		flow_from_far(&c->flow, f, now);
	/* A host with a RST has no connection any more. */
	if (f->t->flags & TCP_RST)
		*(cf->from_lan ? &c->ask.near : &c->ask.far) = 0;
	consider(c, now);
	return true;
}

void conn_frame_local(struct engine *e, const struct flow_frame *f, mono_t now)
{
	struct accel_key k = key_of(f->t, f->v->vlan, true), mirrored = accel_key_mirrored(&k);
	struct conn *of_near = find(e, &k), *c = of_near ? of_near : find(e, &mirrored);

	if (c)
		migrated_both_local(c, of_near, f, now);
}

struct conn *conn_of_packet(struct engine *e, uint16_t vlan, const struct tcp_view *t)
{
	/* A packet of the proxy socket for the far host. */
	struct accel_key k = key_of(t, vlan, false);

	return find(e, &k);
}

static void refuse(struct engine *e, struct accel_peer *p, uint32_t stream,
		   enum accel_refusal reason)
{
	struct accel_frame no = { .type = ACCEL_REFUSE,
				  .stream = stream,
				  .refuse = { (uint8_t)reason } };

	e->counters.refused++;
	p->counted.refused++;
	peer_notify(p, &no);
}

static enum accel_refusal reason_plain(const struct conn *c)
{
	if (eligibility_is_full(c->e))
		return ACCEL_NO_PLACE;
	if (c->peer->bypassed || !eligibility_is_on(c))
		return ACCEL_NOT_WITH_YOU;
	return eligibility_is_admitted(c) ? ACCEL_NOT_NOW : ACCEL_NOT_THIS_ONE;
}

/* Returns the connection of an OFFER of the node. NULL: not interceptable, and the node was
 * notified. */
static struct conn *find_named(struct engine *e, struct accel_peer *p, const struct accel_frame *f,
			       mono_t now)
{
	struct accel_key k = accel_key_mirrored(&f->offer.key);
	struct conn *c = find(e, &k);

	if (eligibility_is_full(e))
		e->full_at = now;
	/* An own offer of the same connection has its place already. */
	if (c && c->peer == p && (c->flow.stream || !eligibility_is_full(e)) &&
	    eligibility_is_wanted(c) && !p->bypassed)
		return c;
	refuse(e, p, f->stream, c && c->peer == p ? reason_plain(c) : ACCEL_NOT_NOW);
	return NULL;
}

void conn_offered(struct engine *e, struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	struct conn *c = find_named(e, p, f, now);

	if (!c)
		return;
	if (!conn_has_device(c, now)) {
		refuse(e, p, f->stream, ACCEL_NOT_THIS_ONE);
		return;
	}
	flow_offered(&c->flow, f, now);
	if (c->flow.stream == f->stream) {
		streams_bind(&p->streams, f->stream, c);
		engine_start_tick(e);
	}
}

/* --- connections of the previous process --- */

/* An entry waits until leond is connected and the node is known. Its place in the file is then of
 * the connection. A present interception is reset, too: the other process may have agreed on it
 * before its own entry made it reset its host. */
static bool quench(struct engine *e, unsigned i, mono_t now)
{
	const struct intercepted_one *one = intercepted_before(e->intercepted, i);
	struct accel_peer *p = peer_find(e, one->node);
	struct conn *c;

	if (!p || !e->n_queues)
		return false;
	c = find(e, &one->key);
	if (!c)
		c = add(e, p, &one->key, now);
	/* A SYN since the start of this process belongs to a later connection. */
	if (!c->flow.near.began && !c->flow.far.began) {
		flow_cancel(&c->flow, now);
		flow_reset(&c->flow, false, now);
		if (c->socket.file_index < 0) {
			conn_quench(c, one, now);
			c->socket.file_index = intercepted_own_before(e->intercepted, i);
			return true;
		}
	}
	intercepted_drop(e->intercepted, intercepted_own_before(e->intercepted, i));
	return true;
}

static void quench_all(struct engine *e, mono_t now)
{
	unsigned i = 0;

	while (intercepted_before(e->intercepted, i))
		if (!quench(e, i, now))
			i++;
}

/* --- timers --- */

bool conns_tick(struct engine *e, mono_t now)
{
	bool any = false;

	for (struct conn *c = NULL; (c = conns_next(e, c));) {
		if (!flow_is_draining(&c->flow) && c->flow.state != FLOW_RELEASING)
			continue;
		if (place_is_here(c))
			local_pair_tick(c, now);
		flow_tick(&c->flow, peer_rtt_ms(c->peer), now);
		any = true;
	}
	return any;
}

/* Sequence numbers advance in frames outside this process, and outdated numbers are worse than
 * unknown numbers. */
static bool is_stale(const struct conn *c, mono_t now)
{
	int64_t silent = mono_sub_ms(now, c->flow.last);

	if (c->flow.state == FLOW_CLOSED)
		return silent > CLOSED_SILENT_MS;
	if (c->flow.state != FLOW_PLAIN)
		return false;
	return silent > (c->link.is_listed ? UNANSWERED_SILENT_MS : PLAIN_SILENT_MS) ||
	       c->peer->bypassed || peer_is_left(c->peer, now);
}

/* A leader that has ended the stream closes the inter-proxy connection to a near node without
 * messages of streams. Here the host has not read all data yet. */
static void keep_interproxy(struct conn *c)
{
	const struct accel_frame none = { .type = ACCEL_CREDIT, .stream = c->flow.stream };

	if (c->in.len && c->ended.near_eof && !peer_leads(c->peer))
		peer_notify(c->peer, &none);
}

void conns_second(struct engine *e, mono_t now)
{
	struct conn_entry *entry, *next;

	quench_all(e, now);
	memset(e->counters.plain, 0, sizeof(e->counters.plain));
	memset(&e->hosts, 0, sizeof(e->hosts));
	e->counters.undelivered = 0;
	HASH_ITER(hh, e->conns, entry, next) {
		struct conn *c = &entry->conn;

		hosts_note(c);
		conn_end_where_done(c);
		keep_interproxy(c);
		if (c->flow.state == FLOW_PLAIN)
			e->counters.plain[eligibility(c, now)]++;
		e->counters.undelivered += conn_undelivered(c);
		if (conn_probes_reset(c) && e->n_queues)
			conn_probe_reset(c);
		/* The hosts were asked often enough, or their addresses have a new connection. */
		if (c->socket.fd < 0 && !conn_probes_reset(c))
			conn_unlist(c);
		if (c->away.host_probes && !is_intercepted(c)) {
			c->away.host_probes--;
			here_find_hosts(c);
		}
		if (is_intercepted(c) && migrated_is_lost(c, now))
			flow_reset(&c->flow, false, now);
		if (c->flow.state == FLOW_INTERCEPTED && eligibility_is_over(c, now))
			conn_release(c, now);
		if (!place_is_migrated(c) && flow_watch(&c->flow, peer_rtt_ms(c->peer), now))
			e->counters.fault[ACCEL_FAULT_UNPROVED]++;
		if (is_stale(c, now))
			forget(c);
	}
}

void conns_unseen(struct engine *e, mono_t since, mono_t now)
{
	struct conn_entry *entry, *next;

	HASH_ITER(hh, e->conns, entry, next) {
		struct conn *c = &entry->conn;

		/* The addresses may belong to another connection by now. */
		if (c->flow.state == FLOW_PLAIN && (mono_sub_ms(since, c->flow.last) > UNSEEN_MS ||
						    mono_sub_ms(now, since) > UNSEEN_ALL_MS)) {
			forget(c);
			continue;
		}
		flow_unseen(&c->flow, now);
	}
}

void conns_release_all(struct engine *e, mono_t now)
{
	for (struct conn *c = NULL; (c = conns_next(e, c));) {
		flow_cancel(&c->flow, now);
		conn_release(c, now);
	}
}

/* A probe in the name of the host would claim it. A near host proves its return by a frame. */
static void leave_host(struct conn *c, struct mac mac, bool is_here)
{
	if (mac_to_u64(is_here ? c->flow.far.mac : c->flow.near.mac) != mac_to_u64(mac))
		return;
	c->ask = (struct conn_probe_reset){ 0 };
	if (!is_here)
		flow_other_node(&c->flow);
}

void conns_moved(struct engine *e, uint16_t vlan, struct mac mac, node_id_t node, mono_t now)
{
	moved_add(&e->moved, vlan, mac);
	if (!hosts_may_have(&e->hosts, &e->hash_key, vlan, mac))
		return;
	for (struct conn *c = NULL; (c = conns_next(e, c));)
		if (c->flow.key.vlan == vlan && is_intercepted(c))
			migrated_update(c, mac, node, now);
		else if (c->flow.key.vlan == vlan)
			leave_host(c, mac, node == e->self);
}

void conns_reset_all(struct engine *e, mono_t now)
{
	for (struct conn *c = NULL; (c = conns_next(e, c));)
		flow_reset(&c->flow, false, now);
}

void conns_free(struct engine *e)
{
	struct conn_entry *entry, *next;

	HASH_ITER(hh, e->conns, entry, next)
		forget(&entry->conn);
}
