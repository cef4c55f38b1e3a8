// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attacks from outside: strangers without the secret, replayed datagrams, floods, malformed input
 * (design.md section 7). test_liars.c has members that lie. The tests measure everything that an
 * attacker could see or change: returned bytes, sessions, endpoints, members, paths, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "hostile.h"

#define MALLORY_ID 0x0a0000ffu

/* Builds a complete HELLO datagram of this overlay. secret NULL: the clear mode. */
static size_t make_hello(const struct sim *s, uint8_t *buf, size_t size, const char *secret,
			 node_id_t source, node_id_t to, uint64_t mine, uint64_t incarnation)
{
	uint32_t vni = s->node[0].conf->vni;
	uint8_t master[MASTER_KEY_LEN];
	struct keyring *k;
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = secret ? LEON_F_SEALED : 0,
			      .n_hops = 1,
			      .vni = vni,
			      .source = source,
			      .hop = { to } };
	struct msg m = { .type = MSG_HELLO };
	size_t hdr_len = leon_encode(&h, buf);
	int len;

	if (secret)
		sim_master_key(NULL, STRETCH_SCRYPT, secret, vni, master);
	k = keyring_new(secret ? master : NULL, vni);
	m.hello.session_mine = mine;
	m.hello.incarnation = incarnation;
	memset(buf + hdr_len + ENVELOPE_HELLO_LEN, 0, MSG_HELLO_LEN);
	len = msg_encode(&m, buf + hdr_len + ENVELOPE_HELLO_LEN, MSG_HELLO_LEN);
	assert_true(len > 0);
	len = hello_seal(k, 0, buf, hdr_len, MSG_HELLO_LEN, size);
	assert_true(len > 0);
	keyring_free(k);
	return (size_t)len;
}

/* --- strangers --- */

static void test_strangers_get_no_answer(void **state)
{
	static const char *const secrets[] = { "another secret", NULL };
	struct wire w;
	struct sim *s = new_watched(4, 1, &w);
	struct endpoint from = mallory(0);
	struct state before;
	uint8_t buf[1500];
	size_t len;

	(void)state;
	take_state(s, &before);
	for (unsigned i = 0; i < 2; i++) {
		const node_id_t as[] = { MALLORY_ID, s->node[1].id, s->node[0].id };
		const node_id_t to[] = { s->node[0].id, NODE_ID_ANY };

		for (unsigned a = 0; a < array_size(as); a++) {
			for (unsigned t = 0; t < array_size(to); t++) {
				if (as[a] == to[t])
					continue;
				len = make_hello(s, buf, sizeof(buf), secrets[i], as[a], to[t], 7,
						 MSG_INCARNATION_MAX);
				sim_inject(s, &from, 0, buf, len);
			}
		}
	}
	/* Session messages with guessed values, padded to every length. */
	for (len = 0; len < 200; len++) {
		struct leon_hdr h = { .kind = LEON_CONTROL,
				      .flags = LEON_F_SEALED,
				      .n_hops = 1,
				      .vni = s->node[0].conf->vni,
				      .source = s->node[1].id,
				      .hop = { s->node[0].id } };

		memset(buf, (int)len, sizeof(buf));
		leon_encode(&h, buf);
		sim_inject(s, &from, 0, buf, len);
	}
	sim_run(s, 2000);
	assert_int_equal(w.bytes_to_mallory, 0);
	assert_true(overlay_counters(s->node[0].o)->rx_not_authentic >= 6);
	/* The operator learns of it, once a minute for all of them. */
	assert_int_equal(s->node[0].n_events[EV_STRANGER], 1);
	assert_int_equal(s->node[0].n_events[EV_SECRET_MISMATCH], 0);
	assert_true(overlay_counters(s->node[0].o)->rx_no_session > 0);
	expect_same_state(s, &before);
	done(s, &w);
}

