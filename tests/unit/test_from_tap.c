// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The step from the local segment into the overlay: destinations of frames, segmentation and
 * fragmentation, reports to the control thread, and drop reasons.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/virtio_net.h>

#include "from_tap_lab.h"

#include "wire/datagram/leon.h"
#include "wire/frame/csum.h"
#include "wire/frame/guard.h"

static void set_vnet(const struct virtio_net_hdr *h)
{
	memcpy(out, h, sizeof(*h));
}

static void host_sends(size_t frame_len)
{
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + frame_len));
}

/* --- destinations --- */

static void unicast(void **state)
{
	struct fwd_traffic t;

	(void)state;
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	host_sends(100);
	expect_frame(1, fx_id(1), 100, 0);
	/* A destination behind a relay: the datagram goes to the relay and contains the path. */
	fx_eth(frame, FAR, HOST, ETHERTYPE_TEST);
	host_sends(100);
	expect_frame(1, fx_id(2), 100, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 2);
	fwd_traffic(fx.f, 1, &t);
	assert_int_equal(t.link_tx, 2);
	assert_int_equal(t.path_tx, 1);
	fwd_traffic(fx.f, 2, &t);
	assert_int_equal(t.path_tx, 1);
	assert_int_equal(t.link_tx, 0);
	/* Without a path to the known node, the frame is flooded as unknown. */
	fx_eth(frame, LOST, HOST, ETHERTYPE_TEST);
	host_sends(100);
	expect_frame(1, fx_id(1), 100, 0);
	expect_frame(1, fx_id(2), 100, 0);
	assert_int_equal(fx_count(&fx, CNT_unknown_tx), 1);
	fx_eth(frame, HOST, 0x44, ETHERTYPE_TEST);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_local_destination), 1);
	expect_silence();
}

static void flooding(void **state)
{
	(void)state;
	fx_eth(frame, 0x77, HOST, ETHERTYPE_TEST); /* unknown */
	host_sends(100);
	/* Both copies pass node 1, and one of them is for node 2. */
	expect_frame(1, fx_id(1), 100, 0);
	expect_frame(1, fx_id(2), 100, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_unknown_tx), 1);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
	/* The least rate of queued frames counts the second copy. */
	assert_int_equal(fx.w->queue.copied, 100);
	memset(frame, 0xff, 6);
	host_sends(100);
	expect_frame(1, fx_id(1), 100, 0);
	expect_frame(1, fx_id(2), 100, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_unknown_tx), 1);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void serve_vlan_10(struct snap *s)
{
	static const struct id_range ten = { 10, 10 };

	s->storm_per_vlan = 4; /* one at once, the next after 250 ms */
	snap_limit_segments(s, 1, &ten, 1);
	snap_limit_segments(s, 2, NULL, 0);
}

/* Sends a broadcast with a VLAN tag. */
static void broadcast_in(uint16_t vlan)
{
	memset(frame, 0xff, 6);
	memcpy(frame + 6, "\x02\x00\x00\x00\x00\x20", 6);
	memcpy(frame + 12, "\x81\x00", 2);
	frame[14] = (uint8_t)(vlan >> 8);
	frame[15] = (uint8_t)vlan;
	memcpy(frame + 16, "\x88\xb6", 2);
	host_sends(100);
}

static void only_those_who_serve_the_vlan(void **state)
{
	static struct fwd_vlan counted[VLAN_IDS];

	(void)state;
	fx_publish(&fx, serve_vlan_10);
	broadcast_in(10);
	expect_frame(1, fx_id(1), 100, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_flood_pruned), 1);
	fwd_vlans(fx.f, counted);
	assert_int_equal(counted[10].flooded, 1);
	assert_int_equal(counted[10].pruned, 1);
	assert_int_equal(counted[20].flooded, 0);
	/* One VLAN has reached its limit, another has not. No node serves the other VLAN. */
	broadcast_in(10);
	expect_silence();
	assert_int_equal(fx_drops(&fx, DROP_storm_vlan), 1);
	broadcast_in(20);
	expect_silence();
	assert_int_equal(fx_drops(&fx, DROP_vlan_no_node), 1);
	fwd_vlans(fx.f, counted);
	assert_int_equal(counted[20].pruned, 2);
	assert_int_equal(counted[10].limited, 1);
}

