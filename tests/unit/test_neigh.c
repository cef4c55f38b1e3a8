// SPDX-License-Identifier: GPL-2.0-or-later
/* The neighbor cache: answers, reports, expiry, limit, and readers in threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "state/tables/fdb.h"
#include "state/tables/mac_damping.h"
#include "state/tables/neigh.h"

static struct mac mac_of(uint32_t i)
{
	return mac_from_u64(0x020000000000ULL + i);
}

static struct ip_addr v4(uint32_t i)
{
	return (struct ip_addr){ 4, { 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i } };
}

static struct ip_addr v6(uint32_t i)
{
	return (struct ip_addr){ 6, { 0xfd, [14] = (uint8_t)(i >> 8), [15] = (uint8_t)i } };
}

static bool answers(struct neigh *n, uint16_t vlan, struct ip_addr ip, uint32_t now_s)
{
	struct neigh_hit hit;

	return neigh_answer(n, vlan, &ip, now_s, &hit);
}

static void answers_what_it_learned(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1), b = v6(1);
	struct neigh_hit hit;

	(void)state;
	assert_false(neigh_answer(n, 0, &a, 1000, &hit));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	neigh_learn(n, 9, &b, mac_of(2), 6, NEIGH_ROUTER, 1000);
	assert_int_equal(neigh_count(n), 2);
	assert_true(neigh_answer(n, 0, &a, 1001, &hit));
	assert_int_equal(mac_to_u64(hit.mac), mac_to_u64(mac_of(1)));
	assert_int_equal(hit.slot, 5);
	assert_int_equal(hit.role, NEIGH_HOST);
	assert_true(neigh_answer(n, 9, &b, 1001, &hit));
	assert_int_equal(hit.slot, 6);
	assert_int_equal(hit.role, NEIGH_ROUTER);
	/* Another VLAN, another address, and the other address family with equal bytes. */
	assert_false(answers(n, 1, a, 1001));
	assert_false(answers(n, 0, v4(2), 1001));
	a.family = 6;
	assert_false(answers(n, 0, a, 1001));
	neigh_free(n);
	neigh_free(NULL);
}

static void second_question_goes_to_everybody(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	assert_true(answers(n, 0, a, 1001));
	assert_false(answers(n, 0, a, 1001));
	assert_false(answers(n, 0, a, 1001 + NEIGH_PROBE_AGAIN_S - 1));
	assert_true(answers(n, 0, a, 1001 + NEIGH_PROBE_AGAIN_S));
	/* After a confirmation at an unchanged place, a repeated request still gets no answer. */
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1005);
	assert_false(answers(n, 0, a, 1005));
	/* Behind another node the neighbor counts as new. */
	neigh_learn(n, 0, &a, mac_of(1), 6, NEIGH_HOST, 1005);
	assert_true(answers(n, 0, a, 1005));
	neigh_free(n);
}

static void stale_neighbors_are_not_answered_for(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	assert_true(answers(n, 0, a, 999)); /* the second of the worker has not begun yet */
	assert_true(answers(n, 0, a, 1000 + NEIGH_FRESH_S - 1));
	assert_false(answers(n, 0, a, 1000 + NEIGH_FRESH_S));
	neigh_free(n);
}

static void local_hosts_answer_for_themselves(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), SLOT_SELF, NEIGH_HOST, 1000);
	assert_false(answers(n, 0, a, 1000));
	neigh_free(n);
}

static void news_is_what_differs_or_gets_old(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1000));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	assert_false(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1000));
	assert_true(neigh_differs(n, 0, &a, mac_of(2), 5, NEIGH_ROLE_UNKNOWN, 1000));
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 6, NEIGH_ROLE_UNKNOWN, 1000));
	assert_true(neigh_differs(n, 1, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1000));
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN,
				  1000 + NEIGH_FRESH_S - 1));
	neigh_free(n);
}

/* An answer without the router flag would delete the default route of hosts (RFC 4861 7.2.5). */
static void solicitations_keep_the_role(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v6(1);
	struct neigh_hit hit;

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1000);
	assert_false(answers(n, 0, a, 1000));
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROUTER, 1000));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_ROUTER, 1000);
	assert_false(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROUTER, 1000));
	assert_false(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1000));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1001);
	assert_true(neigh_answer(n, 0, &a, 1001, &hit));
	assert_int_equal(hit.role, NEIGH_ROUTER);
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1001));
	/* Another host has the address now. */
	neigh_learn(n, 0, &a, mac_of(2), 5, NEIGH_ROLE_UNKNOWN, 1002);
	assert_false(answers(n, 0, a, 1002));
	neigh_free(n);
}

