// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shared code of the tests about attackers: overlays with recorded traffic, and a copy of the state
 * that an attack must not change. test_hostile and test_liars include this header after cmocka.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/core.h"
#include "proto/view.h"
#include "sim.h"
#include "wire/bytes.h"

/* All sent datagrams, and the datagrams sent to the attacker. */
struct wire {
	struct record {
		unsigned from;
		struct endpoint to;
		size_t len;
		uint8_t data[1500];
	} * rec;
	size_t n, cap;
	bool recording;
	uint64_t bytes_to_mallory, msgs_to_mallory;
};

static inline struct endpoint mallory(unsigned n)
{
	struct endpoint ep = { .port = 6666 };

	ep.ip.family = 4;
	ep.ip.b[0] = 203;
	ep.ip.b[2] = (uint8_t)(n >> 8);
	ep.ip.b[3] = (uint8_t)(n + 1);
	return ep;
}

static inline bool watch(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
			 size_t len)
{
	struct wire *w = arg;

	if (to->ip.b[0] == 203) {
		w->bytes_to_mallory += len;
		w->msgs_to_mallory++;
	}
	if (!w->recording || len > sizeof(w->rec->data))
		return true;
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 256;
		w->rec = x_realloc(w->rec, w->cap, sizeof(*w->rec));
	}
	w->rec[w->n].from = from;
	w->rec[w->n].to = *to;
	w->rec[w->n].len = len;
	memcpy(w->rec[w->n++].data, data, len);
	return true;
}

static inline struct sim *new_watched(unsigned n, uint64_t seed, struct wire *w)
{
	struct sim *s = sim_new(n, seed);

	memset(w, 0, sizeof(*w));
	w->recording = true;
	s->tap = watch;
	s->tap_arg = w;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 10000);
	return s;
}

static inline void done(struct sim *s, struct wire *w)
{
	sim_free(s);
	free(w->rec);
}

static inline unsigned index_at(struct sim *s, const struct endpoint *ep)
{
	for (unsigned i = 0; i < s->n; i++)
		if (endpoint_equal(&s->node[i].ep, ep))
			return i;
	return 0;
}

/* The state that an attack must not change. The event `stranger`, which reports an attack to the
 * operator, is not part of it. */
struct state {
	unsigned events[N_EVENT_KINDS];
	uint64_t session[8][8];
	struct endpoint ep[8][8];
	uint32_t members;
	uint64_t key_exchanges; /* X25519 operations, which a replay must not cause */
};

static inline void take_state(struct sim *s, struct state *st)
{
	memset(st, 0, sizeof(*st));
	for (unsigned k = 0; k < N_EVENT_KINDS; k++)
		st->events[k] = k == EV_STRANGER ? 0 : sim_events(s, (enum event_kind)k);
	for (unsigned a = 0; a < s->n; a++) {
		if (!sim_is_up(s, a))
			continue;
		st->members += nodedb_members(overlay_nodes(s->node[a].o));
		st->key_exchanges += overlay_counters(s->node[a].o)->key_exchanges;
		for (unsigned b = 0; b < s->n; b++) {
			struct peer *p = peer_find(s->node[a].o, s->node[b].id);

			st->session[a][b] = p && p->cur ? session_mine(p->cur) : 0;
			if (p)
				st->ep[a][b] = p->ep;
		}
	}
}

static inline void expect_same_state(struct sim *s, const struct state *before)
{
	struct state now;

	take_state(s, &now);
	for (unsigned k = 0; k < N_EVENT_KINDS; k++) {
		if (now.events[k] != before->events[k])
			print_error("new event %s\n", event_texts[k].name);
		assert_int_equal(now.events[k], before->events[k]);
	}
	assert_memory_equal(now.session, before->session, sizeof(now.session));
	assert_memory_equal(now.ep, before->ep, sizeof(now.ep));
	assert_int_equal(now.members, before->members);
	assert_int_equal(now.key_exchanges, before->key_exchanges);
}

/* A member sends a message to another member, and the message arrives. */
static inline void tell(struct sim *s, unsigned liar, unsigned to, const struct msg *m)
{
	struct peer *p = peer_find(s->node[liar].o, s->node[to].id);

	assert_int_equal(peer_send(s->node[liar].o, p, m), 0);
	sim_run(s, 100);
}

static inline void sign_made_up(const struct sim *s, struct msg *m, uint64_t secret)
{
	uint8_t key[32] = { 0 }, text[2048];
	struct wbuf b = wbuf_of(text, sizeof(text));
	int len;

	memcpy(key, &secret, sizeof(secret));
	sign_public(key, m->record.identity);
	memset(m->record.signature, 0, sizeof(m->record.signature));
	wbuf_bytes(&b, "LEON record", strlen("LEON record"));
	wbuf_u24(&b, s->node[0].conf->vni);
	len = msg_encode(m, text + wbuf_len(&b), MSG_LEN_MAX);
	assert_true(len > 0);
	sign_make(key, text, wbuf_len(&b) + (size_t)len, m->record.signature);
}

/* Builds a record with any content and a valid signature of the identity key `secret`. */
static inline struct msg made_up_record(const struct sim *s, node_id_t origin, uint64_t secret,
					uint64_t incarnation, uint32_t seq, uint16_t flags)
{
	struct msg m = { .type = MSG_RECORD };
	struct msg_record *r = &m.record;

	r->origin = origin;
	r->incarnation = incarnation;
	r->seq = seq;
	r->flags = flags;
	memcpy(r->name, "thief", sizeof("thief"));
	r->n_locators = 1;
	r->locator[0] = mallory((unsigned)secret % 1000);
	sign_made_up(s, &m, secret);
	return m;
}

/* True if all running nodes among the first `n` reach each other with their present keys. */
static inline bool reach_each_other(struct sim *s, void *arg)
{
	const unsigned *n = arg;

	for (unsigned i = 0; i < *n; i++) {
		for (unsigned k = 0; k < *n; k++) {
			struct node *there;

			if (i == k || !sim_is_up(s, i) || !sim_is_up(s, k))
				continue;
			there = nodedb_find(overlay_nodes(s->node[i].o), s->node[k].id);
			if (!there || there->state != NODE_REACHABLE || !there->has_record ||
			    memcmp(there->rec.identity, s->node[k].o->identity.public,
				   MSG_KEY_LEN) != 0 ||
			    strcmp(there->rec.name, s->node[k].conf->node_name) != 0)
				return false;
		}
	}
	return true;
}
