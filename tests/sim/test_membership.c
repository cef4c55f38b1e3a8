// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Membership: join, leave, failure, partition, restart, return, NAT, and lost, duplicated and
 * reordered datagrams. Every test ends in one state of all running nodes (design.md section 3,
 * points 1, 2). Digests are equal, exactly the running nodes are members, and all pairs have a
 * path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/view.h"
#include "sim.h"

static void expect_converged(struct sim *s, int64_t within_ms)
{
	int64_t took = sim_until(s, sim_converged, NULL, within_ms);

	if (took < 0)
		print_error("not converged within %lld ms, seed %llu\n", (long long)within_ms,
			    (unsigned long long)s->seed);
	assert_true(took >= 0);
	printf("# converged after %lld ms\n", (long long)took);
}

static void expect_rows_equal(struct sim *s, int64_t within_ms)
{
	int64_t took = sim_until(s, sim_rows_equal, NULL, within_ms);

	if (took < 0) {
		print_error("rows differ after %lld ms, seed %llu\n", (long long)within_ms,
			    (unsigned long long)s->seed);
		sim_rows_equal(s, s);
	}
	assert_true(took >= 0);
	printf("# rows equal after %lld ms\n", (long long)took);
}

/* n nodes that join through node 0, all running and converged. */
static struct sim *new_mesh(unsigned n, uint64_t seed)
{
	struct sim *s = sim_new(n, seed);

	sim_boot_all(s);
	expect_converged(s, 20000);
	return s;
}

static void test_two_nodes_meet(void **state)
{
	struct sim *s = new_mesh(2, 1);

	(void)state;
	assert_int_equal(s->node[0].n_events[EV_JOINED], 1);
	assert_int_equal(s->node[1].n_events[EV_JOINED], 1);
	assert_int_equal(s->node[0].n_events[EV_LINK_UP], 1);
	expect_rows_equal(s, 20000);
	sim_free(s);
}

static void test_join_through_one_member(void **state)
{
	struct sim *s = new_mesh(8, 2);

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(s->node[i].n_events[EV_JOINED], 7);
	expect_rows_equal(s, 200000);
	sim_free(s);
}

/* Each node knows only the previous one. */
static void test_chain_of_joins(void **state)
{
	struct sim *s = sim_new(10, 3);

	(void)state;
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, i - 1);
		sim_boot(s, i);
	}
	expect_converged(s, 30000);
	sim_free(s);
}

/* Seeds refer to nodes that do not exist yet. */
static void test_boot_order_does_not_matter(void **state)
{
	struct sim *s = sim_new(6, 4);

	(void)state;
	for (unsigned i = 1; i < s->n; i++)
		sim_seed_of(s, i, i - 1);
	for (unsigned i = s->n; i-- > 0;) {
		sim_boot(s, i);
		sim_run(s, 1500);
	}
	expect_converged(s, 30000);
	sim_free(s);
}

static void test_leave(void **state)
{
	struct sim *s = new_mesh(5, 5);
	struct sim_flow *f;

	(void)state;
	f = sim_flow_start(s, 1, 2, 10000);
	sim_run(s, 500);
	sim_leave(s, 4);
	sim_run(s, 200);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(s->node[i].n_events[EV_LEFT], 1);
		assert_int_equal(sim_state(s, i, 4), NODE_LEFT);
		assert_true(s->node[i].n_purges >= 1);
	}
	expect_converged(s, 1000);
	/* The departed node does not reappear. */
	sim_run(s, 60000);
	expect_converged(s, 0);
	assert_true(sim_flow_gap_ms(f) < 100);
	sim_free(s);
}

static void test_leave_and_return(void **state)
{
	struct sim *s = new_mesh(4, 6);

	(void)state;
	sim_leave(s, 3);
	sim_run(s, 3000);
	sim_boot(s, 3);
	expect_converged(s, 10000);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s->node[i].n_events[EV_RETURNED], 1);
	sim_free(s);
}

/* The leave reaches one node only, which forwards the message. */
static void test_leave_that_gets_lost(void **state)
{
	struct sim *s = new_mesh(5, 7);

	(void)state;
	for (unsigned i = 1; i < 4; i++)
		sim_link(s, 4, i)->loss_pm = 1000;
	sim_leave(s, 4);
	sim_run(s, 15000);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sim_state(s, i, 4), NODE_LEFT);
	expect_converged(s, 1000);
	sim_free(s);
}

