// SPDX-License-Identifier: GPL-2.0-or-later
/* The forwarding database: learning, moves, damping, limits, aging, copies, readers in threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/defs.h"
#include "base/rcu.h"
#include "state/tables/fdb.h"
#include "state/tables/mac_damping.h"

static struct mac mac_of(uint32_t i)
{
	return mac_from_u64(0x020000000000ULL + i);
}

static void learn_many(struct fdb *f, uint32_t n, uint32_t now_s)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fdb_learn(f, 0, mac_of(i), (uint16_t)(i % 50), now_s), FDB_ADDED);
}

static void ten_thousand_macs(void **state)
{
	struct fdb *f = fdb_new(16384);
	struct fdb_entry e;
	uint32_t iter = 0, n = 0;
	uint64_t sum = 0;

	(void)state;
	learn_many(f, 10000, 1);
	assert_int_equal(fdb_count(f), 10000);
	assert_int_equal(fdb_maximum(f), 16384);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(fdb_lookup(f, 0, mac_of(i)), i % 50);
		assert_int_equal(fdb_learn(f, 0, mac_of(i), (uint16_t)(i % 50), 2), FDB_SAME);
	}
	for (uint32_t i = 10000; i < 20000; i++)
		assert_int_equal(fdb_lookup(f, 0, mac_of(i)), SLOT_NONE);
	while (fdb_next(f, &iter, &e)) {
		n++;
		sum += mac_to_u64(e.mac) - 0x020000000000ULL;
		assert_int_equal(e.seen_s, 2);
		assert_int_equal(e.vlan, 0);
		assert_false(e.frozen);
	}
	assert_int_equal(n, 10000);
	assert_int_equal(sum, 9999ULL * 10000 / 2);
	fdb_free(f);
	fdb_free(NULL);
}

static void vlans_are_apart(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac zero = { 0 };

	(void)state;
	fdb_learn(f, 0, zero, 1, 1);
	fdb_learn(f, 1, zero, 2, 1);
	fdb_learn(f, 4095, zero, 3, 1);
	assert_int_equal(fdb_lookup(f, 0, zero), 1);
	assert_int_equal(fdb_lookup(f, 1, zero), 2);
	assert_int_equal(fdb_lookup(f, 4095, zero), 3);
	assert_int_equal(fdb_lookup(f, 2, zero), SLOT_NONE);
	assert_int_equal(fdb_forget_slot(f, 2, NULL, 1), 1);
	assert_int_equal(fdb_forget_slot(f, 2, NULL, 1), 0);
	assert_int_equal(fdb_lookup(f, 1, zero), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 0, zero), 1);
	fdb_free(f);
}

static void workers_report_news_only(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	struct fdb_entry e;
	uint32_t iter = 0;

	(void)state;
	assert_int_equal(fdb_seen(f, 0, m, 4, 10), FDB_TO_LEARN);
	fdb_learn(f, 0, m, 4, 10);
	assert_int_equal(fdb_seen(f, 0, m, 4, 17), FDB_KNOWN);
	assert_true(fdb_next(f, &iter, &e));
	assert_int_equal(e.seen_s, 17);
	assert_int_equal(fdb_seen(f, 0, m, 5, 18), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, m, 5, 18), FDB_MOVED);
	assert_int_equal(fdb_lookup(f, 0, m), 5);
	/* An entry of a local host behaves as any other entry. */
	assert_int_equal(fdb_learn(f, 0, m, SLOT_SELF, 19), FDB_MOVED);
	assert_int_equal(fdb_seen(f, 0, m, SLOT_SELF, 19), FDB_KNOWN);
	iter = 0;
	assert_true(fdb_next(f, &iter, &e));
	assert_int_equal(e.n_moves, 2);
	fdb_free(f);
}

/* Moves the MAC back and forth until damping. Returns the number of moves. */
static unsigned flap(struct fdb *f, struct mac m, uint32_t now_s)
{
	enum fdb_result r;
	unsigned n = 0;

	do {
		r = fdb_learn(f, 0, m, (uint16_t)(1 + (n + 1) % 2), now_s);
		n += r == FDB_MOVED;
	} while (r == FDB_MOVED && n < 100);
	assert_int_equal(r, FDB_FLAP_BEGINS);
	return n;
}