static void test_other_secret_is_reported(void **state)
{
	struct sim *s = sim_new(2, 2);

	(void)state;
	free(s->node[1].conf->secret);
	s->node[1].conf->secret = x_strdup("not the same at all");
	sim_seed_of(s, 0, 1);
	sim_seed_of(s, 1, 0);
	sim_boot(s, 0);
	sim_boot(s, 1);
	sim_run(s, 30000);
	assert_int_equal(s->node[0].n_events[EV_SECRET_MISMATCH], 1);
	assert_int_equal(s->node[1].n_events[EV_SECRET_MISMATCH], 1);
	assert_int_equal(nodedb_members(overlay_nodes(s->node[0].o)), 1);
	sim_free(s);
}

/* Each reason has its sentence, and the next report waits for a minute. */
static void test_stranger_is_reported_with_the_reason(void **state)
{
	static const struct {
		enum seed_diagnosis what;
		const char *words;
		uint8_t wire;
	} cases[] = {
		{ SEED_OTHER_SECRET, "the pre-shared-secret differs", 0 },
		{ SEED_HAS_NO_SECRET, "the sender has no pre-shared-secret", 0 },
		{ SEED_HAS_SECRET, "this node has no pre-shared-secret", 0 },
		{ SEED_OTHER_VNI, "another vni", 0 },
		{ SEED_OTHER_VERSION, "another wire version, or", 0 },
		{ SEED_OTHER_VERSION, "another wire version: 3, here 1", 3 },
	};
	struct sim *s = sim_new(1, 5);
	struct endpoint from = mallory(0);
	char ep[ENDPOINT_STRLEN];

	(void)state;
	sim_boot(s, 0);
	for (unsigned i = 0; i < array_size(cases); i++) {
		overlay_seed_foreign(s->node[0].o, &from, cases[i].what, cases[i].wire);
		overlay_seed_foreign(s->node[0].o, &from, SEED_OTHER_VNI, 0);
		assert_int_equal(s->node[0].n_events[EV_STRANGER], i + 1);
		assert_non_null(strstr(s->node[0].stranger, cases[i].words));
		assert_non_null(
			strstr(s->node[0].stranger, endpoint_format(&from, ep, sizeof(ep))));
		sim_run(s, 61000);
	}
	sim_free(s);
}

/* The result of the only peer in `show peers`. */
static enum seed_diagnosis diagnosis_at(struct sim *s, unsigned i)
{
	struct overlay_seed seed;

	assert_true(overlay_seed(s->node[i].o, 0, &seed));
	assert_false(seed.reached);
	return seed.address[0].diagnosis;
}

static void test_peer_that_is_not_reached(void **state)
{
	struct sim *s = sim_new(2, 4);
	struct overlay_seed seed;

	(void)state;
	sim_seed_of(s, 0, 1);
	sim_boot(s, 0);
	assert_int_equal(diagnosis_at(s, 0), SEED_NOT_QUERIED);
	sim_run(s, 5000);
	assert_int_equal(diagnosis_at(s, 0), SEED_SILENT);
	overlay_seed_error(s->node[0].o, &s->node[1].ep, ECONNREFUSED, false);
	assert_int_equal(diagnosis_at(s, 0), SEED_REFUSED);
	/* An ICMP error does not replace the result of the peer's own datagrams. */
	overlay_seed_foreign(s->node[0].o, &s->node[1].ep, SEED_OTHER_VNI, 0);
	overlay_seed_error(s->node[0].o, &s->node[1].ep, ECONNREFUSED, false);
	assert_int_equal(diagnosis_at(s, 0), SEED_OTHER_VNI);
	/* The result expires. */
	sim_run(s, 61000);
	assert_int_equal(diagnosis_at(s, 0), SEED_SILENT);
	sim_boot(s, 1);
	sim_run(s, 15000);
	assert_true(overlay_seed(s->node[0].o, 0, &seed));
	assert_true(seed.reached && seed.node == s->node[1].id);
	assert_false(overlay_seed(s->node[0].o, 1, &seed));
	sim_free(s);
}

