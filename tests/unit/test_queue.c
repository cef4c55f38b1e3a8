// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queue between TAP and overlay: its conditions, priority of sparse flows, unchanged frames in
 * order, limited memory, drops and marks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/virtio_net.h>

#include "from_tap_lab.h"

#include "ones_sum.h"
#include "wire/frame/csum.h"
#include "wire/frame/ecn.h"
#include "wire/frame/ip.h"

#define ALONE 1000 /* bytes of a frame that is never bundled */

/* Builds a frame of a UDP flow to REMOTE, with a port for each flow and `number` inside. */
static size_t build(uint16_t port, uint32_t number, size_t len, uint8_t tos)
{
	uint8_t *ip = frame + fx_eth(frame, REMOTE, HOST, ETHERTYPE_V4);

	memset(out, 0, TAP_VNET_LEN);
	memset(ip, 0, len - ETH_HDR_LEN);
	ip[0] = 0x45;
	ip[1] = tos;
	put_u16(ip + 2, (uint16_t)(len - ETH_HDR_LEN));
	ip[8] = 64;
	ip[9] = PROTO_UDP;
	memcpy(ip + 12, "\x0a\x01\x00\x01\x0a\x01\x00\x02", 8);
	checksum_v4_header(ip);
	put_u16(ip + 20, port);
	put_u16(ip + 24, (uint16_t)(len - ETH_HDR_LEN - 20));
	put_u32(ip + 28, number);
	return TAP_VNET_LEN + len;
}

/* Builds a super-frame of TCP to REMOTE. */
static size_t build_super(uint16_t port, size_t len)
{
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				    .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
				    .gso_size = 1300,
				    .csum_start = 34,
				    .csum_offset = 16 };

	build(port, 0, len, 0);
	memcpy(out, &h, sizeof(h));
	frame[ETH_HDR_LEN + 9] = PROTO_TCP;
	frame[ETH_HDR_LEN + 20 + 12] = 5 << 4;
	checksum_v4_header(frame + ETH_HDR_LEN);
	return TAP_VNET_LEN + len;
}

/* Puts the frame into the queue without sending. */
static void stands(size_t len)
{
	assert_int_equal(write(fx.tap, out, len), len);
	worker_begin(fx.w);
	queue_begin(&fx.w->queue);
	assert_false(queue_intake(fx.w, fx.near_tap));
}

/* Runs one turn of the worker. */
static bool turn(void)
{
	bool more;

	worker_begin(fx.w);
	more = from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
	return more;
}

static uint16_t port_of(const struct datagram *d)
{
	return get_u16(d->b + d->hdr_len + ETH_HDR_LEN + 20);
}

static void all_is_free(void)
{
	assert_int_equal(fx_free_places(&fx), QUEUE_LARGE + QUEUE_SMALL);
	assert_int_equal(fx.w->queue.hops.bytes, 0);
	assert_true(mono_is_never(queue_due(fx.w)));
}

static void only_beside_bulk(void **state)
{
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_true(fx_host_sends(&fx, out, build(1, i, ALONE, 0)));
	assert_true(fx_host_sends(&fx, out, build_super(2, 9000)));
	assert_true(mono_is_never(queue_due(fx.w)));
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 0);
	while (node_gets(1, &d))
		;
	/* The turn ends when the backlog is empty. */
	stands(build(1, 0, ALONE, 0));
	assert_false(mono_is_never(queue_due(fx.w)));
	assert_false(turn());
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 1);
	expect_frame(1, fx_id(1), ALONE, 0);
	expect_silence();
	all_is_free();
}

static void sparse_passes(void **state)
{
	unsigned segments = 0;
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		stands(build_super(1, 20000));
	stands(build(2, 0, ALONE, 0));
	while (turn())
		;
	/* The rest of the turn of bulk, then the other flow. */
	while (node_gets(1, &d) && port_of(&d) == 1)
		segments++;
	assert_int_equal(port_of(&d), 2);
	assert_in_range(segments, 1, 16);
	while (node_gets(1, &d))
		segments++;
	assert_int_equal(segments, 4 * 16);
	assert_int_equal(fx_all_drops(&fx), 0);
	all_is_free();
}