static void test_bootstrap_node_dies(void **state)
{
	struct sim *s = sim_new(6, 8);

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	sim_seed_of(s, 5, 3);
	sim_run(s, 10000);
	sim_kill(s, 0);
	sim_run(s, 8000);
	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(sim_state(s, i, 0), NODE_UNREACHABLE);
	/* No node is special: another node introduces new nodes. */
	sim_boot(s, 5);
	sim_run(s, 8000);
	for (unsigned i = 1; i < 6; i++)
		for (unsigned k = 1; k < 6; k++)
			if (i != k)
				assert_int_equal(sim_state(s, i, k), NODE_REACHABLE);
	sim_boot(s, 0);
	expect_converged(s, 20000);
	sim_free(s);
}

static void test_several_die_at_once(void **state)
{
	struct sim *s = new_mesh(10, 9);

	(void)state;
	for (unsigned i = 0; i < 10; i += 2)
		sim_kill(s, i);
	sim_run(s, 10000);
	for (unsigned i = 1; i < 10; i += 2) {
		for (unsigned k = 0; k < 10; k++) {
			if (k != i)
				assert_int_equal(sim_state(s, i, k),
						 k % 2 ? NODE_REACHABLE : NODE_UNREACHABLE);
		}
		assert_true(s->node[i].n_purges >= 5);
	}
	sim_free(s);
}

static void test_silent_node_is_forgotten(void **state)
{
	struct sim *s = sim_new(4, 10);

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->forget_ms = 30000;
	sim_boot_all(s);
	expect_converged(s, 10000);
	sim_kill(s, 3);
	sim_run(s, 20000);
	assert_int_equal(sim_state(s, 0, 3), NODE_UNREACHABLE);
	sim_run(s, 25000);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(sim_state(s, i, 3), NODE_LEFT);
		assert_int_equal(s->node[i].n_events[EV_FORGOTTEN], 1);
	}
	/* Tombstones expire too. */
	sim_run(s, 130000);
	assert_int_equal(sim_slot(s, 0, 3), SLOT_NONE);
	assert_int_equal(s->node[0].n_events[EV_FORGOTTEN], 1);
	sim_boot(s, 3);
	expect_converged(s, 10000);
	sim_free(s);
}

static void partition_for(uint64_t seed, int64_t ms, uint32_t forget_ms, bool both_sides)
{
	struct sim *s = sim_new(8, seed);

	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->forget_ms = forget_ms;
	sim_boot_all(s);
	if (both_sides)
		sim_seed_of(s, 0, 7);
	expect_converged(s, 20000);
	/* Node 0 with 1, 2, 3; the other half has its own seed in 0 only. */
	sim_partition(s, 4, true);
	sim_run(s, ms);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 4; k < 8; k++)
			assert_int_not_equal(sim_state(s, i, k), NODE_REACHABLE);
	for (unsigned i = 4; i < 8; i++)
		for (unsigned k = 4; k < 8; k++)
			if (i != k)
				assert_int_equal(sim_state(s, i, k), NODE_REACHABLE);
	sim_partition(s, 4, false);
	expect_converged(s, 30000);
	expect_rows_equal(s, 200000);
	sim_free(s);
}

static void test_partition_heals(void **state)
{
	(void)state;
	partition_for(11, 30000, 3600000, false);
}

/* Both halves have forgotten each other. Only the configured seeds have an address. */
static void test_partition_longer_than_memory(void **state)
{
	(void)state;
	partition_for(12, 60000, 20000, false);
	partition_for(13, 200000, 20000, true);
}

static void test_restart(void **state)
{
	struct sim *s = new_mesh(5, 14);

	(void)state;
	sim_kill(s, 2);
	sim_run(s, 300); /* before the failure is detected */
	sim_boot(s, 2);
	expect_converged(s, 6000);
	for (unsigned i = 0; i < 5; i++)
		if (i != 2)
			assert_int_equal(s->node[i].n_events[EV_RETURNED], 1);
	expect_rows_equal(s, 20000);
	sim_free(s);
}