/* A peer with another wire version is named as such, and never as one with another secret. */
static void test_other_wire_is_reported(void **state)
{
	struct sim *s = sim_new(2, 4);
	struct overlay_seed seed;

	(void)state;
	sim_seed_of(s, 0, 1);
	sim_boot(s, 0);
	for (unsigned i = 0; i < 20; i++) {
		overlay_seed_foreign(s->node[0].o, &s->node[1].ep, SEED_OTHER_VERSION, 3);
		sim_run(s, 1000);
	}
	assert_int_equal(s->node[0].n_events[EV_OTHER_WIRE], 1);
	assert_int_equal(s->node[0].n_events[EV_SECRET_MISMATCH], 0);
	assert_int_equal(s->node[0].n_events[EV_STRANGER], 0);
	assert_int_equal(diagnosis_at(s, 0), SEED_OTHER_VERSION);
	assert_true(overlay_seed(s->node[0].o, 0, &seed));
	assert_int_equal(seed.address[0].error, 3);
	/* The peer is upgraded. A forged datagram of another version then reports nothing. */
	sim_boot(s, 1);
	sim_run(s, 70000);
	overlay_seed_foreign(s->node[0].o, &s->node[1].ep, SEED_OTHER_VERSION, 3);
	assert_true(overlay_seed(s->node[0].o, 0, &seed) && seed.reached);
	assert_int_equal(s->node[0].n_events[EV_OTHER_WIRE], 1);
	sim_free(s);
}

/* Without a secret, only configured peers and nodes that they introduce are accepted. */
static void test_clear_mode_admission(void **state)
{
	struct sim *s = sim_new(5, 3);
	struct wire w = { 0 };
	struct endpoint from = mallory(0);
	uint8_t buf[256];
	size_t len;

	(void)state;
	sim_clear_mode(s);
	s->tap = watch;
	s->tap_arg = &w;
	/* 0 - 1 - 2 are configured at both ends as a chain. 3 knows 0, but 0 does not know 3. */
	sim_seed_of(s, 0, 1);
	sim_seed_of(s, 1, 0);
	sim_seed_of(s, 1, 2);
	sim_seed_of(s, 2, 1);
	sim_seed_of(s, 3, 0);
	for (unsigned i = 0; i < 4; i++)
		sim_boot(s, i);
	sim_run(s, 20000);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(nodedb_members(overlay_nodes(s->node[i].o)), 3);
	assert_int_equal(sim_state(s, 0, 2), NODE_REACHABLE);
	assert_int_equal(nodedb_members(overlay_nodes(s->node[3].o)), 1);
	assert_true(overlay_counters(s->node[0].o)->rx_stranger > 0);
	/* A member's node-id from another address is refused too. */
	len = make_hello(s, buf, sizeof(buf), NULL, s->node[2].id, s->node[0].id, 9,
			 MSG_INCARNATION_MAX);
	sim_inject(s, &from, 0, buf, len);
	sim_run(s, 1000);
	assert_int_equal(w.bytes_to_mallory, 0);
	assert_int_equal(sim_state(s, 0, 2), NODE_REACHABLE);
	sim_free(s);
}

/* --- replay --- */

static void replay_all(struct sim *s, const struct wire *w, const struct endpoint *from)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct record *r = &w->rec[i];

		sim_inject(s, from ? from : &s->node[r->from].ep, index_at(s, &r->to), r->data,
			   r->len);
		if (i % 50 == 0)
			sim_run(s, 10);
	}
	sim_run(s, 3000);
}

static void test_replay_changes_nothing(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 4, &w);
	struct endpoint from = mallory(0);
	struct state before;
	uint64_t replayed = 0;

	(void)state;
	w.recording = false;
	take_state(s, &before);
	replay_all(s, &w, NULL);
	expect_same_state(s, &before);
	replay_all(s, &w, &from);
	expect_same_state(s, &before);
	for (unsigned i = 0; i < 4; i++) {
		replayed += overlay_counters(s->node[i].o)->rx_replayed;
		assert_int_equal(s->node[i].o->n_pending, 0);
	}
	assert_true(replayed > w.n / 2);
	printf("# %zu datagrams recorded, %llu bytes came back\n", w.n,
	       (unsigned long long)w.bytes_to_mallory);
	assert_int_equal(w.msgs_to_mallory, 0);
	assert_true(sim_converged(s, NULL));
	done(s, &w);
}

