// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path applies the results of the loop guard for each VLAN: which frames pass between
 * TAP and overlay, and which are looped frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "fwd_fixture.h"
#include "io/clock.h"
#include "wire/datagram/segment.h"
#include "wire/frame/guard.h"

#define ETHERTYPE_TEST 0x88b6
#define N(slot)	       (FX_SELF + (slot))

static struct fixture fx;

static int setup(void **state)
{
	(void)state;
	return fx_open(&fx, true) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static struct snap_lan *lan_of(struct snap *s)
{
	return s->lan ? s->lan : snap_add_lan(s);
}
static void share_vlan_10(struct snap *s)
{
	for (uint16_t vlan = 0; vlan < 30; vlan += 10)
		vlan_set_add(&lan_of(s)->open, vlan);
	snap_add_same_lan(s, 1, 10);
}

/* Sends a frame of node 1 with a tag. 0: no tag. */
static void node_1_sends(uint16_t vlan)
{
	static const node_id_t us[] = { N(0) };
	uint8_t buf[256] = { 0 }, *eth;
	size_t n = fx_header(buf, LEON_FRAME, 0, N(1), 0, 1, us);

	eth = buf + n;
	fx_eth(eth, 1, 7, ETHERTYPE_TEST);
	if (vlan) {
		memcpy(eth + 12, "\x81\x00", 2);
		eth[14] = (uint8_t)(vlan >> 8);
		eth[15] = (uint8_t)vlan;
		memcpy(eth + 16, "\x88\xb6", 2);
	}
	fx_receive(&fx, &fx.ep[1], buf, n + 60, 0);
}

static void what_was_on_this_lan_is_not_put_on_it_again(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	fx_publish(&fx, share_vlan_10);
	node_1_sends(10);
	assert_int_equal(fx_drops(&fx, DROP_same_lan), 1);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	while (fwd_next_report(fx.f, &ev))
		assert_int_not_equal(ev.type, FWD_LEARN);
	/* Another VLAN is another LAN. */
	node_1_sends(20);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
	node_1_sends(0);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
	assert_int_equal(fx_all_drops(&fx), 1);
}

static void a_vlan_that_nobody_listened_to_is_closed(void **state)
{
	unsigned n = 0;
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	fx_publish(&fx, share_vlan_10);
	for (unsigned i = 0; i < 5; i++)
		node_1_sends(30);
	assert_int_equal(fx_drops(&fx, DROP_lan_listening), 5);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	while (fwd_next_report(fx.f, &ev)) {
		assert_int_equal(ev.type, FWD_VLAN);
		assert_int_equal(ev.vlan, 30);
		n++;
	}
	/* The control thread gets one report, not one per frame. */
	assert_int_equal(n, 1);
}

/* --- looped frames --- */

static void watch_vlan_10(struct snap *s)
{
	vlan_set_add(&lan_of(s)->open, 10);
	s->lan->guarded = true;
}

/* Sends a broadcast of one byte on the LAN, with or without padding. */
static void lan_sends(uint8_t what, size_t len)
{
	uint8_t frame[TAP_VNET_LEN + 64] = { 0 }, *eth = frame + TAP_VNET_LEN;

	memcpy(eth, "\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\x07\x81\0\0\x0a\x88\xb6", 18);
	eth[18] = what;
	assert_int_equal(send(fx.tap, frame, TAP_VNET_LEN + len, 0), TAP_VNET_LEN + len);
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
}

/* Sends that broadcast through the overlay. */
static void node_sends(unsigned slot, uint8_t what)
{
	static const node_id_t us[] = { N(0) };
	uint8_t buf[256] = { 0 };
	size_t n = fx_header(buf, LEON_FRAME, 0, N(slot), 0, 1, us);

	memcpy(buf + n, "\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\x07\x81\0\0\x0a\x88\xb6", 18);
	buf[n + 18] = what;
	fx_receive(&fx, &fx.ep[slot], buf, n + 64, 0);
}

static unsigned doubts(void)
{
	struct fwd_report ev;
	unsigned n = 0;

	while (fwd_next_report(fx.f, &ev)) {
		if (ev.type != FWD_REPETITION)
			continue;
		assert_int_equal(ev.vlan, 10);
		n++;
	}
	return n;
}

static unsigned put_on_lan(void)
{
	uint8_t buf[256];
	unsigned n = 0;

	while (recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

/* The LAN of another router is now joined with this LAN. A frame that this router flooded returns
 * through the overlay, and the reverse. A padded frame equals its original. */
static void a_broadcast_that_comes_the_other_way_goes_no_further(void **state)
{
	uint64_t flooded;

	(void)state;
	fx_publish(&fx, watch_vlan_10);
	lan_sends(1, 60);
	assert_int_equal(doubts(), 0);
	node_sends(1, 1);
	assert_int_equal(fx_drops(&fx, DROP_flood_looped), 1);
	assert_int_equal(put_on_lan(), 0);
	assert_int_equal(doubts(), 1);
	node_sends(1, 2);
	assert_int_equal(put_on_lan(), 1);
	flooded = fx.w->vlan[10].flooded;
	lan_sends(2, 19);
	assert_int_equal(fx_drops(&fx, DROP_flood_looped), 2);
	/* The second copy in the first direction is dropped as well. */
	node_sends(1, 2);
	assert_int_equal(fx_drops(&fx, DROP_flood_looped), 3);
	assert_int_equal(put_on_lan(), 0);
	assert_true(fx.w->vlan[10].flooded == flooded);
	/* A different broadcast passes. */
	lan_sends(3, 60);
	assert_int_equal(fx_all_drops(&fx), 3);
	assert_true(fx.w->vlan[10].flooded == flooded + 1);
}

/* A joined LAN in one direction: own broadcasts return from it. */
static void a_broadcast_that_keeps_coming_is_held_up(void **state)
{
	(void)state;
	fx_publish(&fx, watch_vlan_10);
	for (unsigned i = 0; i < 5; i++)
		lan_sends(1, 60);
	assert_int_equal(fx_drops(&fx, DROP_repeated), 3);
	assert_int_equal(fx.w->vlan[10].flooded, 2);
	assert_int_equal(doubts(), 1);
	for (unsigned i = 0; i < 5; i++)
		node_sends(1, 2);
	assert_int_equal(fx_drops(&fx, DROP_repeated), 3 + 4);
	assert_int_equal(put_on_lan(), 1);
}

/* Without a guard, repeated frames pass. */
static void without_a_guard_whatever_repeats_itself_passes(void **state)
{
	(void)state;
	fx_publish(&fx, NULL);
	for (unsigned i = 0; i < 5; i++)
		lan_sends(1, 60);
	for (unsigned i = 0; i < 5; i++)
		node_sends(1, 1);
	assert_int_equal(fx_all_drops(&fx), 0);
	assert_int_equal(put_on_lan(), 5);
	assert_int_equal(doubts(), 0);
}

static void block_vlan_10(struct snap *s)
{
	vlan_set_add(&lan_of(s)->blocked, 10);
}

/* A node that becomes the forwarder needs the addresses of hosts and notifies the LAN. */
static void a_vlan_of_another_forwarder_is_learned_from(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	fx_publish(&fx, block_vlan_10);
	node_1_sends(10);
	assert_int_equal(fx_drops(&fx, DROP_loop_blocked), 1);
	assert_int_equal(fx_all_drops(&fx), 1);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	assert_true(fwd_next_report(fx.f, &ev));
	assert_int_equal(ev.type, FWD_LEARN);
	assert_int_equal(ev.learn.vlan, 10);
	assert_int_equal(ev.learn.slot, 1);
}

/* After a stall of the control thread, its results expire. */
static void what_is_old_is_not_believed(void **state)
{
	uint8_t buf[256];
	struct timespec ts;
	mono_t now;

	(void)state;
	fx_publish(&fx, share_vlan_10);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (mono_t){ ts.tv_sec * NS_PER_S + ts.tv_nsec };
	fwd_lan_until(fx.f, mono_add_ns(now, -NS_PER_MS));
	node_1_sends(20);
	assert_int_equal(fx_drops(&fx, DROP_lan_stalled), 1);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	fwd_lan_until(fx.f, mono_add_ns(now, 3600 * NS_PER_S));
	node_1_sends(20);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
	fwd_lan_until(fx.f, MONO_NEVER);
	node_1_sends(20);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
	/* Without a LAN, no result expires. */
	fwd_lan_until(fx.f, mono_add_ns(now, -NS_PER_MS));
	fx_publish(&fx, NULL);
	node_1_sends(20);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
}

/* Frames wait in the TAP without a reader. */
static void a_worker_that_does_not_read_is_noticed(void **state)
{
	uint8_t frame[64] = { 0 };

	(void)state;
	/* Each call waits only for frames that were present at the previous call. */
	fwd_input_is_current(fx.f);
	assert_true(fwd_input_is_current(fx.f));
	assert_int_equal(send(fx.tap, frame, sizeof(frame), 0), sizeof(frame));
	assert_false(fwd_input_is_current(fx.f));
	assert_false(fwd_input_is_current(fx.f));
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
	assert_true(fwd_input_is_current(fx.f));
	assert_true(fwd_input_is_current(fx.f));
	/* A worker that holds frames is also noticed. */
	rcu_online(fx.f->rcu, 0);
	fwd_input_is_current(fx.f);
	assert_false(fwd_input_is_current(fx.f));
	rcu_quiescent(fx.f->rcu, 0);
	assert_true(fwd_input_is_current(fx.f));
	rcu_offline(fx.f->rcu, 0);
}

static void serve_vlan_10(struct snap *s)
{
	lan_of(s)->served = (struct vlan_set){ 0 };
	vlan_set_add(&s->lan->served, 10);
	s->lan->open = s->lan->served;
}

/* Frames of other VLANs from the overlay are dropped and cause no report. */
static void other_vlans_are_not_served(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	fx_publish(&fx, serve_vlan_10);
	node_1_sends(30);
	node_1_sends(0);
	assert_int_equal(fx_drops(&fx, DROP_vlan_not_served), 2);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	assert_false(fwd_next_report(fx.f, &ev));
	node_1_sends(10);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
}

/* --- segments --- */

static const struct segment storage[] = { { "storage", 10, 70010 },
					  { "plain", 0, 70000 },
					  { "near", 20, 30 } };
static struct segments *map;

static void map_segments(struct snap *s)
{
	s->segments = map;
	snap_add_same_lan(s, 1, 20);
}

/* Sends a frame of node 1 in this segment, in wire format: the tag of the segment, and optionally a
 * tag of VLAN 20 behind it. */
static void node_1_sends_tags(uint32_t id, bool two)
{
	static const node_id_t us[] = { N(0) };
	bool large = id >= VLAN_IDS;
	uint8_t buf[256] = { 0 }, *eth;
	size_t n = fx_header(buf, LEON_FRAME, large ? LEON_F_SEGMENT : 0, N(1), 0, 1, us);

	eth = buf + n;
	fx_eth(eth, 1, 7, ETHERTYPE_TEST);
	memcpy(eth + 12, "\x81\x00\xa0\x00\x88\xb6", 6);
	if (two)
		memcpy(eth + 16, "\x81\x00\x00\x14\x88\xb6", 6);
	assert_int_equal(segment_put(eth, id), large);
	fx_receive(&fx, &fx.ep[1], buf, n + 60, 0);
}

static void node_1_sends_segment(uint32_t id)
{
	node_1_sends_tags(id, false);
}

static void expect_delivered(uint16_t vlan, size_t len)
{
	uint8_t buf[256];
	struct eth_view v;

	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), TAP_VNET_LEN + len);
	assert_int_equal(eth_parse(buf + TAP_VNET_LEN, len, &v), 0);
	assert_int_equal(v.vlan, vlan);
	assert_int_equal(v.ethertype, ETHERTYPE_TEST);
	assert_int_equal(v.l3_offset, vlan ? 18 : 14);
}

static void a_segment_has_the_vlan_that_it_has_here(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	map = segments_new(storage, array_size(storage));
	fx_publish(&fx, map_segments);
	node_1_sends_segment(70010);
	expect_delivered(10, 60);
	assert_true(fwd_next_report(fx.f, &ev));
	assert_int_equal(ev.type, FWD_LEARN);
	assert_int_equal(ev.learn.vlan, 10);
	node_1_sends_segment(70000); /* untagged here */
	expect_delivered(0, 56);
	node_1_sends_segment(40); /* a segment without an entry */
	expect_delivered(40, 60);
	/* VLAN 20 is segment 30, and its LAN is also the LAN of node 1. */
	node_1_sends_segment(30);
	assert_int_equal(fx_drops(&fx, DROP_same_lan), 1);
	assert_int_equal(fx_all_drops(&fx), 1);
	/* Any segment number that is unknown here. */
	node_1_sends_segment(70011);
	node_1_sends_segment(10);
	node_1_sends_segment(20);
	node_1_sends(0);
	assert_int_equal(fx_drops(&fx, DROP_segment_unknown), 4);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	fx_publish(&fx, NULL);
	segments_free(map);
	map = NULL;
}

/* VLAN hopping: the second tag would become the first if the first is removed. */
static void a_second_tag_is_no_way_into_its_vlan(void **state)
{
	uint8_t buf[256];

	(void)state;
	map = segments_new(storage, array_size(storage));
	fx_publish(&fx, map_segments);
	node_1_sends_tags(70000, true); /* untagged here */
	assert_int_equal(fx_drops(&fx, DROP_second_tag), 1);
	fx_publish(&fx, NULL);
	segments_free(map);
	map = NULL;
	/* A switch removes a tag of VLAN 0. */
	node_1_sends_tags(0, true);
	assert_int_equal(fx_drops(&fx, DROP_second_tag), 2);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	/* Both tags stay if the first VLAN belongs to this LAN. */
	node_1_sends_tags(10, true);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), TAP_VNET_LEN + 60);
	assert_memory_equal(buf + TAP_VNET_LEN + 12, "\x81\x00\xa0\x0a\x81\x00\x00\x14", 8);
	/* Frames from the LAN follow these rules too. */
	memset(buf, 0, sizeof(buf));
	fx_eth(buf + TAP_VNET_LEN, 1, 7, ETHERTYPE_TEST);
	memcpy(buf + TAP_VNET_LEN + 12, "\x81\x00\x00\x00\x81\x00\x00\x14\x88\xb6", 10);
	assert_int_equal(send(fx.tap, buf, TAP_VNET_LEN + 64, 0), TAP_VNET_LEN + 64);
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
	assert_int_equal(fx_drops(&fx, DROP_second_tag), 3);
}