/* Keeps the MAC behind slot 1 until the slot is its owner. */
static void settle(struct fdb *f, struct mac m, uint32_t now_s)
{
	fdb_learn(f, 0, m, 1, now_s - MAC_OWNER_S);
}

static void flapping_mac_is_frozen_at_its_owner_and_thaws(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	struct fdb_entry e;

	(void)state;
	settle(f, m, 100);
	assert_int_equal(flap(f, m, 100), MAC_FLAP_MOVES);
	assert_int_equal(fdb_lookup(f, 0, m), 1);
	assert_int_equal(fdb_seen(f, 0, m, 2, 101), FDB_FROZEN);
	assert_int_equal(fdb_seen(f, 0, m, 1, 101), FDB_KNOWN);
	assert_int_equal(fdb_learn(f, 0, m, 2, 101), FDB_DAMPED);
	assert_int_equal(fdb_lookup(f, 0, m), 1);
	assert_true(fdb_get(f, 0, m, &e));
	assert_true(e.frozen);
	assert_int_equal(e.n_moves, MAC_FLAP_MOVES);
	assert_int_equal(e.thaw_s, 100 + MAC_FREEZE_S);

	/* Aging leaves a freeze until its end. */
	assert_int_equal(fdb_age(f, 100 + MAC_FREEZE_S - 1, 300, 1000), 0);
	assert_int_equal(fdb_seen(f, 0, m, 2, 129), FDB_FROZEN);
	assert_int_equal(fdb_age(f, 100 + MAC_FREEZE_S, 300, 1000), 0);
	assert_int_equal(fdb_seen(f, 0, m, 2, 130), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, m, 2, 130), FDB_MOVED);
	assert_int_equal(fdb_lookup(f, 0, m), 2);
	/* A new contest freezes the address at once, for a longer time. */
	assert_int_equal(fdb_learn(f, 0, m, 1, 131), FDB_FLAP_BEGINS);
	assert_true(fdb_get(f, 0, m, &e));
	assert_int_equal(e.slot, 1);
	assert_int_equal(e.thaw_s, 131 + 2 * MAC_FREEZE_S);
	fdb_free(f);
}

static void frozen_mac_thaws_without_aging_too(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);

	(void)state;
	settle(f, m, 100);
	flap(f, m, 100);
	assert_int_equal(fdb_learn(f, 0, m, 7, 100 + MAC_FREEZE_S - 1), FDB_DAMPED);
	assert_int_equal(fdb_learn(f, 0, m, 7, 100 + MAC_FREEZE_S), FDB_MOVED);
	assert_int_equal(fdb_lookup(f, 0, m), 7);
	fdb_free(f);
}

static void seldom_moves_are_not_damped(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	uint32_t step = MAC_FLAP_WINDOW_S / MAC_FLAP_MOVES + 1;

	(void)state;
	fdb_learn(f, 0, m, 1, 1);
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(fdb_learn(f, 0, m, (uint16_t)(1 + i % 2), i * step), FDB_MOVED);
	fdb_free(f);
}

/* --- a MAC behind two nodes --- */

#define OWNER 1
#define THIEF 2

/* Reports a frame from the slot, as a worker and the control thread do. */
static void frame_from(struct fdb *f, struct mac m, uint16_t slot, uint32_t now_s)
{
	if (fdb_seen(f, 0, m, slot, now_s) == FDB_TO_LEARN)
		fdb_learn(f, 0, m, slot, now_s);
}

/* The owner sends every `every_s` seconds, the thief ten times per second. Returns the tenths of a
 * second between from_s and to_s in which frames for the MAC went only to the thief. */
static unsigned contest(struct fdb *f, struct mac m, uint32_t every_s, uint32_t from_s,
			uint32_t to_s)
{
	unsigned n_stolen = 0;

	for (uint32_t s = from_s; s < to_s; s++) {
		if (s % every_s == 0)
			frame_from(f, m, OWNER, s);
		for (unsigned tenth = 0; tenth < 10; tenth++) {
			frame_from(f, m, THIEF, s);
			n_stolen += fdb_lookup(f, 0, m) == THIEF;
		}
		fdb_age(f, s, 300, 100);
	}
	return n_stolen;
}

