// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New keys during operation: by age, by volume, and from one secret to another. The tests check
 * failures that a user would notice: lost links, departed members, and control messages without a
 * session.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "proto/core.h"
#include "proto/handshake/handshake.h"
#include "proto/view.h"
#include "sim.h"
#include "wire/bytes.h"

static struct sim *new_mesh(unsigned n, uint64_t seed, uint32_t rekey_ms)
{
	struct sim *s = sim_new(n, seed);

	for (unsigned i = 0; i < n; i++) {
		s->node[i].conf->rekey_ms = rekey_ms;
		for (unsigned k = 0; k < i; k++)
			sim_seed_of(s, i, k);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 5000);
	return s;
}

static struct peer *peer_at_node(struct sim *s, unsigned at, unsigned of)
{
	return peer_find(s->node[at].o, s->node[of].id);
}

struct totals {
	uint64_t no_session, not_authentic, exchanges;
	unsigned link_down, unreachable;
};

static struct totals totals_of(struct sim *s)
{
	struct totals t = { .link_down = sim_events(s, EV_LINK_DOWN),
			    .unreachable = sim_events(s, EV_UNREACHABLE) };

	for (unsigned i = 0; i < s->n; i++) {
		const struct overlay_counters *c = overlay_counters(s->node[i].o);

		t.no_session += c->rx_no_session;
		t.not_authentic += c->rx_not_authentic;
		t.exchanges += c->key_exchanges;
	}
	return t;
}

/* True if nothing was lost since `before` and at least `exchanges` took place. */
static void expect_smooth(struct sim *s, const struct totals *before, uint64_t exchanges)
{
	struct totals now = totals_of(s);

	assert_int_equal(now.link_down, before->link_down);
	assert_int_equal(now.unreachable, before->unreachable);
	assert_int_equal(now.not_authentic, before->not_authentic);
	assert_int_equal(now.no_session, before->no_session);
	assert_true(now.exchanges - before->exchanges >= exchanges);
	assert_true(sim_converged(s, NULL));
}

/* True if both ends of all pairs have equal sessions. */
static void expect_same_sessions(struct sim *s)
{
	for (unsigned a = 0; a < s->n; a++) {
		for (unsigned b = 0; b < a; b++) {
			struct peer *p = peer_at_node(s, a, b), *q = peer_at_node(s, b, a);

			assert_true(session_mine(p->cur) == session_theirs(q->cur));
			assert_true(session_theirs(p->cur) == session_mine(q->cur));
		}
	}
}

static void test_by_age(void **state)
{
	struct sim *s = new_mesh(4, 1, 1000);
	struct totals before = totals_of(s);
	uint64_t session = session_mine(peer_at_node(s, 0, 1)->cur);

	(void)state;
	sim_run(s, 60000);
	/* About 6 pairs, both ends, once in one to two seconds. */
	expect_smooth(s, &before, 6 * 2 * 25);
	assert_true(session != session_mine(peer_at_node(s, 0, 1)->cur));
	sim_free(s);
}

static void test_by_volume(void **state)
{
	struct sim *s = new_mesh(3, 2, 3600 * 1000);
	struct totals before = totals_of(s);

	(void)state;
	sim_run(s, 20000);
	expect_smooth(s, &before, 0);
	assert_int_equal(totals_of(s).exchanges, before.exchanges);
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].o->rekey_after = 10;
	sim_run(s, 60000);
	expect_smooth(s, &before, 3 * 2 * 3);
	sim_free(s);
}

/* HELLOs are lost as well, but no session is. */
static void test_under_loss(void **state)
{
	struct sim *s = new_mesh(4, 3, 2000);
	unsigned unreachable = sim_events(s, EV_UNREACHABLE);

	(void)state;
	sim_set_all(s,
		    (struct sim_link){
			    .delay_us = 10000, .jitter_us = 15000, .loss_pm = 150, .mtu = 1472 });
	sim_run(s, 120000);
	assert_int_equal(sim_events(s, EV_UNREACHABLE), unreachable);
	sim_set_all(s, (struct sim_link){ .delay_us = 10000, .mtu = 1472 });
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->rekey_ms = 3600 * 1000;
	sim_run(s, 10000);
	expect_same_sessions(s);
	assert_true(sim_converged(s, NULL));
	sim_free(s);
}