static void no_routes(struct snap *s)
{
	static const uint16_t none[] = { 0 };

	snap_set_path(s, 1, none, 0, 0);
	snap_set_path(s, 2, none, 0, 0);
}

static void fail_node_1(struct snap *s)
{
	snap_set_failing(s, 1, FX_MTU);
}

/* The host may be behind another node by now, or its node may still receive data. */
static void a_failing_node_receives_floods(void **state)
{
	(void)state;
	fx_publish(&fx, fail_node_1);
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	host_sends(100);
	expect_frame(1, fx_id(1), 100, 0);
	expect_frame(1, fx_id(2), 100, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_unknown_tx), 1);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void nobody_there(void **state)
{
	(void)state;
	fx_publish(&fx, no_routes);
	memset(frame, 0xff, 6);
	memcpy(frame + 6, "\x02\x00\x00\x00\x00\x20", 6);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_no_nodes), 1);
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	host_sends(100);
	/* The destination has no path, and no other node can receive a flood. */
	assert_int_equal(fx_drops(&fx, DROP_no_path), 1);
	fx_eth(frame, 0x77, HOST, ETHERTYPE_TEST);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_no_nodes), 2);
	assert_int_equal(fx_all_drops(&fx), 3);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 0);
}

static void low_rates(struct snap *s)
{
	s->storm_broadcast = 4;
	s->storm_multicast = 8;
	s->storm_unknown = 12;
}

static void storms(void **state)
{
	static const struct {
		uint8_t dst[6];
		enum drop_reason reason;
		unsigned passes; /* frames of 250 ms */
	} kind[] = {
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, DROP_storm_broadcast, 1 },
		{ { 0x33, 0x33, 0, 0, 0, 1 }, DROP_storm_multicast, 2 },
		{ { 2, 9, 9, 9, 9, 9 }, DROP_storm_unknown, 3 },
	};

	(void)state;
	fx_publish(&fx, low_rates);
	for (unsigned k = 0; k < array_size(kind); k++) {
		uint64_t before = fx_count(&fx, CNT_flood_tx);

		fx_eth(frame, 0, HOST, ETHERTYPE_TEST);
		memcpy(frame, kind[k].dst, 6);
		for (unsigned i = 0; i < 10; i++)
			assert_int_equal(write(fx.tap, out, TAP_VNET_LEN + 60), TAP_VNET_LEN + 60);
		worker_begin(fx.w);
		from_tap(fx.w, fx.near_tap);
		worker_end(fx.w);
		assert_int_equal(fx_count(&fx, CNT_flood_tx) - before, 2 * kind[k].passes);
		assert_int_equal(fx_drops(&fx, kind[k].reason), 10 - kind[k].passes);
	}
	/* Known unicast is not limited. */
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	for (unsigned i = 0; i < 50; i++)
		host_sends(60);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 50);
}

/* --- frames that are not forwarded --- */

static void set_blocked(struct snap *s)
{
	vlan_set_add(&snap_add_lan(s)->blocked, 0);
}

static void blocked_but_hearing(void **state)
{
	struct guard_frame g = { .src = fx_mac(9), .vni = FX_VNI, .node = fx_id(1) };
	struct fwd_report ev;

	(void)state;
	for (unsigned blocked = 0; blocked < 2; blocked++) {
		guard_encode(&g, frame);
		host_sends(GUARD_FRAME_LEN);
		assert_int_equal(fx_reports(FWD_GUARD, &ev), 1);
		assert_int_equal(ev.guard.len, GUARD_FRAME_LEN);
		assert_memory_equal(ev.guard.frame, frame, GUARD_FRAME_LEN);
		fx_publish(&fx, set_blocked);
	}
	expect_silence();
	fx_eth(frame, REMOTE, 0x55, ETHERTYPE_TEST);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_loop_blocked), 1);
	/* A frame at a blocked node may be a looped frame, so its source is not learned. */
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 0);
	expect_silence();
}