/* The clock was set back by a year, so the node appears older than its previous run. */
static void test_restart_with_clock_set_back(void **state)
{
	struct sim *s = new_mesh(5, 15);

	(void)state;
	sim_kill(s, 2);
	s->node[2].wall_shift_us = -365LL * 86400 * 1000000;
	sim_run(s, 300);
	sim_boot(s, 2);
	sim_run(s, 100);
	expect_converged(s, 15000);
	/* Not only the stale record: all nodes know the new name. */
	for (unsigned i = 0; i < 5; i++) {
		struct node *n = nodedb_find(overlay_nodes(s->node[i].o), s->node[2].id);

		assert_true(n->rec.incarnation >
			    (uint64_t)(1700000000000000LL + s->node[2].wall_shift_us / 2));
	}
	expect_rows_equal(s, 200000);
	sim_free(s);
}

/* Frame counters of one run do not apply to the next run, which may start lower. A new session
 * within one run is not a new run. */
static void expect_new_run_notified(struct sim *s, int64_t wall_shift_us, unsigned purges)
{
	unsigned before[5], purged[5];

	for (unsigned i = 0; i < 5; i++) {
		before[i] = s->node[i].n_new_runs;
		purged[i] = s->node[i].n_purges;
	}
	sim_kill(s, 2);
	s->node[2].wall_shift_us += wall_shift_us;
	sim_run(s, 300);
	sim_boot(s, 2);
	sim_run(s, 100);
	expect_converged(s, 15000);
	sim_run(s, 60000);
	for (unsigned i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		assert_int_equal(s->node[i].n_new_runs, before[i] + 1);
		assert_int_equal(s->node[i].n_purges, purged[i] + purges);
	}
}

static void test_a_new_run_is_notified(void **state)
{
	struct sim *s = new_mesh(5, 19);

	(void)state;
	sim_run(s, 60000);
	/* All pairs had a session once. */
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(s->node[i].n_new_runs, 4);
	expect_new_run_notified(s, 0, 0);
	/* Within the elapsed time, and so below the start value of the previous run. */
	expect_new_run_notified(s, -sim_now(s).ns / 1000 - 500000, 0);
	sim_free(s);
}

static void test_leave_then_return_with_clock_set_back(void **state)
{
	struct sim *s = new_mesh(4, 16);

	(void)state;
	sim_leave(s, 2);
	sim_run(s, 5000);
	s->node[2].wall_shift_us = -3600LL * 1000000;
	sim_boot(s, 2);
	expect_converged(s, 15000);
	sim_free(s);
}

static void test_address_changes(void **state)
{
	struct sim *s = new_mesh(5, 17);

	(void)state;
	sim_move(s, 3);
	sim_run(s, 5000);
	expect_converged(s, 0);
	for (unsigned i = 0; i < 5; i++) {
		struct overlay_link l;

		if (i == 3)
			continue;
		assert_true(overlay_link(s->node[i].o, sim_slot(s, i, 3), &l));
		assert_true(l.up);
		assert_true(endpoint_equal(&l.ep, &s->node[3].ep));
		assert_true(s->node[i].n_events[EV_ENDPOINT] >= 1);
	}
	/* The node announces the new address in its record after a report of peers (`observed` in
	 * HELLO). */
	sim_run(s, 5000);
	assert_memory_equal(
		&nodedb_find(overlay_nodes(s->node[0].o), s->node[3].id)->rec.locator[0],
		&s->node[3].ep, sizeof(struct endpoint));
	sim_free(s);
}

static void test_returns_at_another_address(void **state)
{
	struct sim *s = new_mesh(5, 18);

	(void)state;
	sim_kill(s, 3);
	sim_run(s, 10000);
	sim_move(s, 3);
	sim_boot(s, 3);
	expect_converged(s, 10000);
	/* The seed of all other nodes moves as well. */
	sim_kill(s, 0);
	sim_run(s, 5000);
	sim_move(s, 0);
	sim_seed_of(s, 0, 1);
	sim_boot(s, 0);
	expect_converged(s, 20000);
	sim_free(s);
}