/* One end uses a session that the other end never received. Both agree on a new session. */
static void test_half_open(void **state)
{
	struct sim *s = new_mesh(2, 6, 3600 * 1000);
	struct overlay *o = s->node[0].o;
	struct peer *p = peer_at_node(s, 0, 1);
	struct ephemeral key;
	struct session_terms t = { .self = s->node[0].id,
				   .peer = s->node[1].id,
				   .mine = 77,
				   .theirs = 78,
				   .ephemeral = &key };

	(void)state;
	ephemeral_new(&key, DH_X25519);
	t.their_public = key.public;
	keyring_ids(o->keys, t.their_ids);
	p->prev = p->cur;
	p->cur = session_new(o->keys, &t);
	p->cur_received = false;
	p->established = sim_now(s);
	sim_run(s, 20000);
	assert_true(session_mine(p->cur) != 77);
	expect_same_sessions(s);
	assert_true(sim_converged(s, NULL));
	sim_free(s);
}

/* Drops the datagrams of node 1 for half a second after node 0 has a new session. */
static bool is_passed(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		      size_t len)
{
	struct sim *s = arg;
	const struct peer *p = peer_at_node(s, 0, 1);

	(void)to, (void)data, (void)len;
	return from == 0 || p->cur_received || mono_sub_ms(sim_now(s), p->established) >= 500;
}

static void test_first_messages_are_lost(void **state)
{
	struct sim *s = sim_new(2, 10);
	struct totals before;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		s->node[i].conf->interval_ms = 20000;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	before = totals_of(s);
	s->tap = is_passed;
	s->tap_arg = s;
	peer_at_node(s, 0, 1)->rekey.at = sim_now(s);
	sim_run(s, 4000);
	assert_true(peer_at_node(s, 0, 1)->cur_received);
	sim_run(s, 60000);
	expect_smooth(s, &before, 2);
	sim_free(s);
}

/* No node keeps the ephemeral secret of a value that nobody answers any more. */
static void expect_no_offer(struct sim *s)
{
	static const struct ephemeral none;

	for (unsigned a = 0; a < s->n; a++) {
		for (unsigned b = 0; b < s->n; b++) {
			const struct handshake *f;

			if (a == b)
				continue;
			f = &peer_at_node(s, a, b)->handshake;
			assert_true(f->value == 0);
			assert_memory_equal(&f->key, &none, sizeof(none));
		}
	}
}

/* Both ends start a handshake at the same moment and create two sessions. Each end has one in use
 * and the other as the previous one. Nothing may be lost, and both ends must converge. */
static void test_crossed_start(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim *s = sim_new(2, seed);

		sim_set_rtt(s, 0, 1, 60000 * (int64_t)seed);
		for (unsigned i = 0; i < 2; i++) {
			sim_seed_of(s, i, 1 - i);
			sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
		sim_run(s, 30000);
		assert_int_equal(sim_events(s, EV_LINK_DOWN), 0);
		assert_int_equal(totals_of(s).no_session, 0);
		expect_same_sessions(s);
		expect_no_offer(s);
		sim_free(s);
	}
}

/* Both ends of a link that returns are configured peers and request a session at the same time.
 * Both still have the session from before. */
static void test_crossed_return(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim *s = sim_new(2, seed);
		uint64_t before;

		sim_set_rtt(s, 0, 1, 60000);
		for (unsigned i = 0; i < 2; i++) {
			sim_seed_of(s, i, 1 - i);
			sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
		sim_set_down(s, 0, 1, true);
		sim_run(s, 20000 + 250 * (int64_t)seed);
		before = totals_of(s).no_session;
		sim_set_down(s, 0, 1, false);
		for (unsigned i = 0; i < 2; i++) {
			s->node[i].o->seeds.seed[0].next_at = sim_now(s);
			alarm_set(&s->node[i].o->seeding, sim_now(s));
		}
		assert_in_range(sim_until(s, sim_converged, NULL, 20000), 0, 2500);
		sim_run(s, 20000);
		assert_int_equal(totals_of(s).no_session, before);
		expect_same_sessions(s);
		sim_free(s);
	}
}

/* Crossing handshakes without a secret, in which a message names only its receiver. Three nodes
 * contact each other as configured peers and as members at once. Each end must learn the other's
 * session. */
