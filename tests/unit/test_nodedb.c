// SPDX-License-Identifier: GPL-2.0-or-later
/* The node table: versions, own record, tombstones, slots, limits, and the digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "state/tables/nodedb.h"
#include "wire/datagram/leon.h"

#define SELF 0x0a000001u
#define S(n) ((mono_t){ (n)*NS_PER_S })

static struct msg_record record(node_id_t origin, uint64_t incarnation, uint32_t seq)
{
	struct msg_record r = { .origin = origin, .incarnation = incarnation, .seq = seq };

	return r;
}

static enum record_verdict put(struct nodedb *db, node_id_t id, uint64_t inc, uint32_t seq,
			       uint16_t flags, mono_t now, struct node **n)
{
	struct msg_record r = record(id, inc, seq);

	r.flags = flags;
	return nodedb_put(db, &r, now, n);
}

static void versions_compare(void **state)
{
	(void)state;
	assert_int_equal(version_cmp(5, 1, 5, 1), 0);
	assert_true(version_cmp(5, 2, 5, 1) > 0);
	assert_true(version_cmp(5, 1, 5, 2) < 0);
	assert_true(version_cmp(6, 1, 5, 9) > 0);
	assert_true(version_cmp(UINT64_MAX, 1, 5, UINT32_MAX) > 0);
}

static void self_is_slot_zero(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);

	(void)state;
	assert_int_equal(nodedb_find(db, SELF)->slot, SLOT_SELF);
	assert_int_equal(nodedb_slot(db, SELF), SLOT_SELF);
	assert_int_equal(nodedb_slot(db, SELF + 1), SLOT_NONE);
	assert_int_equal(nodedb_slots(db), 1);
	assert_int_equal(nodedb_members(db), 1);
	assert_null(nodedb_at(db, 1));
	assert_null(nodedb_at(db, SLOT_NONE));
	assert_null(nodedb_add(db, NODE_ID_NONE, S(1)));
	assert_null(nodedb_add(db, NODE_ID_ANY, S(1)));
	nodedb_free(db);
	nodedb_free(NULL);
}

static void newest_version_wins(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct node *n;

	(void)state;
	assert_int_equal(put(db, 2, 100, 1, 0, S(1), &n), RECORD_NEW);
	assert_int_equal(n->state, NODE_KNOWN);
	assert_int_equal(n->slot, 1);
	assert_int_equal(put(db, 2, 100, 1, 0, S(2), &n), RECORD_SAME);
	assert_int_equal(n->received.ns, S(1).ns);
	assert_int_equal(put(db, 2, 100, 3, 0, S(3), &n), RECORD_NEWER);
	assert_int_equal(n->received.ns, S(3).ns);
	assert_int_equal(put(db, 2, 100, 2, 0, S(4), &n), RECORD_OLDER);
	assert_int_equal(put(db, 2, 99, 9, 0, S(4), &n), RECORD_OLDER);
	assert_int_equal(n->rec.seq, 3);
	assert_int_equal(put(db, 2, 101, 1, 0, S(5), &n), RECORD_NEWER);
	assert_int_equal(n->rec.incarnation, 101);
	nodedb_free(db);
}

static void node_known_by_id_gets_its_record(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct node *n = nodedb_add(db, 7, S(1)), *again;
	uint64_t digest = nodedb_digest(db);

	(void)state;
	assert_false(n->has_record);
	assert_ptr_equal(nodedb_add(db, 7, S(2)), n);
	assert_int_equal(nodedb_digest(db), digest);
	assert_int_equal(put(db, 7, 1, 1, 0, S(3), &again), RECORD_NEW);
	assert_ptr_equal(again, n);
	assert_true(n->has_record);
	assert_int_not_equal(nodedb_digest(db), digest);
	nodedb_free(db);
}

static void own_record_is_never_replaced(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct msg_record facts = { .name = "here" };
	struct node *self;

	(void)state;
	nodedb_set_own(db, &facts, 1000, S(1));
	self = nodedb_at(db, SLOT_SELF);
	assert_int_equal(self->rec.origin, SELF);
	assert_int_equal(self->rec.seq, 1);
	assert_int_equal(self->state, NODE_REACHABLE);
	nodedb_set_own(db, &facts, 1000, S(2));
	assert_int_equal(self->rec.seq, 2);
	assert_int_equal(put(db, SELF, 2000, 50, 0, S(3), &self), RECORD_OWN);
	assert_int_equal(self->rec.incarnation, 1000);
	assert_string_equal(self->rec.name, "here");

	/* If the version at other nodes is older than the own one, nothing happens. */
	nodedb_supersede(db, 1000, 1, S(4));
	assert_int_equal(self->rec.seq, 2);
	nodedb_supersede(db, 1000, 7, S(4));
	assert_int_equal(self->rec.incarnation, 1000);
	assert_int_equal(self->rec.seq, 8);
	/* An earlier run had its clock ahead. The rows of that run must lose as well. */
	nodedb_supersede(db, 2000, 50, S(5));
	assert_true(self->rec.incarnation > 2000);
	assert_string_equal(self->rec.name, "here");
	/* The caller still uses incarnation 1000. */
	nodedb_set_own(db, &facts, 1000, S(6));
	assert_int_equal(self->rec.incarnation, 2001);
	assert_int_equal(self->rec.seq, 2);
	nodedb_free(db);
}

