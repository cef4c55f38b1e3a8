// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All tracked connections, see conn.h: the table, the choice of intercepted connections, the
 * timers, and the list for reports.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "away.h"
#include "base/defs.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "conn_state.h"
#include "judge.h"
#include "peer.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define PLAIN_SILENT_MS	 300000
#define CLOSED_SILENT_MS 70000
/* Limit of an unanswered connection (share.h). A host repeats a SYN after 1, 2, 4 and 8 s. */
#define UNANSWERED_SILENT_MS 10000
/* Time without benefit after which an intercepted connection is released: the first if no other
 * connection needs its place, the second otherwise. A shorter time would mistake a pause for the
 * end of a transfer. */
#define CALM_MS	     60000
#define CALM_FULL_MS 5000
/* Silence before frames bypass leon-accel, or duration of the bypass, after which a connection is
 * forgotten (TIME_WAIT is over). */
#define UNSEEN_MS     5000
#define UNSEEN_ALL_MS 60000
#define FULL_MS	      10000 /* time for which a refused connection counts as waiting for a place */

#define EXPLAINED_MAX 16 /* connections in an answer: one pair of endpoints in several VLANs */

struct conn_entry {
	struct conn conn;
	UT_hash_handle hh;
};

/* --- the table --- */

static struct conn *find(struct engine *e, const struct accel_key *k, unsigned *hash)
{
	struct conn_entry *entry;

	*hash = (unsigned)siphash(&e->hash_key, k, sizeof(*k));
	HASH_FIND_BYHASHVALUE(hh, e->conns, k, sizeof(*k), *hash, entry);
	return entry ? &entry->conn : NULL;
}

static struct conn *add(struct engine *e, struct accel_peer *p, const struct accel_key *k,
			unsigned hash, mono_t now)
{
	struct conn_entry *entry = x_new(struct conn_entry);
	struct conn *c = &entry->conn;

	c->e = e;
	c->peer = p;
	c->hash = hash;
	c->fd = c->remembered = -1;
	c->serial = ++e->last_serial;
	flow_init(&c->flow, &conn_ops, c, peer_leads(p), k, now);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, e->conns, &c->flow.key, sizeof(c->flow.key), hash, entry);
	e->n_conns++;
	share_add(peer_share(p), c);
	return c;
}

static void forget(struct conn *c)
{
	struct conn_entry *entry = container_of(c, struct conn_entry, conn);
	struct engine *e = c->e;

	struct accel_time time = saving_time(&c->saving);

	e->forgotten.with_ms += time.with_ms;
	e->forgotten.without_ms += time.without_ms;
	flow_fini(&c->flow);
	if (c->fd >= 0)
		close(c->fd);
	conn_detach(c);
	share_remove(peer_share(c->peer), c);
	HASH_DEL(e->conns, entry);
	e->n_conns--;
	free(entry);
}

/* Removes the oldest unanswered connection of a node with a full share. Returns false if all are
 * answered. The new connection is then not tracked. */
static bool make_room(struct engine *e, struct accel_peer *p)
{
	struct node_share *s = peer_share(p);
	struct conn *oldest;

	if (!share_is_used(s, e->n_conns, CONNS_MAX))
		return true;
	peer_misuse(p, ACCEL_OVER_SHARE);
	oldest = share_oldest(s);
	if (oldest)
		forget(oldest);
	return oldest;
}

/* Keys are compared as bytes, so the padding between their fields is zero. */
static struct accel_key key_between(uint16_t vlan, const struct endpoint *near,
				    const struct endpoint *far)
{
	struct accel_key k;

	memset(&k, 0, sizeof(k));
	k.vlan = vlan;
	k.near = near->ip;
	k.far = far->ip;
	k.near_port = near->port;
	k.far_port = far->port;
	return k;
}

/* The key in the view of this node. */
static struct accel_key key_of(const struct tcp_view *t, uint16_t vlan, bool from_near)
{
	const struct endpoint src = { t->src, t->src_port }, dst = { t->dst, t->dst_port };

	return key_between(vlan, from_near ? &src : &dst, from_near ? &dst : &src);
}

/* The key of a decoded frame. `mirrored`: in the view of the other node. */
static struct accel_key key_from(const struct accel_key *of, bool mirrored)
{
	const struct endpoint near = { of->near, of->near_port }, far = { of->far, of->far_port };

