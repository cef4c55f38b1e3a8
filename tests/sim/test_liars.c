// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * False statements of members (design.md section 7): about other nodes, about the own node, about
 * links, and in another node's name. test_claims.c has false claims of node-ids and full tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hostile.h"

static void test_notice_about_others_links(void **state)
{
	struct wire w;
	struct sim *s;
	unsigned hop[LEON_HOPS_MAX];
	struct msg m = { .type = MSG_NOTICE };

	(void)state;
	s = sim_new(5, 9);
	memset(&w, 0, sizeof(w));
	sim_set_rtt(s, 0, 1, 150000); /* the path over 2 is in use */
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 10000);
	sim_set_rtt(s, 0, 3, 60000);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 2);
	m.notice.next = s->node[1].id;
	m.notice.destination = s->node[1].id;
	tell(s, 3, 0, &m); /* 3 is on no path of 0 to 1 */
	m.notice.next = s->node[2].id;
	tell(s, 1, 0, &m); /* 1 is the destination, not a relay */
	m.notice.next = s->node[4].id;
	tell(s, 2, 0, &m); /* 2 is a relay, but not towards 4 */
	m.notice.next = s->node[0].id;
	tell(s, 2, 0, &m); /* 0 measures its own link to 2 */
	assert_int_equal(s->node[0].n_events[EV_NOTICE], 0);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 2);
	sim_free(s);
}

static void test_lies_about_others(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 10, &w);
	struct msg m = { .type = MSG_RECORD };
	struct node *n = nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id);
	const struct overlay_counters *at0 = overlay_counters(s->node[0].o);
	uint32_t seq;

	(void)state;
	/* Node 3 claims "1 has left", but 0 has a session with 1. */
	m.record = n->rec;
	m.record.seq += 1;
	m.record.flags |= RECORD_LEFT;
	tell(s, 3, 0, &m);
	assert_int_equal(s->node[0].n_events[EV_LEFT], 0);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	/* "All links of 1 are down." */
	m = (struct msg){ .type = MSG_ROW };
	m.row.origin = s->node[1].id;
	m.row.incarnation = n->rec.incarnation;
	m.row.seq = latdb_row_seq(overlay_latdb(s->node[0].o), n->slot) + 10;
	m.row.parts = 1;
	m.row.n = 1;
	m.row.entry[0].node = s->node[2].id;
	tell(s, 3, 0, &m);
	assert_true(latdb_get(overlay_latdb(s->node[0].o), n->slot, sim_slot(s, 0, 2)).up);
	assert_int_equal(at0->rx_foreign_rows, 1);
	/* "1 has another address": only 1 can sign that. */
	m = (struct msg){ .type = MSG_RECORD, .record = n->rec };
	m.record.seq += 7;
	m.record.n_locators = 0;
	tell(s, 3, 0, &m);
	assert_int_equal(at0->rx_bad_signature, 1);
	/* Signed by the liar in the name of 1. */
	memcpy(m.record.identity, s->node[3].o->identity.public, MSG_KEY_LEN);
	tell(s, 3, 0, &m);
	assert_int_equal(at0->rx_other_identity, 1);
	assert_int_equal(n->rec.n_locators, 1);
	assert_int_equal(s->node[0].n_events[EV_DUPLICATE_ID], 1);
	/* A false record of 0, sent to 1 and to 0. */
	n = nodedb_at(overlay_nodes(s->node[0].o), SLOT_SELF);
	seq = n->rec.seq;
	m = (struct msg){ .type = MSG_RECORD, .record = n->rec };
	m.record.seq += 5;
	m.record.n_locators = 0;
	tell(s, 3, 1, &m);
	tell(s, 3, 0, &m);
	sim_run(s, 5000);
	assert_true(sim_converged(s, NULL));
	assert_int_equal(n->rec.seq, seq);
	assert_int_equal(nodedb_find(overlay_nodes(s->node[1].o), s->node[0].id)->rec.n_locators,
			 1);
	done(s, &w);
}

/* The complete row of a node as known to other nodes, with one link far too fast. The version is
 * far ahead, so true rows do not replace this row. */
