// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership by a list of identities. An unlisted node is removed at once. The node stays removed
 * in spite of any attempt, even if a member still trusts the node. No other node is affected.
 * doc/decisions/018.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hostile.h"

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, MSG_KEY_LEN);
}

/* From now on `at` trusts the nodes of the set bits; 0: all nodes. */
static void set_trusted(struct sim *s, unsigned at, unsigned mask)
{
	struct conf *c = s->node[at].conf;

	free(c->trusted);
	c->trusted = x_calloc(s->n, MSG_KEY_LEN);
	c->n_trusted = 0;
	for (unsigned i = 0; i < s->n; i++) {
		uint8_t secret[32] = { 0 };

		if (!(mask >> i & 1))
			continue;
		memcpy(secret, &s->node[i].identity, sizeof(s->node[i].identity));
		sign_public(secret, c->trusted[c->n_trusted++]);
	}
	qsort(c->trusted, c->n_trusted, MSG_KEY_LEN, compare_keys);
	if (sim_is_up(s, at))
		overlay_set_conf(s->node[at].o, c);
}

static struct sim *new_mesh(unsigned n, uint64_t seed, unsigned mask)
{
	struct sim *s = sim_new(n, seed);

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < n; k++)
			if (k != i)
				sim_seed_of(s, i, k);
		set_trusted(s, i, mask);
		sim_boot(s, i);
	}
	return s;
}

static uint32_t members(struct sim *s, unsigned at)
{
	return nodedb_members(overlay_nodes(s->node[at].o));
}

static const struct overlay_counters *counters(struct sim *s, unsigned at)
{
	return overlay_counters(s->node[at].o);
}

static void expect_unknown(struct sim *s, unsigned at, unsigned of)
{
	struct node *n = nodedb_find(overlay_nodes(s->node[at].o), s->node[of].id);
	struct peer *p = peer_find(s->node[at].o, s->node[of].id);

	assert_null(n);
	assert_true(!p || !p->cur);
}

static bool knows_only(struct sim *s, void *arg)
{
	const unsigned *n = arg;

	for (unsigned i = 0; i < *n; i++) {
		if (members(s, i) != *n)
			return false;
		for (unsigned k = 0; k < *n; k++)
			if (k != i && sim_state(s, i, k) != NODE_REACHABLE)
				return false;
	}
	return true;
}

static void test_all_are_listed(void **state)
{
	struct sim *s = new_mesh(4, 1, 0xf);

	(void)state;
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 60000);
	assert_true(sim_converged(s, NULL));
	for (unsigned i = 0; i < s->n; i++)
		assert_int_equal(counters(s, i)->rx_not_trusted, 0);
	sim_free(s);
}

/* Node 2 knows that node 0 lost the link to node 1. */
static bool is_failure_known(struct sim *s, void *arg)
{
	struct lat_entry e =
		latdb_get(overlay_latdb(s->node[2].o), sim_slot(s, 2, 0), sim_slot(s, 2, 1));

	(void)arg;
	return !e.up || e.silent;
}

/* The row that an expulsion causes delays no row of a failure. */
static void test_failure_after_expulsion(void **state)
{
	struct sim *s = sim_new(4, 12);

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->interval_ms = 60000;
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = 0; k < i; k++)
			sim_seed_of(s, i, k);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_flow_start(s, 0, 1, 10000);
	sim_run(s, 120000);
	set_trusted(s, 0, 0x7);
	sim_run(s, 100);
	sim_set_down(s, 0, 1, true);
	assert_in_range(sim_until(s, is_failure_known, NULL, 120000), 0, 5000);
	sim_free(s);
}

/* Never listed: no answer, no state, one event. */
static void test_never_listed(void **state)
{
	struct wire w = { 0 };
	struct sim *s = sim_new(3, 2);
	unsigned two = 2;

	(void)state;
	s->tap = watch;
	s->tap_arg = &w;
	for (unsigned i = 0; i < s->n; i++)
		set_trusted(s, i, i == 2 ? 0 : 0x3);
	sim_boot_all(s);
	assert_true(sim_until(s, knows_only, &two, 20000) >= 0);
	w.recording = true;
	sim_run(s, 120000);
	expect_unknown(s, 0, 2);
	expect_unknown(s, 1, 2);
	for (size_t i = 0; i < w.n; i++)
		assert_false(w.rec[i].from == 0 && endpoint_equal(&w.rec[i].to, &s->node[2].ep));
	assert_true(counters(s, 0)->rx_not_trusted > 5);
	assert_int_equal(s->node[0].n_events[EV_NOT_TRUSTED], 1);
	assert_int_equal(counters(s, 0)->key_exchanges, 1);
	/* The node joins as soon as the list contains the node. */
	set_trusted(s, 0, 0x7);
	set_trusted(s, 1, 0x7);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	done(s, &w);
}

