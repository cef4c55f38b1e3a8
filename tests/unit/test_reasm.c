// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/in/reasm: order, duplicates, overlap, time-outs and the memory limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "fwd/in/received_tables.h"

#define SOURCE 0x0a000001u
#define TOTAL  4000u
#define T0     ((mono_t){ NS_PER_S })

static uint8_t frame[FRAGMENT_FRAME_MAX];

static struct reasm_result add_at(struct reasm *r, uint32_t id, uint16_t offset, size_t len,
				  mono_t now)
{
	struct fragment_hdr h = { .id = id, .offset = offset, .total = TOTAL };

	return reasm_add(r, SOURCE, &h, frame + offset, len, (struct reasm_around){ 1, 0 }, now);
}

static struct reasm_result add(struct reasm *r, uint16_t offset, size_t len)
{
	return add_at(r, 7, offset, len, T0);
}

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 13 + (i >> 8));
	*state = reasm_new(64 << 10);
	return 0;
}

static int teardown(void **state)
{
	reasm_free(*state);
	return 0;
}

static void check_complete(struct reasm *r, struct reasm_result res)
{
	assert_int_equal(res.verdict, REASM_COMPLETE);
	assert_int_equal(res.len, TOTAL);
	assert_int_equal(res.around.flags, 1);
	assert_memory_equal(res.data, frame, TOTAL);
	assert_int_equal(reasm_waiting(r), 0);
	assert_int_equal(reasm_bytes(r), 0);
	reasm_reap(r, NULL);
}

/* Every order of five fragments. */
static void any_order(void **state)
{
	struct reasm *r = *state;

	for (unsigned code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
		unsigned seen = 0, c = code, order[5];

		for (unsigned i = 0; i < 5; i++, c /= 5) {
			order[i] = c % 5;
			seen |= 1u << order[i];
		}
		if (seen != 0x1f)
			continue;
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(add(r, (uint16_t)(order[i] * 800), 800).verdict,
					 REASM_WAITING);
		assert_int_equal(reasm_waiting(r), 1);
		assert_int_equal(reasm_bytes(r), TOTAL);
		check_complete(r, add(r, (uint16_t)(order[4] * 800), 800));
	}
}

static void uneven_last_piece(void **state)
{
	struct reasm *r = *state;

	assert_int_equal(add(r, 3000, 1000).verdict, REASM_WAITING);
	assert_int_equal(add(r, 0, 1500).verdict, REASM_WAITING);
	check_complete(r, add(r, 1500, 1500));
}

static void one_piece(void **state)
{
	check_complete(*state, add(*state, 0, TOTAL));
}

static void duplicates_change_nothing(void **state)
{
	struct reasm *r = *state;

	assert_int_equal(add(r, 800, 800).verdict, REASM_WAITING);
	assert_int_equal(add(r, 800, 800).verdict, REASM_DUPLICATE);
	assert_int_equal(add(r, 900, 100).verdict, REASM_DUPLICATE);
	assert_int_equal(add(r, 1600, 800).verdict, REASM_WAITING);
	assert_int_equal(add(r, 800, 1600).verdict, REASM_DUPLICATE);
	assert_int_equal(add(r, 2400, 1600).verdict, REASM_WAITING);
	check_complete(r, add(r, 0, 800));
	/* A fragment after completion begins a new frame, which times out. */
	assert_int_equal(add(r, 0, 800).verdict, REASM_WAITING);
	assert_int_equal(reasm_expire(r, mono_add_ns(T0, REASM_TIMEOUT_NS)), 1);
}

static void overlap_condemns(void **state)
{
	static const struct {
		uint16_t offset;
		uint16_t len;
	} bad[] = { { 700, 200 }, { 1500, 200 }, { 700, 1000 },	 { 799, 802 }, { 1599, 2 },
		    { 0, 801 },	  { 1500, 900 }, { 1400, 1200 }, { 500, 3500 } };
	struct reasm *r = *state;

	for (unsigned i = 0; i < array_size(bad); i++) {
		assert_int_equal(add(r, 800, 800).verdict, REASM_WAITING);
		assert_int_equal(add(r, 2400, 800).verdict, REASM_WAITING);
		assert_int_equal(add(r, bad[i].offset, bad[i].len).verdict, REASM_BAD);
		assert_int_equal(reasm_waiting(r), 0);
		assert_int_equal(reasm_bytes(r), 0);
	}
	/* A fragment closes a gap and has one byte too many. */
	assert_int_equal(add(r, 800, 800).verdict, REASM_WAITING);
	assert_int_equal(add(r, 2400, 800).verdict, REASM_WAITING);
	assert_int_equal(add(r, 1600, 801).verdict, REASM_BAD);
}

static void contradictions_condemn(void **state)
{
	struct reasm *r = *state;
	struct fragment_hdr h = { .id = 7, .offset = 800, .total = TOTAL - 1 };

	assert_int_equal(add(r, 0, 800).verdict, REASM_WAITING);
	assert_int_equal(
		reasm_add(r, SOURCE, &h, frame, 800, (struct reasm_around){ 1, 0 }, T0).verdict,
		REASM_BAD);
	assert_int_equal(reasm_waiting(r), 0);
	assert_int_equal(add(r, 0, 800).verdict, REASM_WAITING);
	h.total = TOTAL;
	assert_int_equal(
		reasm_add(r, SOURCE, &h, frame, 800, (struct reasm_around){ 0, 0 }, T0).verdict,
		REASM_BAD);
	assert_int_equal(reasm_waiting(r), 0);
}