static void lie_about_a_link(struct sim *s, unsigned liar, unsigned other, uint32_t rtt_us)
{
	const struct node *self = nodedb_at(overlay_nodes(s->node[liar].o), SLOT_SELF);
	const struct latdb *lat = overlay_latdb(s->node[liar].o);
	struct msg m = { .type = MSG_ROW };

	m.row.origin = s->node[liar].id;
	m.row.incarnation = self->rec.incarnation;
	m.row.seq = latdb_row_seq(lat, SLOT_SELF) + 100000;
	m.row.parts = 1;
	for (unsigned i = 0; i < s->n; i++) {
		struct lat_entry e = latdb_get(lat, SLOT_SELF, sim_slot(s, liar, i));

		if (i != liar)
			m.row.entry[m.row.n++] =
				(struct row_entry){ s->node[i].id,
						    { i == other ? rtt_us : e.rtt_us,
						      i == other ? rtt_us : e.long_term_us, 100, 0,
						      e.mtu, true, false } };
	}
	for (unsigned i = 0; i < s->n; i++)
		if (i != liar)
			tell(s, liar, i, &m);
}

/* Node 2 claims a fast link to 1, so that 0 sends data for 1 through 2. */
static void test_lying_relay(void **state)
{
	struct sim *s = sim_new(4, 14);
	unsigned hop[LEON_HOPS_MAX];
	uint64_t rtt;

	(void)state;
	sim_set_rtt(s, 0, 1, 80000);
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 100000);
	for (unsigned i = 0; i < s->n; i++)
		sim_set_rtt(s, i, 3, i == 3 ? 0 : 300000);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 0, 1, hop), 1);
	assert_int_equal(sim_events(s, EV_ASYMMETRY), 0);
	lie_about_a_link(s, 2, 1, 1000);
	sim_run(s, 60000);
	/* The false row is in the database, no path uses the row, and all nodes that can see the
	 * contradiction report an event. */
	rtt = latdb_get(overlay_latdb(s->node[0].o), sim_slot(s, 0, 2), sim_slot(s, 0, 1)).rtt_us;
	assert_int_equal(rtt, 1000);
	assert_int_equal(sim_path(s, 0, 1, hop), 1);
	for (unsigned i = 0; i < s->n; i++) {
		assert_int_equal(s->node[i].n_events[EV_ASYMMETRY], i != 2);
		assert_int_equal(overlay_is_asymmetric(s->node[i].o, sim_slot(s, i, 1),
						       sim_slot(s, i, 2)),
				 i != 2);
		assert_false(
			overlay_is_asymmetric(s->node[i].o, sim_slot(s, i, 0), sim_slot(s, i, 1)));
	}
	sim_free(s);
}

/* The cost of the link 2 - 1 at node 0. */
static uint32_t link_as_seen(struct sim *s)
{
	struct path_params pp = overlay_path_params(s->node[0].o);
	uint16_t liar = sim_slot(s, 0, 2), far = sim_slot(s, 0, 1);
	struct path whole = { .n_hops = 2, .hop = { liar, far } };
	struct path first = { .n_hops = 1, .hop = { liar } };

	path_evaluate(overlay_latdb(s->node[0].o), &pp, SLOT_SELF, &whole);
	path_evaluate(overlay_latdb(s->node[0].o), &pp, SLOT_SELF, &first);
	return whole.rtt_us - first.rtt_us;
}

static struct sim *new_held(uint64_t seed, int64_t lie_us)
{
	struct sim *s = sim_new(4, seed);

	sim_set_rtt(s, 0, 1, 60000);
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 121000);
	for (unsigned i = 0; i < s->n; i++)
		sim_set_rtt(s, i, 3, i == 3 ? 0 : 300000);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	s->node[2].held_lie_us = lie_us;
	sim_run(s, 60000);
	return s;
}

/* Node 2 claims a long held time in each PONG and announces a consistent row. The gain is limited
 * to a factor of two and 10 ms (decision 020). */
static void test_held_time_buys_little(void **state)
{
	static const int64_t lie_us[] = { 110000, 119000, 60000, 2000, 500000 };
	static const uint32_t claim_us[] = { 1000, 30000, 50000, 54000, 55000, 55600, 57000 };
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	for (size_t i = 0; i < array_size(lie_us); i++) {
		struct sim *s = new_held(17, lie_us[i]);
		uint32_t measured =
			latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us;

		assert_in_range(measured, 118900, 121100);
		for (size_t k = 0; k < array_size(claim_us); k++) {
			lie_about_a_link(s, 2, 1, claim_us[k]);
			sim_run(s, 5000);
			assert_true(link_as_seen(s) >= (121000 - 10000) / 2);
			assert_int_equal(sim_path(s, 0, 1, hop), 1);
			sim_kill(s, 2); /* otherwise the next false row would be older */
			sim_run(s, 5000);
			sim_boot(s, 2);
			assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
			sim_run(s, 20000);
		}
		sim_free(s);
	}
}