/* New addresses fill the ring of reports faster than the control thread reads it. */
static void guards_fit_in_a_full_ring(void **state)
{
	struct guard_frame g = { .src = fx_mac(9), .vni = FX_VNI, .node = fx_id(1) };
	struct fwd_report ev;

	(void)state;
	fx_eth(frame, HOST, 0, ETHERTYPE_TEST);
	for (uint16_t i = 0; !fx_drops(&fx, DROP_event_ring_full); i++) {
		put_u16(frame + 8, i);
		host_sends(100);
	}
	guard_encode(&g, frame);
	host_sends(GUARD_FRAME_LEN);
	assert_int_equal(fx_drops(&fx, DROP_event_ring_full), 1);
	assert_int_equal(fx_reports(FWD_GUARD, &ev), 1);
}

static void reserved_and_broken(void **state)
{
	struct virtio_net_hdr bad_csum = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					   .csum_start = 90,
					   .csum_offset = 16 };

	(void)state;
	fx_eth(frame, 0, HOST, ETHERTYPE_TEST);
	memcpy(frame, "\x01\x80\xc2\x00\x00\x02", 6);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_link_local_control), 1);
	host_sends(13);
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	frame[6] |= 1;
	host_sends(100);
	frame[6] &= 0xfe;
	set_vnet(&bad_csum);
	host_sends(100);
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 3);
	expect_silence();
}

static void learning(void **state)
{
	struct fwd_report ev;

	(void)state;
	fx_eth(frame, REMOTE, 0x66, ETHERTYPE_TEST);
	host_sends(100);
	host_sends(100);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 1);
	assert_int_equal(ev.learn.slot, SLOT_SELF);
	assert_int_equal(mac_to_u64(ev.learn.mac), mac_to_u64(fx_mac(0x66)));
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	host_sends(100);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 0);
}

/* --- TCP and UDP over IPv4 --- */

static struct ip_addr v4(uint8_t last)
{
	return (struct ip_addr){ 4, { 10, 1, 0, last } };
}

/* Builds the headers of an IPv4 packet with `payload` bytes. Returns the offset of the payload. */
static size_t build_ip(uint8_t dst, uint8_t proto, size_t l4_hdr, size_t payload)
{
	size_t n = fx_eth(frame, dst, HOST, ETHERTYPE_V4);
	uint8_t *ip = frame + n;

	memset(ip, 0, 20 + l4_hdr);
	ip[0] = 0x45;
	put_u16(ip + 2, (uint16_t)(20 + l4_hdr + payload));
	put_u16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = proto;
	memcpy(ip + 12, v4(1).b, 4);
	memcpy(ip + 16, v4(2).b, 4);
	checksum_v4_header(ip);
	if (proto == 6)
		ip[20 + 12] = (uint8_t)(l4_hdr / 4 << 4);
	else
		put_u16(ip + 24, (uint16_t)(8 + payload));
	for (size_t i = 0; i < payload; i++)
		frame[n + 20 + l4_hdr + i] = (uint8_t)(i * 7 + (i >> 8));
	return n + 20 + l4_hdr;
}

static void clamp_on(struct snap *s)
{
	s->mss_clamp = true;
}

static void mss(void **state)
{
	static const struct {
		uint8_t dst;
		uint16_t hops;
	} to[] = { { REMOTE, 1 }, { FAR, 2 }, { 0x77, 2 } };
	struct datagram d;

	(void)state;
	fx_publish(&fx, clamp_on);
	for (unsigned i = 0; i < array_size(to); i++) {
		size_t end = build_ip(to[i].dst, 6, 24, 0);

		frame[34 + 13] = 0x02;
		memcpy(frame + 54, "\x02\x04\x05\xb4", 4);
		host_sends(end);
		assert_true(node_gets(1, &d));
		/* The payload budget for TCP after the LEON, Ethernet, IP and TCP headers. */
		assert_int_equal(get_u16(d.b + d.hdr_len + 56),
				 FX_MTU - LEON_HDR_LEN(to[i].hops) - 14 - 20 - 20);
	}
	assert_int_equal(fx_count(&fx, CNT_mss_clamped), 3);
	/* Data segments and a SYN with a small MSS stay unchanged. */
	host_sends(build_ip(REMOTE, 6, 24, 100));
	build_ip(REMOTE, 6, 24, 0);
	frame[34 + 13] = 0x02;
	memcpy(frame + 54, "\x02\x04\x02\x00", 4);
	host_sends(58);
	assert_int_equal(fx_count(&fx, CNT_mss_clamped), 3);
}

