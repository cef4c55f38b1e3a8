// SPDX-License-Identifier: GPL-2.0-or-later
/* The latency database: the link filter, the announcement of the own row, and the merge of the rows
 * of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "state/latency/latdb.h"
#include "state/latency/path.h"

#define S(n) ((mono_t){ (n)*NS_PER_S })

/* --- filter --- */

static void first_sample_is_taken_as_it_is(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	link_filter_answer(&f, 20000, S(1));
	assert_int_equal(f.n_samples, 1);
	assert_int_equal(f.srtt_us, 20000);
	assert_int_equal(f.last_us, 20000);
	assert_int_equal(minmax_min(&f.min), 20000);
	assert_int_equal(f.loss_pm, 0);
	/* The variation of a fresh link costs less than the default threshold of 10 %. */
	assert_in_range(f.var_us, 1, 1999);
}

static void filter_follows_a_step(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	for (int i = 0; i < 100; i++)
		link_filter_answer(&f, 20000, S(1 + i));
	assert_int_equal(f.srtt_us, 20000);
	assert_in_range(f.var_us, 0, 10);
	link_filter_answer(&f, 28000, S(101));
	assert_int_equal(f.srtt_us, 21000);    /* 1/8 of the step */
	assert_in_range(f.var_us, 4000, 4010); /* 1/4 of the step, doubled */
	for (int i = 0; i < 60; i++)
		link_filter_answer(&f, 28000, S(102 + i));
	assert_in_range(f.srtt_us, 27980, 28000);
	assert_in_range(f.var_us, 0, 30);
	link_filter_answer(&f, 0, S(200));
	assert_in_range(f.srtt_us, 24000, 24600);
}

static void a_fall_never_raises_the_cost(void **state)
{
	static const uint32_t from_us[] = { 300000, 900000, 105000, 20000000 };

	(void)state;
	for (size_t k = 0; k < array_size(from_us); k++) {
		for (int noisy = 0; noisy < 2; noisy++) {
			struct lat_entry e = { .up = true };
			struct link_filter f;
			uint32_t cost, before;

			link_filter_reset(&f, 1800);
			for (int i = 0; i < 200; i++)
				link_filter_answer(
					&f, from_us[k] + (noisy ? from_us[k] / 50 * (i % 3) : 0),
					S(1 + i));
			e.rtt_us = (uint32_t)f.now_us;
			e.var_us = 0;
			before = link_cost(&e);
			for (int i = 0; i < 200; i++) {
				link_filter_answer(&f, 100000, S(300 + i));
				e.rtt_us = (uint32_t)f.now_us;
				e.var_us = 0;
				cost = link_cost(&e);
				assert_in_range(cost, 100000, before);
				before = cost;
			}
			/* The averages keep a thousandth of the largest step. */
			assert_in_range(before, 100000, 101000);
		}
	}
}

/* With equal numbers of samples above and below, the deviation agrees with RFC 6298. */
static void deviation_of_even_noise(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	for (int i = 0; i < 1000; i++)
		link_filter_answer(&f, i % 2 ? 110000 : 90000, S(1 + i));
	assert_in_range(f.srtt_us, 98000, 102000);
	assert_in_range(f.var_us, 6000, 14000);
}

/* If answers are late by chance, a failure needs more late answers in a row. */
static void chance_grows_with_late_answers(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	assert_int_equal(link_filter_chance(&f), 0);
	/* One outage of a few probes is not chance. */
	for (int i = 0; i < 4; i++)
		link_filter_late(&f, true);
	assert_int_equal(link_filter_chance(&f), 0);
	for (int i = 0; i < 5000; i++)
		link_filter_late(&f, i % 25 == 0);
	assert_int_equal(link_filter_chance(&f), 1);
	for (int i = 0; i < 5000; i++)
		link_filter_late(&f, i % 8 == 0);
	assert_int_equal(link_filter_chance(&f), 3);
	for (int i = 0; i < 5000; i++)
		link_filter_late(&f, false);
	assert_int_equal(link_filter_chance(&f), 0);
}