	return key_between(of->vlan, mirrored ? &far : &near, mirrored ? &near : &far);
}

/* Reports whether the connection may stay intercepted. */
static bool is_wanted(const struct conn *c)
{
	return judge_is_on(c) && judge_is_admitted(c);
}

/* Reports whether an intercepted connection has had no benefit for that time. */
static bool is_calm(const struct conn *c, int64_t ms, mono_t now)
{
	return c->e->settings.mode != ACCEL_ALWAYS && mono_sub_ms(now, c->gained) >= ms;
}

bool conn_is_calm(const struct conn *c, mono_t now)
{
	return is_calm(c, CALM_FULL_MS, now);
}

static bool is_needed(const struct conn *c, mono_t now)
{
	const struct engine *e = c->e;
	bool others_wait = e->full_at.ns && mono_sub_ms(now, e->full_at) < FULL_MS;

	return !is_calm(c, others_wait ? CALM_FULL_MS : CALM_MS, now);
}

static void consider(struct conn *c, mono_t now)
{
	struct engine *e = c->e;

	c->why = c->flow.state == FLOW_PLAIN ? (uint8_t)judge(c, now) : ACCEL_WHY_NONE;
	if (c->flow.state != FLOW_PLAIN)
		return;
	if (c->why == ACCEL_WHY_FULL && !mono_before(now, c->flow.not_before)) {
		e->counters.full++;
		e->full_at = now;
		flow_wait(&c->flow, now);
	}
	if (c->why)
		return;
	c->bound = peer_new_stream(c->peer);
	peer_bind(c->peer, c->bound, c);
	flow_offer(&c->flow, c->bound, now);
	engine_hurry(e);
}

/* The far host moved to another node. */
static void change_peer(struct conn *c, struct accel_peer *p, mono_t now)
{
	const struct accel_key key = c->flow.key;

	share_remove(peer_share(c->peer), c);
	c->peer = p;
	share_add(peer_share(p), c);
	if (flow_other_node(&c->flow, peer_leads(p)))
		return;
	conn_detach(c);
	flow_fini(&c->flow);
	flow_init(&c->flow, &conn_ops, c, peer_leads(p), &key, now);
}

/* Reports whether the connection has a proxy socket or may soon have one. */
static bool is_taken(const struct conn *c)
{
	return flow_is_draining(&c->flow) || c->flow.state == FLOW_TAKEN ||
	       c->flow.state == FLOW_RETURNING;
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
	if (c->flow.state != FLOW_TAKEN && c->flow.state != FLOW_RETURNING)
		return false;
	peer_misuse(from, ACCEL_STRAY);
	return true;
}

/* Handles a frame from or to a node that may not have the far host. Returns true if the frame needs
 * no further handling. */
static bool is_elsewhere(struct conn *c, const struct conn_frame *cf, mono_t now)
{
	if (c->peer != cf->peer)
		flow_call_off(&c->flow, now);
	if (is_taken(c))
		return away_frame(c, cf, now);
	c->far_at = NODE_ID_NONE;
	c->near_away = false;
	if (c->peer != cf->peer)
		change_peer(c, cf->peer, now);
	return false;
}

bool conn_frame(struct engine *e, const struct conn_frame *cf, mono_t now)
{
	const struct flow_frame *f = &cf->frame;
	struct accel_key k = key_of(f->t, f->v->vlan, cf->from_lan);
	unsigned hash;
	struct conn *c = find(e, &k, &hash);

	if (!c && !make_room(e, cf->peer))
		return false;
	if (!c)
		c = add(e, cf->peer, &k, hash, now);
	if (!is_placed(c, cf))
		return refuse_stray(c, cf->peer);
	share_note(peer_share(c->peer), c, cf->from_lan, f->t->flags);
	if (is_elsewhere(c, cf, now)) {
		conn_sync_stream(c);
		return true;
	}
	if (f->t->payload_len && c->flow.state == FLOW_PLAIN)
		meter_add(&c->plain[cf->from_lan ? SAVING_OUT : SAVING_IN], f->t->payload_len,
			  peer_rtt_us(c->peer), now);
	if (f->t->flags & TCP_URG && is_taken(c))
		e->counters.fault[ACCEL_FAULT_URGENT]++;
	if (cf->from_lan)
		flow_from_near(&c->flow, f, now);
	else
		flow_from_far(&c->flow, f, now);
	conn_sync_stream(c);
	consider(c, now);
	return true;
}

