// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segments: the mapping of VLANs (state/tables/segments.h), and the segment in a frame
 * (wire/datagram/segment.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "base/defs.h"
#include "golden.h"
#include "state/tables/segments.h"
#include "wire/frame/eth.h"
#include "wire/message/msg.h"
#include "wire/datagram/segment.h"

/* VLAN 10 has a large id, 20 and 30 exchange their ids, 40 has the id of 50 and leaves 50 without
 * an id. Untagged frames have an id. */
static const struct segment mapped[] = {
	{ "storage", 10, 70010 }, { "a", 20, 30 },     { "b", 30, 20 },
	{ "c", 40, 50 },	  { "plain", 0, 700 }, { "last", 4094, SEGMENT_ID_MAX },
};

static void both_ways(void **state)
{
	struct segments *m = segments_new(mapped, array_size(mapped));

	(void)state;
	for (unsigned i = 0; i < array_size(mapped); i++) {
		assert_int_equal(segments_id(m, mapped[i].vlan), mapped[i].id);
		assert_int_equal(segments_vlan(m, mapped[i].id), mapped[i].vlan);
		assert_string_equal(segments_of(m, mapped[i].vlan)->name, mapped[i].name);
	}
	/* A VLAN without an entry has its own number as id. Each VLAN has exactly one id. */
	assert_int_equal(segments_id(m, 11), 11);
	assert_int_equal(segments_vlan(m, 11), 11);
	assert_null(segments_of(m, 11));
	assert_int_equal(segments_id(m, 50), SEGMENT_ID_NONE);
	assert_int_equal(segments_id(m, 700), SEGMENT_ID_NONE);
	assert_null(segments_of(m, 50));
	assert_int_equal(segments_vlan(m, 10), VLAN_NONE);
	assert_int_equal(segments_vlan(m, 0), VLAN_NONE);
	assert_int_equal(segments_vlan(m, 40), VLAN_NONE);
	assert_int_equal(segments_vlan(m, 70011), VLAN_NONE);
	assert_int_equal(segments_vlan(m, SEGMENT_ID_NONE), VLAN_NONE);
	segments_free(m);
	/* Without a mapping. */
	assert_null(segments_new(mapped, 0));
	assert_int_equal(segments_id(NULL, 10), 10);
	assert_int_equal(segments_vlan(NULL, 10), 10);
	assert_int_equal(segments_vlan(NULL, VLAN_IDS), VLAN_NONE);
	assert_null(segments_of(NULL, 10));
}

static void as_many_as_there_are(void **state)
{
	static struct segment all[4094];
	struct segments *m;

	(void)state;
	for (uint16_t i = 0; i < array_size(all); i++) {
		all[i].vlan = (uint16_t)(i + 1);
		all[i].id = VLAN_IDS + 4096u * i;
	}
	m = segments_new(all, array_size(all));
	for (unsigned i = 0; i < array_size(all); i++) {
		assert_int_equal(segments_vlan(m, all[i].id), all[i].vlan);
		assert_int_equal(segments_vlan(m, all[i].id + 1), VLAN_NONE);
	}
	segments_free(m);
}

static void expect_ranges(const struct segments *m, const struct vlan_set *vlans, unsigned max,
			  const struct id_range *want, unsigned n)
{
	struct id_range r[MSG_SEGMENTS_MAX];

	assert_int_equal(segments_ranges(m, vlans, r, max), n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(r[i].first, want[i].first);
		assert_int_equal(r[i].last, want[i].last);
	}
}

static void what_is_announced(void **state)
{
	static const struct id_range
		some[] = { { 20, 20 }, { 60, 61 }, { 70010, 70010 } },
		all[] = { { 1, 9 },	  { 11, 39 },	    { 41, 4093 },
			  { 4095, 4095 }, { 70010, 70010 }, { SEGMENT_ID_MAX, SEGMENT_ID_MAX } },
		few[] = { { 1, 4095 }, { 70010, 70010 }, { SEGMENT_ID_MAX, SEGMENT_ID_MAX } };
	struct segments *m = segments_new(mapped, array_size(mapped));
	struct vlan_set vlans = { 0 }, back = { 0 };

	(void)state;
	vlan_set_add(&vlans, 10);
	vlan_set_add(&vlans, 30);
	vlan_set_add(&vlans, 50); /* without an id */
	vlan_set_add_range(&vlans, 60, 61);
	expect_ranges(m, &vlans, MSG_SEGMENTS_MAX, some, 3);
	expect_ranges(m, NULL, MSG_SEGMENTS_MAX, all, array_size(all));
	expect_ranges(m, NULL, 3, few, 3);
	/* A node with an equal mapping converts the ids back. */
	segments_in(m, some, 3, &back);
	segments_limit(m, &vlans);
	assert_true(vlan_set_equal(&vlans, &back));
	/* A node without a mapping reads the ids as its own VLANs. */
	back = (struct vlan_set){ 0 };
	segments_in(NULL, some, 3, &back);
	vlans = (struct vlan_set){ 0 };
	vlan_set_add(&vlans, 20);
	vlan_set_add_range(&vlans, 60, 61);
	assert_true(vlan_set_equal(&vlans, &back));
	segments_free(m);
}

static void classes_are_of_segments(void **state)
{
	struct segments *m = segments_new(mapped, array_size(mapped));
	struct vlan_set vlans = { 0 };

	(void)state;
	vlan_set_add(&vlans, 10);
	assert_true(segments_classes(m, &vlans) == 1ULL << 70010 % 64);
	assert_true(segments_classes(NULL, &vlans) == 1ULL << 10);
	segments_of_classes(m, 1ULL << 70010 % 64, &vlans);
	assert_true(vlan_set_has(&vlans, 10));
	assert_true(vlan_set_has(&vlans, 70010 % 64));
	segments_of_classes(m, 1ULL << 10, &vlans);
	assert_false(vlan_set_has(&vlans, 10));
	assert_true(vlan_set_has(&vlans, 74));
	/* VLAN 50 has no id, and VLAN 40 has the id 50. */
	segments_of_classes(m, 1ULL << 50, &vlans);
	assert_true(vlan_set_has(&vlans, 40));
	assert_false(vlan_set_has(&vlans, 50));
	segments_of_classes(NULL, UINT64_MAX, &vlans);
	assert_true(vlan_set_has(&vlans, 0) && vlan_set_has(&vlans, 4095));
	segments_free(m);
}

/* --- in frames --- */

static void test_document(void **state)
{
	uint8_t frame[20] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	0,    0,    0,
			      0,    1,	  0x81, 0x00, 0xa0, 0x0a, 0x08, 0x06, 0x00, 0x01 };
	uint8_t before[sizeof(frame)];
	uint32_t id;

	(void)state;
	memcpy(before, frame, sizeof(frame));
	assert_int_equal(segment_get(frame, sizeof(frame), false, &id), 0);
	assert_int_equal(id, 10);
	assert_true(segment_put(frame, 70010));
	assert_golden("segment", frame, sizeof(frame));
	assert_int_equal(segment_get(frame, sizeof(frame), true, &id), 0);
	assert_int_equal(id, 70010);
	segment_restore(frame, true, 10);
	assert_memory_equal(frame, before, sizeof(frame));
}