static void loss_rises_and_fades(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	for (int i = 0; i < 1000; i++) {
		link_filter_loss(&f);
		assert_in_range(f.loss_pm, 1, 1000);
	}
	assert_int_equal(f.loss_pm, 1000);
	for (int i = 0; i < 1000; i++)
		link_filter_answer(&f, 10, S(1));
	assert_int_equal(f.loss_pm, 0);
	/* The average of one loss in ten is about 10 %. */
	for (int i = 0; i < 2000; i++)
		i % 10 ? link_filter_answer(&f, 10, S(1)) : link_filter_loss(&f);
	assert_in_range(f.loss_pm, 70, 130);
}

static void minimum_lasts_one_to_two_minutes(void **state)
{
	struct link_filter f;

	(void)state;
	link_filter_reset(&f, 1800);
	link_filter_answer(&f, 500, S(10));
	link_filter_answer(&f, 300, S(20));
	link_filter_answer(&f, 800, S(30));
	assert_int_equal(minmax_min(&f.min), 300);
	link_filter_answer(&f, 700, S(75)); /* second minute: the first minute still counts */
	assert_int_equal(minmax_min(&f.min), 300);
	link_filter_answer(&f, 900, S(140)); /* third minute: the second minute counts */
	assert_int_equal(minmax_min(&f.min), 700);
	link_filter_answer(&f, 950, S(1000)); /* after a silence no old sample counts */
	assert_int_equal(minmax_min(&f.min), 950);
}

/* --- nodes of a test: node-id 1000 + slot --- */

static struct nodedb *nodes_new(uint16_t n)
{
	struct nodedb *nodes = nodedb_new(1000, 5000);
	struct msg_record r = { .incarnation = 1, .seq = 1 };
	struct node *out;

	nodedb_set_own(nodes, &r, 1, S(1));
	for (uint16_t i = 1; i < n; i++) {
		r.origin = 1000u + i;
		nodedb_put(nodes, &r, S(1), &out);
		assert_int_equal(out->slot, i);
	}
	return nodes;
}

static uint16_t slot_by_id(void *arg, node_id_t id)
{
	struct node *n = nodedb_find(arg, id);

	return n ? n->slot : SLOT_NONE;
}

static struct lat_entry up(uint32_t rtt_us)
{
	return (struct lat_entry){ .rtt_us = rtt_us, .var_us = 100, .mtu = 1400, .up = true };
}

static struct msg_row row_of(uint64_t incarnation, uint32_t seq, uint32_t base)
{
	return (struct msg_row){
		.origin = 1001, .incarnation = incarnation, .seq = seq, .base = base, .parts = 1
	};
}

static void add_entry(struct msg_row *m, node_id_t node, uint32_t rtt_us, bool is_up)
{
	struct lat_entry link = {
		.up = is_up, .rtt_us = rtt_us, .var_us = 7, .loss_pm = 3, .mtu = 1400
	};

	m->entry[m->n++] = (struct row_entry){ node, link };
}

static void set_up(struct latdb *db, uint16_t to, uint32_t rtt_us)
{
	struct lat_entry e = up(rtt_us);

	latdb_set(db, to, &e);
}

/* --- own row --- */

static void unknown_is_down(void **state)
{
	struct latdb *db = latdb_new();
	struct lat_entry e = latdb_get(db, 9, 9);

	(void)state;
	assert_false(e.up);
	assert_int_equal(e.rtt_us, 0);
	assert_int_equal(latdb_row_seq(db, 9), 0);
	assert_int_equal(latdb_row_incarnation(db, 9), 0);
	latdb_forget(db, 9);
	latdb_free(db);
	latdb_free(NULL);
}