static void too_many_gaps_condemn(void **state)
{
	struct reasm *r = *state;

	for (unsigned i = 0; i < REASM_RANGES_MAX; i++)
		assert_int_equal(add(r, (uint16_t)(100 + i * 100), 50).verdict, REASM_WAITING);
	assert_int_equal(add(r, 2000, 50).verdict, REASM_BAD);
	assert_int_equal(reasm_waiting(r), 0);
}

static void frames_do_not_mix(void **state)
{
	struct reasm *r = *state;
	struct fragment_hdr h = { .id = 7, .offset = 2000, .total = TOTAL };

	assert_int_equal(add_at(r, 7, 0, 2000, T0).verdict, REASM_WAITING);
	assert_int_equal(add_at(r, 8, 2000, 2000, T0).verdict, REASM_WAITING);
	assert_int_equal(reasm_add(r, SOURCE + 1, &h, frame + 2000, 2000,
				   (struct reasm_around){ 1, 0 }, T0)
				 .verdict,
			 REASM_WAITING);
	assert_int_equal(reasm_waiting(r), 3);
	assert_int_equal(add_at(r, 7, 2000, 2000, T0).verdict, REASM_COMPLETE);
	assert_int_equal(reasm_waiting(r), 2);
}

static void old_ones_time_out(void **state)
{
	struct reasm *r = *state;

	add_at(r, 1, 0, 800, T0);
	add_at(r, 2, 0, 800, mono_add_ms(T0, 400));
	/* A later fragment does not extend the time-out. */
	add_at(r, 1, 800, 800, mono_add_ms(T0, 900));
	assert_int_equal(reasm_expire(r, mono_add_ms(T0, 999)), 0);
	assert_int_equal(reasm_expire(r, mono_add_ms(T0, 1000)), 1);
	assert_int_equal(reasm_waiting(r), 1);
	assert_int_equal(reasm_expire(r, mono_add_ms(T0, 1400)), 1);
	assert_int_equal(reasm_bytes(r), 0);
}

static void memory_is_bounded(void **state)
{
	struct reasm *r = *state;
	unsigned evicted = 0, most;

	for (uint32_t id = 0; id < 100; id++)
		evicted += add_at(r, id, 0, 800, T0).evicted;
	most = reasm_waiting(r);
	assert_true(most >= 4 && most <= (64 << 10) / FRAGMENT_FRAME_MAX);
	assert_int_equal(evicted, 100 - most);
	/* The oldest frame was discarded, and the newest can still be completed. */
	assert_int_equal(add_at(r, 99, 800, TOTAL - 800, T0).verdict, REASM_COMPLETE);
	assert_true(add_at(r, 0, 800, TOTAL - 800, T0).verdict == REASM_WAITING);
}

/* A complete frame keeps its bytes until it is released, independent of later fragments. */
static void complete_frames_are_kept(void **state)
{
	struct reasm *r = *state;
	struct reasm_result first = add_at(r, 1000, 0, TOTAL, T0);
	bool refused = false;

	assert_int_equal(first.verdict, REASM_COMPLETE);
	memset(frame, 0xee, sizeof(frame));
	for (uint32_t id = 0; id < 100; id++) {
		struct reasm_result res = add_at(r, id, 0, id % 2 ? TOTAL : 800, T0);

		refused |= res.evicted && res.verdict == REASM_WAITING;
	}
	assert_true(refused);
	for (size_t i = 0; i < TOTAL; i++)
		assert_int_equal(first.data[i], (uint8_t)(i * 13 + (i >> 8)));
	reasm_reap(r, NULL);
	assert_int_equal(add_at(r, 2000, 0, TOTAL, T0).verdict, REASM_COMPLETE);
}

/* For random fragments, a frame is complete exactly when a bitmap shows each byte once. */
static void random_pieces(void **state)
{
	struct reasm *r = *state;
	uint32_t rnd = 12345;

	for (uint32_t id = 0; id < 3000; id++) {
		bool have[41] = { false };
		unsigned n = 0;

		for (unsigned tries = 0; tries < 400; tries++) {
			unsigned at, len, known = 0;
			struct reasm_result res;

			rnd = rnd * 1664525u + 1013904223u;
			at = (rnd >> 8) % 40;
			len = 1 + (rnd >> 16) % min_of(4u, 40 - at);
			for (unsigned i = at; i < at + len; i++)
				known += have[i];
			res = add_at(r, id, (uint16_t)(at * 100), len * 100, T0);
			if (known == len) {
				assert_int_equal(res.verdict, REASM_DUPLICATE);
				continue;
			}
			if (known) {
				assert_int_equal(res.verdict, REASM_BAD);
				break;
			}
			for (unsigned i = at; i < at + len; i++)
				have[i] = true;
			n += len;
			if (n < 40 && res.verdict == REASM_BAD)
				break; /* too many gaps */
			assert_int_equal(res.verdict, n == 40 ? REASM_COMPLETE : REASM_WAITING);
			if (n == 40) {
				assert_memory_equal(res.data, frame, TOTAL);
				break;
			}
		}
		reasm_reap(r, NULL);
		reasm_expire(r, mono_add_ns(T0, REASM_TIMEOUT_NS));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(uneven_last_piece, setup, teardown),
		cmocka_unit_test_setup_teardown(one_piece, setup, teardown),
		cmocka_unit_test_setup_teardown(duplicates_change_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(overlap_condemns, setup, teardown),
		cmocka_unit_test_setup_teardown(contradictions_condemn, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_gaps_condemn, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_do_not_mix, setup, teardown),
		cmocka_unit_test_setup_teardown(old_ones_time_out, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(complete_frames_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(random_pieces, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