void conn_frame_here(struct engine *e, const struct flow_frame *f, mono_t now)
{
	struct accel_key k = key_of(f->t, f->v->vlan, true);
	unsigned hash;
	struct conn *c = find(e, &k, &hash);
	bool from_near = c != NULL;

	if (!c) {
		k = key_of(f->t, f->v->vlan, false);
		c = find(e, &k, &hash);
	}
	if (!c)
		return;
	away_here(c, from_near, f, now);
	conn_sync_stream(c);
}

struct conn *conn_of_packet(struct engine *e, uint16_t vlan, const struct tcp_view *t)
{
	/* A packet of the proxy socket for the far host. */
	struct accel_key k = key_of(t, vlan, false);
	unsigned hash;

	return find(e, &k, &hash);
}

static void refuse(struct engine *e, struct accel_peer *p, uint32_t stream, enum accel_refusal why)
{
	struct accel_frame no = { .type = ACCEL_REFUSE,
				  .stream = stream,
				  .refuse = { (uint8_t)why } };

	e->counters.refused++;
	peer_counted(p)->refused++;
	peer_tell(p, &no);
}

static enum accel_refusal why_not(const struct conn *c)
{
	if (judge_is_full(c->e))
		return ACCEL_NO_PLACE;
	if (peer_is_aside(c->peer) || !judge_is_on(c))
		return ACCEL_NOT_WITH_YOU;
	return judge_is_admitted(c) ? ACCEL_NOT_NOW : ACCEL_NOT_THIS_ONE;
}

/* Returns the connection of an OFFER of the node. NULL: not interceptable, and the node was
 * notified. */
static struct conn *find_named(struct engine *e, struct accel_peer *p, const struct accel_frame *f,
			       mono_t now)
{
	struct accel_key k = key_from(&f->offer.key, true);
	unsigned hash;
	struct conn *c = find(e, &k, &hash);

	if (judge_is_full(e))
		e->full_at = now;
	/* An own offer of the same connection has its place already. */
	if (c && c->peer == p && (c->bound || !judge_is_full(e)) && is_wanted(c) &&
	    !peer_is_aside(p))
		return c;
	refuse(e, p, f->stream, c && c->peer == p ? why_not(c) : ACCEL_NOT_NOW);
	return NULL;
}

void conn_offered(struct engine *e, struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	struct conn *c = find_named(e, p, f, now);

	if (!c)
		return;
	flow_offered(&c->flow, f, now);
	if (c->flow.stream == f->stream) {
		if (c->bound)
			peer_unbind(p, c->bound);
		c->bound = f->stream;
		peer_bind(p, c->bound, c);
		engine_hurry(e);
	}
	conn_sync_stream(c);
}

/* --- connections of the previous process --- */

/* An entry waits until leond is connected and the node is known. */
static bool bury(struct engine *e, const struct taken_one *one, mono_t now)
{
	struct accel_peer *p = peer_find(e, one->node);
	struct accel_key k = key_from(&one->key, false);
	unsigned hash;
	struct conn *c;

	if (!p || !e->n_queues)
		return false;
	c = find(e, &k, &hash);
	if (!c)
		c = add(e, p, &k, hash, now);
	if (c->flow.state == FLOW_PLAIN)
		conn_bury(c, one, now);
	return true;
}

static void bury_all(struct engine *e, mono_t now)
{
	const struct taken_one *one;
	unsigned i = 0;

	while ((one = taken_before(e->taken, i)) != NULL)
		if (bury(e, one, now))
			taken_forget_before(e->taken, i);
		else
			i++;
}

/* --- timers --- */

bool conns_tick(struct engine *e, mono_t now)
{
	struct conn_entry *entry, *next;
	bool any = false;

	HASH_ITER(hh, e->conns, entry, next) {
		struct conn *c = &entry->conn;
		if (!flow_is_draining(&c->flow) && c->flow.state != FLOW_RETURNING)
			continue;
		if (away_is_here(c))
			here_tick(c, now);
		flow_tick(&c->flow, peer_rtt_ms(c->peer), now);
		conn_sync_stream(c);
		any = true;
	}
	return any;
}