static void set_tells_what_is_worth_announcing(void **state)
{
	static const struct {
		struct lat_entry e;
		bool worth;
	} steps[] = {
		{ { .rtt_us = 10000, .var_us = 1000, .mtu = 1400, .up = true }, true },
		{ { .rtt_us = 10000, .var_us = 1000, .mtu = 1400, .up = true }, false },
		{ { .rtt_us = 10500, .var_us = 1000, .mtu = 1400, .up = true }, false }, /* 5 % */
		{ { .rtt_us = 10501, .var_us = 1000, .mtu = 1400, .up = true }, true },
		/* The variation counts by its quarter in the cost, 10751 before. */
		{ { .rtt_us = 10501, .var_us = 3151, .mtu = 1400, .up = true }, false },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1400, .up = true }, true },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .up = true }, true },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 5, .up = true },
		  false },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 6, .up = true },
		  true },
		/* The loss rises at once, and falls by more than one lost probe, or to its end. */
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 70, .up = true },
		  true },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 38, .up = true },
		  false },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 37, .up = true },
		  true },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 6, .up = true },
		  false },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 5, .up = true },
		  true },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .up = true }, false },
		{ { .rtt_us = 10501, .var_us = 3152, .mtu = 1399, .loss_pm = 6 }, true },
		{ { .rtt_us = 90000, .var_us = 3152, .mtu = 1399, .loss_pm = 900 }, false },
	};
	struct latdb *db = latdb_new();

	(void)state;
	for (size_t i = 0; i < array_size(steps); i++) {
		if (latdb_set(db, 3, &steps[i].e) != steps[i].worth)
			fail_msg("step %zu", i);
	}
	assert_true(latdb_own_dirty(db));
	assert_false(latdb_get(db, SLOT_SELF, 3).up);
	latdb_free(db);
}

static void announces_changes_as_sequences(void **state)
{
	struct nodedb *nodes = nodes_new(5);
	struct latdb *db = latdb_new();
	struct msg_row m;
	uint32_t iter = 0;

	(void)state;
	assert_false(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_false(latdb_own_next(db, nodes, 1, ROW_WHOLE, &iter, &m));
	set_up(db, 1, 1000);
	set_up(db, 2, 2000);
	/* The first sequence number has no base. */
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_int_equal(m.origin, 1000);
	assert_int_equal(m.seq, 1);
	assert_int_equal(m.base, 0);
	assert_int_equal(m.parts, 1);
	assert_int_equal(m.n, 2);
	assert_false(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_false(latdb_own_dirty(db));
	assert_int_equal(latdb_row_seq(db, SLOT_SELF), 1);

	set_up(db, 2, 9000);
	iter = 0;
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_int_equal(m.seq, 2);
	assert_int_equal(m.base, 1);
	assert_int_equal(m.n, 1);
	assert_int_equal(m.entry[0].node, 1002);
	assert_int_equal(m.entry[0].link.rtt_us, 9000);
	assert_false(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	iter = 0;
	assert_false(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));

	/* A whole row does not make a new sequence number. */
	iter = 0;
	assert_true(latdb_own_next(db, nodes, 1, ROW_WHOLE, &iter, &m));
	assert_int_equal(m.seq, 2);
	assert_int_equal(m.base, 0);
	assert_int_equal(m.n, 2);
	assert_false(latdb_own_next(db, nodes, 1, ROW_WHOLE, &iter, &m));
	latdb_free(db);
	nodedb_free(nodes);
}

static void new_incarnation_starts_with_the_whole_row(void **state)
{
	struct nodedb *nodes = nodes_new(5);
	struct latdb *db = latdb_new();
	struct msg_row m;
	uint32_t iter = 0;

	(void)state;
	set_up(db, 1, 1000);
	set_up(db, 2, 2000);
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	set_up(db, 2, 9000);
	iter = 0;
	assert_true(latdb_own_next(db, nodes, 2, ROW_CHANGES, &iter, &m));
	assert_int_equal(m.incarnation, 2);
	assert_int_equal(m.seq, 2);
	assert_int_equal(m.base, 0);
	assert_int_equal(m.n, 2);
	assert_int_equal(latdb_row_incarnation(db, SLOT_SELF), 2);
	assert_false(latdb_own_dirty(db));
	latdb_free(db);
	nodedb_free(nodes);
}

static void links_to_nodes_without_record_wait(void **state)
{
	struct nodedb *nodes = nodes_new(3);
	struct msg_record r = { .origin = 1003, .incarnation = 1, .seq = 1 };
	struct latdb *db = latdb_new();
	struct msg_row m;
	struct node *n;
	uint32_t iter = 0;

	(void)state;
	nodedb_add(nodes, 1003, S(1));
	set_up(db, 3, 3000);
	assert_false(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	set_up(db, 1, 1000);
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_int_equal(m.n, 1);
	assert_true(latdb_own_dirty(db));
	nodedb_put(nodes, &r, S(2), &n);
	iter = 0;
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m));
	assert_int_equal(m.n, 1);
	assert_int_equal(m.entry[0].node, 1003);
	assert_false(latdb_own_dirty(db));
	latdb_free(db);
	nodedb_free(nodes);
}

/* --- rows of others --- */

static void merge_follows_sequences(void **state)
{
	struct nodedb *nodes = nodes_new(6);
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 1, 0);

	(void)state;
	add_entry(&m, 1002, 2000, true);
	add_entry(&m, 1003, 3000, false);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_int_equal(latdb_row_seq(db, 1), 1);
	assert_int_equal(latdb_row_incarnation(db, 1), 5);
	assert_true(latdb_get(db, 1, 2).up);
	assert_int_equal(latdb_get(db, 1, 2).rtt_us, 2000);
	assert_int_equal(latdb_get(db, 1, 2).var_us, 7);
	assert_int_equal(latdb_get(db, 1, 2).loss_pm, 3);
	assert_int_equal(latdb_get(db, 1, 2).mtu, 1400);
	assert_false(latdb_get(db, 2, 1).up);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_OLD);

	/* The changes since sequence 1, including a link that was down before. */
	m = row_of(5, 2, 1);
	add_entry(&m, 1003, 3300, false);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_UNCHANGED);
	assert_int_equal(latdb_row_seq(db, 1), 2);

	/* Sequence 3 is lost. */
	m = row_of(5, 4, 3);
	add_entry(&m, 1002, 9, true);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_GAP);
	assert_int_equal(latdb_get(db, 1, 2).rtt_us, 2000);
	/* A whole row repairs the gap and removes all entries that it does not contain. */
	m = row_of(5, 4, 0);
	add_entry(&m, 1004, 4000, true);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_int_equal(latdb_row_seq(db, 1), 4);
	assert_false(latdb_get(db, 1, 2).up);
	assert_true(latdb_get(db, 1, 4).up);
	/* The base of a change may be older than the present sequence. */
	m = row_of(5, 5, 2);
	add_entry(&m, 1002, 2100, true);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_true(latdb_get(db, 1, 4).up);
	latdb_free(db);
	nodedb_free(nodes);
}