static void host_writes(size_t len)
{
	assert_int_equal(write(fx.tap, out, len), len);
}

/* A frame behind a super-frame has a turn of its own and passes the bulk frames. */
static void one_super_frame_a_turn(void **state)
{
	struct datagram d;

	(void)state;
	host_writes(build_super(1, 40000));
	host_writes(build_super(1, 40000));
	host_writes(build(2, 0, ALONE, 0));
	assert_true(turn());
	assert_int_equal(fx_count(&fx, CNT_tap_rx_frames), 1);
	while (node_gets(1, &d))
		assert_int_equal(port_of(&d), 1);
	assert_true(turn());
	while (node_gets(1, &d))
		assert_int_equal(port_of(&d), 1);
	assert_false(turn());
	assert_true(node_gets(1, &d));
	assert_int_equal(port_of(&d), 2);
	expect_silence();
	assert_int_equal(fx_all_drops(&fx), 0);
	all_is_free();
}

/* Expects rising numbers within each flow. Returns the number of frames. */
static unsigned in_order(uint32_t last[5])
{
	unsigned n = 0;

	for (struct datagram d; node_gets(1, &d); n++) {
		uint32_t number = get_u32(d.b + d.hdr_len + ETH_HDR_LEN + 28);

		assert_true(number > last[port_of(&d)]);
		last[port_of(&d)] = number;
	}
	return n;
}

/* The backlog exceeds one turn: the worker continues without new frames in the TAP. */
static void turns(void **state)
{
	unsigned frames = 0, n_turns = 0;
	uint32_t last[5] = { 0 };
	bool more;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		stands(build((uint16_t)(i % 5), i + 1, ALONE, 0));
	do {
		assert_false(mono_is_never(queue_due(fx.w)));
		more = turn();
		frames += in_order(last);
		n_turns++;
	} while (more);
	assert_in_range(n_turns, 200 * ALONE / (QUEUE_TURN_BYTES + ALONE),
			1 + 200 * ALONE / QUEUE_TURN_BYTES);
	assert_int_equal(frames, 200);
	all_is_free();
}

static void bounded(void **state)
{
	uint64_t full;

	(void)state;
	for (unsigned i = 0; i < QUEUE_LARGE + 40; i++) {
		stands(build_super(1, 60000));
		assert_true(fx.w->queue.hops.n < QUEUE_LARGE);
	}
	full = fx_drops(&fx, DROP_queue_full);
	assert_int_equal(full, 41);
	/* Small frames of other flows fit, because the bulk flow loses frames. */
	for (unsigned i = 0; i < QUEUE_SMALL; i++)
		stands(build((uint16_t)(10 + i % 100), i, 100, 0));
	assert_in_range(fx_drops(&fx, DROP_queue_full), full, full + 1);
	while (turn())
		;
	all_is_free();
	/* For super-frames that are hardly larger than a frame, the number of places is the
	 * limit. */
	for (unsigned i = 0; i < QUEUE_LARGE + 20; i++)
		stands(build_super((uint16_t)i, 2500));
	assert_int_equal(fx.w->queue.hops.n, QUEUE_LARGE - 1);
	while (turn())
		;
	all_is_free();
}

/* Without a free small buffer, the flow with most small frames loses frames, although the bulk flow
 * has more bytes. */
static void a_burst_of_small_frames_costs_itself(void **state)
{
	unsigned segments = 0, small = 0;

	(void)state;
	for (unsigned i = 0; i < 12; i++)
		stands(build_super(1, 60000));
	for (unsigned i = 0; i < QUEUE_SMALL + 50; i++)
		stands(build(9, i, ALONE, 0));
	assert_int_equal(fx_drops(&fx, DROP_queue_full), 50);
	for (bool more = true; more;) {
		more = turn();
		for (struct datagram d; node_gets(1, &d);)
			*(port_of(&d) == 9 ? &small : &segments) += 1;
	}
	/* CoDel may act on a busy machine. */
	assert_int_equal(segments + small + fx_drops(&fx, DROP_queue_late),
			 12 * ((60000 - 54 + 1299) / 1300) + QUEUE_SMALL);
	all_is_free();
}