static void a_thief_does_not_keep_what_it_takes(void **state)
{
	static const uint32_t every_s[] = { 1, 5, 30 };

	(void)state;
	for (unsigned i = 0; i < array_size(every_s); i++) {
		struct fdb *f = fdb_new(16);
		struct mac m = mac_of(1);

		for (uint32_t s = 1000; s < 1060; s++)
			frame_from(f, m, OWNER, s);
		/* The moves until damping, and one more after each freeze. */
		assert_in_range(contest(f, m, every_s[i], 1060, 1060 + 120), 0,
				10 * (5 * every_s[i]));
		assert_in_range(contest(f, m, every_s[i], 1180, 1180 + 600), 0,
				10 * (6 * every_s[i]));
		fdb_free(f);
	}
}

/* Without an owner, neither node is known to be right. Frames for the MAC go to both nodes. */
static void a_mac_without_an_owner_belongs_to_nobody_while_it_flaps(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	struct fdb_entry e;
	uint32_t iter = 0;

	(void)state;
	assert_in_range(contest(f, m, 1, 1000, 1000 + 15), 0, 10 * 5);
	assert_int_equal(fdb_lookup(f, 0, m), SLOT_NONE);
	assert_int_equal(fdb_seen(f, 0, m, OWNER, 1015), FDB_QUIET);
	assert_true(fdb_next(f, &iter, &e));
	assert_true(e.frozen);
	assert_int_equal(e.slot, SLOT_NONE);
	/* If one of the two becomes silent, the MAC belongs to the other after the freeze. */
	for (uint32_t s = 1015; s < 1015 + MAC_FREEZE_S; s++) {
		frame_from(f, m, OWNER, s);
		fdb_age(f, s, 300, 100);
	}
	assert_int_equal(fdb_lookup(f, 0, m), OWNER);
	/* The second freeze is longer, and nothing ends the freeze early. */
	contest(f, m, 1, 1045, 1045 + MAC_FREEZE_S + 10);
	assert_true(fdb_get(f, 0, m, &e));
	assert_true(e.frozen);
	assert_int_equal(fdb_seen(f, 0, m, OWNER, 1045 + MAC_FREEZE_S + 10), FDB_QUIET);
	assert_in_range(e.thaw_s, 1045 + 2 * MAC_FREEZE_S, 1045 + 2 * MAC_FREEZE_S + 10);
	/* Neither does a shorter aging time. */
	assert_int_equal(fdb_age(f, 1045 + MAC_FREEZE_S + 10, 20, 100), 0);
	assert_true(fdb_get(f, 0, m, &e));
	fdb_free(f);
}

static void a_lan_that_changes_does_not_end_the_freeze(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);

	(void)state;
	for (uint32_t s = 1000; s < 1060; s++)
		frame_from(f, m, OWNER, s);
	contest(f, m, 1, 1060, 1070);
	assert_int_equal(fdb_lookup(f, 0, m), OWNER);
	/* The thief announces a change of its LAN, and the entries behind it are forgotten. */
	fdb_forget_slot(f, THIEF, NULL, 1070);
	assert_int_equal(fdb_seen(f, 0, m, THIEF, 1070), FDB_FROZEN);
	assert_int_equal(fdb_lookup(f, 0, m), OWNER);
	/* The number of moves survives if the thief forgets the MAC just after a move. */
	fdb_learn(f, 0, mac_of(2), OWNER, 2000);
	for (uint32_t s = 2040; s < 2100; s++) {
		frame_from(f, mac_of(2), OWNER, s);
		frame_from(f, mac_of(2), THIEF, s);
		fdb_forget_slot(f, THIEF, NULL, s);
	}
	assert_int_equal(fdb_seen(f, 0, mac_of(2), THIEF, 2100), FDB_FROZEN);
	assert_int_not_equal(fdb_lookup(f, 0, mac_of(2)), THIEF);
	fdb_free(f);
}

/* If the LAN of the node with a frozen MAC changes, the MAC is released, because another node of
 * that LAN may forward now. */
