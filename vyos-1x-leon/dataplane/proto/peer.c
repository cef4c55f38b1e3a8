// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Peers: the table by slot and the few pending ones, how datagrams get to them (directly, or along
 * hops where the direct link is down), what arrives in a session, and the one timer of each peer.
 * Owns struct peer. Called by all of proto/ on the control thread. Protocol 3.1 and 3.2.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/core.h"
#include "wire/bytes.h"

static_assert(40 + 8 + LEON_HDR_LEN_MAX + LEON_LINK_LEN + ENVELOPE_LEN + MSG_LEN_MAX +
			      AEAD_TAG_LEN ==
		      1280,
	      "the longest message through relays fits IPv6's smallest link");

/* --- table --- */

struct peer *peer_at(const struct overlay *o, uint16_t slot)
{
	return slot < o->cap_slots ? o->by_slot[slot] : NULL;
}

struct peer *peer_find(struct overlay *o, node_id_t id)
{
	struct node *n = nodedb_find(o->nodes, id);
	struct peer *p = n ? peer_at(o, n->slot) : NULL;

	if (p)
		return p;
	for (unsigned i = 0; i < o->n_pending; i++)
		if (o->pending[i]->id == id)
			return o->pending[i];
	return NULL;
}

struct node *peer_node(const struct overlay *o, const struct peer *p)
{
	return p->slot == SLOT_NONE ? NULL : nodedb_at(o->nodes, p->slot);
}

int64_t peer_alive_ms(const struct overlay *o)
{
	return max_of((int64_t)ALIVE_MS, 3 * overlay_stretch(o, o->conf->interval_ms));
}

bool peer_is_alive(const struct overlay *o, const struct peer *p)
{
	return p->cur && mono_sub_ms(overlay_now(o), p->heard) < peer_alive_ms(o);
}

static void peer_tick(void *arg, mono_t now)
{
	struct peer *p = arg;
	struct overlay *o = p->o;

	p->tick.at = MONO_NEVER;
	hello_tick(o, p, now);
	data_tick(o, p, now);
	along_tick(o, p, now);
	probe_tick(o, p, now);
	member_tick(o, p, now);
	lan_tick(o, p, now);
	peer_arm(p);
}

void peer_arm(struct peer *p)
{
	mono_t at = p->hello_at;

	if (p->slot == SLOT_NONE)
		return;
	at = earlier(at, probe_due(p));
	at = earlier(at, data_due(p));
	at = earlier(at, along_due(p));
	at = earlier(at, p->lan_at);
	if (p->record_tries)
		at = earlier(at, p->record_at);
	if (at.ns != p->tick.at.ns || !timer_is_set(p->tick.timer))
		alarm_set(&p->tick, at);
}

static struct peer *peer_new(struct overlay *o, node_id_t id)
{
	struct peer *p = x_new(struct peer);

	p->o = o;
	p->id = id;
	p->slot = SLOT_NONE;
	p->born = overlay_now(o);
	p->unheard = true;
	p->loss.epoch = (uint32_t)overlay_random(o);
	alarm_init(o, &p->tick, peer_tick, p);
	probe_init(o, p);
	return p;
}

static void set_slot(struct overlay *o, struct peer *p, uint16_t slot)
{
	if (slot >= o->cap_slots) {
		uint32_t cap = (slot / 16u + 1) * 16;

		o->by_slot = x_realloc(o->by_slot, cap, sizeof(struct peer *));
		memset(o->by_slot + o->cap_slots, 0, (cap - o->cap_slots) * sizeof(struct peer *));
		o->cap_slots = cap;
	}
	p->slot = slot;
	o->by_slot[slot] = p;
}

static void unlist_pending(struct overlay *o, const struct peer *p)
{
	for (unsigned i = 0; i < o->n_pending; i++) {
		if (o->pending[i] != p)
			continue;
		o->pending[i] = o->pending[--o->n_pending];
		return;
	}
}

struct peer *peer_of_node(struct overlay *o, const struct node *n)
{
	struct peer *p = peer_find(o, n->id);

	if (n->slot == SLOT_SELF)
		return NULL;
	if (p && p->slot != SLOT_NONE)
		return p;
	if (p)
		unlist_pending(o, p);
	else
		p = peer_new(o, n->id);
	set_slot(o, p, n->slot);
	return p;
}

struct peer *peer_new_pending(struct overlay *o, node_id_t id)
{
	struct peer *p;