/* A link becomes slow while 2 still claims held time. The increase is detected, with a delay. */
static void test_held_time_hides_no_change(void **state)
{
	struct sim *s = new_held(18, 0);

	(void)state;
	s->node[2].held_lie_us = 200000;
	sim_set_rtt(s, 1, 2, 200000);
	sim_run(s, 120000);
	assert_true(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us >
		    180000);
	/* An honest node that is busy for a moment does not appear more distant. */
	s->node[2].held_lie_us = 0;
	sim_set_rtt(s, 1, 2, 121000);
	sim_run(s, 120000);
	s->node[2].held_lie_us = 50000;
	sim_set_rtt(s, 1, 2, 171000); /* the liar really holds the PINGs */
	sim_run(s, 2500);
	s->node[2].held_lie_us = 0;
	sim_set_rtt(s, 1, 2, 121000);
	assert_in_range(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us,
			118900, 123000);
	sim_free(s);
}

/* Returns the id of the PING of `at` to `of` in flight, 0 if there is none. */
static uint32_t id_under_way(struct sim *s, unsigned at, unsigned of)
{
	const struct probing *pr = &peer_find(s->node[at].o, s->node[of].id)->probe;
	const struct probe *q = &pr->out[(pr->next_out + PROBES_OUT - 1) % PROBES_OUT];

	return q->id;
}

/* Node 2 sends PONGs with the next ids before the PINGs arrive, to appear nearby. */
static void test_no_answer_ahead_of_the_question(void **state)
{
	struct sim *s = new_held(19, 0);
	struct msg m = { .type = MSG_PONG };
	struct peer *p = peer_find(s->node[2].o, s->node[1].id);
	uint32_t id = 0;

	(void)state;
	for (unsigned i = 0; i < 1500; i++) {
		id = id_under_way(s, 1, 2) ? id_under_way(s, 1, 2) : id;
		for (uint32_t k = 1; k <= 5; k++) {
			m.pong.id = id + k;
			assert_int_equal(peer_send(s->node[2].o, p, &m), 0);
		}
		sim_run(s, 20);
	}
	assert_in_range(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us,
			118900, 122000);
	sim_free(s);
}

/* Node 1 is dead, and 2 still reports a link to it. The other end of that link reports nothing, so
 * 1 is unreachable. */
static void test_liar_keeps_no_dead_node_alive(void **state)
{
	struct sim *s = sim_new(4, 15);

	(void)state;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 10000);
	sim_kill(s, 1);
	s->node[2].liar = SIM_SWALLOWS_ALL; /* and sends no NOTICE */
	lie_about_a_link(s, 2, 1, 5000);
	sim_run(s, 10000);
	for (unsigned i = 0; i < s->n; i += 3) {
		uint16_t dead = sim_slot(s, i, 1), liar = sim_slot(s, i, 2);

		/* The database has the lie and the last row of 1. */
		assert_true(latdb_get(overlay_latdb(s->node[i].o), liar, dead).up);
		assert_true(latdb_get(overlay_latdb(s->node[i].o), dead, liar).up);
		assert_int_equal(sim_state(s, i, 1), NODE_UNREACHABLE);
		assert_int_equal(sim_choice(s, i, 1)->path.n_hops, 0);
		assert_int_equal(s->node[i].n_purges, 1);
	}
	/* The lie ends when the dead node returns. */
	sim_boot(s, 1);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_free(s);
}

/* Node 2 claims a link to 1 that 1 denies. No path uses it, at any claimed latency. */
static void test_link_that_one_end_denies(void **state)
{
	struct sim *s = sim_new(4, 16);
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	sim_set_rtt(s, 0, 1, 200000);
	sim_set_down(s, 1, 2, true);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	lie_about_a_link(s, 2, 1, 1000);
	sim_run(s, 60000);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 3);
	sim_free(s);
}