static void partial_checksums(void **state)
{
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				    .csum_start = 34,
				    .csum_offset = 16 };
	size_t end = build_ip(REMOTE, 6, 20, 100) + 100;
	struct datagram d;

	(void)state;
	put_u16(frame + 50, checksum_pseudo(frame + 14, 4, 6, 120));
	set_vnet(&h);
	host_sends(end);
	expect_frame(1, fx_id(1), end, LEON_F_CSUM_PARTIAL);
	/* A checksum position that the receiver cannot derive is completed at the sender. */
	h.csum_start = 60;
	h.csum_offset = 4;
	set_vnet(&h);
	host_sends(end);
	assert_true(node_gets(1, &d));
	assert_int_equal(d.h.flags, 0);
	frame[64] = frame[65] = 0;
	assert_memory_equal(d.b + d.hdr_len, frame, 64);
	assert_int_not_equal(get_u16(d.b + d.hdr_len + 64), 0);
}

static void fragments_fit_and_join(void **state)
{
	uint8_t whole[4000] = { 0 };
	struct fragment_hdr f;
	struct datagram d;
	size_t got = 0;
	uint32_t id = 0;

	(void)state;
	fx_eth(frame, FAR, HOST, ETHERTYPE_TEST);
	for (size_t i = 14; i < sizeof(whole); i++)
		frame[i] = (uint8_t)(i * 3 + (i >> 8));
	host_sends(sizeof(whole));
	for (unsigned n = 0; n < 3; n++) {
		assert_true(node_gets(1, &d));
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
		assert_true(d.len <= FX_MTU);
		assert_int_equal(fragment_decode(d.b + d.hdr_len, d.len - d.hdr_len, &f), 0);
		assert_int_equal(f.total, sizeof(whole));
		assert_int_equal(f.offset, got);
		assert_true(n == 0 || f.id == id);
		id = f.id;
		memcpy(whole + got, d.b + d.hdr_len + FRAGMENT_HDR_LEN,
		       d.len - d.hdr_len - FRAGMENT_HDR_LEN);
		got += d.len - d.hdr_len - FRAGMENT_HDR_LEN;
	}
	expect_silence();
	assert_int_equal(got, sizeof(whole));
	assert_memory_equal(whole, frame, sizeof(whole));
	assert_int_equal(fx_count(&fx, CNT_fragments_tx), 3);
	/* The next frame has another identification. */
	host_sends(sizeof(whole));
	assert_true(node_gets(1, &d));
	fragment_decode(d.b + d.hdr_len, d.len - d.hdr_len, &f);
	assert_int_not_equal(f.id, id);
	/* The largest frame without fragments, and one byte more. */
	while (node_gets(1, &d))
		;
	host_sends(FX_MTU - LEON_HDR_LEN(2));
	expect_frame(1, fx_id(2), FX_MTU - LEON_HDR_LEN(2), 0);
	host_sends(FX_MTU - LEON_HDR_LEN(2) + 1);
	assert_true(node_gets(1, &d));
	assert_int_equal(d.h.kind, LEON_FRAGMENT);
	host_sends(FRAGMENT_FRAME_MAX + 1);
	assert_int_equal(fx_drops(&fx, DROP_too_big), 1);
}

static struct virtio_net_hdr super(uint8_t type, uint16_t size, uint16_t csum_offset)
{
	return (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					.gso_type = type,
					.gso_size = size,
					.csum_start = 34,
					.csum_offset = csum_offset };
}

/* Reads the segments of a TCP super-frame with `payload` bytes to REMOTE or FAR. */
static void expect_segments(node_id_t destination, size_t payload)
{
	size_t got = 0;
	struct datagram d;

	while (got < payload) {
		const uint8_t *seg;

		assert_true(node_gets(1, &d));
		assert_int_equal(d.h.kind, LEON_FRAME);
		assert_int_equal(d.h.flags, LEON_F_CSUM_PARTIAL);
		assert_int_equal(leon_destination(&d.h), destination);
		assert_true(d.len <= FX_MTU);
		seg = d.b + d.hdr_len;
		assert_int_equal(get_u32(seg + 38), 1000 + got);
		assert_memory_equal(seg + 54, frame + 54 + got, d.len - d.hdr_len - 54);
		got += d.len - d.hdr_len - 54;
	}
	assert_int_equal(got, payload);
}