static void new_run_of_a_node_replaces_its_row(void **state)
{
	struct nodedb *nodes = nodes_new(6);
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 9, 0);

	(void)state;
	add_entry(&m, 1002, 2000, true);
	latdb_merge(db, 1, &m, slot_by_id, nodes);
	m = row_of(4, 99, 0);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_OLD);
	m = row_of(6, 3, 2);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_GAP);
	assert_int_equal(latdb_row_incarnation(db, 1), 5);
	m = row_of(6, 1, 0);
	add_entry(&m, 1003, 3000, true);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_int_equal(latdb_row_incarnation(db, 1), 6);
	assert_int_equal(latdb_row_seq(db, 1), 1);
	assert_false(latdb_get(db, 1, 2).up);
	assert_true(latdb_get(db, 1, 3).up);
	latdb_free(db);
	nodedb_free(nodes);
}

static void row_naming_a_stranger_is_asked_for_again(void **state)
{
	struct nodedb *nodes = nodes_new(4);
	struct msg_record r = { .origin = 1077, .incarnation = 1, .seq = 1 };
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 1, 0);
	struct node *n;

	(void)state;
	add_entry(&m, 1002, 2000, true);
	add_entry(&m, 1077, 3000, true);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_true(latdb_get(db, 1, 2).up);
	assert_int_equal(latdb_row_seq(db, 1), 1);
	/* The row is requested once, after a node of that node-id appears. */
	nodedb_put(nodes, &r, S(1), &n);
	latdb_request_missing(db);
	assert_int_equal(latdb_row_seq(db, 1), 0);
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_CHANGED);
	assert_int_equal(latdb_row_seq(db, 1), 1);
	assert_true(latdb_get(db, 1, n->slot).up);
	/* An unknown node behind a link that is down is ignored. */
	m = row_of(5, 2, 1);
	add_entry(&m, 1099, 0, false);
	latdb_merge(db, 1, &m, slot_by_id, nodes);
	assert_int_equal(latdb_row_seq(db, 1), 2);
	latdb_request_missing(db);
	assert_int_equal(latdb_row_seq(db, 1), 2);
	/* A node may return after its removal. */
	latdb_forget(db, n->slot);
	latdb_request_missing(db);
	assert_int_equal(latdb_row_seq(db, 1), 0);
	latdb_free(db);
	nodedb_free(nodes);
}