/* A member with everything except 1's identity key opens a session as 1. */
static void test_impersonation(void **state)
{
	struct wire w;
	struct sim *s = new_watched(5, 12, &w);
	const struct overlay_counters *at0 = overlay_counters(s->node[0].o);
	struct state before;

	(void)state;
	take_state(s, &before);
	s->node[4].id = s->node[1].id;
	s->node[4].conf->node_id = s->node[1].id;
	sim_kill(s, 4);
	sim_run(s, 15000);
	/* The claim looks like a restart of 1 at the liar's address. */
	s->node[4].wall_shift_us = 10000000000;
	sim_boot(s, 4);
	sim_run(s, 10000);
	assert_true(at0->rx_other_identity > 0);
	assert_int_equal(s->node[0].n_events[EV_DUPLICATE_ID], 1);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 0);
	for (unsigned i = 0; i < 4; i++) {
		struct peer *p = i == 1 ? NULL : peer_find(s->node[i].o, s->node[1].id);

		if (!p)
			continue;
		assert_true(endpoint_equal(&p->ep, &s->node[1].ep));
		assert_memory_equal(peer_node(s->node[i].o, p)->key, s->node[1].o->identity.public,
				    MSG_KEY_LEN);
		assert_int_equal(sim_state(s, i, 1), NODE_REACHABLE);
	}
	/* The claim also fails during a short absence of the real node. */
	sim_kill(s, 1);
	sim_run(s, 60000);
	assert_int_equal(sim_state(s, 0, 1), NODE_UNREACHABLE);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 0);
	sim_boot(s, 1);
	sim_run(s, 10000);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	assert_true(endpoint_equal(&peer_find(s->node[0].o, s->node[1].id)->ep, &s->node[1].ep));
	done(s, &w);
}

/* A forged older record does not revive a node that left. Only a newer record does. */
static void test_old_record_revives_nobody(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 11, &w);
	struct msg m = { .type = MSG_RECORD };

	(void)state;
	m.record = nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id)->rec;
	sim_leave(s, 1);
	sim_run(s, 1000);
	tell(s, 3, 0, &m);
	assert_int_equal(sim_state(s, 0, 1), NODE_LEFT);
	assert_int_equal(s->node[0].n_events[EV_RETURNED], 0);
	done(s, &w);
}

static void send_turns(struct sim *s, unsigned liar, node_id_t origin, uint64_t secret)
{
	struct peer *p = peer_find(s->node[liar].o, s->node[0].id);

	for (uint32_t seq = 1; seq <= 400; seq++) {
		struct msg m = made_up_record(s, origin, secret, 1800000000000000ULL, seq,
					      seq % 2 ? 0 : RECORD_LEFT);

		assert_int_equal(peer_send(s->node[liar].o, p, &m), 0);
		sim_run(s, 1);
	}
	sim_run(s, 100);
}

/* Leaves of a node without a new session cost no purge and no publication out of turn. The node is
 * invented, or was a member. */
static void test_leaves_in_turn_cost_nothing(void **state)
{
	struct wire w;
	struct sim *s = new_watched(5, 21, &w);
	struct sim_node *at = &s->node[0];
	unsigned purges = at->n_purges, published = at->n_snapshot_changed;

	(void)state;
	send_turns(s, 3, 0x0b000001, 77);
	assert_true(at->n_events[EV_LEFT] >= 190);
	assert_int_equal(at->n_purges, purges);
	assert_true(at->n_snapshot_changed - published < 60);
	sim_leave(s, 4);
	sim_run(s, 1000);
	purges = at->n_purges;
	published = at->n_snapshot_changed;
	send_turns(s, 3, s->node[4].id, s->node[4].identity);
	assert_true(at->n_events[EV_LEFT] >= 380);
	assert_int_equal(at->n_purges, purges);
	assert_true(at->n_snapshot_changed - published < 60);
	done(s, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notice_about_others_links),
		cmocka_unit_test(test_lies_about_others),
		cmocka_unit_test(test_lying_relay),
		cmocka_unit_test(test_held_time_buys_little),
		cmocka_unit_test(test_held_time_hides_no_change),
		cmocka_unit_test(test_no_answer_ahead_of_the_question),
		cmocka_unit_test(test_liar_keeps_no_dead_node_alive),
		cmocka_unit_test(test_link_that_one_end_denies),
		cmocka_unit_test(test_impersonation),
		cmocka_unit_test(test_old_record_revives_nobody),
		cmocka_unit_test(test_leaves_in_turn_cost_nothing),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