/* The node is out at once. Restarts, another node-id, a member's node-id and time do not help. Once
 * listed again, the node joins. */
static void test_revoked(void **state)
{
	struct sim *s = new_mesh(3, 3, 0x7);
	node_id_t id = s->node[2].id;
	unsigned two = 2;

	(void)state;
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 3000);
	set_trusted(s, 0, 0x3);
	set_trusted(s, 1, 0x3);
	assert_true(knows_only(s, &two));
	expect_unknown(s, 0, 2);
	sim_run(s, 60000);
	/* The node retries with everything changed except its key. */
	sim_kill(s, 2);
	sim_boot(s, 2);
	sim_run(s, 30000);
	expect_unknown(s, 0, 2);
	sim_kill(s, 2);
	s->node[2].id = s->node[2].conf->node_id = id + 77;
	sim_boot(s, 2);
	sim_run(s, 30000);
	expect_unknown(s, 0, 2);
	expect_unknown(s, 1, 2);
	assert_true(knows_only(s, &two));
	/* With the node-id of another node that is absent for long. */
	sim_kill(s, 2);
	s->node[2].id = s->node[2].conf->node_id = s->node[1].id;
	sim_kill(s, 1);
	sim_boot(s, 2);
	sim_run(s, 400000);
	assert_int_equal(sim_state(s, 0, 1), NODE_UNREACHABLE);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 0);
	sim_kill(s, 2);
	s->node[2].id = s->node[2].conf->node_id = id;
	sim_boot(s, 1);
	sim_boot(s, 2);
	assert_true(sim_until(s, knows_only, &two, 30000) >= 0);
	set_trusted(s, 0, 0x7);
	set_trusted(s, 1, 0);
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	assert_true(sim_until(s, sim_rows_equal, NULL, 10000) >= 0);
	sim_free(s);
}

static void test_others_do_not_notice(void **state)
{
	struct sim *s = new_mesh(4, 4, 0xf);
	struct sim_flow *flow[3];
	unsigned down, three = 3;

	(void)state;
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	flow[0] = sim_flow_start(s, 0, 1, 1000);
	flow[1] = sim_flow_start(s, 1, 2, 1000);
	flow[2] = sim_flow_start(s, 2, 0, 1000);
	sim_run(s, 10000);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 3; i++, sim_run(s, 150))
			set_trusted(s, i, 0x7);
		assert_true(knows_only(s, &three));
		down = sim_events(s, EV_LINK_DOWN);
		sim_run(s, 3000);
		for (unsigned i = 0; i < 3; i++, sim_run(s, 150))
			set_trusted(s, i, round % 2 ? 0xf : 0);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		assert_true(sim_events(s, EV_LINK_DOWN) - down <= 3); /* links of 3 */
	}
	for (unsigned i = 0; i < 3; i++) {
		/* 10 ms for datagrams in flight. */
		assert_true(flow[i]->sent - flow[i]->received <= 10);
		assert_true(sim_flow_gap_ms(flow[i]) < 30);
	}
	sim_free(s);
}

/* 2 still trusts 3, but 0 and 1 do not. No message of 3 gets in through 2. */
static void test_a_third_still_trusts(void **state)
{
	struct sim *s = new_mesh(4, 5, 0xf);
	unsigned hop[LEON_HOPS_MAX];
	uint64_t bytes, calm, fetches;
	uint16_t slot;

	(void)state;
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 60000);
	bytes = s->node[0].tx_bytes;
	sim_run(s, 60000);
	calm = s->node[0].tx_bytes - bytes;
	set_trusted(s, 0, 0x7);
	set_trusted(s, 1, 0x7);
	sim_run(s, 30000);
	bytes = s->node[0].tx_bytes;
	fetches = counters(s, 0)->tx_by_type[MSG_FETCH];
	sim_run(s, 60000);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(members(s, i), 3);
		expect_unknown(s, i, 3);
		slot = sim_slot(s, i, 2);
		/* The rows are accepted completely, although one entry is not a member here. */
		assert_int_equal(latdb_row_seq(overlay_latdb(s->node[i].o), slot),
				 latdb_row_seq(overlay_latdb(s->node[2].o), SLOT_SELF));
		assert_int_equal(sim_path(s, i, 2, hop), 1);
	}
	/* A permanent difference costs little: refused records are not requested endlessly. */
	assert_true(counters(s, 0)->tx_by_type[MSG_FETCH] - fetches < 10);
	assert_true(s->node[0].tx_bytes - bytes < 2 * calm);
	/* 2 knows that 0 and 1 have no link to 3, and reaches all. */
	assert_int_equal(members(s, 2), 4);
	slot = sim_slot(s, 2, 3);
	assert_false(latdb_get(overlay_latdb(s->node[2].o), sim_slot(s, 2, 0), slot).up);
	assert_false(latdb_get(overlay_latdb(s->node[2].o), sim_slot(s, 2, 1), slot).up);
	for (unsigned i = 0; i < 4; i++)
		if (i != 2)
			assert_int_equal(sim_path(s, 2, i, hop), 1);
	/* 3 has lost its links to the other nodes, and reaches only 2. */
	assert_int_equal(sim_state(s, 3, 2), NODE_REACHABLE);
	sim_free(s);
}