void conn_release(struct conn *c, mono_t now)
{
	struct accel_frame ask = { .type = ACCEL_RELEASE,
				   .stream = c->bound,
				   .at = { c->flow.near.next } };

	if (c->flow.state != FLOW_TAKEN || c->lingers)
		return;
	c->calm = conn_is_calm(c, now);
	if (c->flow.leader)
		flow_release(&c->flow, now);
	else
		peer_tell(c->peer, &ask);
	engine_hurry(c->e);
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
	       peer_is_aside(c->peer) || peer_is_left(c->peer, now);
}

void conns_second(struct engine *e, mono_t now)
{
	struct conn_entry *entry, *next;

	bury_all(e, now);
	memset(e->plain, 0, sizeof(e->plain));
	e->undelivered = 0;
	HASH_ITER(hh, e->conns, entry, next) {
		struct conn *c = &entry->conn;

		conn_end_where_done(c);
		if (c->flow.state == FLOW_PLAIN)
			e->plain[judge(c, now)]++;
		e->undelivered += conn_undelivered(c);
		if (c->asks && c->flow.state == FLOW_CLOSED) {
			c->asks--;
			conn_ask(c);
		}
		if (c->finds && !is_taken(c)) {
			c->finds--;
			conn_find_hosts(c);
		}
		if (is_taken(c) && away_is_lost(c, now))
			flow_reset(&c->flow, false, now);
		if (c->flow.state == FLOW_TAKEN &&
		    (!is_wanted(c) || !is_needed(c, now) || away_is(c) || c->flow.foreign))
			conn_release(c, now);
		if (!away_is(c) && flow_watch(&c->flow, peer_rtt_ms(c->peer), now)) {
			e->counters.fault[ACCEL_FAULT_UNPROVED]++;
			conn_sync_stream(c);
		}
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
		conn_sync_stream(c);
	}
}

void conns_release_all(struct engine *e, mono_t now)
{
	struct conn_entry *entry, *next;

	HASH_ITER(hh, e->conns, entry, next) {
		flow_call_off(&entry->conn.flow, now);
		conn_sync_stream(&entry->conn);
		conn_release(&entry->conn, now);
	}
}

void conns_moved(struct engine *e, uint16_t vlan, struct mac mac, node_id_t node, mono_t now)
{
	struct conn_entry *entry, *next;

	moved_add(&e->moved, vlan, mac);
	HASH_ITER(hh, e->conns, entry, next)
		if (entry->conn.flow.key.vlan == vlan && is_taken(&entry->conn))
			away_moved(&entry->conn, mac, node, now);
}

void conns_reset_all(struct engine *e, mono_t now)
{
	struct conn_entry *entry, *next;

	HASH_ITER(hh, e->conns, entry, next)
		flow_reset(&entry->conn.flow, false, now);
}

struct accel_time conns_time(const struct engine *e)
{
	struct accel_time all = e->forgotten;

	for (const struct conn_entry *entry = e->conns; entry; entry = entry->hh.next) {
		struct accel_time t = saving_time(&entry->conn.saving);

		all.with_ms += t.with_ms;
		all.without_ms += t.without_ms;
	}
	return all;
}

static uint8_t state_of(const struct flow *f)
{
	static const uint8_t state[] = {
		[FLOW_PLAIN] = ACCEL_CONN_PLAIN,       [FLOW_OFFERED] = ACCEL_CONN_DRAINING,
		[FLOW_DRAINING] = ACCEL_CONN_DRAINING, [FLOW_ACCEPTED] = ACCEL_CONN_DRAINING,
		[FLOW_TAKEN] = ACCEL_CONN_TAKEN,       [FLOW_RETURNING] = ACCEL_CONN_RETURNING,
		[FLOW_CLOSED] = ACCEL_CONN_CLOSED,
	};

	return state[f->state];
}