static void test_crossed_start_in_clear(void **state)
{
	(void)state;
	for (uint64_t seed = 340; seed <= 400; seed++) {
		struct sim *s = sim_new(3, seed);

		sim_clear_mode(s);
		for (unsigned i = 0; i < 3; i++) {
			sim_seed_of(s, i, (i + 1) % 3);
			sim_seed_of(s, i, (i + 2) % 3);
			sim_boot(s, i);
			sim_run(s, (int64_t)(seed * (7 + i) % 40));
		}
		assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
		sim_run(s, 10000);
		expect_same_sessions(s);
		sim_free(s);
	}
}

/* All nodes use their new own secret. */
static bool is_renewed(struct sim *s, void *arg)
{
	(void)arg;
	for (unsigned a = 0; a < s->n; a++) {
		for (unsigned b = 0; b < s->n; b++) {
			struct peer *p = a != b ? peer_at_node(s, a, b) : NULL;

			if (p && p->secrets[0] != p->secret)
				return false;
		}
	}
	return true;
}

static void set_secrets(struct sim *s, unsigned i, const char *own, const char *accept)
{
	struct conf *c = s->node[i].conf;

	free(c->secret);
	c->secret = x_strdup(own);
	while (c->n_accept)
		free(c->accept[--c->n_accept]);
	if (accept)
		c->accept[c->n_accept++] = x_strdup(accept);
	overlay_set_conf(s->node[i].o, c);
}

/* The operator's three passes, with time between any two nodes. */
static void test_rotation(void **state)
{
	static const char fresh[] = "another secret for all";
	struct sim *s = new_mesh(5, 4, 3600 * 1000);
	struct totals before = totals_of(s);

	(void)state;
	for (unsigned i = 0; i < s->n; i++, sim_run(s, 3000))
		set_secrets(s, i, SIM_SECRET, fresh);
	sim_run(s, 15000);
	for (unsigned i = 0; i < s->n; i++, sim_run(s, 3000))
		set_secrets(s, i, fresh, SIM_SECRET);
	sim_run(s, 15000);
	expect_smooth(s, &before, 5 * 4 * 2);
	assert_true(sim_until(s, is_renewed, NULL, 10000) >= 0);
	for (unsigned i = 0; i < s->n; i++, sim_run(s, 3000))
		set_secrets(s, i, fresh, NULL);
	sim_run(s, 120000);
	expect_smooth(s, &before, 5 * 4 * 3);
	assert_int_equal(sim_events(s, EV_SECRET_MISMATCH), 0);
	expect_same_sessions(s);
	sim_free(s);
}

/* Only node 0 has the new secret, and gets another address during an outage. Its HELLOs with the
 * previous secret find node 1, which accepts no other. */
static void test_move_during_a_rotation(void **state)
{
	(void)state;
	for (uint64_t seed = 420; seed < 424; seed++) {
		struct sim *s = new_mesh(2, seed, 3600 * 1000);

		set_secrets(s, 0, "another secret for all", SIM_SECRET);
		sim_run(s, 15000);
		sim_set_down(s, 0, 1, true);
		sim_run(s, 30000);
		sim_move(s, 0);
		sim_set_down(s, 0, 1, false);
		assert_true(sim_until(s, sim_converged, NULL, 25000) >= 0);
		sim_free(s);
	}
}

static void set_curve(struct sim *s, unsigned i, enum dh_curve curve)
{
	s->node[i].conf->curve = curve;
	overlay_set_conf(s->node[i].o, s->node[i].conf);
}

/* Sessions last until new keys, so the curve changes node by node without an outage. */
static void test_change_of_the_curve(void **state)
{
	struct sim *s = new_mesh(5, 7, 3600 * 1000);
	struct totals before = totals_of(s);
	uint64_t mine[5][5];

	(void)state;
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = 0; b < s->n; b++)
			mine[a][b] = a != b ? session_mine(peer_at_node(s, a, b)->cur) : 0;
	for (unsigned i = 0; i < s->n; i++, sim_run(s, 20000))
		set_curve(s, i, DH_P256);
	assert_in_range(sim_events(s, EV_OTHER_CURVE), 5, 20);
	sim_run(s, 60000);
	expect_smooth(s, &before, 5 * 4);
	for (unsigned a = 0; a < s->n; a++)
		for (unsigned b = 0; b < s->n; b++)
			if (a != b)
				assert_true(session_mine(peer_at_node(s, a, b)->cur) != mine[a][b]);
	expect_same_sessions(s);
	assert_int_equal(sim_events(s, EV_SECRET_MISMATCH), 0);
	sim_free(s);
}