static void a_lan_that_changes_frees_what_was_frozen_there(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	struct fdb_entry e;

	(void)state;
	for (uint32_t s = 1000; s < 1060; s++)
		frame_from(f, m, OWNER, s);
	contest(f, m, 1, 1060, 1070);
	fdb_forget_slot(f, OWNER, NULL, 1070);
	assert_int_equal(fdb_lookup(f, 0, m), SLOT_NONE);
	assert_int_equal(fdb_count(f), 1);
	/* The second freeze is longer, and ends as early without its node. */
	m = mac_of(2);
	for (uint32_t s = 2000; s < 2060; s++)
		frame_from(f, m, OWNER, s);
	contest(f, m, 1, 2060, 2070);
	for (uint32_t s = 2070; s < 2160; s++) {
		frame_from(f, m, OWNER, s);
		fdb_age(f, s, 300, 100);
	}
	contest(f, m, 1, 2160, 2170);
	assert_int_equal(fdb_lookup(f, 0, m), OWNER);
	assert_true(fdb_get(f, 0, m, &e));
	assert_true(e.thaw_s > 2170 + MAC_FREEZE_S);
	fdb_forget_slot(f, OWNER, NULL, 2170);
	fdb_age(f, 2170 + MAC_FREEZE_S, 300, 1000);
	frame_from(f, m, THIEF, 2170 + MAC_FREEZE_S);
	assert_int_equal(fdb_lookup(f, 0, m), THIEF);
	fdb_free(f);
}

/* The owner claims its MAC and leaves, and two others continue. The entry stays at no node. */
static void an_owner_leaves_while_its_mac_flaps(void **state)
{
	static const uint16_t claims[] = { THIEF, OWNER, THIEF, 3, THIEF, 3 };
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	struct fdb_entry e;

	(void)state;
	fdb_learn(f, 0, m, OWNER, 1000);
	for (unsigned i = 0; i < array_size(claims); i++) {
		if (i == 3)
			assert_int_equal(fdb_forget_slot(f, OWNER, NULL, 1060), 0);
		assert_int_equal(fdb_learn(f, 0, m, claims[i], 1060),
				 i < 5 ? FDB_MOVED : FDB_FLAP_BEGINS);
	}
	assert_int_equal(fdb_age(f, 1060 + MAC_FREEZE_S, 300, 1000), 0);
	assert_int_equal(fdb_count(f), 1);
	assert_true(fdb_get(f, 0, m, &e));
	assert_int_equal(e.slot, SLOT_NONE);
	assert_int_equal(fdb_learn(f, 0, m, 3, 1100), FDB_ADDED);
	assert_int_equal(fdb_count(f), 1);
	fdb_free(f);
}

static void a_guest_that_migrates_is_followed_at_once(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);

	(void)state;
	for (uint32_t s = 1000; s < 5000; s++)
		frame_from(f, m, OWNER, s);
	frame_from(f, m, 3, 5000);
	assert_int_equal(fdb_lookup(f, 0, m), 3);
	/* If the MAC flaps soon afterwards, the freeze does not return it to the previous node. */
	for (uint32_t s = 5001; s < 5020; s++) {
		frame_from(f, m, THIEF, s);
		frame_from(f, m, 3, s);
	}
	assert_int_not_equal(fdb_lookup(f, 0, m), OWNER);
	assert_int_not_equal(fdb_lookup(f, 0, m), THIEF);
	fdb_free(f);
}

/* A long freeze ends if the owner sends no more frames, because the host has really moved. */
static void a_frozen_mac_whose_owner_fell_silent_moves(void **state)
{
	struct fdb *f = fdb_new(16);
	struct mac m = mac_of(1);
	uint32_t s;

	(void)state;
	for (s = 1000; s < 1060; s++)
		frame_from(f, m, OWNER, s);
	contest(f, m, 1, 1060, 1300); /* repeated freezes, each longer */
	for (s = 1300; fdb_lookup(f, 0, m) == OWNER && s < 1500; s++)
		frame_from(f, m, 3, s);
	assert_int_equal(fdb_lookup(f, 0, m), 3);
	assert_in_range(s, 1300, 1300 + MAC_FREEZE_S + 2);
	fdb_free(f);
}