static void filter_8021q(struct snap *s)
{
	vlan_set_add_range(&snap_add_lan(s)->open, 0, 20);
	s->lan->tag = ETHERTYPE_DOT1Q;
}

/* To a bridge of 802.1Q VLANs, an 802.1ad tag is payload of an untagged frame. */
static void a_tag_of_another_protocol_is_no_way_into_its_vlan(void **state)
{
	static const uint16_t tag[] = { ETHERTYPE_DOT1Q, ETHERTYPE_DOT1AD };
	uint8_t buf[256] = { 0 };
	struct fwd_report ev;

	(void)state;
	fx_publish(&fx, filter_8021q);
	fx_eth(buf + TAP_VNET_LEN, 1, 7, ETHERTYPE_TEST);
	memcpy(buf + TAP_VNET_LEN + 14, "\x00\x14\x88\xb6", 4);
	for (unsigned i = 0; i < array_size(tag); i++) {
		put_u16(buf + TAP_VNET_LEN + 12, tag[i]);
		assert_true(fx_host_sends(&fx, buf, TAP_VNET_LEN + 64));
		assert_int_equal(fwd_next_report(fx.f, &ev), !i);
		assert_int_equal(fx_drops(&fx, DROP_foreign_tag), i);
	}
	node_1_sends_tags(10, false);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), TAP_VNET_LEN + 60);
	fx.snap->lan->tag = ETHERTYPE_DOT1AD;
	node_1_sends_tags(10, false);
	assert_int_equal(fx_drops(&fx, DROP_foreign_tag), 2);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
}

