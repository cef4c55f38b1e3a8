// SPDX-License-Identifier: GPL-2.0-or-later
/* fwd/lan/flood_dedup: detection of looped frames among flooded frames, and equality of frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fwd/lan/lan_state.h"
#include "state/tables/nodedb.h"

#define LAN SLOT_SELF

static struct flood_dedup *r;

static int setup(void **state)
{
	(void)state;
	r = flood_dedup_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	flood_dedup_free(r);
	return 0;
}

static enum flood_dedup_verdict take(uint64_t sum, uint16_t slot, int64_t ms)
{
	/* The clock is about to wrap. */
	return flood_dedup_check(r, sum, slot, (mono_t){ ((1 << 20) - 100 + ms) * NS_PER_MS });
}

static void the_other_way_is_no_way(void **state)
{
	(void)state;
	assert_int_equal(take(7, LAN, 0), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(7, 2, 0), FLOOD_DEDUP_TWO_WAY);
	assert_int_equal(take(7, LAN, 999), FLOOD_DEDUP_TWO_WAY);
	/* A repetition does not extend the interval. */
	assert_int_equal(take(7, 2, 1000), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(7, 3, 1001), FLOOD_DEDUP_TWO_WAY);
	assert_int_equal(take(7, 2, 1002), FLOOD_DEDUP_TWO_WAY);
}

/* One of three announcements of an address is sufficient to learn it. Two pass, in case one is
 * lost. */
static void a_host_may_say_it_twice(void **state)
{
	(void)state;
	assert_int_equal(take(7, LAN, 0), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(7, LAN, 0), FLOOD_DEDUP_AGAIN);
	assert_int_equal(take(7, LAN, 0), FLOOD_DEDUP_HELD);
	assert_int_equal(take(8, 1, 0), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(8, 1, 0), FLOOD_DEDUP_HELD);
	/* Repetitions about once per second pass. */
	for (int64_t ms = 2000; ms < 20000; ms += 980) {
		assert_in_range(take(9, LAN, ms), FLOOD_DEDUP_FIRST, FLOOD_DEDUP_AGAIN);
		assert_in_range(take(10, 1, ms), FLOOD_DEDUP_FIRST, FLOOD_DEDUP_AGAIN);
	}
}

/* One host sends equal bytes a hundred times per second. Frames of this host are held once. */
static void what_is_its_host_s_own_passes_after_the_guard_has_asked(void **state)
{
	unsigned held = 0;

	(void)state;
	for (int64_t ms = 0; ms < 100000; ms += 10) {
		enum flood_dedup_verdict v = take(7, 1, ms);

		held += v == FLOOD_DEDUP_HELD;
		assert_true(v == FLOOD_DEDUP_FIRST ||
			    (v == FLOOD_DEDUP_HELD && ms <= FLOOD_DEDUP_HOLD_MS));
	}
	assert_int_equal(held, FLOOD_DEDUP_HOLD_MS / 10);
}

/* Another frame that maps to the same places of the table as sum 7. */
static uint64_t beside(unsigned i)
{
	return 7 | (uint64_t)(i + 1) << 40;
}

/* n hosts behind node 1 repeat a frame, which is known afterwards. Returns the time. */
static int64_t host_s_own(unsigned n)
{
	int64_t ms = 0;

	for (; ms <= FLOOD_DEDUP_HOLD_MS; ms += 10)
		for (unsigned i = 0; i < n; i++)
			take(beside(i), 1, ms);
	return ms;
}

/* Other floods map to the same places. */
static void others_do_not_make_a_host_s_own_unknown(void **state)
{
	int64_t ms = host_s_own(1);

	(void)state;
	for (unsigned i = 0; i < 10000; i++, ms += 10) {
		assert_int_equal(take(beside(0), 1, ms), FLOOD_DEDUP_FIRST);
		if (i % 10 == 0)
			assert_int_equal(take(beside(i + 1), LAN, ms), FLOOD_DEDUP_FIRST);
	}
}

/* A frame in the places of known repetitions may return from another LAN. */
static void a_host_s_own_hides_no_loop(void **state)
{
	int64_t ms = host_s_own(3);

	(void)state;
	for (unsigned i = 10; i < 100; i++, ms += 10) {
		for (unsigned own = 0; own < 3; own++)
			assert_int_equal(take(beside(own), 1, ms), FLOOD_DEDUP_FIRST);
		assert_int_equal(take(beside(i), LAN, ms), FLOOD_DEDUP_FIRST);
		for (unsigned own = 0; own < 3; own++)
			assert_int_equal(take(beside(own), 1, ms + 5), FLOOD_DEDUP_FIRST);
		assert_int_equal(take(beside(i), 1, ms + 5), FLOOD_DEDUP_TWO_WAY);
	}
}

/* If repetitions have all places, the frame replaces one of them. */
static void all_places_hide_no_loop(void **state)
{
	int64_t ms = host_s_own(4);

	(void)state;
	assert_int_equal(take(beside(10), LAN, ms), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(beside(10), 1, ms), FLOOD_DEDUP_TWO_WAY);
}