static void a_vlan_has_its_share(void **state)
{
	struct fdb *f = fdb_new(100), *copy;

	(void)state;
	fdb_set_vlan_maximum(f, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(fdb_learn(f, 7, mac_of(i), 1, 1), FDB_ADDED);
	assert_int_equal(fdb_learn(f, 7, mac_of(10), 1, 1), FDB_VLAN_FULL);
	assert_int_equal(fdb_count_in(f, 7), 10);
	/* The control thread knows that the VLAN is full. */
	assert_int_equal(fdb_seen(f, 7, mac_of(10), 1, 1), FDB_QUIET);
	assert_int_equal(fdb_seen(f, 8, mac_of(10), 1, 1), FDB_TO_LEARN);
	/* The limit of one VLAN affects neither other VLANs nor known addresses. */
	assert_int_equal(fdb_learn(f, 8, mac_of(10), 1, 1), FDB_ADDED);
	assert_int_equal(fdb_learn(f, 7, mac_of(3), 2, 1), FDB_MOVED);
	copy = fdb_copy(f, 50);
	fdb_free(f);
	assert_int_equal(fdb_count_in(copy, 7), 10);
	assert_int_equal(fdb_count_in(copy, 8), 1);
	assert_int_equal(fdb_learn(copy, 7, mac_of(10), 1, 1), FDB_VLAN_FULL);
	/* A free place can be used again by its VLAN. */
	fdb_age(copy, 1000, 10, 1000);
	assert_int_equal(fdb_count_in(copy, 7), 0);
	assert_int_equal(fdb_seen(copy, 7, mac_of(10), 1, 1), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(copy, 7, mac_of(10), 1, 1), FDB_ADDED);
	fdb_set_vlan_maximum(copy, 1);
	assert_int_equal(fdb_learn(copy, 7, mac_of(20), 1, 1), FDB_VLAN_FULL);
	assert_int_equal(fdb_seen(copy, 7, mac_of(20), 1, 1), FDB_QUIET);
	fdb_set_vlan_maximum(copy, 0);
	assert_int_equal(fdb_seen(copy, 7, mac_of(20), 1, 1), FDB_TO_LEARN);
	for (uint32_t i = 20; i < 40; i++)
		assert_int_equal(fdb_learn(copy, 7, mac_of(i), 1, 1), FDB_ADDED);
	fdb_free(copy);
}

static void full_table_keeps_what_it_has(void **state)
{
	struct fdb *f = fdb_new(100);

	(void)state;
	learn_many(f, 100, 1);
	assert_int_equal(fdb_seen(f, 0, mac_of(1000), 1, 1), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, mac_of(1000), 1, 1), FDB_FULL);
	assert_int_equal(fdb_count(f), 100);
	/* The control thread knows that the table is full, and more reports would only fill its
	 * ring. */
	assert_int_equal(fdb_seen(f, 0, mac_of(1001), 1, 1), FDB_QUIET);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(fdb_lookup(f, 0, mac_of(i)), i % 50);
	assert_int_equal(fdb_seen(f, 0, mac_of(3), 9, 2), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, mac_of(3), 9, 2), FDB_MOVED);
	/* The table has free places again. */
	assert_int_equal(fdb_forget_slot(f, 4, NULL, 2), 2);
	assert_int_equal(fdb_seen(f, 0, mac_of(1000), 1, 2), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, mac_of(1000), 1, 2), FDB_ADDED);
	fdb_free(f);
}

static void forgetting_a_node_forgets_its_macs(void **state)
{
	struct fdb *f = fdb_new(1000);

	(void)state;
	learn_many(f, 1000, 1);
	assert_int_equal(fdb_forget_slot(f, 7, NULL, 1), 20);
	assert_int_equal(fdb_forget_slot(f, 7, NULL, 1), 0);
	assert_int_equal(fdb_forget_slot(f, SLOT_NONE, NULL, 1), 0);
	assert_int_equal(fdb_count(f), 980);
	assert_int_equal(fdb_lookup(f, 0, mac_of(7)), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 0, mac_of(8)), 8);
	assert_int_equal(fdb_seen(f, 0, mac_of(7), 7, 2), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, mac_of(7), 9, 2), FDB_ADDED);
	assert_int_equal(fdb_flush(f), 981);
	assert_int_equal(fdb_count(f), 0);
	assert_int_equal(fdb_lookup(f, 0, mac_of(8)), SLOT_NONE);
	fdb_free(f);
}