static void nonsense_is_ignored(void **state)
{
	struct nodedb *nodes = nodes_new(4);
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 1, 0);

	(void)state;
	add_entry(&m, 1001, 1, true); /* a link to the node itself */
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_UNCHANGED);
	assert_false(latdb_get(db, 1, 1).up);
	m = row_of(5, 2, 0);
	m.parts = 0;
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_OLD);
	m.parts = 65;
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_OLD);
	m.parts = 2;
	m.part = 2;
	assert_int_equal(latdb_merge(db, 1, &m, slot_by_id, nodes), ROW_OLD);
	/* A received row does not change the own row. */
	m = row_of(9, 9, 0);
	add_entry(&m, 1002, 1, true);
	assert_int_equal(latdb_merge(db, SLOT_SELF, &m, slot_by_id, nodes), ROW_OLD);
	assert_false(latdb_get(db, SLOT_SELF, 2).up);
	latdb_free(db);
	nodedb_free(nodes);
}

static void forget_clears_row_and_column(void **state)
{
	struct nodedb *nodes = nodes_new(6);
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 1, 0);

	(void)state;
	add_entry(&m, 1002, 2000, true);
	add_entry(&m, 1003, 2000, true);
	latdb_merge(db, 1, &m, slot_by_id, nodes);
	latdb_merge(db, 4, &m, slot_by_id, nodes);
	set_up(db, 2, 500);
	latdb_forget(db, 2);
	assert_false(latdb_get(db, 1, 2).up);
	assert_false(latdb_get(db, 4, 2).up);
	assert_false(latdb_get(db, SLOT_SELF, 2).up);
	assert_false(latdb_own_dirty(db));
	assert_true(latdb_get(db, 1, 3).up);
	latdb_forget(db, 1);
	assert_false(latdb_get(db, 1, 3).up);
	assert_int_equal(latdb_row_seq(db, 1), 0);
	assert_true(latdb_get(db, 4, 3).up);
	latdb_free(db);
	nodedb_free(nodes);
}

/* The last block of a row is filled with unknown links, which a scan of paths reads. */
static void links_without_an_entry_are_down(void **state)
{
	struct nodedb *nodes = nodes_new(40);
	struct latdb *db = latdb_new();
	struct msg_row m = row_of(5, 1, 0);
	const struct cells *row;
	uint32_t n;

	(void)state;
	assert_null(latdb_row(db, 1, &n));
	add_entry(&m, 1002, 2000, true);
	add_entry(&m, 1021, 2000, true);
	latdb_merge(db, 1, &m, slot_by_id, nodes);
	m = row_of(5, 3, 0);
	add_entry(&m, 1003, 1000, true);
	latdb_merge(db, 1, &m, slot_by_id, nodes); /* a whole row without the other links */
	row = latdb_row(db, 1, &n);
	assert_int_equal(n % CELLS_MULTIPLE, 0);
	for (uint32_t to = 0; to < n; to++)
		assert_int_equal(row->rtt[to] & (CELL_US_MAX | CELL_DOWN),
				 to == 3 ? 1000 : CELL_DOWN);
	latdb_free(db);
	nodedb_free(nodes);
}

static void check_kept(struct latdb *db, struct lat_entry set, struct lat_entry want)
{
	struct lat_entry e;

	latdb_set(db, 1, &set);
	e = latdb_get(db, SLOT_SELF, 1);
	assert_true(e.rtt_us == want.rtt_us && e.long_term_us == want.long_term_us);
	assert_true(e.var_us == want.var_us && e.loss_pm == want.loss_pm && e.mtu == want.mtu);
	assert_true(e.up == want.up && e.silent == want.silent);
}