/* Beside a bridge of 802.1ad VLANs, an 802.1Q tag may be from a host on an untagged port. */
static void a_guard_has_the_tag_of_the_bridge(void **state)
{
	static const uint16_t tag[] = { ETHERTYPE_DOT1Q, ETHERTYPE_DOT1AD };
	struct guard_frame g = { .src = fx_mac(9), .tag = 10, .vni = FX_VNI, .node = N(1) };
	uint8_t buf[TAP_VNET_LEN + GUARD_FRAME_MAX] = { 0 };
	struct fwd_report ev;

	(void)state;
	fx_publish(&fx, filter_8021q);
	fx.snap->lan->tag = ETHERTYPE_DOT1AD;
	guard_encode(&g, buf + TAP_VNET_LEN);
	for (unsigned i = 0; i < array_size(tag); i++) {
		put_u16(buf + TAP_VNET_LEN + 12, tag[i]);
		assert_true(fx_host_sends(&fx, buf, sizeof(buf)));
		assert_int_equal(fwd_next_report(fx.f, &ev), i);
		assert_int_equal(fx_drops(&fx, DROP_foreign_tag), 1);
	}
	assert_int_equal(ev.type, FWD_GUARD);
}

static void slow_line(struct snap *s)
{
	s->shape_kbits = 1000;
}