/* Two nodes behind different NATs join through a public node and reach each other directly. */
static void test_nat(void **state)
{
	struct sim *s = sim_new(5, 19);
	struct overlay_link l;

	(void)state;
	sim_put_behind_nat(s, 3);
	sim_put_behind_nat(s, 4);
	sim_boot_all(s);
	expect_converged(s, 20000);
	sim_run(s, 15000);
	for (unsigned a = 0; a < 5; a++) {
		for (unsigned b = 0; b < 5; b++) {
			if (a == b)
				continue;
			assert_true(overlay_link(s->node[a].o, sim_slot(s, a, b), &l));
			assert_true(l.up);
			assert_int_equal(l.behind_nat, b >= 3);
		}
	}
	/* The NAT replaces its mapping. */
	sim_move(s, 3);
	sim_run(s, 60000);
	expect_converged(s, 0);
	assert_true(overlay_link(s->node[4].o, sim_slot(s, 4, 3), &l));
	assert_true(l.up);
	sim_free(s);
}

static void lossy(uint64_t seed, uint16_t loss_pm, uint16_t dup_pm)
{
	struct sim *s = sim_new(10, seed);
	const struct sim_link clean = { .delay_us = 20000 };

	sim_set_all(s, (struct sim_link){ .delay_us = 10000,
					  .jitter_us = 20000,
					  .loss_pm = loss_pm,
					  .dup_pm = dup_pm });
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, i / 2);
		sim_boot(s, i);
	}
	/* With this loss, links go down at times. All nodes must be known, and no effect may remain
	 * after the loss ends. */
	sim_run(s, 60000);
	for (unsigned i = 0; i < s->n; i++)
		assert_int_equal(nodedb_members(overlay_nodes(s->node[i].o)), s->n);
	sim_set_all(s, clean);
	expect_converged(s, 20000);
	expect_rows_equal(s, 300000);
	sim_free(s);
}

static void test_lost_duplicated_reordered(void **state)
{
	(void)state;
	lossy(20, 50, 50);
	lossy(21, 100, 100);
	lossy(22, 200, 300);
}

static void test_table_full(void **state)
{
	struct sim *s = sim_new(6, 23);

	(void)state;
	for (unsigned i = 0; i < s->n; i++)
		s->node[i].conf->nodes_maximum = 4;
	sim_boot_all(s);
	sim_run(s, 20000);
	assert_true(sim_events(s, EV_TABLE_FULL) > 0);
	for (unsigned i = 0; i < 6; i++)
		assert_true(nodedb_members(overlay_nodes(s->node[i].o)) <= 4);
	sim_free(s);
}

static void test_duplicate_id(void **state)
{
	struct sim *s = sim_new(5, 24);
	uint64_t bytes;

	(void)state;
	/* Node 4 uses the node-id of node 3. */
	s->node[4].id = s->node[3].id;
	s->node[4].wall_shift_us = 5000000;
	for (unsigned i = 0; i < 5; i++) {
		if (i)
			sim_seed_of(s, i, i < 4 ? 0 : 1);
		sim_boot(s, i);
	}
	sim_run(s, 60000);
	assert_true(sim_events(s, EV_DUPLICATE_ID) > 0);
	/* The two nodes do not answer each other endlessly. */
	bytes = sim_tx_bytes(s);
	sim_run(s, 10000);
	assert_true(sim_tx_bytes(s) - bytes < 5 * 10 * 10000);
	sim_free(s);
}

/* A VLAN of a class moved; the nodes named are on the LAN. */
static void move_vlans(struct sim *s, unsigned who, struct record_lan *lan, uint64_t classes)
{
	record_lan_count(lan, classes);
	overlay_set_lan(s->node[who].o, RECORD_LAN, lan);
}

/* Two routers at one site. The LAN fails and recovers every 6 s for a minute. Both announce each of
 * three steps. The tenth failure is processed as quickly as the first. */
static void test_lan_cut_again_and_again(void **state)
{
	struct sim *s = new_mesh(4, 27);
	struct sim_node *other = &s->node[0];
	struct record_lan lan[4] = { 0 };

	(void)state;
	lan[2].n = lan[3].n = 1;
	lan[2].node[0] = s->node[3].id;
	lan[3].node[0] = s->node[2].id;
	move_vlans(s, 2, &lan[2], 0);
	move_vlans(s, 3, &lan[3], 0);
	sim_run(s, 1000);
	for (unsigned i = 0; i < 30; i++) {
		for (unsigned who = 2; who < 4; who++) {
			other->n_lan_changes = 0;
			other->lan_classes = 0;
			move_vlans(s, who, &lan[who], 1ULL << i);
			sim_run(s, 200);
			/* Behind the node itself, and behind the other node. */
			assert_int_equal(other->n_lan_changes, 2);
			assert_true(other->lan_classes == 1ULL << i);
		}
		sim_run(s, 1600);
	}
	assert_int_equal(other->n_events[EV_LAN_FLAPPING], 0);
	sim_free(s);
}