/* Each value keeps its precision beside the others, and saturates. */
static void a_cell_keeps_all_values(void **state)
{
	const struct lat_entry some[] = {
		{ 1, 2, 3, 4, 5, true, false },
		{ CELL_US_MAX, 0, 0, 0, 9001, true, true },
		{ 0, CELL_US_MAX, 0, 1000, 1472, true, false },
		{ 0, 0, CELL_VAR_MAX, 0, CELL_MTU_MAX, true, false },
	};
	struct latdb *db = latdb_new();

	(void)state;
	for (unsigned i = 0; i < array_size(some); i++)
		check_kept(db, some[i], some[i]);
	check_kept(db,
		   (struct lat_entry){ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT16_MAX,
				       true, true },
		   (struct lat_entry){ CELL_US_MAX, CELL_US_MAX, CELL_VAR_MAX, 1000, CELL_MTU_MAX,
				       true, true });
	latdb_free(db);
}

/* --- rows of many parts: 490 nodes, sender and receiver --- */

#define BIG 490

static uint32_t big_rtt(uint16_t to)
{
	return 1000u + to * 10u;
}

static void fill_big(struct latdb *db)
{
	for (uint16_t i = 1; i < BIG; i++)
		set_up(db, i, big_rtt(i));
}

static uint32_t collect(struct latdb *db, struct nodedb *nodes, struct msg_row *out)
{
	uint32_t iter = 0, n = 0;

	while (latdb_own_next(db, nodes, 1, ROW_WHOLE, &iter, &out[n]))
		n++;
	return n;
}

/* At the receiver, the sender (1000) has slot 1 and the receiver (1489) has slot 0. */
static struct nodedb *receiver_nodes(void)
{
	struct nodedb *nodes = nodedb_new(1000 + BIG - 1, 5000);
	struct msg_record r = { .incarnation = 1, .seq = 1 };
	struct node *out;

	nodedb_set_own(nodes, &r, 1, S(1));
	for (uint16_t i = 0; i < BIG - 1; i++) {
		r.origin = 1000u + i;
		nodedb_put(nodes, &r, S(1), &out);
	}
	return nodes;
}

static void check_big(struct latdb *db, struct nodedb *nodes)
{
	for (uint16_t i = 1; i < BIG; i++) {
		struct lat_entry e = latdb_get(db, 1, nodedb_find(nodes, 1000u + i)->slot);

		assert_true(e.up);
		assert_int_equal(e.rtt_us, big_rtt(i));
	}
}

static void big_row_arrives_in_any_order(void **state)
{
	struct nodedb *nodes = nodes_new(BIG), *theirs = receiver_nodes();
	struct latdb *db = latdb_new(), *copy = latdb_new();
	static struct msg_row m[MSG_PARTS_MAX], announced[MSG_PARTS_MAX];
	uint32_t n, n_announced = 0, iter = 0;

	(void)state;
	fill_big(db);
	while (latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &announced[n_announced]))
		n_announced++;
	n = collect(db, nodes, m);
	assert_int_equal(n, n_announced);
	assert_in_range(n, 7, 12);
	for (uint32_t i = n; i-- > 0;) {
		assert_int_equal(latdb_row_seq(copy, 1), 0);
		assert_int_equal(latdb_merge(copy, 1, &m[i], slot_by_id, theirs), ROW_CHANGED);
		if (i)
			assert_int_equal(latdb_merge(copy, 1, &m[i], slot_by_id, theirs), ROW_OLD);
	}
	assert_int_equal(latdb_row_seq(copy, 1), 1);
	check_big(copy, theirs);
	latdb_free(db);
	latdb_free(copy);
	nodedb_free(nodes);
	nodedb_free(theirs);
}