/* Other traffic occupies the line. */
static void a_guard_does_not_wait_for_the_line(void **state)
{
	struct guard_frame g = { .src = fx_mac(9), .vni = FX_VNI, .node = N(1) };
	uint8_t buf[TAP_VNET_LEN + GUARD_FRAME_LEN] = { 0 };
	struct fwd_report ev;

	(void)state;
	fx_publish(&fx, slow_line);
	guard_encode(&g, buf + TAP_VNET_LEN);
	shaper_pay(&fx.f->shaper, 1000, 1 << 20, mono_now());
	shaper_served(&fx.f->shaper, 1000, 1 << 20, mono_now());
	assert_true(fx_host_sends(&fx, buf, sizeof(buf)));
	assert_true(fwd_next_report(fx.f, &ev));
	assert_int_equal(ev.type, FWD_GUARD);
	assert_int_equal(fx_free_places(&fx), QUEUE_LARGE + QUEUE_SMALL);
}

/* A node without a map has no VLAN for a large segment number, and keeps all others. */
static void without_a_map(void **state)
{
	uint8_t buf[256];

	(void)state;
	node_1_sends_segment(70010);
	assert_int_equal(fx_drops(&fx, DROP_segment_unknown), 1);
	assert_int_equal(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT), -1);
	node_1_sends_segment(10);
	expect_delivered(10, 60);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_was_on_this_lan_is_not_put_on_it_again),
		T(a_vlan_that_nobody_listened_to_is_closed),
		T(a_vlan_of_another_forwarder_is_learned_from),
		T(what_is_old_is_not_believed),
		T(a_broadcast_that_comes_the_other_way_goes_no_further),
		T(a_broadcast_that_keeps_coming_is_held_up),
		T(without_a_guard_whatever_repeats_itself_passes),
		T(a_worker_that_does_not_read_is_noticed),
		T(other_vlans_are_not_served),
		T(a_segment_has_the_vlan_that_it_has_here),
		T(without_a_map),
		T(a_second_tag_is_no_way_into_its_vlan),
		T(a_tag_of_another_protocol_is_no_way_into_its_vlan),
		T(a_guard_has_the_tag_of_the_bridge),
		T(a_guard_does_not_wait_for_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