/* Dead nodes stay dead, and their replayed HELLOs do not prevent their return. */
static void test_replay_of_a_dead_node(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 5, &w);
	struct endpoint from = mallory(0);
	struct state before;

	(void)state;
	w.recording = false;
	sim_kill(s, 3);
	sim_run(s, 20000);
	take_state(s, &before);
	replay_all(s, &w, &from);
	expect_same_state(s, &before);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sim_state(s, i, 3), NODE_UNREACHABLE);
	/* Answers never exceed the received bytes and are limited for each address. */
	assert_true(w.msgs_to_mallory <= 3 * 40);
	sim_boot(s, 3);
	for (unsigned i = 0; i < 20; i++) {
		for (size_t k = 0; k < w.n; k += 7)
			if (w.rec[k].from == 3)
				sim_inject(s, &from, index_at(s, &w.rec[k].to), w.rec[k].data,
					   w.rec[k].len);
		sim_run(s, 100);
	}
	assert_true(sim_until(s, sim_converged, NULL, 8000) >= 0);
	done(s, &w);
}

/* --- floods --- */

/* HELLOs of invented nodes with the right secret: their cost is bounded. */
static void test_flood_of_greetings(void **state)
{
	struct wire w;
	struct sim *s = new_watched(3, 6, &w);
	uint64_t bytes = 0;
	uint8_t buf[256];

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		struct endpoint from = mallory(i % 2000);
		size_t len = make_hello(s, buf, sizeof(buf), SIM_SECRET, MALLORY_ID + i,
					s->node[0].id, 1 + i, 1 + i);

		bytes += len;
		sim_inject(s, &from, 0, buf, len);
		if (i % 100 == 0)
			sim_run(s, 20);
		assert_true(s->node[0].o->n_pending <= PENDING_MAX);
	}
	sim_run(s, 1000);
	assert_int_equal(nodedb_members(overlay_nodes(s->node[0].o)), 3);
	assert_true(overlay_counters(s->node[0].o)->rx_rate_limited > 0);
	/* Answers are not larger than requests. */
	assert_true(w.bytes_to_mallory <= bytes);
	sim_run(s, 15000);
	assert_int_equal(s->node[0].o->n_pending, 0);
	assert_true(sim_converged(s, NULL));
	done(s, &w);
}

/* Sends a HELLO to node 0 that cannot be opened. */
static void flood_one(struct sim *s, const struct endpoint *from)
{
	uint8_t buf[256] = { 0 };
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = LEON_F_SEALED,
			      .n_hops = 1,
			      .vni = s->node[0].conf->vni,
			      .source = MALLORY_ID,
			      .hop = { s->node[0].id } };
	size_t hdr_len = leon_encode(&h, buf);
	uint64_t salt = sim_random(s);

	memcpy(buf + hdr_len + 8, &salt, sizeof(salt));
	sim_inject(s, from, 0, buf, hdr_len + ENVELOPE_HELLO_LEN + MSG_HELLO_LEN + AEAD_TAG_LEN);
}

/* Sends `n` in each of `ms` milliseconds. */
static void flood(struct sim *s, unsigned ms, unsigned n, bool as_member)
{
	for (unsigned t = 0; t < ms; t++) {
		for (unsigned i = 0; i < n; i++) {
			struct endpoint from =
				as_member ? s->node[2].ep : mallory((unsigned)sim_random(s));

			flood_one(s, &from);
		}
		sim_run(s, 1);
	}
}

/* A flood with forged addresses: a restarted member still joins, the cost is bounded, and no
 * datagram is answered. */