/* Without a free large buffer, a flow with super-frames loses one, although another flow has more
 * bytes in small buffers. */
static void super_frames_cost_no_small_frames(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 400; i++)
		stands(build(9, i, 1500, 0));
	for (unsigned i = 0; i < QUEUE_LARGE; i++)
		stands(build_super((uint16_t)(10 + i % 20), 4000));
	assert_int_equal(fx_drops(&fx, DROP_queue_full), 1);
	stands(build(9, 400, 1500, 0));
	assert_int_equal(fx_drops(&fx, DROP_queue_full), 1);
	while (turn())
		;
	all_is_free();
}

/* The oldest super-frame of a queue above its limit loses one segment, and TCP repeats only that
 * one. */
static void one_segment_is_lost(void **state)
{
	const unsigned n = QUEUE_BYTES / 60000 + 3, segments = (60000 - 54 + 1299) / 1300;
	unsigned got = 0, first = 0;
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < n; i++)
		stands(build_super(1, 60000));
	assert_int_equal(fx_all_drops(&fx), 0);
	for (bool more = true; more;) {
		more = turn();
		for (; node_gets(1, &d); got++)
			if (!got)
				first = get_u32(d.b + d.hdr_len + ETH_HDR_LEN + 24);
	}
	assert_int_equal(first - get_u32(frame + ETH_HDR_LEN + 24), 1300);
	assert_int_equal(fx_drops(&fx, DROP_queue_late), 1);
	assert_int_equal(fx_all_drops(&fx), 1);
	assert_int_equal(got, n * segments - 1);
	/* A later super-frame in the same buffer is complete. */
	for (unsigned i = 0; i < n + 1; i++)
		stands(build_super(1, 5200));
	got = 0;
	for (bool more = true; more;) {
		more = turn();
		while (node_gets(1, &d))
			got++;
	}
	assert_int_equal(got, (n + 1) * 4);
	all_is_free();
}

static void broken(void **state)
{
	(void)state;
	stands(5);
	stands(build(1, 0, ALONE, 0));
	memset(out, 0xff, sizeof(out));
	stands(TAP_VNET_LEN + 8);
	assert_false(turn());
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 2);
	all_is_free();
	memset(out, 0, sizeof(out));
}

/* Delays the backlog until CoDel acts. Returns the frames of the next turn. */
static void wait_long(uint8_t tos)
{
	mono_t begin;

	for (unsigned i = 0; i < 200; i++)
		stands(build(1, i, ALONE, tos));
	begin = fx.w->now;
	for (unsigned i = 1; i < 10; i++) {
		worker_begin(fx.w);
		fx.w->now = mono_add_ms(begin, 50 * i);
		queue_intake(fx.w, fx.near_tap);
		for (unsigned k = 0; k < 4; k++)
			assert_non_null(queue_next(fx.w));
		worker_end(fx.w);
	}
}

static void who_waits_long_loses(void **state)
{
	(void)state;
	wait_long(0);
	assert_in_range(fx_drops(&fx, DROP_queue_late), 3, 30);
	assert_int_equal(fx_count(&fx, CNT_queue_marked), 0);
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 36);
	while (turn())
		;
	all_is_free();
}

static void or_is_marked(void **state)
{
	unsigned marked = 0;
	struct frame *f;

	(void)state;
	wait_long(2);
	assert_int_equal(fx_all_drops(&fx), 0);
	assert_in_range(fx_count(&fx, CNT_queue_marked), 3, 30);
	worker_begin(fx.w);
	fx.w->now = mono_add_ms(fx.w->now, 2000);
	queue_intake(fx.w, fx.near_tap);
	while ((f = queue_next(fx.w))) {
		marked += (f->data[ETH_HDR_LEN + 1] & 3) == 3;
		assert_int_equal(ones_sum(0, f->data + ETH_HDR_LEN, 20), 0xffff);
	}
	worker_end(fx.w);
	assert_true(marked > 0);
	while (turn())
		;
	all_is_free();
}