/* A node of another curve has no session, and both ends report the reason. */
static void test_other_curve(void **state)
{
	struct sim *s = sim_new(2, 8);
	struct overlay_seed seed;

	(void)state;
	s->node[1].conf->curve = DH_P256;
	sim_seed_of(s, 0, 1);
	sim_boot(s, 0);
	sim_boot(s, 1);
	sim_run(s, 20000);
	assert_int_equal(s->node[0].n_events[EV_OTHER_CURVE], 1);
	assert_int_equal(s->node[1].n_events[EV_OTHER_CURVE], 1);
	assert_int_equal(sim_events(s, EV_SECRET_MISMATCH) + sim_events(s, EV_STRANGER), 0);
	assert_true(overlay_seed(s->node[0].o, 0, &seed) && !seed.reached);
	assert_int_equal(seed.address[0].diagnosis, SEED_OTHER_CURVE);
	assert_int_equal(totals_of(s).exchanges, 0);
	set_curve(s, 0, DH_P256);
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_free(s);
}

/* The offer to a configured peer has a key pair of the present curve. */
static void test_change_of_the_curve_before_the_start(void **state)
{
	(void)state;
	for (uint64_t seed = 410; seed < 420; seed++) {
		struct sim *s = sim_new(2, seed);

		s->node[1].conf->curve = DH_P256;
		sim_seed_of(s, 0, 1);
		sim_boot(s, 0);
		sim_run(s, 6000 + 100 * (int64_t)(seed - 410));
		set_curve(s, 0, DH_P256);
		sim_boot(s, 1);
		assert_true(sim_until(s, sim_converged, NULL, 12000) >= 0);
		assert_int_equal(totals_of(s).exchanges, 2);
		sim_free(s);
	}
}

/* A node with only the old secret leaves soon after the other nodes withdrew it, and returns with
 * the new secret. */
static void test_revocation(void **state)
{
	static const char fresh[] = "another secret for all";
	struct sim *s = new_mesh(4, 5, 3600 * 1000);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		set_secrets(s, i, fresh, SIM_SECRET);
	sim_run(s, 30000);
	assert_int_equal(sim_state(s, 0, 3), NODE_REACHABLE);
	for (unsigned i = 0; i < 3; i++)
		set_secrets(s, i, fresh, NULL);
	sim_run(s, 90000);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sim_state(s, i, 3), NODE_UNREACHABLE);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	set_secrets(s, 3, fresh, NULL);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_free(s);
}

/* Passes the first datagram of node 1 and keeps the next ones. */
struct held {
	unsigned n;
	size_t len[8];
	uint8_t data[8][512];
};

static bool hold(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		 size_t len)
{
	struct held *h = arg;

	(void)to;
	if (from == 0 || h->n++ == 0)
		return true;
	assert_true(h->n - 2 < array_size(h->len) && len <= sizeof(h->data[0]));
	h->len[h->n - 2] = len;
	memcpy(h->data[h->n - 2], data, len);
	return false;
}

/* An observer makes node 0 compute the session on offer, before node 0 withdraws the secret. The
 * session does not start afterwards. */
static void test_no_session_by_a_withdrawn_secret(void **state)
{
	struct sim *s = new_mesh(2, 11, 3600 * 1000);
	struct overlay *o = s->node[0].o;
	struct peer *p = peer_at_node(s, 0, 1);
	struct held h = { .n = 0 };
	uint8_t forged[200] = { 0 };
	struct leon_hdr hdr = { .kind = LEON_CONTROL,
				.flags = LEON_F_SEALED,
				.n_hops = 1,
				.vni = o->vni,
				.source = p->id,
				.hop = { o->self } };
	struct wbuf w = wbuf_of(forged + leon_encode(&hdr, forged), sizeof(uint64_t));

	(void)state;
	s->tap = hold;
	s->tap_arg = &h;
	initiator_rekey(s->node[1].o, peer_at_node(s, 1, 0), 0);
	sim_run(s, 100);
	assert_true(h.n > 2 && p->handshake.value);
	wbuf_u64(&w, p->handshake.value);
	sim_inject(s, &s->node[1].ep, 0, forged, sizeof(forged));
	sim_run(s, 1);
	assert_non_null(p->handshake.session);
	set_secrets(s, 0, "another secret for all", NULL);
	s->tap = NULL;
	for (unsigned i = 0; i < h.n - 1; i++)
		sim_inject(s, &s->node[1].ep, 0, h.data[i], h.len[i]);
	sim_run(s, 70000);
	assert_null(p->cur);
	sim_free(s);
}