static void test_flood_of_strangers(void **state)
{
	struct wire w;
	struct sim *s = new_watched(3, 15, &w);
	const struct overlay_counters *c = overlay_counters(s->node[0].o);
	uint64_t exchanges = c->key_exchanges, opened;

	(void)state;
	w.recording = false;
	sim_kill(s, 1);
	opened = c->rx_not_authentic;
	flood(s, 1000, 20, false);
	sim_boot(s, 1);
	flood(s, 3000, 20, false);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	assert_true(sim_converged(s, NULL));
	opened = c->rx_not_authentic - opened;
	assert_true(opened > 4000 && opened < 4 * 4000 + 4000 + 100);
	/* The forged address is that of a member with a session. The session remains. */
	opened = c->rx_not_authentic;
	flood(s, 2000, 20, true);
	opened = c->rx_not_authentic - opened;
	assert_true(opened < 3 * 400 + 100);
	assert_true(sim_converged(s, NULL));
	assert_int_equal(w.msgs_to_mallory, 0);
	assert_int_equal(c->key_exchanges, exchanges + 1);
	done(s, &w);
}

/* Returns a recorded HELLO of node 2 to any node at the address of node 0. */
static const struct record *hello_to_any(struct sim *s, const struct wire *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct record *r = &w->rec[i];
		struct leon_hdr h;
		size_t hdr_len;

		if (r->from == 2 && index_at(s, &r->to) == 0 &&
		    leon_decode(r->data, r->len, &h, &hdr_len) == LEON_OK &&
		    h.hop[0] == NODE_ID_ANY)
			return r;
	}
	fail_msg("no HELLO of node 2");
	return NULL;
}

static void flood_of_replays(struct sim *s, unsigned ms, const struct record *r)
{
	for (unsigned t = 0; t < ms; t++) {
		for (unsigned i = 0; i < 20; i++) {
			struct endpoint from = mallory((unsigned)sim_random(s));

			sim_inject(s, &from, 0, r->data, r->len);
		}
		sim_run(s, 1);
	}
}

/* A flood of a member's HELLO with forged addresses uses up the answers to strangers. A restarted
 * member has its answer nevertheless. */
static void test_flood_of_replays(void **state)
{
	(void)state;
	for (uint64_t seed = 20; seed < 28; seed++) {
		struct wire w;
		struct sim *s = new_watched(3, seed, &w);
		const struct record *r = hello_to_any(s, &w);
		uint64_t limited;

		w.recording = false;
		/* The session of this HELLO ends, because a HELLO with its value has no answer. */
		peer_find(s->node[0].o, s->node[2].id)->rekey.at = sim_now(s);
		sim_kill(s, 1);
		sim_run(s, 15000);
		limited = overlay_counters(s->node[0].o)->rx_rate_limited;
		flood_of_replays(s, 1000, r);
		assert_true(overlay_counters(s->node[0].o)->rx_rate_limited > limited + 17000);
		sim_boot(s, 1);
		flood_of_replays(s, 1000, r);
		assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
		done(s, &w);
	}
}

/*
 * Finds an address in the attacker's network that collides with the address of a member in a linear
 * hash of the bytes with factor 257. The collision holds for every common suffix.
 */
static struct endpoint address_beside(const struct endpoint *member)
{
	static const uint8_t network[8] = { 0x20, 0x01, 0x0d, 0xb8, 0x0b, 0xad, 0, 0 };
	struct endpoint ep = { .port = 6666, .ip = { .family = 6 } };
	uint64_t wanted = 0, power = 1;

	for (unsigned i = 0; i < 16; i++)
		wanted = wanted * 257 + member->ip.b[i];
	for (unsigned try = 0;; try++) {
		uint64_t prefix = 0, rest;
		bool fits = true;

		memcpy(ep.ip.b, network, sizeof(network));
		ep.ip.b[6] = (uint8_t)(try >> 8);
		ep.ip.b[7] = (uint8_t)try;
		for (unsigned i = 0; i < 8; i++)
			prefix = prefix * 257 + ep.ip.b[i];
		power = 1;
		for (unsigned i = 0; i < 8; i++)
			power *= 257; /* modulo 2^64 */
		rest = wanted - prefix * power;
		for (unsigned i = 16; i-- > 8; rest /= 257) {
			ep.ip.b[i] = (uint8_t)(rest % 257);
			fits &= rest % 257 < 256;
		}
		if (fits && rest == 0)
			return ep;
	}
}

/* HELLOs that do not open, from an address that shares the budget of a restarted member. Then
 * HELLOs from enough addresses of one network to fill every slot. */