static void a_changed_lan_forgets_what_is_there(void **state)
{
	struct fdb *f = fdb_new(64);
	struct fdb_entry e;

	(void)state;
	fdb_learn(f, 0, mac_of(1), 1, 100); /* stays */
	fdb_learn(f, 0, mac_of(2), 2, 100); /* behind the LAN that changes */
	fdb_learn(f, 0, mac_of(3), 1, 100); /* has moved behind that LAN */
	fdb_learn(f, 0, mac_of(3), 2, 100);
	fdb_learn(f, 0, mac_of(4), 2, 100); /* has moved away */
	fdb_learn(f, 0, mac_of(4), 3, 100);
	assert_int_equal(fdb_forget_slot(f, 2, NULL, 101), 2);
	assert_int_equal(fdb_lookup(f, 0, mac_of(1)), 1);
	assert_int_equal(fdb_lookup(f, 0, mac_of(2)), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 0, mac_of(3)), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 0, mac_of(4)), 3);
	assert_false(fdb_get(f, 0, mac_of(2), &e));
	/* The number of moves is kept, and the next node that sends the MAC is learned at once. */
	assert_true(fdb_get(f, 0, mac_of(3), &e));
	assert_int_equal(e.n_moves, 1);
	assert_int_equal(fdb_seen(f, 0, mac_of(3), 1, 101), FDB_TO_LEARN);
	assert_int_equal(fdb_learn(f, 0, mac_of(3), 1, 101), FDB_ADDED);
	assert_int_equal(fdb_lookup(f, 0, mac_of(3)), 1);
	fdb_free(f);
}

static void aging_is_incremental(void **state)
{
	struct fdb *f = fdb_new(1000); /* 2048 places */
	uint32_t removed = 0;

	(void)state;
	learn_many(f, 1000, 100);
	for (uint32_t i = 0; i < 500; i++)
		fdb_seen(f, 0, mac_of(i), (uint16_t)(i % 50), 200);
	assert_int_equal(fdb_age(f, 400, 300, 100000), 0); /* aged exactly 300 s: stays */
	/* The clock of a worker may be ahead. */
	assert_int_equal(fdb_age(f, 199, 300, 100000), 0);
	for (unsigned i = 0; i < 8; i++) {
		uint32_t n = fdb_age(f, 401, 300, 256);

		assert_true(n < 256);
		removed += n;
	}
	assert_int_equal(removed, 500);
	assert_int_equal(fdb_count(f), 500);
	assert_int_equal(fdb_lookup(f, 0, mac_of(499)), 49);
	assert_int_equal(fdb_lookup(f, 0, mac_of(500)), SLOT_NONE);
	fdb_free(f);
}

/* Deleted MACs leave holes. A table that is copied on request refuses no MAC. */
static void churn_with_copies_never_refuses(void **state)
{
	struct fdb *f = fdb_new(64), *copy;
	unsigned n_copies = 0;

	(void)state;
	assert_false(fdb_wants_copy(f));
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(fdb_learn(f, 0, mac_of(i), 1, i), FDB_ADDED);
		if (i >= 60)
			assert_int_equal(fdb_age(f, i, 59, UINT32_MAX), 1);
		if (fdb_wants_copy(f)) {
			copy = fdb_copy(f, 64);
			assert_int_equal(fdb_count(copy), fdb_count(f));
			assert_false(fdb_wants_copy(copy));
			fdb_free(f);
			f = copy;
			n_copies++;
		}
		assert_int_equal(fdb_lookup(f, 0, mac_of(i)), 1);
	}
	assert_in_range(n_copies, 1, 2000);
	fdb_free(f);
}

static void churn_without_copies_refuses_but_ends(void **state)
{
	struct fdb *f = fdb_new(64);
	unsigned n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		n_refused += fdb_learn(f, 0, mac_of(i), 1, i) == FDB_FULL;
		fdb_forget_slot(f, 1, NULL, i);
		assert_int_equal(fdb_lookup(f, 0, mac_of(i)), SLOT_NONE);
	}
	assert_true(n_refused > 0);
	assert_true(fdb_wants_copy(f));
	/* A MAC with a place can return. */
	assert_int_equal(fdb_learn(f, 0, mac_of(0), 1, 1), FDB_ADDED);
	fdb_free(f);
}

static void full_of_entries_wants_no_copy(void **state)
{
	struct fdb *f = fdb_new(1024);

	(void)state;
	learn_many(f, 1024, 1);
	assert_false(fdb_wants_copy(f));
	fdb_free(f);
}