static uint64_t waits(unsigned from, unsigned to)
{
	uint64_t sum = 0;

	for (unsigned i = from; i < to; i++)
		sum += atomic_load(&fx.w->queue.tier[TIER_BEST_EFFORT].waits[i]);
	return sum;
}

/* Delays of zero, and beyond the highest class. */
static void waiting_is_counted(void **state)
{
	static const int64_t us[] = { 0, 0, 1, 1000, INT64_C(1) << 40 };

	(void)state;
	for (unsigned i = 0; i < array_size(us); i++) {
		stands(build(1, i, ALONE, 0));
		fx.w->now = mono_add_us(fx.w->now, us[i]);
		assert_non_null(queue_next(fx.w));
		worker_end(fx.w);
	}
	assert_int_equal(waits(0, 1), 2);
	assert_int_equal(waits(1, 2), 1);
	assert_int_equal(waits(10, 11), 1);
	assert_int_equal(waits(FWD_WAITS - 1, FWD_WAITS), 1);
	assert_int_equal(waits(0, FWD_WAITS), 5);
}

/* --- a link with a rate --- */

static void ten_mbits(struct snap *s)
{
	s->shape_kbits = 10000;
}

/* Runs one turn at this time. Returns the number of sent frames. */
static unsigned turn_at(mono_t now)
{
	unsigned n = 0;

	worker_begin(fx.w);
	fx.w->now = now;
	queue_intake(fx.w, fx.near_tap);
	while (queue_next(fx.w))
		n++;
	queue_goes_on(fx.w, false);
	shaper_pay(&fx.f->shaper, 10000, n * (ALONE + 50), now);
	worker_end(fx.w);
	return n;
}

static void rate_is_waited_for(void **state)
{
	unsigned n = 0;
	mono_t begin;

	(void)state;
	fx_publish(&fx, ten_mbits);
	for (unsigned i = 0; i < 100; i++)
		stands(build(1, i, ALONE, 2));
	begin = fx.w->now;
	/* 100 ms carry 119 of these frames. No frame is lost although all frames wait. */
	for (unsigned ms = 0; ms < 60; ms++)
		n += turn_at(mono_add_ms(begin, ms));
	assert_in_range(n, 60, 80);
	assert_int_equal(turn_at(mono_add_ms(begin, 59)), 0);
	assert_false(mono_is_never(queue_due(fx.w)));
	assert_true(queue_due(fx.w).ns > mono_add_ms(begin, 59).ns);
	/* Another flow waits for a shorter time. */
	stands(build(2, 0, ALONE, 0));
	assert_true(queue_due(fx.w).ns <= mono_add_ms(begin, 60).ns);
	for (unsigned ms = 60; ms < 130; ms++)
		n += turn_at(mono_add_ms(begin, ms));
	assert_int_equal(n, 101);
	assert_int_equal(fx_all_drops(&fx), 0);
	all_is_free();
}

/* Relayed datagrams above the rate do not starve the queue. */
static void relayed_datagrams_leave_a_part(void **state)
{
	unsigned n = 0;

	(void)state;
	fx_publish(&fx, ten_mbits);
	for (unsigned i = 0; i < 100; i++)
		stands(build(1, i, ALONE, 0));
	for (unsigned ms = 0; ms < 500; ms++) {
		shaper_pay(&fx.f->shaper, 10000, 2500, fx.w->now);
		n += turn_at(mono_add_ms(fx.w->now, 1));
	}
	assert_in_range(n, 500 * 10000 / 8 / 16 / ALONE - 2, 500 * 10000 / 8 / 16 / ALONE + 2);
}

/* A single frame passes the queue too and is sent at once. */
static void idle_line(void **state)
{
	(void)state;
	fx_publish(&fx, ten_mbits);
	assert_true(fx_host_sends(&fx, out, build(1, 0, ALONE, 0)));
	expect_frame(1, fx_id(1), ALONE, 0);
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 1);
	/* The sent frame is charged with its headers. */
	assert_true(shaper_due(&fx.f->shaper, false).ns > fx.w->now.ns - 4 * NS_PER_MS);
	fx_publish(&fx, NULL);
	assert_true(fx_host_sends(&fx, out, build(1, 0, ALONE, 0)));
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 1);
	all_is_free();
}