static void test_nobody_uses_up_anothers_budget(void **state)
{
	struct wire w;
	struct sim *s = new_watched(2, 17, &w);
	struct endpoint beside = address_beside(&s->node[1].ep);

	(void)state;
	w.recording = false;
	for (unsigned round = 0; round < 2; round++) {
		sim_kill(s, 1);
		sim_run(s, 15000);
		for (unsigned t = 0; t < 3000; t++) {
			if (t == 500) /* the flood starts first */
				sim_boot(s, 1);
			for (unsigned i = 0; i < 20; i++) {
				struct endpoint from = beside;

				if (round)
					from.ip.b[8 + i % 8] ^= (uint8_t)sim_random(s);
				flood_one(s, &from);
			}
			sim_run(s, 1);
		}
		assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
		assert_true(sim_converged(s, NULL));
	}
	assert_int_equal(w.msgs_to_mallory, 0);
	done(s, &w);
}

/* An attacker with the secret and the values of a session from the wire cannot change a node's own
 * address, because the field is signed. */
static void test_observed_is_signed(void **state)
{
	struct wire w;
	struct sim *s = new_watched(3, 18, &w);
	struct overlay *o = s->node[0].o;
	struct peer *p = peer_find(o, s->node[1].id);
	struct endpoint before = p->observed;
	uint8_t master[MASTER_KEY_LEN], buf[512];
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = LEON_F_SEALED,
			      .n_hops = 1,
			      .vni = o->vni,
			      .source = p->id,
			      .hop = { o->self } };
	size_t hdr_len = leon_encode(&h, buf);
	struct msg m = { .type = MSG_HELLO };
	struct keyring *k;
	int len;

	(void)state;
	sim_master_key(NULL, STRETCH_SCRYPT, SIM_SECRET, o->vni, master);
	k = keyring_new(master, o->vni);
	m.hello.session_mine = session_theirs(p->cur);
	m.hello.session_yours = session_mine(p->cur);
	m.hello.incarnation = p->incarnation;
	m.hello.observed = mallory(3);
	memcpy(m.hello.identity, nodedb_find(o->nodes, p->id)->key, sizeof(m.hello.identity));
	memset(buf + hdr_len + ENVELOPE_HELLO_LEN, 0, MSG_HELLO_LEN);
	assert_true(msg_encode(&m, buf + hdr_len + ENVELOPE_HELLO_LEN, MSG_HELLO_LEN) > 0);
	len = hello_seal(k, 0, buf, hdr_len, MSG_HELLO_LEN, sizeof(buf));
	assert_true(len > 0);
	sim_inject(s, &s->node[1].ep, 0, buf, (size_t)len);
	sim_run(s, 1000);
	assert_true(endpoint_equal(&p->observed, &before));
	assert_true(overlay_counters(o)->rx_bad_signature > 0);
	keyring_free(k);
	done(s, &w);
}

/* Without a secret there are answers, but none is larger than its request. */
static void test_clear_mode_amplifies_nothing(void **state)
{
	struct sim *s = sim_new(2, 16);
	struct wire w = { .recording = true };
	uint64_t requested = 0, answered = 0;
	uint8_t buf[256];

	(void)state;
	sim_clear_mode(s);
	s->tap = watch;
	s->tap_arg = &w;
	sim_seed_of(s, 0, 1); /* does not run; its address is forged */
	sim_boot(s, 0);
	sim_run(s, 60000);
	w.n = 0;
	for (unsigned i = 0; i < 200; i++) {
		size_t len = make_hello(s, buf, sizeof(buf), NULL, s->node[1].id, s->node[0].id,
					1 + i, 1 + i);

		requested += len;
		sim_inject(s, &s->node[1].ep, 0, buf, len);
		sim_run(s, 2);
	}
	for (size_t i = 0; i < w.n; i++)
		answered += w.rec[i].len;
	printf("# %llu bytes asked, %llu answered\n", (unsigned long long)requested,
	       (unsigned long long)answered);
	assert_true(answered > 0 && answered <= requested / 4);
	done(s, &w);
}