static void copy_keeps_the_most_recently_seen(void **state)
{
	struct fdb *f = fdb_new(1000), *small, *large;
	struct fdb_entry e;
	uint32_t iter = 0;

	(void)state;
	for (uint32_t i = 0; i < 900; i++)
		fdb_learn(f, 5, mac_of(i), 1, 1000 + i);
	fdb_learn(f, 0, mac_of(7), 1, 2000);
	flap(f, mac_of(7), 2000);
	small = fdb_copy(f, 100);
	assert_int_equal(fdb_count(small), 100);
	assert_int_equal(fdb_maximum(small), 100);
	for (uint32_t i = 0; i < 900; i++)
		assert_int_equal(fdb_lookup(small, 5, mac_of(i)), i >= 801 ? 1 : SLOT_NONE);
	assert_int_equal(fdb_learn(small, 0, mac_of(7), 1, 2001), FDB_DAMPED);
	assert_int_equal(fdb_learn(small, 5, mac_of(1), 1, 2001), FDB_FULL);

	large = fdb_copy(small, 5000);
	assert_int_equal(fdb_count(large), 100);
	assert_int_equal(fdb_learn(large, 5, mac_of(1), 1, 2001), FDB_ADDED);
	while (fdb_next(large, &iter, &e)) {
		if (e.vlan == 0) {
			assert_int_equal(e.n_moves, MAC_FLAP_MOVES);
			assert_true(e.frozen);
		}
	}
	fdb_free(f);
	fdb_free(small);
	fdb_free(large);
}

/* --- threads --- */

#define N_READERS 2
#define N_HOSTS	  200u
#define N_STEPS	  60000u

/* The slots of a host equal its number modulo 97. A reader that finds another slot has read a torn
 * entry. */
static uint16_t some_slot(uint32_t host, uint32_t turn)
{
	return (uint16_t)(host % 97 + 97 * (turn % 5));
}

struct shared {
	_Atomic(struct fdb *) fdb;
	struct rcu *rcu;
	_Atomic bool stop;
	_Atomic uint64_t n_torn, n_found;
	_Atomic unsigned next_reader;
};

static void *reader(void *arg)
{
	struct shared *s = arg;
	unsigned me = atomic_fetch_add(&s->next_reader, 1);
	uint32_t turn = me;

	rcu_online(s->rcu, me);
	while (!atomic_load(&s->stop)) {
		struct fdb *f = atomic_load_explicit(&s->fdb, memory_order_acquire);
		uint64_t n_torn = 0, n_found = 0;

		for (uint32_t host = 0; host < N_HOSTS; host++) {
			uint16_t slot = fdb_lookup(f, 3, mac_of(host));

			if (slot == SLOT_NONE)
				continue;
			n_found++;
			n_torn += slot % 97 != host % 97;
			fdb_seen(f, 3, mac_of(host), some_slot(host, turn), turn / 1000);
			turn++;
		}
		atomic_fetch_add(&s->n_torn, n_torn);
		atomic_fetch_add(&s->n_found, n_found);
		rcu_quiescent(s->rcu, me);
	}
	rcu_offline(s->rcu, me);
	return NULL;
}

static void replace(struct shared *s, struct fdb *f)
{
	atomic_store_explicit(&s->fdb, fdb_copy(f, 256), memory_order_release);
	rcu_retire(s->rcu, f, fdb_free);
	rcu_reclaim(s->rcu);
}

static void writer(struct shared *s)
{
	uint64_t rng = 88172645463325252ULL;

	for (uint32_t i = 0; i < N_STEPS; i++) {
		struct fdb *f = atomic_load_explicit(&s->fdb, memory_order_relaxed);
		uint32_t host;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		host = (uint32_t)(rng >> 20) % N_HOSTS;
		if (i % 3 == 0)
			fdb_age(f, i / 100 + 1, 0, 1); /* deletes the next entry, of any age */
		else
			fdb_learn(f, 3, mac_of(host), some_slot(host, (uint32_t)(rng >> 40)),
				  i / 100);
		if (i % 50 == 0)
			fdb_age(f, i / 100, 20, 64);
		if (i % 1000 == 0)
			fdb_forget_slot(f, some_slot(host, 0), NULL, i / 100);
		if (i % 500 == 0)
			replace(s, f);
		if (i % 5000 == 0)
			sched_yield();
	}
}

