// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of one TAP batch: which frames share a datagram or a system call, and their order. A batch
 * from the Internet uses the snapshot that is valid when its datagrams are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

#include "wire/datagram/leon.h"

/* Puts a frame into the next batch. */
static void queue(uint8_t dst, size_t len, uint8_t mark)
{
	fx_eth(frame, dst, HOST, ETHERTYPE_TEST);
	memset(frame + 14, mark, len - 14);
	assert_int_equal(write(fx.tap, out, TAP_VNET_LEN + len), TAP_VNET_LEN + len);
}

static void run_batch(void)
{
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
}

/* Frames that are too large for a bundle leave in one system call, in order. */
static void many_frames_one_call(void **state)
{
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		queue(REMOTE, 1000, (uint8_t)i);
	run_batch();
	assert_int_equal(fx_count(&fx, CNT_net_tx_batches), 1);
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 8);
	for (unsigned i = 0; i < 8; i++) {
		assert_true(node_gets(1, &d));
		assert_int_equal(d.h.kind, LEON_FRAME);
		assert_int_equal(d.b[d.hdr_len + 20], i);
	}
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_bundles_tx), 0);
}

struct bundled {
	size_t len;
	uint8_t mark;
};

/* Reads one bundle to `destination` through node 1, and compares its frames. */
static void expect_bundle(node_id_t destination, const struct bundled *want, unsigned n)
{
	struct bundle_frame f;
	struct datagram d;
	size_t at = 0;

	assert_true(node_gets(1, &d));
	assert_int_equal(d.h.kind, LEON_BUNDLE);
	assert_int_equal(d.h.flags, 0);
	assert_int_equal(leon_destination(&d.h), destination);
	assert_true(d.len <= FX_MTU);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(bundle_next(d.b + d.hdr_len, d.len - d.hdr_len, &at, &f), 1);
		assert_int_equal(f.len, want[i].len);
		assert_int_equal(f.flags, 0);
		assert_int_equal(d.b[d.hdr_len + f.at + 11], HOST);
		assert_int_equal(d.b[d.hdr_len + f.at + 14], want[i].mark);
		assert_int_equal(d.b[d.hdr_len + f.at + f.len - 1], want[i].mark);
	}
	assert_int_equal(bundle_next(d.b + d.hdr_len, d.len - d.hdr_len, &at, &f), 0);
}

/* Frames of any size share a datagram for each destination, in order. */
static void small_frames_share(void **state)
{
	static const struct bundled near[] = { { 60, 1 }, { 600, 3 }, { 61, 5 } },
				    far[] = { { 60, 2 }, { 300, 4 } };

	(void)state;
	queue(REMOTE, 60, 1);
	queue(FAR, 60, 2);
	queue(REMOTE, 600, 3);
	queue(FAR, 300, 4);
	queue(REMOTE, 61, 5);
	run_batch();
	expect_bundle(fx_id(1), near, 3);
	expect_bundle(fx_id(2), far, 2);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_bundles_tx), 2);
	assert_int_equal(fx_count(&fx, CNT_bundled_frames_tx), 5);
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 2);
	assert_int_equal(fx_count(&fx, CNT_net_tx_batches), 1);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 5);
	/* A bundle does not continue in the next batch. */
	queue(REMOTE, 60, 6);
	run_batch();
	expect_frame(1, fx_id(1), 60, 0);
	expect_silence();
}

static void bundles_keep_order(void **state)
{
	static const struct bundled first[] = { { 60, 1 }, { 60, 2 } },
				    last[] = { { 60, 4 }, { 60, 5 } };
	struct datagram d;

	(void)state;
	queue(REMOTE, 60, 1);
	queue(REMOTE, 60, 2);
	queue(REMOTE, FX_MTU - LEON_HDR_LEN(1), 3); /* no second frame fits */
	queue(REMOTE, 60, 4);
	queue(REMOTE, 60, 5);
	queue(REMOTE, 3000, 6); /* splits into fragments */
	queue(REMOTE, 60, 7);
	run_batch();
	expect_bundle(fx_id(1), first, 2);
	assert_true(node_gets(1, &d));
	assert_int_equal(d.h.kind, LEON_FRAME);
	assert_int_equal(d.b[d.hdr_len + 14], 3);
	expect_bundle(fx_id(1), last, 2);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(node_gets(1, &d));
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
	}
	expect_frame(1, fx_id(1), 60, 0);
	expect_silence();
	assert_int_equal(fx_all_drops(&fx), 0);
}