/* --- next hops with rates --- */

#define HOP_KBITS 10000
#define WIRE	  (ALONE + 8 + 28 + 4) /* approximate size of a frame on the link */

static void both_direct(struct snap *s)
{
	static const uint16_t direct[] = { 2 };

	snap_set_path(s, 2, direct, 1, FX_MTU);
}

/* Writes frames of one flow to a host into the TAP. */
static void host_offers(unsigned host, uint16_t port, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		size_t len = build(port, i + 1, ALONE, 2);
		struct mac dst = fx_mac(host);

		memcpy(frame, &dst, sizeof(dst));
		assert_int_equal(write(fx.tap, out, len), len);
	}
}

/* Runs turns of the worker at this time until no frame leaves. */
static void sends_at(mono_t now)
{
	uint64_t before;

	do {
		before = fx_count(&fx, CNT_queue_frames);
		worker_begin(fx.w);
		fx.w->now = now;
		from_tap(fx.w, fx.near_tap);
		worker_end(fx.w);
	} while (fx_count(&fx, CNT_queue_frames) > before);
}

static unsigned arrived(unsigned slot)
{
	struct datagram d;
	unsigned n = 0;

	while (node_gets(slot, &d))
		n++;
	return n;
}

static struct fwd_queue of_hop(uint16_t slot)
{
	struct fwd_queue q;

	fwd_queue_hop(fx.f, slot, &q);
	return q;
}

static int64_t paid(unsigned slot)
{
	return atomic_load(&fx.f->hop[slot].shaper.paid_ns);
}

static mono_t begin_hops(void (*change)(struct snap *s), uint32_t kbits1, uint32_t kbits2)
{
	fx_publish(&fx, change);
	fwd_set_hop(fx.f, 1, kbits1);
	fwd_set_hop(fx.f, 2, kbits2);
	worker_begin(fx.w);
	return fx.w->now;
}

static void a_slow_hop_holds_up_nobody(void **state)
{
	mono_t now = begin_hops(both_direct, HOP_KBITS, 0);
	unsigned slow = 0, other = 0;

	(void)state;
	host_offers(REMOTE, 1, 60);
	sends_at(now);
	host_offers(REMOTE, 1, 40);
	host_offers(FAR, 1, 20);
	for (unsigned ms = 0; ms < 60; ms++) {
		sends_at(mono_add_ms(now, ms));
		other += arrived(2);
		slow += arrived(1);
		assert_int_equal(other, 20);
	}
	/* 60 ms at 10 Mbit/s, and 4 ms of compensation. */
	assert_in_range(slow, 60 * HOP_KBITS / 8 / WIRE - 3, 66 * HOP_KBITS / 8 / WIRE + 3);
	assert_int_equal(of_hop(1).backlog_frames, 100 - slow);
	assert_int_equal(of_hop(1).sent, slow);
	assert_int_equal(of_hop(2).sent, 20);
	assert_int_equal(fwd_held_frames(fx.f), 100 - slow);
	assert_true(queue_due(fx.w).ns > mono_add_ms(now, 59).ns);
	assert_true(queue_due(fx.w).ns < mono_add_ms(now, 63).ns);
	for (unsigned ms = 60; ms < 130; ms++)
		sends_at(mono_add_ms(now, ms));
	assert_int_equal(slow + arrived(1), 100);
	assert_int_equal(fx_all_drops(&fx), 0);
	all_is_free();
}

static uint32_t seq_of(const struct datagram *d)
{
	return get_u32(d->b + d->hdr_len + ETH_HDR_LEN + 24);
}

