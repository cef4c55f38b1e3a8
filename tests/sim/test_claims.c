// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Claims of node-ids, records and table slots (doc/decisions/018): reinstalled machines, wrong
 * clocks, forged claims of a member, and partitions with a duplicate node-id.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "hostile.h"

/* A machine is reinstalled with another key, at once after a leave, else after some time. */
static void test_rebuilt_node(void **state)
{
	struct sim *s = sim_new(4, 13);

	(void)state;
	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_leave(s, 1);
	s->node[1].identity += 1000;
	sim_boot(s, 1);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 1);
	sim_kill(s, 2);
	s->node[2].identity += 1000;
	sim_boot(s, 2);
	assert_int_equal(sim_until(s, sim_converged, NULL, 200000), -1);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 1);
	assert_true(sim_until(s, sim_converged, NULL, 200000) >= 0);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 2);
	assert_int_equal(s->node[3].n_events[EV_IDENTITY_CHANGED], 2);
	sim_free(s);
}

/* Each of five machines is reinstalled in turn, as the documentation describes. The machine returns
 * after five minutes, or at once and waits for five minutes. No node refuses the machine
 * permanently, independent of the order of acceptance and of restarts. Some pairs are connected
 * through relays only. */
static void test_rebuilt_among_five(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 8; seed++) {
		struct sim *s = sim_new(5, 100 + seed);
		unsigned anew = seed % 5;

		for (unsigned i = 0; i < s->n; i++) {
			for (unsigned k = 0; k < s->n; k++)
				if (k != i && seed % 2)
					sim_seed_of(s, i, k);
			sim_seed_of(s, i, i ? 0 : 1);
			sim_boot(s, i);
		}
		if (seed % 4 > 1)
			sim_set_down(s, anew, (anew + 1) % 5, true);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_run(s, 60000);
		sim_kill(s, anew);
		s->node[anew].identity += 1000;
		if (seed < 4)
			sim_run(s, 305000);
		sim_boot(s, anew);
		sim_run(s, 100000);
		if (seed % 3 == 0) {
			sim_kill(s, anew);
			sim_boot(s, anew);
		} else if (seed % 3 == 1) {
			sim_kill(s, (anew + 2) % 5);
			sim_boot(s, (anew + 2) % 5);
		}
		assert_true(sim_until(s, sim_converged, NULL, 260000) >= 0);
		sim_run(s, 20000);
		assert_true(sim_until(s, sim_rows_equal, NULL, 10000) >= 0);
		sim_free(s);
	}
}

/* A member has no direct link to a node, or no link at all, for some time. Until then another node
 * repeatedly claims the node-id. The member must not accept the claim. */
static void test_no_session_for_a_moment(void **state)
{
	(void)state;
	for (unsigned relayed = 0; relayed < 2; relayed++) {
		struct sim *s = sim_new(6, 200 + relayed);

		for (unsigned i = 0; i < 5; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			sim_boot(s, i);
		}
		/* Node 5 impersonates node 1 towards node 4, which has no connection to node 1. */
		s->node[5].id = s->node[5].conf->node_id = s->node[1].id;
		for (unsigned i = 0; i < 5; i++)
			sim_seed_of(s, 5, i);
		sim_run(s, 60000);
		sim_set_down(s, 1, 4, true);
		for (unsigned i = 0; i < 4 && !relayed; i++)
			sim_set_down(s, i, 4, true);
		sim_boot(s, 5);
		sim_run(s, relayed ? 900000 : 280000);
		for (unsigned i = 0; i < 5; i++) {
			const struct node *n =
				nodedb_find(overlay_nodes(s->node[i].o), s->node[1].id);

			assert_int_equal(s->node[i].n_events[EV_IDENTITY_CHANGED], 0);
			if (i != 1)
				assert_memory_equal(n->key, s->node[1].o->identity.public,
						    MSG_KEY_LEN);
		}
		assert_true(s->node[4].n_events[EV_DUPLICATE_ID] > 0);
		for (unsigned i = 0; i < 4; i++)
			sim_set_down(s, i, 4, false);
		sim_kill(s, 5);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_free(s);
	}
}

static struct sim *new_star(unsigned n, uint64_t seed)
{
	struct sim *s = sim_new(n, seed);

	for (unsigned i = 0; i < n; i++) {
		sim_seed_of(s, i, i ? 0 : 1);
		snprintf(s->node[i].conf->node_name, sizeof(s->node[i].conf->node_name), "site-%u",
			 i);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, 5000);
	return s;
}

/* Sends a message from `liar` to all running nodes. */
static void notify_all(struct sim *s, unsigned liar, const struct msg *m)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct peer *p = i != liar && sim_is_up(s, i)
					 ? peer_find(s->node[liar].o, s->node[i].id)
					 : NULL;

		if (p)
			(void)peer_send(s->node[liar].o, p, m);
	}
	sim_run(s, 100);
}