static void describe(struct conn *c, struct accel_conn *out, mono_t now)
{
	const struct flow *f = &c->flow;
	int64_t since_ms = mono_sub_ms(now, f->since);

	*out = (struct accel_conn){
		.serial = c->serial,
		.vlan = f->key.vlan,
		.near = f->key.near,
		.far = f->key.far,
		.near_port = f->key.near_port,
		.far_port = f->key.far_port,
		.node = peer_id(c->peer),
		.state = state_of(f),
		.since_ms = (uint32_t)min_of(max_of(since_ms, (int64_t)0), (int64_t)UINT32_MAX),
		.held = f->n_held,
		.undelivered = conn_undelivered(c),
		.times = c->times,
		.why = f->state == FLOW_PLAIN ? (uint8_t)judge(c, now) : ACCEL_WHY_NONE,
		.bytes = c->bytes,
		.time = saving_time(&c->saving),
	};
}

void conns_page(struct engine *e, uint64_t behind, struct accel_page *page, mono_t now)
{
	/* uthash keeps the order of insertion, which is the order of serials. */
	for (struct conn_entry *entry = e->conns; entry; entry = entry->hh.next) {
		struct conn *c = &entry->conn;

		if (c->serial <= behind)
			continue;
		if (page->n == ACCEL_PAGE_CONNS) {
			page->more = true;
			return;
		}
		describe(c, &page->conn[page->n++], now);
	}
}

static const char *state_name(enum flow_state s)
{
	switch (s) {
	case FLOW_PLAIN:
		return "plain";
	case FLOW_OFFERED:
	case FLOW_DRAINING:
	case FLOW_ACCEPTED:
		return "draining";
	case FLOW_TAKEN:
		return "taken";
	case FLOW_RETURNING:
		return "returning";
	case FLOW_CLOSED:
		return "closed";
	case FLOW_STATES:
		break;
	}
	return "unknown";
}

static void write_end(struct jsonw *w, const char *key, const struct ip_addr *ip, uint16_t port)
{
	struct endpoint ep = { *ip, port };
	char text[ENDPOINT_STRLEN];

	jsonw_str(w, key, endpoint_format(&ep, text, sizeof(text)));
}

static void write_name(const struct conn *c, struct jsonw *w)
{
	const struct accel_key *k = &c->flow.key;
	char id[NODE_ID_STRLEN];

	jsonw_u64(w, "vlan", k->vlan);
	write_end(w, "near", &k->near, k->near_port);
	write_end(w, "far", &k->far, k->far_port);
	jsonw_str(w, "node", node_id_format(peer_id(c->peer), id, sizeof(id)));
	jsonw_str(w, "state", state_name(c->flow.state));
}

void conns_write(const struct engine *e, struct jsonw *w)
{
	for (const struct conn_entry *entry = e->conns; entry; entry = entry->hh.next) {
		const struct conn *c = &entry->conn;

		jsonw_object(w, NULL);
		write_name(c, w);
		jsonw_u64(w, "bytes_from_near", c->bytes.out);
		jsonw_u64(w, "bytes_from_far", c->bytes.in);
		jsonw_end(w);
	}
}

static bool is_between(const struct accel_key *k, const struct endpoint *a,
		       const struct endpoint *b)
{
	struct endpoint near = { k->near, k->near_port }, far = { k->far, k->far_port };

	return (endpoint_equal(&near, a) && endpoint_equal(&far, b)) ||
	       (endpoint_equal(&near, b) && endpoint_equal(&far, a));
}

static void explain(struct conn *c, struct jsonw *w, mono_t now)
{
	bool plain = c->flow.state == FLOW_PLAIN;
	enum accel_why why = plain ? judge(c, now) : ACCEL_WHY_NONE;

	jsonw_object(w, NULL);
	write_name(c, w);
	jsonw_str(w, "reason", accel_why_word(why));
	jsonw_str(w, "reason_text", why ? accel_why_sentence(why) : NULL);
	if (plain) {
		judge_explain(c, w, now);
	} else {
		jsonw_array(w, "checks");
		jsonw_end(w);
	}
	jsonw_end(w);
}

void conns_explain(struct engine *e, const struct endpoint *a, const struct endpoint *b,
		   struct jsonw *w, mono_t now)
{
	unsigned n = 0;

	for (struct conn_entry *entry = e->conns; entry && n < EXPLAINED_MAX;
	     entry = entry->hh.next) {
		if (!is_between(&entry->conn.flow.key, a, b))
			continue;
		explain(&entry->conn, w, now);
		n++;
	}
}

void conns_free(struct engine *e)
{
	struct conn_entry *entry, *next;

	HASH_ITER(hh, e->conns, entry, next)
		forget(&entry->conn);
}