/* A super-frame to a slow hop leaves in segments, one to another hop in one piece. */
static void super_frames_to_a_slow_hop_are_cut(void **state)
{
	mono_t now = begin_hops(both_direct, HOP_KBITS, 0);
	uint64_t whole = fx_count(&fx, CNT_queue_frames);
	size_t len = build_super(1, 20000);
	struct mac far = fx_mac(FAR);
	uint32_t first = 0;
	unsigned n = 0;
	struct datagram d;

	(void)state;
	assert_int_equal(write(fx.tap, out, len), len);
	memcpy(frame, &far, sizeof(far));
	assert_int_equal(write(fx.tap, out, len), len);
	sends_at(now);
	/* 19,946 bytes of payload in segments of 1300. */
	assert_int_equal(arrived(2), 16);
	while (node_gets(1, &d)) {
		assert_in_range(d.len, 1300, 1500);
		if (!n++)
			first = seq_of(&d);
	}
	assert_in_range(n, 1, 6);
	assert_int_equal(of_hop(1).backlog_frames, 16 - n);
	assert_int_equal(fx_count(&fx, CNT_tap_rx_super), 2);
	for (unsigned ms = 1; ms < 40; ms++)
		sends_at(mono_add_ms(now, ms));
	while (node_gets(1, &d)) {
		/* Each segment has headers and the correct sequence number. */
		assert_int_equal(seq_of(&d), first + 1300 * n);
		n++;
	}
	assert_int_equal(n, 16);
	assert_int_equal(fx_count(&fx, CNT_queue_frames) - whole, 17);
	assert_int_equal(fx_all_drops(&fx), 0);
	all_is_free();
}

/* Frames to a hop and frames through that hop share its queue. */
static void what_is_behind_a_hop_is_its(void **state)
{
	mono_t now = begin_hops(NULL, HOP_KBITS, 0);

	(void)state;
	host_offers(REMOTE, 1, 35);
	host_offers(FAR, 1, 35);
	for (unsigned ms = 0; ms < 20; ms++)
		sends_at(mono_add_ms(now, ms));
	assert_in_range(arrived(1), 20 * HOP_KBITS / 8 / WIRE - 3, 26 * HOP_KBITS / 8 / WIRE + 3);
	for (unsigned ms = 20; ms < 130; ms++)
		sends_at(mono_add_ms(now, ms));
	arrived(1);
	all_is_free();
}

/* A flood does not wait for any hop and is charged to each. */
static void floods_are_charged_to_each(void **state)
{
	mono_t now = begin_hops(both_direct, HOP_KBITS, 2 * HOP_KBITS);
	int64_t frame_ns = WIRE * 8 * NS_PER_S / 1000 / HOP_KBITS;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		size_t len = build(1, i, ALONE, 2);

		memset(frame, 0xff, 6);
		assert_int_equal(write(fx.tap, out, len), len);
	}
	sends_at(now);
	assert_int_equal(arrived(1), 40);
	assert_int_equal(arrived(2), 40);
	assert_in_range(paid(1) - now.ns, 34 * frame_ns, 41 * frame_ns);
	assert_in_range(paid(2) - now.ns, 34 * frame_ns / 2 - 3 * NS_PER_MS, 41 * frame_ns / 2);
	/* The own frames of the hop wait for that charge, except for their least rate. */
	host_offers(REMOTE, 1, 6);
	sends_at(mono_add_ms(now, 10));
	sends_at(mono_add_ms(now, 20));
	assert_int_equal(arrived(1), 2);
	sends_at(mono_add_ms(now, 60));
	assert_int_equal(arrived(1), 4);
	all_is_free();
}

/* One hop gets the lower of both rates. Two hops share the rate of the link. */
static void line_and_hops(void **state)
{
	mono_t now = begin_hops(both_direct, 2 * HOP_KBITS, 2 * HOP_KBITS);
	unsigned n[2] = { 0 };

	(void)state;
	fwd_set_bottleneck(fx.f, HOP_KBITS);
	for (unsigned i = 0; i < 4; i++) {
		host_offers(i % 2 ? REMOTE : FAR, 1, 50);
		worker_begin(fx.w);
		fx.w->now = now;
		queue_intake(fx.w, fx.near_tap);
	}
	for (unsigned ms = 0; ms < 80; ms++) {
		sends_at(mono_add_ms(now, ms));
		n[0] += arrived(1);
		n[1] += arrived(2);
		/* The link is the bottleneck. */
		assert_true(ms < 10 || fwd_held_frames(fx.f) == 0);
	}
	assert_in_range(n[0] + n[1], 78 * HOP_KBITS / 8 / WIRE, 86 * HOP_KBITS / 8 / WIRE);
	assert_in_range(n[0], n[1] - 6, n[1] + 6);
	fwd_set_bottleneck(fx.f, 0);
	for (unsigned ms = 80; ms < 180; ms++)
		sends_at(mono_add_ms(now, ms));
	assert_int_equal(n[0] + n[1] + arrived(1) + arrived(2), 200);
	all_is_free();
}