/* A settled host has been known for long enough that all other nodes have learned it. Requests of a
 * settled host may be answered here. */
static void a_sender_is_settled_after_a_while(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	assert_false(neigh_is_settled(n, 0, &a, mac_of(1), 5, 1000));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	assert_false(neigh_is_settled(n, 0, &a, mac_of(1), 5, 1000 + NEIGH_SETTLE_S - 1));
	/* A confirmation does not restart the settling time. */
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000 + NEIGH_SETTLE_S - 1);
	assert_true(neigh_is_settled(n, 0, &a, mac_of(1), 5, 1000 + NEIGH_SETTLE_S));
	/* Another MAC, another place and another VLAN contradict the entry. */
	assert_false(neigh_is_settled(n, 0, &a, mac_of(2), 5, 2000));
	assert_false(neigh_is_settled(n, 0, &a, mac_of(1), 6, 2000));
	assert_false(neigh_is_settled(n, 1, &a, mac_of(1), 5, 2000));
	neigh_learn(n, 0, &a, mac_of(2), 5, NEIGH_HOST, 2000);
	assert_false(neigh_is_settled(n, 0, &a, mac_of(2), 5, 2001));
	assert_true(neigh_is_settled(n, 0, &a, mac_of(2), 5, 2000 + NEIGH_SETTLE_S));
	neigh_free(n);
}

/* A host probes one known neighbor with a unicast request. The neighbor itself must answer. */
static void doubt_lasts_until_the_neighbor_speaks(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a = v4(1), b = v4(2);

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	neigh_learn(n, 0, &b, mac_of(2), 5, NEIGH_HOST, 1000);
	neigh_mark_stale(n, 0, &a);
	neigh_mark_stale(n, 0, &(struct ip_addr){ .family = 4 });
	assert_false(answers(n, 0, a, 1001));
	assert_false(answers(n, 0, a, 1030));
	assert_true(answers(n, 0, b, 1001));
	/* The next frame of the neighbor is reported, although it contains nothing new. */
	assert_true(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1001));
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1031);
	assert_false(neigh_differs(n, 0, &a, mac_of(1), 5, NEIGH_ROLE_UNKNOWN, 1031));
	assert_true(answers(n, 0, a, 1031));
	neigh_free(n);
}

static void forgets_nodes_macs_and_old_ones(void **state)
{
	struct neigh *n = neigh_new(100);
	struct ip_addr a[4] = { v4(1), v4(2), v6(3), v4(4) };
	struct fdb *fdb = fdb_new(100);

	(void)state;
	fdb_learn(fdb, 0, mac_of(2), 7, 1000);
	fdb_learn(fdb, 7, mac_of(2), 6, 1000);
	neigh_learn(n, 0, &a[0], mac_of(1), 5, NEIGH_HOST, 1000);
	neigh_learn(n, 0, &a[1], mac_of(2), 6, NEIGH_HOST, 1000);
	neigh_learn(n, 0, &a[2], mac_of(2), 6, NEIGH_HOST, 1000);
	neigh_learn(n, 7, &a[3], mac_of(2), 6, NEIGH_HOST, 1100);
	neigh_forget_slot(n, 5, NULL);
	assert_int_equal(neigh_count(n), 3);
	assert_false(answers(n, 0, a[0], 1001));
	neigh_forget_moved(n, fdb, neigh_moved_bit(3));
	assert_false(neigh_differs(n, 0, &a[2], mac_of(2), 6, NEIGH_ROLE_UNKNOWN, 1001));
	neigh_forget_moved(n, fdb, neigh_moved_bit(1) | neigh_moved_bit(2));
	assert_int_equal(neigh_count(n), 3);
	assert_false(answers(n, 0, a[2], 1001));
	assert_true(answers(n, 7, a[3], 1101));
	/* The MAC stays known, and the next frame supplies the place. */
	assert_true(neigh_differs(n, 0, &a[2], mac_of(2), 6, NEIGH_ROLE_UNKNOWN, 1001));
	neigh_age(n, 1100 + 4 * NEIGH_FRESH_S, 1000);
	assert_int_equal(neigh_count(n), 1);
	neigh_age(n, 1101 + 4 * NEIGH_FRESH_S, 1000);
	assert_int_equal(neigh_count(n), 0);
	fdb_free(fdb);
	neigh_free(n);
}