/* A bundle fills the path MTU before the next bundle begins. */
static void bundles_are_filled(void **state)
{
	size_t room = FX_MTU - LEON_HDR_LEN(1), n = room / (BUNDLE_HDR_LEN + 60);
	struct bundled want[TAP_RX_FRAMES];

	(void)state;
	for (unsigned i = 0; i < n + 2; i++) {
		want[i] = (struct bundled){ 60, (uint8_t)i };
		queue(REMOTE, 60, (uint8_t)i);
	}
	run_batch();
	expect_bundle(fx_id(1), want, (unsigned)n);
	expect_bundle(fx_id(1), want + n, 2);
	expect_silence();
	/* Two frames of half the payload budget fit exactly, and one more byte does not. */
	want[0].len = want[1].len = room / 2 - BUNDLE_HDR_LEN;
	queue(REMOTE, want[0].len, 0);
	queue(REMOTE, want[1].len, 1);
	run_batch();
	expect_bundle(fx_id(1), want, 2);
	queue(REMOTE, want[0].len, 0);
	queue(REMOTE, want[1].len + 1, 1);
	run_batch();
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 2 + 1 + 2);
	assert_int_equal(fx_all_drops(&fx), 0);
}

/* A flooded bundle has headroom for one header only, and reaches several nodes. */
static void flooded_frames_share(void **state)
{
	static const struct bundled want[] = { { 60, 1 }, { 400, 2 } };

	(void)state;
	queue(0x77, 60, 1);
	queue(0x77, 400, 2);
	run_batch();
	expect_bundle(fx_id(1), want, 2);
	expect_bundle(fx_id(2), want, 2);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 4);
}

/* A route that refuses segmentation (SO_NO_CHECK has the effect of IPsec) loses nothing and is
 * counted. The next batches do not try segmentation. */
static void refused_segmentation(void **state)
{
	int on = 1;
	struct datagram d;

	(void)state;
	assert_int_equal(setsockopt(fx.udp, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)), 0);
	for (unsigned batch = 0; batch < 2; batch++) {
		for (unsigned i = 0; i < 8; i++)
			queue(REMOTE, 1000, (uint8_t)i);
		run_batch();
		for (unsigned i = 0; i < 8; i++) {
			assert_true(node_gets(1, &d));
			assert_int_equal(d.b[d.hdr_len + 20], i);
		}
	}
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_gso_refused), 1);
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 16);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void set_blocked(struct snap *s)
{
	vlan_set_add(&snap_add_lan(s)->blocked, 0);
}

/* A worker may be preempted between loading the snapshot and reading datagrams. The old snapshot
 * must not apply to these datagrams, because they may answer newer state. */
static void what_arrives_is_judged_by_what_holds_then(void **state)
{
	const node_id_t hop[] = { fx_id(0) };
	struct sockaddr_storage to;
	uint8_t buf[256] = { 0 };
	socklen_t to_len = endpoint_to_sockaddr(&fx.ep[0], &to);
	size_t len = fx_header(buf, LEON_FRAME, 0, fx_id(1), 0, 1, hop);

	len += fx_eth(buf + len, HOST, REMOTE, ETHERTYPE_TEST) + 50;
	(void)state;
	fx_publish(&fx, set_blocked);
	rcu_online(fx.f->rcu, 0);
	worker_begin(fx.w);
	fx_publish(&fx, NULL);
	assert_int_equal(sendto(fx.node_fd[1], buf, len, 0, (struct sockaddr *)&to, to_len), len);
	from_net(fx.w, fx.udp);
	worker_end(fx.w);
	rcu_offline(fx.f->rcu, 0);
	assert_int_equal(fx_drops(&fx, DROP_loop_blocked), 0);
	assert_true(recv(fx.tap, buf, sizeof(buf), MSG_DONTWAIT) > 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, from_tap_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(many_frames_one_call),
		T(small_frames_share),
		T(bundles_keep_order),
		T(bundles_are_filled),
		T(flooded_frames_share),
		T(refused_segmentation),
		T(what_arrives_is_judged_by_what_holds_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