static void restart_all_but(struct sim *s, unsigned absent, unsigned liar)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (i == absent || i == liar)
			continue;
		sim_kill(s, i);
		sim_run(s, 1000);
		sim_boot(s, i);
	}
}

/* A member repeatedly sends records of an absent node in the highest version, signed with another
 * key, while all other nodes restart. The returning node has the node-id back at once. */
static void test_record_of_an_absent_node(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct sim *s = new_star(6, 300 + seed);
		unsigned n = s->n;
		uint64_t version = seed % 2 ? 1700000400000000ULL : (1ULL << 53) - 1;
		struct msg m;

		sim_kill(s, 1);
		sim_run(s, 400000);
		for (unsigned k = 0; k < 21; k++) {
			m = made_up_record(s, s->node[1].id, 4711 + k % 3 * (seed % 2), version,
					   UINT32_MAX - 60 + k, 0);
			notify_all(s, 3, &m);
			if (k == 5 && seed > 1) {
				restart_all_but(s, 1, 3);
				sim_run(s, 5000);
			}
			sim_run(s, 10000);
		}
		/* Nodes that had a session with the node itself keep the record from that
		 * session. */
		for (unsigned i = 0; i < n && seed < 2; i++)
			if (i != 1 && i != 3)
				assert_string_equal(nodedb_find(overlay_nodes(s->node[i].o),
								s->node[1].id)
							    ->rec.name,
						    "site-1");
		sim_boot(s, 1);
		for (unsigned k = 0; k < 20; k++) {
			sim_run(s, 1000);
			m = made_up_record(s, s->node[1].id, 4711 + k % 3 * (seed % 2), version,
					   UINT32_MAX - 30 + k, 0);
			notify_all(s, 3, &m);
		}
		assert_true(reach_each_other(s, &n));
		/* Records of nodes without any session are not passed on. */
		for (unsigned i = 0; i < n; i++)
			assert_true(s->node[i].n_events[EV_IDENTITY_CHANGED] <= 1);
		/* The result is unchanged after the node was away for some time. */
		sim_kill(s, 1);
		sim_run(s, 60000);
		m = made_up_record(s, s->node[1].id, 4711, version, UINT32_MAX, 0);
		notify_all(s, 3, &m);
		sim_boot(s, 1);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
		sim_free(s);
	}
}

/* Two records for a node-id by two keys, without a session of either. All nodes end with one record
 * for every order of arrival, and not with the record of the year 2255. */
static void test_claims_nobody_stands_for(void **state)
{
	struct sim *s = new_star(4, 350);
	uint64_t now = 1700000000000000ULL;
	const struct msg claim[] = {
		made_up_record(s, 0x03030303, 1, now, 9, 0),
		made_up_record(s, 0x03030303, 2, now + 5, 1, 0),
		made_up_record(s, 0x03030303, 3, (1ULL << 53) - 1, 1, 0),
		made_up_record(s, 0x03030303, 4, now + 5, 1, 0),
	};
	unsigned wins = memcmp(claim[1].record.identity, claim[3].record.identity, 7) > 0 ? 1 : 3;

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < 3; i++)
			tell(s, 3, i, &claim[(round + i) % 4]);
		sim_run(s, 15000);
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct node *n = nodedb_find(overlay_nodes(s->node[i].o), 0x03030303);

		assert_memory_equal(n->rec.identity, claim[wins].record.identity, MSG_KEY_LEN);
		assert_int_equal(s->node[i].n_events[EV_IDENTITY_CHANGED], 0);
		assert_int_equal(nodedb_digest(overlay_nodes(s->node[i].o)),
				 nodedb_digest(overlay_nodes(s->node[0].o)));
	}
	sim_free(s);
}

/* A node had a clock that was ten years ahead, or in 1970, and now has the correct time. The
 * node is unchanged or reinstalled with another key, and the other nodes ran all the time or
 * restarted. */
static void test_wrong_clocks(void **state)
{
	static const int64_t shift_us[] = { 10LL * 365 * 86400 * 1000000, -1690000000000000LL };

	(void)state;
	for (unsigned k = 0; k < 8; k++) {
		struct sim *s = sim_new(5, 400 + k);
		bool anew = k & 2, restart = k & 4;

		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			s->node[i].wall_shift_us = i == 2 ? shift_us[k % 2] : 0;
			sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_kill(s, 2);
		s->node[2].identity += anew ? 1000 : 0;
		s->node[2].wall_shift_us = 0;
		if (restart)
			restart_all_but(s, 2, 2);
		sim_run(s, anew ? 301000 : 5000);
		sim_boot(s, 2);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		assert_true(sim_until(s, sim_rows_equal, NULL, 20000) >= 0);
		/* A receiver with a clock in 1970 takes part like any node. */
		sim_kill(s, 4);
		s->node[4].wall_shift_us = shift_us[1];
		sim_boot(s, 4);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_free(s);
	}
}