/* A node may announce changes of its LAN at any rate. The cost for other nodes is bounded, and its
 * last message counts. */
static void test_lan_changes(void **state)
{
	struct sim *s = new_mesh(3, 27);
	struct sim_node *other = &s->node[0];
	struct record_lan lan = { 0 };

	(void)state;
	/* Two routers at one site exchange roles at times. Each change takes effect at once. */
	for (unsigned i = 0; i < 3; i++) {
		move_vlans(s, 2, &lan, 1ULL << i);
		sim_run(s, 1000);
		assert_int_equal(other->n_lan_changes, i + 1);
		assert_true(other->lan_classes == (2ULL << i) - 1);
	}
	/* Flags alone move no address. */
	overlay_set_lan(s->node[2].o, RECORD_LAN | RECORD_LAN_BLOCKED, &lan);
	sim_run(s, 60000);
	assert_int_equal(other->n_lan_changes, 3);
	assert_int_equal(other->n_events[EV_LAN_FLAPPING], 0);
	other->n_lan_changes = 0;
	other->lan_classes = 0;
	for (unsigned i = 0; i < 3000; i++) {
		move_vlans(s, 2, &lan, 1ULL << i % 10);
		sim_run(s, 20);
	}
	/* Eight in a row, and five each second. */
	assert_in_range(other->n_lan_changes, 8, 8 + 5 * 60 + 1);
	assert_in_range(other->n_events[EV_LAN_FLAPPING], 1, 2);
	sim_run(s, 200);
	other->n_lan_changes = 0;
	move_vlans(s, 2, &lan, 1ULL << 63);
	sim_run(s, 250);
	assert_int_equal(other->n_lan_changes, 1);
	/* Delayed messages are dropped with the node. */
	assert_true(other->lan_classes == (((1ULL << 10) - 1) | 1ULL << 63));
	sim_free(s);
}

/* Messages of a node about other nodes have a lower rate limit than messages about the own node. */
static void test_lan_changes_of_others(void **state)
{
	struct sim *s = new_mesh(4, 27);
	struct sim_node *other = &s->node[0];
	struct record_lan lan[4] = { 0 };

	(void)state;
	lan[2].n = lan[3].n = 1;
	lan[2].node[0] = s->node[3].id;
	lan[3].node[0] = s->node[2].id;
	move_vlans(s, 3, &lan[3], 0);
	for (unsigned i = 0; i < 240; i++) {
		move_vlans(s, 2, &lan[2], 1ULL << i % 10);
		sim_run(s, 250);
	}
	/* All messages about itself; 30 consecutive ones about other nodes, and one each 2 s. */
	assert_in_range(other->n_lan_changes, 240 + 30, 240 + 30 + 60 / 2 + 1);
	assert_in_range(other->n_events[EV_LAN_FLAPPING], 1, 2);
	sim_run(s, 2000);
	assert_true(other->lan_classes == (1ULL << 10) - 1);
	sim_free(s);
}

/* The successor of a dead router announces changes for both routers, but only if both announced a
 * shared LAN. */
static void test_lan_of_two(void **state)
{
	struct sim *s = new_mesh(4, 28);
	struct sim_node *other = &s->node[0];
	struct record_lan lan[4] = { 0 };

	(void)state;
	lan[2].n = lan[3].n = 1;
	lan[2].node[0] = s->node[3].id;
	lan[3].node[0] = s->node[1].id;
	move_vlans(s, 3, &lan[3], 0);
	move_vlans(s, 2, &lan[2], 1);
	sim_run(s, 1000);
	assert_int_equal(other->n_lan_changes, 1);
	lan[3].node[0] = s->node[2].id;
	move_vlans(s, 3, &lan[3], 0);
	sim_run(s, 1000);
	move_vlans(s, 2, &lan[2], 1);
	sim_run(s, 1000);
	assert_int_equal(other->n_lan_changes, 3);
	sim_free(s);
}

