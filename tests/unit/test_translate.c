// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLANs of the local LAN become segments in every kind of datagram to the overlay. test_lan.c tests
 * the return direction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/segment.h"

static const struct segment mapped[] = { { "storage", 10, 70010 },
					 { "near", 20, 30 },
					 { "plain", 0, 70000 } };
static struct segments *map;

static void map_segments(struct snap *s)
{
	static const struct id_range some[] = { { 30, 30 }, { 70000, 70010 } };

	s->segments = map;
	snap_limit_segments(s, 1, some, 2);
	snap_limit_segments(s, 2, some, 1);
}

static int mapped_setup(void **state)
{
	int r = from_tap_setup(state);

	map = segments_new(mapped, array_size(mapped));
	fdb_learn(fx.fdb, 10, fx_mac(REMOTE), 1, 1);
	fx_publish(&fx, map_segments);
	return r;
}

static int mapped_teardown(void **state)
{
	int r = fx_teardown(state);

	segments_free(map);
	return r;
}

/* Sends a frame with the tag of this VLAN and priority 5. 0: no tag. */
static void host_sends_in(uint8_t to, uint16_t vlan, size_t len)
{
	fx_eth(frame, to, HOST, ETHERTYPE_TEST);
	if (to == 0xff)
		memset(frame, 0xff, 6);
	memset(frame + 14, 0, len - 14);
	if (vlan) {
		put_u16(frame + 12, 0x8100);
		put_u16(frame + 14, (uint16_t)(0xa000 | vlan));
		put_u16(frame + 16, ETHERTYPE_TEST);
	}
	frame[len - 1] = 0x5a;
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

static void expect_segment(unsigned slot, uint8_t flags, uint32_t id, size_t len)
{
	struct datagram d;
	uint32_t found;

	assert_true(node_gets(slot, &d));
	assert_int_equal(d.h.kind, LEON_FRAME);
	assert_int_equal(d.h.flags, flags);
	assert_int_equal(d.len - d.hdr_len, len);
	assert_int_equal(segment_get(d.b + d.hdr_len, len, flags & LEON_F_SEGMENT, &found), 0);
	assert_int_equal(found, id);
	/* The priority and all following bytes are unchanged. */
	assert_int_equal(get_u16(d.b + d.hdr_len + 16), ETHERTYPE_TEST);
	assert_int_equal(d.b[d.hdr_len + len - 1], 0x5a);
}

static void a_frame_travels_in_its_segment(void **state)
{
	struct datagram d;

	(void)state;
	host_sends_in(REMOTE, 10, 100);
	expect_segment(1, LEON_F_SEGMENT, 70010, 100);
	/* An untagged frame gets a tag, and a small id is a tag. */
	host_sends_in(REMOTE, 0, 100);
	expect_segment(1, LEON_F_SEGMENT, 70000, 104);
	host_sends_in(0xff, 20, 100);
	expect_segment(1, 0, 30, 100);
	expect_segment(1, 0, 30, 100); /* through node 1 to node 2 */
	assert_false(node_gets(1, &d));
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void a_broadcast_goes_where_its_segment_is(void **state)
{
	(void)state;
	host_sends_in(0xff, 10, 100);
	expect_segment(1, LEON_F_SEGMENT, 70010, 100);
	expect_silence();
	/* VLAN 30 has no segment here, because VLAN 20 has its number. */
	host_sends_in(0xff, 30, 100);
	expect_silence();
	assert_int_equal(fx_all_drops(&fx), 1);
}

static void pieces_say_it_too(void **state)
{
	struct fragment_hdr f;
	struct datagram d;
	unsigned n = 0;

	(void)state;
	host_sends_in(REMOTE, 10, 4000);
	while (node_gets(1, &d)) {
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
		assert_int_equal(d.h.flags, LEON_F_SEGMENT);
		assert_int_equal(fragment_decode(d.b + d.hdr_len, d.len - d.hdr_len, &f), 0);
		assert_int_equal(f.total, 4000);
		n++;
	}
	assert_int_equal(n, 3);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, mapped_setup, mapped_teardown)
	const struct CMUnitTest tests[] = {
		T(a_frame_travels_in_its_segment),
		T(a_broadcast_goes_where_its_segment_is),
		T(pieces_say_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