	if (o->n_pending == PENDING_MAX) {
		struct peer *oldest = o->pending[0];

		for (unsigned i = 1; i < o->n_pending; i++)
			if (mono_before(o->pending[i]->born, oldest->born))
				oldest = o->pending[i];
		/* An honest one needs a round trip; a second is plenty where room is short. */
		if (mono_sub_ms(overlay_now(o), oldest->born) < 1000)
			return NULL;
		peer_drop(o, oldest);
	}
	p = peer_new(o, id);
	o->pending[o->n_pending++] = p;
	return p;
}

bool peer_bind(struct overlay *o, struct peer *p)
{
	struct node *n;

	if (p->slot != SLOT_NONE)
		return true;
	n = nodedb_find(o->nodes, p->id);
	if (!n && member_make_room(o, &(struct room){ .place = true, .slot = true }))
		n = nodedb_add(o->nodes, p->id, overlay_now(o));
	if (!n) {
		member_table_full(o, p->id);
		return false;
	}
	peer_of_node(o, n);
	latdb_ask_lacking(o->lat);
	return true;
}

void peer_expire_pending(struct overlay *o)
{
	for (unsigned i = o->n_pending; i-- > 0;)
		if (mono_sub_ms(overlay_now(o), o->pending[i]->born) > PENDING_MS)
			peer_drop(o, o->pending[i]);
}

void peer_drop(struct overlay *o, struct peer *p)
{
	if (p->slot == SLOT_NONE) {
		unlist_pending(o, p);
	} else {
		o->by_slot[p->slot] = NULL;
		p->slot = SLOT_NONE;
	}
	alarm_set(&p->tick, MONO_NEVER);
	p->next_dead = o->dead;
	o->dead = p;
}

void peer_bury(struct overlay *o)
{
	while (o->dead) {
		struct peer *p = o->dead;

		o->dead = p->next_dead;
		session_free(p->cur);
		session_free(p->prev);
		data_free(p);
		hello_withdraw(&p->offer);
		alarm_free(&p->tick);
		free(p);
	}
}

/* --- ways to a peer --- */

bool via_direct(const struct peer *p, struct via *v)
{
	if (!p->ep.ip.family)
		return false;
	*v = (struct via){ .to = p->ep, .n_hops = 1, .hop = { p->id } };
	return true;
}

bool via_path(struct overlay *o, const struct path *path, struct via *v)
{
	const struct peer *first = path->n_hops ? peer_at(o, path->hop[0]) : NULL;

	if (!first || !first->ep.ip.family)
		return false;
	*v = (struct via){ .to = first->ep, .n_hops = path->n_hops };
	for (unsigned i = 0; i < path->n_hops; i++) {
		const struct node *n = nodedb_at(o->nodes, path->hop[i]);

		if (!n)
			return false;
		v->hop[i] = n->id;
	}
	return true;
}

bool via_best(struct overlay *o, const struct peer *p, struct via *v)
{
	if (p->probe.up && !p->probe.silent && via_direct(p, v))
		return true;
	if (p->choice.path.n_hops > 1 && via_path(o, &p->choice.path, v))
		return true;
	if (p->choice.path.n_hops == 0 && route_hearsay(o, p, v))
		return true;
	return via_direct(p, v);
}

bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v)
{
	const struct peer *last;
	unsigned n = h->n_hops;

	*v = (struct via){ .to = *from, .n_hops = h->n_hops };
	v->hop[n - 1] = h->source;
	for (unsigned i = 0; i + 1 < n; i++)
		v->hop[i] = h->hop[n - 2 - i];
	if (n == 1)
		return true;
	/* The address of a relay is the one we know, not the one this datagram came from. */
	last = peer_find(o, v->hop[0]);
	if (!last || !last->ep.ip.family)
		return false;
	v->to = last->ep;
	return true;
}

size_t via_header(struct overlay *o, const struct via *v, uint8_t *out)
{
	struct leon_hdr h = {
		.kind = LEON_CONTROL,
		.flags = keyring_sealed(o->keys) ? LEON_F_SEALED : 0,
		.n_hops = v->n_hops,
		.vni = o->vni,
		.source = o->self,
	};

	memcpy(h.hop, v->hop, sizeof(h.hop));
	return leon_encode(&h, out);
}

/* Relays forward only what has the value of the link to them (protocol 2.6). */
static size_t link_len(struct overlay *o, const struct via *v)
{
	const struct peer *first = v->n_hops > 1 ? peer_find(o, v->hop[0]) : NULL;

	return first && first->data.tx ? LEON_LINK_LEN : 0;
}