static void sequence_at_its_end_moves_the_incarnation(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct msg_record facts = { 0 };
	struct node *self = nodedb_at(db, SLOT_SELF);

	(void)state;
	nodedb_set_own(db, &facts, 10, S(1));
	nodedb_supersede(db, 10, UINT32_MAX, S(2));
	assert_int_equal(self->rec.incarnation, 11);
	assert_int_equal(self->rec.seq, 1);
	nodedb_free(db);
}

static void leave_makes_a_tombstone(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	uint64_t without = nodedb_digest(db);
	struct node *n;

	(void)state;
	put(db, 2, 100, 1, 0, S(1), &n);
	assert_int_equal(nodedb_members(db), 2);
	assert_int_equal(put(db, 2, 100, 2, RECORD_LEFT, S(2), &n), RECORD_NEWER);
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(n->since.ns, S(2).ns);
	assert_int_equal(nodedb_members(db), 1);
	assert_int_equal(nodedb_digest(db), without);
	assert_ptr_equal(nodedb_find(db, 2), n);
	/* A record in flight while the node leaves does not restore the node. */
	assert_int_equal(put(db, 2, 100, 1, 0, S(3), &n), RECORD_OLDER);
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(put(db, 2, 200, 1, 0, S(4), &n), RECORD_NEW);
	assert_int_equal(n->state, NODE_KNOWN);
	assert_int_equal(n->slot, 1);
	assert_int_equal(nodedb_members(db), 2);
	nodedb_free(db);
}

static void leave_of_a_stranger_is_remembered(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct node *n;

	(void)state;
	assert_int_equal(put(db, 2, 100, 2, RECORD_LEFT, S(1), &n), RECORD_NEWER);
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(nodedb_members(db), 1);
	assert_int_equal(put(db, 2, 100, 1, 0, S(2), &n), RECORD_OLDER);
	nodedb_free(db);
}

static void forgotten_node_needs_a_newer_record(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct node *n;

	(void)state;
	put(db, 2, 100, 4, 0, S(1), &n);
	nodedb_set_state(db, n, NODE_REACHABLE, S(2));
	assert_int_equal(n->since.ns, S(2).ns);
	nodedb_set_state(db, n, NODE_REACHABLE, S(3));
	assert_int_equal(n->since.ns, S(2).ns);
	nodedb_forget(db, n, S(4));
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(put(db, 2, 100, 4, 0, S(5), &n), RECORD_SAME);
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(put(db, 2, 100, 5, 0, S(6), &n), RECORD_NEW);
	assert_int_equal(n->state, NODE_KNOWN);
	/* The node cannot forget itself. */
	nodedb_forget(db, nodedb_at(db, SLOT_SELF), S(7));
	assert_int_equal(nodedb_members(db), 2);
	nodedb_free(db);
}

static void note_slot(void *arg, uint16_t slot)
{
	uint32_t *mask = arg;

	*mask |= 1u << slot;
}