/* The table does not keep repetitions that have ended. */
static void a_host_s_own_ends(void **state)
{
	int64_t ms = host_s_own(1);

	(void)state;
	assert_int_equal(take(beside(0), 1, ms), FLOOD_DEDUP_FIRST);
	ms += FLOOD_DEDUP_LIFE_MS;
	assert_int_equal(take(beside(0), 2, ms), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(beside(0), 1, ms), FLOOD_DEDUP_TWO_WAY);
}

/* Batches of two workers: the time of one worker is slightly earlier. */
static void time_may_go_back_a_little(void **state)
{
	(void)state;
	assert_int_equal(take(7, LAN, 5), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(7, 1, 0), FLOOD_DEDUP_TWO_WAY);
	assert_int_equal(take(8, 1, 5), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(8, 1, 0), FLOOD_DEDUP_HELD);
}

/* A cache does not forget by itself: entries of all ages up to the wrap of the clock are old. */
static void minutes_later_a_frame_is_new(void **state)
{
	(void)state;
	for (int64_t ms = 2000; ms < (1 << 20) - 2000; ms += 997) {
		uint64_t sum = (uint64_t)ms << 40;

		take(sum, LAN, 0);
		take(sum, LAN, 0);
		assert_int_equal(take(sum, LAN, ms), FLOOD_DEDUP_FIRST);
		/* Also at another site, to which the host moved. */
		take(sum + 1, LAN, 0);
		assert_int_equal(take(sum + 1, 2, ms), FLOOD_DEDUP_FIRST);
	}
}

/* The oldest frame of a set of places is forgotten. */
static void a_set_knows_four_frames(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(take(beside(i), LAN, i), FLOOD_DEDUP_FIRST);
	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(take(beside(i), 1, 5), FLOOD_DEDUP_TWO_WAY);
	assert_int_equal(take(beside(0), 1, 5), FLOOD_DEDUP_FIRST);
	/* Sum 0 at time 0 is valid. */
	assert_int_equal(take(0, LAN, 100), FLOOD_DEDUP_FIRST);
	assert_int_equal(take(0, 1, 100), FLOOD_DEDUP_TWO_WAY);
}

/* --- equality of frames --- */

/* Builds an IPv4 broadcast with UDP. */
static size_t datagram(uint8_t *frame, unsigned vlan, uint16_t checksum, uint8_t payload)
{
	static const uint8_t ip[] = { 0x45, 0, 0, 30,  0,   0,	 0,   0,    64, 17,   0, 0, 10,
				      0,    0, 1, 255, 255, 255, 255, 0x10, 0,	0x20, 0, 0, 10 };
	size_t at = 12;

	memcpy(frame, "\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\x07", 12);
	if (vlan) {
		memcpy(frame + at, (uint8_t[]){ 0x81, 0, 0, (uint8_t)vlan }, 4);
		at += 4;
	}
	memcpy(frame + at, "\x08\x00", 2);
	at += 2;
	memcpy(frame + at, ip, sizeof(ip));
	at += sizeof(ip);
	frame[at++] = (uint8_t)(checksum >> 8);
	frame[at++] = (uint8_t)checksum;
	frame[at++] = payload;
	frame[at++] = 0;
	return at;
}

static uint64_t sum_of(const uint8_t *frame, size_t len)
{
	struct eth_view v;

	assert_int_equal(eth_parse(frame, len, &v), 0);
	return flood_dedup_hash(r, frame, len, &v);
}

static uint64_t sum(unsigned vlan, uint16_t checksum, uint8_t payload)
{
	uint8_t frame[100] = { 0 };

	return sum_of(frame, datagram(frame, vlan, checksum, payload));
}

static void a_frame_is_what_its_sender_made(void **state)
{
	uint8_t frame[100] = { 0 };
	size_t len = datagram(frame, 10, 0x1234, 1);
	uint64_t whole = sum_of(frame, len);

	(void)state;
	assert_true(whole == sum(10, 0x1234, 1));
	assert_true(whole == sum(10, 0x4321, 1)); /* a checksum that the NIC computes */
	assert_true(whole != sum(10, 0x1234, 2));
	assert_true(whole != sum(11, 0x1234, 1));
	assert_true(whole != sum(0, 0x1234, 1));
	/* Padding and the priority in the tag have no effect. */
	assert_true(whole == sum_of(frame, 64));
	frame[14] |= 0xe0;
	assert_true(whole == sum_of(frame, len));
	frame[11] = 8;
	assert_true(whole != sum_of(frame, len));
	/* Only zeros follow the addresses. */
	memset(frame + 18, 0, sizeof(frame) - 18);
	assert_true(sum_of(frame, 18) == sum_of(frame, 64));
	assert_true(sum_of(frame, 64) != whole);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_other_way_is_no_way),
		T(a_host_may_say_it_twice),
		T(what_is_its_host_s_own_passes_after_the_guard_has_asked),
		T(others_do_not_make_a_host_s_own_unknown),
		T(a_host_s_own_hides_no_loop),
		T(all_places_hide_no_loop),
		T(a_host_s_own_ends),
		T(time_may_go_back_a_little),
		T(minutes_later_a_frame_is_new),
		T(a_set_knows_four_frames),
		T(a_frame_is_what_its_sender_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