static void lost_part_leaves_a_gap_that_the_whole_row_mends(void **state)
{
	struct nodedb *nodes = nodes_new(BIG), *theirs = receiver_nodes();
	struct latdb *db = latdb_new(), *copy = latdb_new();
	static struct msg_row m[MSG_PARTS_MAX];
	struct msg_row d;
	uint32_t n, iter = 0;

	(void)state;
	fill_big(db);
	latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &d);
	n = collect(db, nodes, m);
	for (uint32_t i = 1; i < n; i++)
		latdb_merge(copy, 1, &m[i], slot_by_id, theirs);
	assert_int_equal(latdb_row_seq(copy, 1), 0);
	set_up(db, 7, 99000);
	iter = 0;
	assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &d));
	assert_int_equal(latdb_merge(copy, 1, &d, slot_by_id, theirs), ROW_GAP);
	/* The late part completes sequence 1, and the change then applies. */
	latdb_merge(copy, 1, &m[0], slot_by_id, theirs);
	assert_int_equal(latdb_row_seq(copy, 1), 1);
	assert_int_equal(latdb_merge(copy, 1, &d, slot_by_id, theirs), ROW_CHANGED);
	assert_int_equal(latdb_get(copy, 1, nodedb_find(theirs, 1007)->slot).rtt_us, 99000);
	/* A part of an older sequence does not replace a newer one. */
	assert_int_equal(latdb_merge(copy, 1, &m[0], slot_by_id, theirs), ROW_OLD);
	latdb_free(db);
	latdb_free(copy);
	nodedb_free(nodes);
	nodedb_free(theirs);
}

static void largest_table_fits_the_parts(void **state)
{
	struct nodedb *nodes = nodes_new(4096);
	struct latdb *db = latdb_new();
	static struct msg_row m[MSG_PARTS_MAX + 1];
	uint32_t n, total = 0;

	(void)state;
	for (uint16_t i = 1; i < 4096; i++)
		set_up(db, i, 1000);
	{
		uint32_t iter = 0;

		assert_true(latdb_own_next(db, nodes, 1, ROW_CHANGES, &iter, &m[0]));
	}
	n = collect(db, nodes, m);
	assert_in_range(n, 57, MSG_PARTS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		assert_in_range(m[i].n, 1, MSG_ROW_MAX);
		total += m[i].n;
	}
	assert_int_equal(total, 4095);
	latdb_free(db);
	nodedb_free(nodes);
}

/* Both ends of an existing link may differ by a factor of 2 plus 8 ms, in either direction. */
static void both_ends_of_a_link_may_disagree_a_little(void **state)
{
	struct lat_entry a = { .up = true, .rtt_us = 1000 }, b = { .up = true, .rtt_us = 10000 };

	(void)state;
	assert_false(lat_is_asymmetric(&a, &b));
	b.rtt_us++;
	assert_true(lat_is_asymmetric(&a, &b));
	assert_true(lat_is_asymmetric(&b, &a));
	a.rtt_us = 100000;
	b.rtt_us = 208000;
	assert_false(lat_is_asymmetric(&a, &b));
	b.rtt_us++;
	assert_true(lat_is_asymmetric(&a, &b));
	b.up = false;
	assert_false(lat_is_asymmetric(&a, &b));
	b.up = true;
	a.rtt_us = 0; /* not measured */
	assert_false(lat_is_asymmetric(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_link_may_disagree_a_little),
		cmocka_unit_test(first_sample_is_taken_as_it_is),
		cmocka_unit_test(filter_follows_a_step),
		cmocka_unit_test(a_fall_never_raises_the_cost),
		cmocka_unit_test(deviation_of_even_noise),
		cmocka_unit_test(chance_grows_with_late_answers),
		cmocka_unit_test(loss_rises_and_fades),
		cmocka_unit_test(minimum_lasts_one_to_two_minutes),
		cmocka_unit_test(unknown_is_down),
		cmocka_unit_test(set_tells_what_is_worth_announcing),
		cmocka_unit_test(announces_changes_as_sequences),
		cmocka_unit_test(new_incarnation_starts_with_the_whole_row),
		cmocka_unit_test(links_to_nodes_without_record_wait),
		cmocka_unit_test(merge_follows_sequences),
		cmocka_unit_test(new_run_of_a_node_replaces_its_row),
		cmocka_unit_test(row_naming_a_stranger_is_asked_for_again),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(forget_clears_row_and_column),
		cmocka_unit_test(links_without_an_entry_are_down),
		cmocka_unit_test(a_cell_keeps_all_values),
		cmocka_unit_test(big_row_arrives_in_any_order),
		cmocka_unit_test(lost_part_leaves_a_gap_that_the_whole_row_mends),
		cmocka_unit_test(largest_table_fits_the_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