static void slots_are_reused_after_expiry_only(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	uint32_t freed = 0;
	struct node *n;

	(void)state;
	for (node_id_t id = 2; id <= 5; id++)
		put(db, id, 1, 1, 0, S(1), &n);
	assert_int_equal(nodedb_slots(db), 5);
	nodedb_forget(db, nodedb_find(db, 3), S(10));
	nodedb_forget(db, nodedb_find(db, 5), S(10));
	put(db, 6, 1, 1, 0, S(11), &n);
	assert_int_equal(n->slot, 5);

	nodedb_expire(db, S(20), 10000, note_slot, &freed);
	assert_int_equal(freed, 0);
	nodedb_expire(db, S(21), 10000, note_slot, &freed);
	assert_int_equal(freed, 1u << 2 | 1u << 4);
	assert_null(nodedb_find(db, 3));
	assert_null(nodedb_at(db, 2));
	assert_int_equal(nodedb_find(db, 4)->slot, 3);
	put(db, 7, 1, 1, 0, S(22), &n);
	assert_int_equal(n->slot, 2);
	assert_int_equal(nodedb_slots(db), 6);
	nodedb_forget(db, nodedb_find(db, 6), S(30));
	nodedb_expire(db, S(99), 0, NULL, NULL);
	assert_int_equal(nodedb_slots(db), 4);
	nodedb_free(db);
}

static void full_table_refuses_strangers_only(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 3);
	struct node *n;

	(void)state;
	put(db, 2, 1, 1, 0, S(1), &n);
	put(db, 3, 1, 1, 0, S(1), &n);
	assert_int_equal(put(db, 4, 1, 1, 0, S(1), &n), RECORD_FULL);
	assert_null(n);
	assert_null(nodedb_add(db, 4, S(1)));
	assert_int_equal(put(db, 3, 1, 2, 0, S(2), &n), RECORD_NEWER);
	/* Another node uses a free place, and the first node cannot return. */
	nodedb_forget(db, nodedb_find(db, 2), S(3));
	assert_int_equal(put(db, 4, 1, 1, 0, S(4), &n), RECORD_NEW);
	assert_int_equal(put(db, 2, 2, 1, 0, S(5), &n), RECORD_FULL);
	assert_int_equal(nodedb_members(db), 3);
	nodedb_set_maximum(db, 4);
	assert_int_equal(put(db, 2, 2, 1, 0, S(6), &n), RECORD_NEW);
	/* A lower maximum removes no node. */
	nodedb_set_maximum(db, 2);
	assert_int_equal(nodedb_members(db), 4);
	assert_int_equal(put(db, 3, 1, 3, 0, S(7), &n), RECORD_NEWER);
	nodedb_free(db);
}

static void tombstones_are_bounded(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 8);
	struct node *n;

	(void)state;
	for (node_id_t id = 2; id < 1000; id++)
		put(db, id, 1, 1, RECORD_LEFT, S(1), &n);
	assert_in_range(nodedb_slots(db), 8, 16);
	nodedb_free(db);
}

/* Two tables agree if they learned equal versions in different orders and from different nodes. */
static void digest_is_about_versions_only(void **state)
{
	struct nodedb *a = nodedb_new(1, 2000), *b = nodedb_new(1, 2000);
	struct msg_record facts = { 0 };
	uint64_t before;
	struct node *n;

	(void)state;
	nodedb_set_own(a, &facts, 9, S(1));
	nodedb_set_own(b, &facts, 9, S(1));
	for (node_id_t id = 2; id <= 1000; id++)
		put(a, id, id, 2, 0, S(1), &n);
	for (node_id_t id = 1000; id >= 2; id--) {
		put(b, id, id, 1, 0, S(1), &n);
		nodedb_set_state(b, n, NODE_UNREACHABLE, S(2));
	}
	assert_int_not_equal(nodedb_digest(a), nodedb_digest(b));
	for (node_id_t id = 2; id <= 1000; id++)
		put(b, id, id, 2, 0, S(1), &n);
	assert_int_equal(nodedb_digest(a), nodedb_digest(b));

	before = nodedb_digest(a);
	put(a, 2000, 1, 1, 0, S(2), &n);
	nodedb_forget(a, n, S(3));
	nodedb_expire(a, S(1000), 0, NULL, NULL);
	assert_int_equal(nodedb_digest(a), before);
	/* Exchanged versions of two nodes change the digest. */
	put(a, 3000, 1, 2, 0, S(4), &n);
	put(a, 3001, 2, 1, 0, S(4), &n);
	put(b, 3000, 2, 1, 0, S(4), &n);
	put(b, 3001, 1, 2, 0, S(4), &n);
	assert_int_not_equal(nodedb_digest(a), nodedb_digest(b));
	nodedb_free(a);
	nodedb_free(b);
}