static void test_malformed_storm(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 7, &w);
	struct state before;

	(void)state;
	w.recording = false;
	take_state(s, &before);
	for (unsigned i = 0; i < 30000; i++) {
		const struct record *r = &w.rec[sim_random(s) % w.n];
		struct endpoint from = i % 2 ? s->node[r->from].ep : mallory(i % 100);
		uint8_t buf[1500];
		size_t len = r->len;

		memcpy(buf, r->data, len);
		for (unsigned k = 0; k < 1 + sim_random(s) % 4; k++)
			buf[sim_random(s) % len] = (uint8_t)sim_random(s);
		if (sim_random(s) % 4 == 0)
			len = sim_random(s) % (len + 1);
		if (sim_random(s) % 10 == 0)
			for (size_t k = 0; k < len; k++)
				buf[k] = (uint8_t)sim_random(s);
		sim_inject(s, &from, index_at(s, &r->to), buf, len);
		if (i % 100 == 0)
			sim_run(s, 5);
	}
	sim_run(s, 2000);
	expect_same_state(s, &before);
	assert_true(sim_converged(s, NULL));
	done(s, &w);
}

static void send_nonsense(struct sim *s, struct peer *p, const struct via *v)
{
	struct overlay *o = p->o;
	size_t hdr_len = via_header(o, v, o->buf), len = sim_random(s) % 200;
	int total;

	for (size_t k = 0; k < len; k++)
		o->buf[hdr_len + ENVELOPE_LEN + k] = (uint8_t)sim_random(s);
	/* Never a valid record or row, which later tests cover. */
	if (len)
		o->buf[hdr_len + ENVELOPE_LEN] = (uint8_t)(sim_random(s) % 2 ? 3 : 4);
	if (len > 1)
		o->buf[hdr_len + ENVELOPE_LEN + 1] = 0xff;
	total = session_seal(p->cur, o->buf, hdr_len, len, sizeof(o->buf));
	assert_true(total > 0);
	via_transmit(o, v, (size_t)total, 0);
}

/* Malformed messages from a member. The datagrams open, so the parser must refuse the messages. */
static void test_malformed_from_a_member(void **state)
{
	struct wire w;
	struct sim *s = new_watched(3, 8, &w);
	struct overlay *o = s->node[1].o;
	struct peer *p = peer_find(o, s->node[0].id);
	struct via v;

	(void)state;
	assert_true(via_direct(p, &v));
	for (unsigned i = 0; i < 20000; i++) {
		send_nonsense(s, p, &v);
		if (i % 100 == 0)
			sim_run(s, 5);
	}
	sim_run(s, 1000);
	assert_true(overlay_counters(s->node[0].o)->rx_malformed > 10000);
	/* One event names the node. */
	assert_int_equal(s->node[0].n_events[EV_UNREADABLE], 1);
	assert_int_equal(sim_events(s, EV_UNREADABLE), 1);
	sim_run(s, 600000);
	send_nonsense(s, p, &v);
	sim_run(s, 1000);
	assert_int_equal(s->node[0].n_events[EV_UNREADABLE], 2);
	assert_true(sim_converged(s, NULL));
	done(s, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strangers_get_no_answer),
		cmocka_unit_test(test_other_secret_is_reported),
		cmocka_unit_test(test_stranger_is_reported_with_the_reason),
		cmocka_unit_test(test_peer_that_is_not_reached),
		cmocka_unit_test(test_other_wire_is_reported),
		cmocka_unit_test(test_clear_mode_admission),
		cmocka_unit_test(test_replay_changes_nothing),
		cmocka_unit_test(test_replay_of_a_dead_node),
		cmocka_unit_test(test_flood_of_greetings),
		cmocka_unit_test(test_flood_of_strangers),
		cmocka_unit_test(test_flood_of_replays),
		cmocka_unit_test(test_observed_is_signed),
		cmocka_unit_test(test_nobody_uses_up_anothers_budget),
		cmocka_unit_test(test_clear_mode_amplifies_nothing),
		cmocka_unit_test(test_malformed_storm),
		cmocka_unit_test(test_malformed_from_a_member),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