/* The revoked node was the relay of the fastest path between two nodes. These nodes find another
 * path. */
static void test_revoked_relay(void **state)
{
	struct sim *s = sim_new(4, 6);
	struct sim_flow *there, *back;
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	sim_set_rtt(s, 0, 1, 80000);
	sim_set_rtt(s, 0, 3, 10000);
	sim_set_rtt(s, 1, 3, 10000);
	sim_set_rtt(s, 0, 2, 60000);
	sim_set_rtt(s, 1, 2, 60000);
	for (unsigned i = 0; i < s->n; i++)
		set_trusted(s, i, 0xf);
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 3);
	there = sim_flow_start(s, 0, 1, 2000);
	back = sim_flow_start(s, 1, 0, 2000);
	sim_run(s, 5000);
	sim_flow_mark(there);
	sim_flow_mark(back);
	/* 0 first. 1 learns the change from the rows. */
	set_trusted(s, 0, 0x7);
	sim_run(s, 10000);
	assert_int_equal(sim_path(s, 0, 1, hop), 1);
	assert_int_equal(sim_path(s, 1, 0, hop), 1);
	assert_true(sim_flow_gap_ms(there) < 200);
	assert_true(sim_flow_gap_ms(back) < 1000);
	sim_flow_mark(there);
	sim_flow_mark(back);
	set_trusted(s, 1, 0x7);
	set_trusted(s, 2, 0x7);
	sim_run(s, 10000);
	assert_true(sim_flow_gap_ms(there) < 60);
	assert_true(sim_flow_gap_ms(back) < 60);
	sim_free(s);
}

/* Many unlisted nodes try to join, directly and through a member without a list. Unlisted nodes get
 * no answer and no table slot, and listed nodes still join. */
static void test_refused_leave_nothing(void **state)
{
	struct sim *s = sim_new(30, 8);
	unsigned slots;

	(void)state;
	for (unsigned i = 0; i < s->n; i++) {
		for (unsigned k = 0; k < 4; k++)
			if (k != i)
				sim_seed_of(s, i, k);
		s->node[i].conf->nodes_maximum = i < 3 ? 5 : 1024;
		set_trusted(s, i, i < 3 ? 0x1f : 0);
		if (i < 4)
			sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	slots = nodedb_slots(overlay_nodes(s->node[0].o));
	for (unsigned i = 5; i < s->n; i++)
		sim_boot(s, i);
	sim_run(s, 120000);
	assert_int_equal(members(s, 3), s->n - 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(members(s, i), 4);
		assert_int_equal(nodedb_slots(overlay_nodes(s->node[i].o)), slots);
		for (unsigned k = 5; k < s->n; k++)
			assert_null(nodedb_find(overlay_nodes(s->node[i].o), s->node[k].id));
		assert_int_equal(s->node[i].o->n_pending, 0);
		assert_int_equal(s->node[i].n_events[EV_TABLE_FULL], 0);
	}
	sim_boot(s, 4);
	sim_run(s, 20000);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sim_state(s, i, 4), NODE_REACHABLE);
	sim_free(s);
}

/* A member passes on the record of a revoked node in the name of a trusted node. */
static void test_a_trusted_name(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 7, &w);
	struct node *one = nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id);
	struct msg m = { .type = MSG_RECORD };
	struct peer *p;

	(void)state;
	set_trusted(s, 0, 0x7);
	assert_int_equal(members(s, 0), 3);
	m.record = one->rec;
	m.record.incarnation += 1000;
	memcpy(m.record.identity, s->node[3].o->identity.public, MSG_KEY_LEN);
	p = peer_find(s->node[2].o, s->node[0].id);
	assert_int_equal(peer_send(s->node[2].o, p, &m), 0);
	sim_run(s, 200);
	assert_true(counters(s, 0)->rx_not_trusted > 0);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	assert_memory_equal(one->key, s->node[1].o->identity.public, MSG_KEY_LEN);
	done(s, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_listed),
		cmocka_unit_test(test_failure_after_expulsion),
		cmocka_unit_test(test_never_listed),
		cmocka_unit_test(test_revoked),
		cmocka_unit_test(test_others_do_not_notice),
		cmocka_unit_test(test_a_third_still_trusts),
		cmocka_unit_test(test_revoked_relay),
		cmocka_unit_test(test_a_trusted_name),
		cmocka_unit_test(test_refused_leave_nothing),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