/* Versions under two keys are not compared. Records that differ only in the key have different
 * digests. */
static void versions_belong_to_keys(void **state)
{
	struct nodedb *a = nodedb_new(SELF, 4), *b = nodedb_new(SELF, 4);
	struct msg_record high = record(2, MSG_INCARNATION_MAX, UINT32_MAX), low = record(2, 7, 1);
	struct node *n;

	(void)state;
	memset(high.identity, 1, sizeof(high.identity));
	memset(low.identity, 2, sizeof(low.identity));
	assert_int_equal(nodedb_put(a, &high, S(1), &n), RECORD_NEW);
	assert_true(nodedb_compare(n, &low) > 0);
	assert_int_equal(nodedb_put(a, &low, S(2), &n), RECORD_NEWER);
	assert_int_equal(n->rec.incarnation, 7);
	assert_int_equal(nodedb_put(a, &low, S(2), &n), RECORD_SAME);
	/* A tombstone belongs to one key too. */
	high.flags = RECORD_LEFT;
	assert_int_equal(nodedb_put(b, &high, S(1), &n), RECORD_NEWER);
	assert_int_equal(n->state, NODE_LEFT);
	assert_int_equal(nodedb_put(b, &low, S(2), &n), RECORD_NEW);
	assert_int_equal(n->state, NODE_KNOWN);
	assert_int_equal(nodedb_digest(a), nodedb_digest(b));
	low.identity[0] ^= 1;
	assert_int_equal(nodedb_put(b, &low, S(3), &n), RECORD_NEWER);
	assert_int_not_equal(nodedb_digest(a), nodedb_digest(b));
	nodedb_drop_record(b, n);
	assert_false(n->has_record);
	assert_int_equal(nodedb_digest(b), 0);
	assert_int_equal(nodedb_put(b, &low, S(3), &n), RECORD_NEW);
	nodedb_free(a);
	nodedb_free(b);
}

/* The slot of a removed node stays empty for some time. Another node may use the place in the table
 * at once, with another slot. */
static void slot_of_a_removed_node_rests(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 2);
	uint64_t empty = nodedb_digest(db);
	struct node *n;
	uint16_t slot;

	(void)state;
	put(db, 2, 1, 1, 0, S(1), &n);
	slot = n->slot;
	assert_false(nodedb_has_place(db));
	nodedb_remove(db, n, S(5));
	assert_null(nodedb_find(db, 2));
	assert_int_equal(nodedb_digest(db), empty);
	assert_true(nodedb_has_place(db));
	assert_int_equal(put(db, 3, 1, 1, 0, S(6), &n), RECORD_NEW);
	assert_int_not_equal(n->slot, slot);
	nodedb_remove(db, n, S(6));
	assert_int_equal(put(db, 4, 1, 1, 0, S(60), &n), RECORD_NEW);
	assert_int_equal(n->slot, slot);
	nodedb_remove(db, nodedb_at(db, SLOT_SELF), S(61));
	assert_non_null(nodedb_at(db, SLOT_SELF));
	nodedb_free(db);
}

/* Removed members keep their slots for a while. Each slot stays below the limit nevertheless, and a
 * full table has a slot again after this time. */