/* Both halves of a partition have a node with one node-id and different keys. After the partition
 * each half keeps the node of its sessions, both report the conflict, and the traffic stays low.
 * After one of the two has left, all nodes have the other one. */
static void test_two_keys_after_a_partition(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct sim *s = sim_new(6, 500 + seed);
		unsigned stays = seed % 2 ? 5 : 0, goes = 5 - stays;
		uint64_t bytes;

		sim_partition(s, 3, true);
		s->node[5].id = s->node[5].conf->node_id = s->node[0].id;
		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i < 3 ? 1 + (i == 1) : 3 + (i == 3));
			sim_seed_of(s, i, i < 3 ? 4 : 2);
			s->node[i].wall_shift_us = (int64_t)(sim_random(s) % 100) * 1000000000;
			sim_boot(s, i);
		}
		sim_run(s, 60000);
		sim_partition(s, 3, false);
		sim_run(s, 120000);
		for (unsigned i = 1; i < 5; i++) {
			const struct node *at =
				nodedb_find(overlay_nodes(s->node[i].o), s->node[0].id);

			assert_int_equal(sim_state(s, i, 1 + i % 4), NODE_REACHABLE);
			assert_memory_equal(at->key, s->node[i < 3 ? 0 : 5].o->identity.public,
					    MSG_KEY_LEN);
		}
		assert_true(sim_events(s, EV_DUPLICATE_ID) > 0);
		bytes = s->node[1].tx_bytes;
		sim_run(s, 60000);
		assert_true(s->node[1].tx_bytes - bytes < 60 * 5000);
		sim_kill(s, goes);
		sim_run(s, 320000);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		for (unsigned i = 1; i < 5; i++)
			assert_memory_equal(
				nodedb_find(overlay_nodes(s->node[i].o), s->node[0].id)->key,
				s->node[stays].o->identity.public, MSG_KEY_LEN);
		sim_free(s);
	}
}

/* --- full tables --- */

#define SMALL_TABLE 16

static bool knows(struct sim *s, unsigned at, node_id_t id)
{
	return nodedb_find(overlay_nodes(s->node[at].o), id) != NULL;
}

/* A member invents more nodes than the table can hold, and departures of real nodes. Real members
 * stay, a new node is accepted everywhere, an absent node returns, and no node passes on the
 * invented nodes. */
static void test_made_up_nodes(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct sim *s = sim_new(8, 600 + k);
		unsigned n = s->n;
		uint16_t flags = k & 1 ? RECORD_LEFT : 0;

		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			s->node[i].conf->nodes_maximum = SMALL_TABLE;
			if (i != 7)
				sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_kill(s, 6);
		for (unsigned i = 0; i < 400; i++) {
			struct msg m = made_up_record(s, 0x01010101 + i, 9000 + i, 77, 5, flags);
			struct peer *p = peer_find(s->node[3].o, s->node[1].id);

			if (k & 2)
				(void)peer_send(s->node[3].o, p, &m);
			else
				notify_all(s, 3, &m);
		}
		sim_run(s, 15000);
		for (unsigned i = 0; i < 400; i++)
			if (k & 2)
				assert_false(knows(s, 2, 0x01010101 + i));
		assert_true(knows(s, 1, 0x01010101) || knows(s, 1, 0x01010101 + 399));
		sim_boot(s, 6);
		sim_boot(s, 7);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		/* Two liars share one limit of table entries. */
		sim_kill(s, 7);
		for (unsigned i = 0; i < 400; i++) {
			struct msg m = made_up_record(s, 0x02020202 + i, 19000 + i, 77, 5, flags);

			notify_all(s, 2 + i % 2, &m);
		}
		sim_leave(s, 6);
		sim_boot(s, 6);
		sim_boot(s, 7);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		for (unsigned i = 0; i < s->n; i++) {
			assert_true(nodedb_members(overlay_nodes(s->node[i].o)) <= SMALL_TABLE);
			assert_true(nodedb_slots(overlay_nodes(s->node[i].o)) <= 3 * SMALL_TABLE);
		}
		sim_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rebuilt_node),
		cmocka_unit_test(test_rebuilt_among_five),
		cmocka_unit_test(test_no_session_for_a_moment),
		cmocka_unit_test(test_record_of_an_absent_node),
		cmocka_unit_test(test_claims_nobody_stands_for),
		cmocka_unit_test(test_wrong_clocks),
		cmocka_unit_test(test_two_keys_after_a_partition),
		cmocka_unit_test(test_made_up_nodes),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