/* A loop moved the host until its MAC had no node. The address outlives the former node. */
static void a_frozen_host_loses_its_node(void **state)
{
	struct neigh *n = neigh_new(100);
	struct fdb *fdb = fdb_new(100);
	struct ip_addr a = v4(1);

	(void)state;
	neigh_learn(n, 0, &a, mac_of(1), 5, NEIGH_HOST, 1000);
	for (unsigned i = 0; i <= MAC_FLAP_MOVES + 1; i++)
		fdb_learn(fdb, 0, mac_of(1), i % 2 ? 6 : 5, 1000);
	assert_int_equal(fdb_lookup(fdb, 0, mac_of(1)), SLOT_NONE);
	neigh_forget_moved(n, fdb, neigh_moved_bit(1));
	neigh_forget_slot(n, 5, NULL);
	assert_int_equal(neigh_count(n), 1);
	fdb_free(fdb);
	neigh_free(n);
}

static void several_nodes_are_forgotten_in_one_walk(void **state)
{
	struct neigh *n = neigh_new(100);
	struct vlan_set vlans = { 0 };
	struct slot_set gone = { 0 };

	(void)state;
	slot_set_add(&gone, 3);
	slot_set_add(&gone, 5);
	vlan_set_add(&vlans, 7);
	for (uint16_t slot = 1; slot <= 6; slot++)
		for (uint16_t vlan = 7; vlan <= 8; vlan++) {
			struct ip_addr a = v4(slot);

			neigh_learn(n, vlan, &a, mac_of(slot), slot, NEIGH_HOST, 1000);
		}
	neigh_forget_slots(n, &gone, &vlans);
	assert_int_equal(neigh_count(n), 10);
	assert_false(answers(n, 7, v4(3), 1001));
	assert_false(answers(n, 7, v4(5), 1001));
	assert_true(answers(n, 8, v4(5), 1001));
	assert_true(answers(n, 7, v4(4), 1001));
	neigh_forget_slots(n, &gone, NULL);
	assert_int_equal(neigh_count(n), 8);
	neigh_free(n);
}

/* A call checks a part of the table, and the calls of a round check all of it. */
static void aging_is_incremental(void **state)
{
	struct neigh *n = neigh_new(128);
	uint32_t last;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct ip_addr a = v4(i);

		neigh_learn(n, 0, &a, mac_of(i), 5, NEIGH_HOST, 1000);
	}
	for (unsigned turn = 0; turn < 4; turn++) {
		last = neigh_count(n);
		neigh_age(n, 2000, 64);
		assert_in_range(last - neigh_count(n), 1, 64);
	}
	assert_int_equal(neigh_count(n), 0);
	neigh_free(n);
}

static void table_holds_its_maximum_and_the_newest(void **state)
{
	struct neigh *n = neigh_new(1000);
	unsigned n_held = 0;

	(void)state;
	for (uint32_t i = 0; i < 50000; i++) {
		struct ip_addr a = v4(i);

		neigh_learn(n, 0, &a, mac_of(i), 5, NEIGH_HOST, 1000 + i / 1000);
		assert_true(neigh_count(n) <= 1000);
	}
	assert_in_range(neigh_count(n), 900, 1000);
	for (uint32_t i = 40000; i < 50000; i++)
		n_held += answers(n, 0, v4(i), 1050);
	assert_true(n_held > neigh_count(n) / 2);
	neigh_free(n);
}

/* --- threads --- */

#define N_READERS 2
#define N_HOSTS	  100u
#define N_STEPS	  100000u

struct shared {
	struct neigh *n;
	_Atomic bool stop;
	_Atomic uint64_t n_torn, n_found, now_s;
	_Atomic unsigned n_started;
};

/* All values of a host depend on its number and on one of three turns, so a reader detects a torn
 * entry. */
static uint16_t slot_for(uint32_t host, uint32_t turn)
{
	return (uint16_t)(1 + host + 1000 * turn);
}

static bool fits(uint32_t host, const struct neigh_hit *hit)
{
	uint32_t turn = hit->slot / 1000u;

	return hit->slot % 1000u == 1 + host &&
	       mac_to_u64(hit->mac) == mac_to_u64(mac_of(host + 5000 * turn));
}

static void *reader(void *arg)
{
	struct shared *s = arg;
	atomic_fetch_add(&s->n_started, 1);
	while (!atomic_load(&s->stop)) {
		uint64_t n_torn = 0, n_found = 0;

		for (uint32_t host = 0; host < N_HOSTS; host++) {
			struct ip_addr ip = host % 2 ? v4(host) : v6(host);
			uint32_t now_s = (uint32_t)atomic_load(&s->now_s);
			struct neigh_hit hit;

			neigh_differs(s->n, 1, &ip, mac_of(host), slot_for(host, 0),
				      NEIGH_ROLE_UNKNOWN, now_s);
			if (!neigh_answer(s->n, 1, &ip, now_s, &hit))
				continue;
			n_found++;
			n_torn += !fits(host, &hit);
		}
		atomic_fetch_add(&s->n_torn, n_torn);
		atomic_fetch_add(&s->n_found, n_found);
	}
	return NULL;
}