static void readers_never_see_a_torn_entry(void **state)
{
	struct shared s = { .fdb = NULL };
	pthread_t thread[N_READERS];

	(void)state;
	s.rcu = rcu_new(N_READERS);
	atomic_store(&s.fdb, fdb_new(256));
	for (unsigned i = 0; i < N_READERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, reader, &s), 0);
	while (atomic_load(&s.next_reader) < N_READERS)
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
	fdb_free(atomic_load(&s.fdb));
	rcu_free(s.rcu);
}

/* VLANs 10 and 74 belong to one class. */
static void test_forget_vlans(void **state)
{
	struct vlan_set some = { 0 }, none = { 0 };
	static const uint16_t vlans[] = { 0, 10, 11, 74 };
	struct fdb *f = fdb_new(16);
	struct mac mac = { { 2, 0, 0, 0, 0, 9 } };

	(void)state;
	vlan_set_add(&some, 10);
	vlan_set_add(&some, 74);
	for (unsigned i = 0; i < array_size(vlans); i++)
		fdb_learn(f, vlans[i], mac, 3, 1);
	assert_int_equal(fdb_forget_slot(f, 3, &some, 1), 2);
	assert_int_equal(fdb_lookup(f, 10, mac), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 74, mac), SLOT_NONE);
	assert_int_equal(fdb_lookup(f, 0, mac), 3);
	assert_int_equal(fdb_lookup(f, 11, mac), 3);
	assert_int_equal(fdb_forget_slot(f, 3, &none, 1), 0);
	assert_int_equal(fdb_forget_slot(f, 3, NULL, 1), 2);
	fdb_free(f);
}

/* MACs rest and flap in turn. One table forgets two nodes in one walk, the other in two. */
static void several_nodes_are_forgotten_in_one_walk(void **state)
{
	const struct slot_set gone = { { 1u << 1 | 1u << 3 } };
	struct fdb *f[2] = { fdb_new(100), fdb_new(100) };
	enum fdb_result r[2];

	(void)state;
	for (uint32_t i = 0, s = 1000; i < 4000; s = 1000 + ++i / 4) {
		uint64_t slot = hash_mix64(i % 400 < 200 ? i % 20 : i) % 5;

		for (unsigned k = 0; k < 2; k++)
			r[k] = fdb_learn(f[k], 0, mac_of(i % 20), (uint16_t)slot, s);
		assert_int_equal(r[0], r[1]);
		if (i % 400 == 299)
			assert_int_equal(fdb_forget_slots(f[0], &gone, NULL, s),
					 fdb_forget_slot(f[1], 3, NULL, s) +
						 fdb_forget_slot(f[1], 1, NULL, s));
	}
	fdb_free(f[0]);
	fdb_free(f[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_macs),
		cmocka_unit_test(vlans_are_apart),
		cmocka_unit_test(workers_report_news_only),
		cmocka_unit_test(flapping_mac_is_frozen_at_its_owner_and_thaws),
		cmocka_unit_test(frozen_mac_thaws_without_aging_too),
		cmocka_unit_test(seldom_moves_are_not_damped),
		cmocka_unit_test(a_thief_does_not_keep_what_it_takes),
		cmocka_unit_test(a_mac_without_an_owner_belongs_to_nobody_while_it_flaps),
		cmocka_unit_test(a_lan_that_changes_does_not_end_the_freeze),
		cmocka_unit_test(a_lan_that_changes_frees_what_was_frozen_there),
		cmocka_unit_test(an_owner_leaves_while_its_mac_flaps),
		cmocka_unit_test(a_guest_that_migrates_is_followed_at_once),
		cmocka_unit_test(a_frozen_mac_whose_owner_fell_silent_moves),
		cmocka_unit_test(a_vlan_has_its_share),
		cmocka_unit_test(full_table_keeps_what_it_has),
		cmocka_unit_test(forgetting_a_node_forgets_its_macs),
		cmocka_unit_test(a_changed_lan_forgets_what_is_there),
		cmocka_unit_test(aging_is_incremental),
		cmocka_unit_test(churn_with_copies_never_refuses),
		cmocka_unit_test(churn_without_copies_refuses_but_ends),
		cmocka_unit_test(full_of_entries_wants_no_copy),
		cmocka_unit_test(copy_keeps_the_most_recently_seen),
		cmocka_unit_test(readers_never_see_a_torn_entry),
		cmocka_unit_test(test_forget_vlans),
		cmocka_unit_test(several_nodes_are_forgotten_in_one_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