static void test_lan_down(void **state)
{
	struct sim *s = new_mesh(3, 29);

	(void)state;
	for (unsigned i = 1; i < 4; i++) {
		overlay_set_lan(s->node[2].o, RECORD_LAN_DOWN, NULL);
		sim_run(s, 200);
		assert_int_equal(s->node[0].n_lan_left, i);
		assert_int_equal(s->node[1].n_lan_left, i);
		overlay_set_lan(s->node[2].o, 0, NULL);
		sim_run(s, 200);
	}
	assert_int_equal(s->node[0].n_lan_left, 3);
	assert_int_equal(s->node[0].n_lan_changes, 0);
	sim_free(s);
}

/* A change of name and transit on a running node reaches all nodes. */
static void test_reload(void **state)
{
	struct sim *s = new_mesh(4, 25);
	struct conf other = *s->node[2].conf;

	(void)state;
	snprintf(other.node_name, sizeof(other.node_name), "renamed");
	other.transit_disable = true;
	overlay_set_conf(s->node[2].o, &other);
	sim_run(s, 2000);
	for (unsigned i = 0; i < 4; i++) {
		struct node *n = nodedb_find(overlay_nodes(s->node[i].o), s->node[2].id);

		assert_string_equal(n->rec.name, "renamed");
		assert_true(n->rec.flags & RECORD_TRANSIT_DISABLED);
	}
	expect_converged(s, 100);
	sim_free(s);
}

struct ping_result {
	unsigned n;
	int64_t rtt_us;
};

static void ping_done(void *arg, int64_t rtt_us)
{
	struct ping_result *r = arg;

	r->n++;
	r->rtt_us = rtt_us;
}

static void test_ping(void **state)
{
	struct sim *s = new_mesh(4, 26);
	struct ping_result r = { 0 }, cancelled = { 0 };
	node_id_t hop[2] = { s->node[1].id, s->node[2].id };

	(void)state;
	sim_set_rtt(s, 0, 1, 30000);
	sim_set_rtt(s, 1, 2, 50000);
	overlay_ping(s->node[0].o, hop, 2, 0, 1000, ping_done, &r);
	overlay_ping(s->node[0].o, hop, 2, 0, 1000, ping_done, &cancelled);
	overlay_ping_cancel(s->node[0].o, &cancelled);
	sim_run(s, 2000);
	assert_int_equal(r.n, 1);
	assert_in_range(r.rtt_us, 79900, 80100);
	assert_int_equal(cancelled.n, 0);
	/* Padded, over a link with a smaller MTU. */
	sim_link(s, 0, 1)->mtu = 1300;
	overlay_ping(s->node[0].o, hop, 1, 1400, 500, ping_done, &r);
	sim_run(s, 1000);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.rtt_us, -ETIMEDOUT);
	hop[1] = 0x7f000001;
	overlay_ping(s->node[0].o, hop, 2, 0, 500, ping_done, &r);
	assert_int_equal(r.n, 2);
	sim_run(s, 100);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.rtt_us, -ENOKEY);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_nodes_meet),
		cmocka_unit_test(test_join_through_one_member),
		cmocka_unit_test(test_chain_of_joins),
		cmocka_unit_test(test_boot_order_does_not_matter),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_leave_and_return),
		cmocka_unit_test(test_leave_that_gets_lost),
		cmocka_unit_test(test_bootstrap_node_dies),
		cmocka_unit_test(test_several_die_at_once),
		cmocka_unit_test(test_silent_node_is_forgotten),
		cmocka_unit_test(test_partition_heals),
		cmocka_unit_test(test_partition_longer_than_memory),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_restart_with_clock_set_back),
		cmocka_unit_test(test_a_new_run_is_notified),
		cmocka_unit_test(test_leave_then_return_with_clock_set_back),
		cmocka_unit_test(test_address_changes),
		cmocka_unit_test(test_returns_at_another_address),
		cmocka_unit_test(test_nat),
		cmocka_unit_test(test_lost_duplicated_reordered),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_duplicate_id),
		cmocka_unit_test(test_lan_cut_again_and_again),
		cmocka_unit_test(test_lan_changes),
		cmocka_unit_test(test_lan_changes_of_others),
		cmocka_unit_test(test_lan_of_two),
		cmocka_unit_test(test_lan_down),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_ping),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