static void writer(struct shared *s)
{
	uint64_t rng = 88172645463325252ULL;

	for (uint32_t i = 0; i < N_STEPS; i++) {
		struct ip_addr ip;
		uint32_t host, turn;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		host = (uint32_t)(rng >> 20) % N_HOSTS;
		turn = (uint32_t)(rng >> 40) % 3;
		ip = host % 2 ? v4(host) : v6(host);
		neigh_learn(s->n, 1, &ip, mac_of(host + 5000 * turn), slot_for(host, turn),
			    NEIGH_HOST, (uint32_t)atomic_load(&s->now_s));
		if (i % 100 == 0)
			neigh_forget_slot(s->n, slot_for(host, turn), NULL);
		if (i % 1000 == 0) {
			atomic_fetch_add(&s->now_s, NEIGH_PROBE_AGAIN_S);
			neigh_age(s->n, (uint32_t)atomic_load(&s->now_s), UINT32_MAX);
			sched_yield();
		}
	}
}

static void readers_never_see_a_torn_neighbor(void **state)
{
	/* Capacity for half of the hosts, so that places are reused constantly. */
	struct shared s = { .n = neigh_new(N_HOSTS / 2), .now_s = 1000 };
	pthread_t thread[N_READERS];

	(void)state;
	for (unsigned i = 0; i < N_READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, reader, &s), 0);
	while (atomic_load(&s.n_started) < N_READERS)
		sched_yield();
	/* The writer repeats if a busy machine delayed the readers. */
	do {
		writer(&s);
	} while (!atomic_load(&s.n_found));
	atomic_store(&s.stop, true);
	for (unsigned i = 0; i < N_READERS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(atomic_load(&s.n_torn), 0);
	assert_true(atomic_load(&s.n_found) > 0);
	neigh_free(s.n);
}

static void test_each_is_notified(void **state)
{
	const struct ip_addr four = { 4, { 10, 0, 0, 7 } }, six = { 6, { 0xfd, [15] = 7 } };
	const struct mac mac = { { 2, 0, 0, 0, 0, 7 } };
	struct neigh *n = neigh_new(16);
	struct vlan_set vlans = { 0 };
	struct neigh_entry e;
	uint32_t iter = 0;
	unsigned seen = 0;

	(void)state;
	assert_false(neigh_next(n, &iter, &e));
	neigh_learn(n, 10, &four, mac, 3, NEIGH_HOST, 100);
	neigh_learn(n, 74, &six, mac, 4, NEIGH_ROUTER, 101);
	for (iter = 0; neigh_next(n, &iter, &e);) {
		bool is_six = e.ip.family == 6;

		seen |= is_six ? 2 : 1;
		assert_true(ip_equal(&e.ip, is_six ? &six : &four));
		assert_int_equal(e.vlan, is_six ? 74 : 10);
		assert_int_equal(e.slot, is_six ? 4 : 3);
		assert_int_equal(e.role, is_six ? NEIGH_ROUTER : NEIGH_HOST);
		assert_int_equal(e.confirmed_s, is_six ? 101 : 100);
		assert_memory_equal(e.mac.b, mac.b, MAC_LEN);
	}
	assert_int_equal(seen, 3);
	vlan_set_add(&vlans, 11);
	neigh_forget_slot(n, 3, &vlans);
	assert_int_equal(neigh_count(n), 2);
	vlan_set_add(&vlans, 10);
	neigh_forget_slot(n, 3, &vlans);
	assert_int_equal(neigh_count(n), 1);
	neigh_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_what_it_learned),
		cmocka_unit_test(second_question_goes_to_everybody),
		cmocka_unit_test(stale_neighbors_are_not_answered_for),
		cmocka_unit_test(local_hosts_answer_for_themselves),
		cmocka_unit_test(news_is_what_differs_or_gets_old),
		cmocka_unit_test(solicitations_keep_the_role),
		cmocka_unit_test(a_sender_is_settled_after_a_while),
		cmocka_unit_test(doubt_lasts_until_the_neighbor_speaks),
		cmocka_unit_test(forgets_nodes_macs_and_old_ones),
		cmocka_unit_test(a_frozen_host_loses_its_node),
		cmocka_unit_test(several_nodes_are_forgotten_in_one_walk),
		cmocka_unit_test(aging_is_incremental),
		cmocka_unit_test(table_holds_its_maximum_and_the_newest),
		cmocka_unit_test(readers_never_see_a_torn_neighbor),
		cmocka_unit_test(test_each_is_notified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