void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type)
{
	if (link_len(o, v) && len + LEON_LINK_LEN <= sizeof(o->buf))
		len = leon_insert_link(o->buf, len, v->n_hops,
				       seal_tx_link(peer_find(o, v->hop[0])->data.tx));
	o->count.tx_msgs++;
	o->count.tx_bytes += len;
	o->count.tx_by_type[type % array_size(o->count.tx_by_type)]++;
	o->ops.send(o->arg, &v->to, o->buf, len);
}

int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size)
{
	size_t hdr_len, around;
	int len, total;

	if (!p->cur)
		return -ENOKEY;
	hdr_len = via_header(o, v, o->buf);
	len = msg_encode(m, o->buf + hdr_len + ENVELOPE_LEN, MSG_LEN_MAX);
	if (len < 0) {
		log_limited(&o->log, overlay_now(o), LOG_LVL_ERROR, LOG_TOKEN,
			    "cannot encode a message type=%s error=%d", msg_type_name(m->type),
			    -len);
		return len;
	}
	around = hdr_len + ENVELOPE_LEN + (keyring_sealed(o->keys) ? AEAD_TAG_LEN : 0) +
		 link_len(o, v);
	if (size > around + (size_t)len && size <= sizeof(o->buf)) {
		memset(o->buf + hdr_len + ENVELOPE_LEN + len, 0, size - around - (size_t)len);
		len = (int)(size - around);
	}
	total = session_seal(p->cur, o->buf, hdr_len, (size_t)len, sizeof(o->buf));
	if (total < 0)
		return total;
	via_transmit(o, v, (size_t)total, m->type);
	return 0;
}

int peer_send(struct overlay *o, struct peer *p, const struct msg *m)
{
	struct via v;

	if (!p->cur)
		return -ENOKEY;
	if (!via_best(o, p, &v))
		return -EHOSTUNREACH;
	return peer_send_via(o, p, &v, m, 0);
}

/* --- what arrives in a session --- */

void peer_heard(struct overlay *o, struct peer *p)
{
	p->heard = overlay_now(o);
	if (!p->unheard)
		return;
	p->unheard = false;
	route_later(o);
}

void peer_move(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	bool had = p->ep.ip.family;

	if (!endpoint_is_usable(ep) || endpoint_equal(&p->ep, ep))
		return;
	p->ep = *ep;
	route_changed(o);
	if (had)
		overlay_emit(o, EV_ENDPOINT, p->id, NODE_ID_NONE, 0, NULL);
}

static void ask_there(struct overlay *o, struct peer *p)
{
	struct via v = { .to = p->moving.to, .n_hops = 1, .hop = { p->id } };

	probe_send(o, p, &v, p->moving.id, 0);
}

void peer_claims(struct overlay *o, struct peer *p, const struct endpoint *ep)
{
	if (endpoint_claim(o, p, ep))
		ask_there(o, p);
}

void peer_upkeep(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i] && endpoint_retry(o, o->by_slot[i]))
			ask_there(o, o->by_slot[i]);
}

/* The PONG of a PING that went to where it says to be. */
static bool has_shown(struct overlay *o, struct peer *p, uint32_t id)
{
	struct endpoint to = p->moving.to;
	bool had = p->ep.ip.family;

	if (!p->moving.id || p->moving.id != id)
		return false;
	p->moving = (struct moving){ 0 };
	peer_move(o, p, &to);
	hello_tell_observed(o, p);
	/* What was to be said when the session began could not be sent before. */
	if (!had && p->record_tries)
		p->record_at = overlay_now(o);
	probe_soon(o, p);
	return true;
}

/* An authentic message that was not replayed came straight from `from`: follow the peer there,
 * unless the message is one that an older address had delayed. */
static void heard_from(struct overlay *o, struct peer *p, const struct endpoint *from,
		       uint64_t counter)
{
	p->heard_direct = overlay_now(o);
	if (counter <= p->ep_counter)
		return;
	p->ep_counter = counter;
	peer_claims(o, p, from);
}