static void slots_stay_below_the_limit(void **state)
{
	enum { MAXIMUM = 3072, ROUNDS = 5000 };
	struct nodedb *db = nodedb_new(SELF, MAXIMUM);
	const node_id_t first = SELF + 1, fresh = first + 2 * MAXIMUM;
	unsigned n_added = 0;
	struct node *n;

	(void)state;
	/* A full table takes no tombstone, so the members come last. */
	for (node_id_t i = 1; i <= MAXIMUM; i++)
		put(db, first + MAXIMUM + i, 1, 1, RECORD_LEFT, S(1), &n);
	for (node_id_t i = 1; i < MAXIMUM; i++)
		assert_int_equal(put(db, first + i, 1, 1, 0, S(1), &n), RECORD_NEW);
	assert_false(nodedb_has_place(db));
	assert_false(nodedb_has_slot(db));
	for (node_id_t i = 1; i <= ROUNDS; i++) {
		n = nodedb_find(db, i == 1 ? first + 1 : fresh + i - 1);
		if (!n)
			n = nodedb_next(db, NULL);
		nodedb_remove(db, n, S(2));
		n_added += nodedb_add(db, fresh + i, S(2)) != NULL;
		assert_true(nodedb_slots(db) <= NODEDB_SLOTS(MAXIMUM));
	}
	assert_int_equal(n_added, NODEDB_SLOTS(MAXIMUM) - 2 * MAXIMUM);
	assert_non_null(nodedb_add(db, fresh, S(60)));
	nodedb_free(db);
}

/* Nodes are added and removed. Each present node is found, and no other. */
static void whoever_is_there_is_found(void **state)
{
	enum { IDS = 600, ROUNDS = 20000, LOOK_EVERY = 500 };
	struct nodedb *db = nodedb_new(SELF, 1000);
	bool is_there[IDS] = { false };
	uint32_t members = 1;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t i = (uint32_t)(hash_mix64(round) % IDS);
		node_id_t id = SELF + 1 + i;

		if (is_there[i])
			nodedb_remove(db, nodedb_find(db, id), S(20 * round));
		else
			assert_non_null(nodedb_add(db, id, S(20 * round)));
		is_there[i] = !is_there[i];
		members += is_there[i] ? 1 : -1u;
		assert_int_equal(nodedb_members(db), members);
		for (uint32_t k = 0; round % LOOK_EVERY == 0 && k < IDS; k++) {
			struct node *n = nodedb_find(db, SELF + 1 + k);

			assert_int_equal(n != NULL, is_there[k]);
			assert_true(!n || (n->id == SELF + 1 + k && nodedb_at(db, n->slot) == n));
			assert_int_equal(nodedb_slot(db, SELF + 1 + k), n ? n->slot : SLOT_NONE);
		}
	}
	nodedb_free(db);
}

/* Members in the order of slots, without this node, departed nodes and free slots. */
static void other_members_in_order(void **state)
{
	struct nodedb *db = nodedb_new(SELF, 10);
	struct node *n[4], *at = NULL;

	(void)state;
	assert_null(nodedb_next(db, NULL));
	for (unsigned i = 0; i < 4; i++)
		put(db, 20 - i, 1, 1, 0, S(1), &n[i]);
	nodedb_remove(db, n[0], S(2));
	nodedb_forget(db, n[2], S(2));
	assert_ptr_equal(at = nodedb_next(db, at), n[1]);
	assert_ptr_equal(at = nodedb_next(db, at), n[3]);
	assert_null(nodedb_next(db, at));
	nodedb_free(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_compare),
		cmocka_unit_test(self_is_slot_zero),
		cmocka_unit_test(newest_version_wins),
		cmocka_unit_test(node_known_by_id_gets_its_record),
		cmocka_unit_test(own_record_is_never_replaced),
		cmocka_unit_test(sequence_at_its_end_moves_the_incarnation),
		cmocka_unit_test(leave_makes_a_tombstone),
		cmocka_unit_test(leave_of_a_stranger_is_remembered),
		cmocka_unit_test(forgotten_node_needs_a_newer_record),
		cmocka_unit_test(slots_are_reused_after_expiry_only),
		cmocka_unit_test(full_table_refuses_strangers_only),
		cmocka_unit_test(tombstones_are_bounded),
		cmocka_unit_test(digest_is_about_versions_only),
		cmocka_unit_test(versions_belong_to_keys),
		cmocka_unit_test(slot_of_a_removed_node_rests),
		cmocka_unit_test(slots_stay_below_the_limit),
		cmocka_unit_test(whoever_is_there_is_found),
		cmocka_unit_test(other_members_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