/* The queue ends with the last rate, in order and without a loss. */
static void hops_end(void **state)
{
	mono_t now = begin_hops(both_direct, HOP_KBITS, HOP_KBITS);
	uint32_t last[5] = { 0 };

	(void)state;
	host_offers(REMOTE, 1, 30);
	sends_at(now);
	fwd_set_hop(fx.f, 1, 0);
	fwd_set_hop(fx.f, 2, 0);
	for (unsigned i = 30; i < 50; i++) {
		size_t len = build(1, i + 1, ALONE, 2);

		assert_int_equal(write(fx.tap, out, len), len);
	}
	sends_at(mono_add_ms(now, 1));
	assert_int_equal(in_order(last), 50);
	assert_int_equal(of_hop(1).backlog_frames, 0);
	sends_at(mono_add_ms(now, 2));
	all_is_free();
	assert_false(queue_in_use(fx.w));
}

/* --- marks --- */

static void marks(void **state)
{
	struct eth_view v;

	(void)state;
	for (unsigned tos = 0; tos < 256; tos++)
		for (uint32_t id = 0; id < 70000; id += 9973) {
			build(1, 0, 100, (uint8_t)tos);
			put_u16(frame + ETH_HDR_LEN + 4, (uint16_t)id);
			checksum_v4_header(frame + ETH_HDR_LEN);
			assert_int_equal(eth_parse(frame, 100, &v), 0);
			assert_int_equal(ecn_takes_marks(frame, 100, &v), (tos & 3) != 0);
			if (!(tos & 3))
				continue;
			ecn_mark(frame, &v);
			assert_int_equal(frame[ETH_HDR_LEN + 1], tos | 3);
			assert_int_equal(ones_sum(0, frame + ETH_HDR_LEN, 20), 0xffff);
		}
	fx_eth(frame, REMOTE, HOST, 0x86dd);
	memset(frame + ETH_HDR_LEN, 0, 60);
	memcpy(frame + ETH_HDR_LEN, "\x6a\xaf\xff\xff\x00\x14\x3b", 7);
	assert_int_equal(eth_parse(frame, 74, &v), 0);
	assert_true(ecn_takes_marks(frame, 74, &v));
	ecn_mark(frame, &v);
	assert_memory_equal(frame + ETH_HDR_LEN, "\x6a\xbf\xff\xff", 4);
	frame[ETH_HDR_LEN + 1] = 0xcf;
	assert_false(ecn_takes_marks(frame, 74, &v));
	/* A frame other than IP cannot be marked. */
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	assert_int_equal(eth_parse(frame, 74, &v), 0);
	assert_false(ecn_takes_marks(frame, 74, &v));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, from_tap_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(only_beside_bulk),
		T(sparse_passes),
		T(one_super_frame_a_turn),
		T(turns),
		T(bounded),
		T(a_burst_of_small_frames_costs_itself),
		T(super_frames_cost_no_small_frames),
		T(one_segment_is_lost),
		T(broken),
		T(who_waits_long_loses),
		T(or_is_marked),
		T(waiting_is_counted),
		T(rate_is_waited_for),
		T(relayed_datagrams_leave_a_part),
		T(idle_line),
		T(a_slow_hop_holds_up_nobody),
		T(super_frames_to_a_slow_hop_are_cut),
		T(what_is_behind_a_hop_is_its),
		T(floods_are_charged_to_each),
		T(line_and_hops),
		T(hops_end),
		T(marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