static void dispatch(struct overlay *o, struct peer *p, const struct msg *m,
		     const struct endpoint *from, const struct leon_hdr *h, size_t len, mono_t rx)
{
	struct via back;

	switch ((enum msg_type)m->type) {
	case MSG_SUMMARY_REQ:
		sync_summary_request(o, p);
		return;
	case MSG_SUMMARY:
		sync_summary(o, p, &m->summary);
		return;
	case MSG_FETCH:
		sync_fetch(o, p, &m->fetch);
		return;
	case MSG_RECORD:
		member_record(o, p, &m->record);
		return;
	case MSG_ROW:
		share_row(o, p, &m->row);
		return;
	case MSG_PING:
		if (via_back(o, from, h, &back))
			probe_ping(o, p, &m->ping, &back, len, rx);
		return;
	case MSG_PONG:
		if (!has_shown(o, p, m->pong.id))
			probe_pong(o, p, &m->pong, h->n_hops == 1 && endpoint_equal(from, &p->ep),
				   rx);
		return;
	case MSG_NOTICE:
		route_notice(o, p, &m->notice);
		return;
	case MSG_SECRETS:
		rekey_secrets(o, p, &m->secrets);
		return;
	case MSG_CONFLICT:
		rival_told(o, p, &m->conflict);
		return;
	case MSG_HELLO: /* has no place inside a session */
		break;
	}
	o->count.rx_malformed++;
}

/* The first message in the session on offer proves as much as a HELLO that echoes it. */
static int open_offered(struct overlay *o, struct peer *p, const struct endpoint *direct,
			uint8_t *data, size_t hdr_len, size_t len, uint8_t **msg, size_t *msg_len)
{
	struct session *s = hello_offered(o, p);
	int err = s ? session_open(s, data, hdr_len, len, msg, msg_len) : -ENOKEY;

	if (err)
		return err;
	p->offer.session = NULL;
	hello_establish(o, p, s,
			&(struct heard_hello){ .m = &p->offer.answers,
					       .secret = p->offer.secret,
					       .direct = direct,
					       .proved = true,
					       .returned = hello_returned(&p->offer, direct) });
	return 0;
}

static int open_any(struct overlay *o, struct peer *p, uint64_t value,
		    const struct endpoint *direct, uint8_t *data, size_t hdr_len, size_t len,
		    uint8_t **msg, size_t *msg_len)
{
	int err;

	if (p->cur && session_mine(p->cur) == value) {
		err = session_open(p->cur, data, hdr_len, len, msg, msg_len);
		if (!err && !p->cur_heard)
			rekey_heard(o, p);
		return err;
	}
	if (p->prev && session_mine(p->prev) == value) {
		err = session_open(p->prev, data, hdr_len, len, msg, msg_len);
		if (!err)
			rekey_heard_before(o, p);
		return err;
	}
	if (p->offer.value == value)
		return open_offered(o, p, direct, data, hdr_len, len, msg, msg_len);
	return -ENOKEY;
}

void peer_session_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
			const struct leon_hdr *h, size_t hdr_len, mono_t rx)
{
	struct rbuf envelope = rbuf_of(data + hdr_len, len - hdr_len);
	const struct endpoint *direct = h->n_hops == 1 ? from : NULL;
	uint64_t value = rbuf_u64(&envelope), counter = rbuf_u64(&envelope);
	struct peer *p = peer_find(o, h->source);
	size_t msg_len;
	struct msg m;
	uint8_t *msg;
	int err = p ? open_any(o, p, value, direct, data, hdr_len, len, &msg, &msg_len) : -ENOKEY;

	if (err) {
		o->count.rx_no_session += err == -ENOKEY;
		o->count.rx_replayed += err == -EALREADY;
		o->count.rx_not_authentic += err != -ENOKEY && err != -EALREADY;
		/* It may be a peer that did not notice our restart; ask it, at its own pace. */
		if (err == -ENOKEY && p && p->slot != SLOT_NONE && !p->cur &&
		    mono_sub_ms(overlay_now(o), p->hello_sent) > 1000)
			hello_soon(o, p, 200);
		return;
	}
	if (p->slot == SLOT_NONE) /* proved itself, but there is no room for it */
		return;
	peer_heard(o, p);
	if (!p->probe.up && mono_is_never(p->probe.next_at))
		probe_soon(o, p);
	/* Counters of the session before say nothing about the order in this one. */
	if (direct && p->cur && session_mine(p->cur) == value)
		heard_from(o, p, from, counter);
	err = msg_decode(msg, msg_len, &m);
	if (err) {
		o->count.rx_malformed += err != -ENOMSG;
		return;
	}
	o->count.rx_by_type[m.type % array_size(o->count.rx_by_type)]++;
	dispatch(o, p, &m, from, h, len, rx);
	if (p->slot != SLOT_NONE)
		peer_arm(p);
}