static struct overlay_link link_at(struct sim *s, unsigned at, unsigned of)
{
	struct overlay_link link = { .up = false };

	assert_true(overlay_link(s->node[at].o, sim_slot(s, at, of), &link));
	return link;
}

/* One router gets another secret and works for a minute. Both ends of each session report it at
 * once. */
static void test_secret_of_one_node(void **state)
{
	static const char fresh[] = "a secret of one node only";
	struct sim *s = new_mesh(3, 8, 3600 * 1000);
	node_id_t id[2];

	(void)state;
	assert_int_equal(overlay_has_no_common_secret(s->node[0].o, id, 2), 0);
	set_secrets(s, 0, fresh, NULL);
	assert_int_equal(overlay_has_no_common_secret(s->node[0].o, id, 2), 2);
	sim_run(s, 300);
	for (unsigned i = 1; i < 3; i++) {
		struct overlay_link link = link_at(s, i, 0);
		int64_t left_ms = mono_sub_ms(link.session_ends, sim_now(s));

		assert_int_equal(s->node[i].n_events[EV_SECRET_NOT_COMMON], 1);
		assert_int_equal(link.secret, LINK_SECRET_OTHER);
		assert_true(left_ms > 59000 && left_ms <= 60000);
		assert_true(mono_is_never(link_at(s, i, 3 - i).session_ends));
		assert_int_equal(link_at(s, 0, i).secret, LINK_SECRET_OTHER);
	}
	sim_run(s, 50000);
	assert_int_equal(sim_state(s, 1, 0), NODE_REACHABLE);
	sim_run(s, 30000);
	assert_int_equal(sim_state(s, 1, 0), NODE_UNREACHABLE);
	assert_int_equal(sim_state(s, 1, 2), NODE_REACHABLE);
	/* One event for several messages. */
	assert_int_equal(s->node[1].n_events[EV_SECRET_NOT_COMMON], 1);
	set_secrets(s, 1, fresh, NULL);
	set_secrets(s, 2, fresh, NULL);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	assert_int_equal(overlay_has_no_common_secret(s->node[0].o, id, 2), 0);
	assert_int_equal(link_at(s, 1, 0).secret, LINK_SECRET_OWN);
	sim_free(s);
}

/* Nothing is lost if the change is reverted in time. */
static void test_secret_taken_back(void **state)
{
	struct sim *s = new_mesh(3, 9, 3600 * 1000);
	struct totals before = totals_of(s);
	node_id_t id[2];

	(void)state;
	set_secrets(s, 0, "a secret of one node only", NULL);
	sim_run(s, 20000);
	set_secrets(s, 0, SIM_SECRET, NULL);
	sim_run(s, 300);
	assert_int_equal(overlay_has_no_common_secret(s->node[0].o, id, 2), 0);
	assert_int_equal(link_at(s, 1, 0).secret, LINK_SECRET_OWN);
	sim_run(s, 120000);
	assert_int_equal(sim_events(s, EV_LINK_DOWN), before.link_down);
	assert_true(sim_converged(s, NULL));
	expect_same_sessions(s);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_age),
		cmocka_unit_test(test_by_volume),
		cmocka_unit_test(test_under_loss),
		cmocka_unit_test(test_half_open),
		cmocka_unit_test(test_first_messages_are_lost),
		cmocka_unit_test(test_crossed_start),
		cmocka_unit_test(test_crossed_return),
		cmocka_unit_test(test_crossed_start_in_clear),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_move_during_a_rotation),
		cmocka_unit_test(test_change_of_the_curve),
		cmocka_unit_test(test_other_curve),
		cmocka_unit_test(test_change_of_the_curve_before_the_start),
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_no_session_by_a_withdrawn_secret),
		cmocka_unit_test(test_secret_of_one_node),
		cmocka_unit_test(test_secret_taken_back),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