static void send_super(uint8_t dst, size_t payload)
{
	uint8_t type = VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN;
	struct virtio_net_hdr h = super(type, 1460, 16);
	size_t end;

	set_vnet(&h);
	end = build_ip(dst, 6, 20, payload);
	put_u32(frame + 38, 1000);
	host_sends(end + payload);
}

static void super_frames(void **state)
{
	struct datagram d;

	(void)state;
	send_super(REMOTE, 60000);
	expect_segments(fx_id(1), 60000);
	/* With or without GSO, one system call is sufficient. */
	assert_int_equal(fx_count(&fx, CNT_net_tx_batches), 1);
	send_super(0x77, 5000);
	expect_segments(fx_id(1), 5000);
	expect_segments(fx_id(2), 5000);
	assert_false(node_gets(1, &d));
	assert_int_equal(fx_count(&fx, CNT_tap_rx_super), 2);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void udp_super_frame_is_split(void **state)
{
	struct virtio_net_hdr h = super(TAP_GSO_UDP_L4, 1472, 6);
	struct fragment_hdr f;
	struct datagram d;
	unsigned n = 0;

	(void)state;
	set_vnet(&h);
	build_ip(REMOTE, 17, 8, 3 * 1472 + 100);
	host_sends(42 + 3 * 1472 + 100);
	/* Datagrams keep their size: three exceed the path MTU, the other ones fit. */
	for (; n < 6; n++) {
		assert_true(node_gets(1, &d));
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
		assert_int_equal(d.h.flags, LEON_F_CSUM_PARTIAL);
		assert_int_equal(fragment_decode(d.b + d.hdr_len, d.len - d.hdr_len, &f), 0);
		assert_int_equal(f.total, 42 + 1472);
	}
	assert_true(node_gets(1, &d));
	assert_int_equal(d.h.kind, LEON_FRAME);
	assert_int_equal(d.len - d.hdr_len, 42 + 100);
	assert_int_equal(get_u16(d.b + d.hdr_len + 38), 108);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_fragmented_frames), 3);
}

static void super_frames_that_cannot_be_cut(void **state)
{
	static const struct {
		uint8_t type, proto;
		uint16_t size;
	} bad[] = {
		{ VIRTIO_NET_HDR_GSO_UDP, 17, 1472 },  /* UFO, which is not requested */
		{ VIRTIO_NET_HDR_GSO_TCPV6, 6, 1460 }, /* type differs from content */
		{ VIRTIO_NET_HDR_GSO_TCPV4, 17, 1460 }, { TAP_GSO_UDP_L4, 6, 1472 },
		{ VIRTIO_NET_HDR_GSO_TCPV4, 6, 0 },	{ 77, 6, 1460 },
	};

	(void)state;
	for (unsigned i = 0; i < array_size(bad); i++) {
		struct virtio_net_hdr h = super(bad[i].type, bad[i].size, 16);
		size_t end = build_ip(REMOTE, bad[i].proto, bad[i].proto == 6 ? 20 : 8, 5000);

		set_vnet(&h);
		host_sends(end + 5000);
		assert_int_equal(fx_drops(&fx, DROP_offload_unsupported), i + 1);
	}
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, from_tap_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(unicast),
		T(flooding),
		T(only_those_who_serve_the_vlan),
		T(a_failing_node_receives_floods),
		T(nobody_there),
		T(storms),
		T(blocked_but_hearing),
		T(guards_fit_in_a_full_ring),
		T(reserved_and_broken),
		T(learning),
		T(mss),
		T(partial_checksums),
		T(fragments_fit_and_join),
		T(super_frames),
		cmocka_unit_test_setup_teardown(super_frames, setup_no_gso, fx_teardown),
		T(udp_super_frame_is_split),
		T(super_frames_that_cannot_be_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