static void priorities_and_service_tags_survive(void **state)
{
	static const uint16_t types[] = { ETHERTYPE_DOT1Q, ETHERTYPE_DOT1AD };

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		uint16_t type = types[i / 16];
		uint8_t frame[18] = {
			[12] = (uint8_t)(type >> 8), (uint8_t)type, (uint8_t)(i << 4), 20
		};
		uint8_t want[sizeof(frame)];

		memcpy(want, frame, sizeof(frame));
		want[15] = 30;
		assert_true(segment_put(frame, SEGMENT_ID_MAX));
		segment_restore(frame, true, 30);
		assert_memory_equal(frame, want, sizeof(frame));
		/* A small id stays a tag. */
		assert_false(segment_put(frame, 20));
		segment_restore(frame, false, 30);
		assert_memory_equal(frame, want, sizeof(frame));
	}
}

static void what_is_refused(void **state)
{
	uint8_t frame[18] = { [12] = 0xa8, 0x00, 0x10, 0x00 };
	uint32_t id;

	(void)state;
	assert_int_equal(segment_get(frame, 18, true, &id), 0);
	assert_int_equal(id, VLAN_IDS);
	for (size_t len = 0; len < 18; len++)
		assert_int_equal(segment_get(frame, len, true, &id), -EBADMSG);
	frame[14] = 0x0f; /* id 3840 is in the range of VLANs */
	assert_int_equal(segment_get(frame, 18, true, &id), -EBADMSG);
	for (unsigned bit = 0; bit < 3; bit++) {
		frame[14] = 0x10;
		frame[12] = (uint8_t)(1u << bit);
		assert_int_equal(segment_get(frame, 18, true, &id), -EBADMSG);
	}
	memcpy(frame + 12, "\x81\x00\xff\xff", 4);
	assert_int_equal(segment_get(frame, 18, false, &id), 0);
	assert_int_equal(id, 4095);
	assert_int_equal(segment_get(frame, 17, false, &id), -EBADMSG);
	frame[12] = 8;
	assert_int_equal(segment_get(frame, 14, false, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(segment_get(frame, 13, false, &id), -EBADMSG);
}

static void a_tag_comes_and_goes(void **state)
{
	uint8_t buf[4 + 14] = { 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x00 };
	uint8_t before[14], *frame;

	(void)state;
	memcpy(before, buf + 4, 14);
	assert_false(segment_is_tagged(buf + 4));
	frame = segment_add_tag(buf + 4);
	assert_ptr_equal(frame, buf);
	assert_true(segment_is_tagged(frame));
	assert_memory_equal(frame, before, 12);
	assert_memory_equal(frame + 16, before + 12, 2);
	frame = segment_remove_tag(frame);
	assert_memory_equal(frame, before, 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(as_many_as_there_are),
		cmocka_unit_test(what_is_announced),
		cmocka_unit_test(classes_are_of_segments),
		cmocka_unit_test(test_document),
		cmocka_unit_test(priorities_and_service_tags_survive),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(a_tag_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
