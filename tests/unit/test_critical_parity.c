// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Critical frames in blocks with parity: the two paths, the end of a block, and the budget. The
 * receiver restores lost frames and fragments, and delivers each frame once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

#include "fwd/in/received_tables.h"
#include "fwd/send/send_steps.h"
#include "io/clock.h"
#include "state/tables/policy.h"
#include "wire/datagram/leon.h"

static struct policy policy;

/* Frames use the direct path, parities the relayed one. */
static void set_policy(struct snap *s)
{
	snap_set_policy(s, &policy);
	two_paths(s);
}

static void without_pair(struct snap *s)
{
	snap_set_policy(s, &policy);
}

static void with_other_node(struct snap *s)
{
	set_policy(s);
	s->node[2].id = fx_id(2) + 100;
}

static int setup(void **state)
{
	(void)state;
	policy = (struct policy){ .parity = true, .critical = { .n_macs = 1 } };
	policy.critical.mac[0] = fx_mac(HOST);
	if (open_with(true) < 0)
		return -1;
	fx_publish(&fx, set_policy);
	return 0;
}

/* --- the sender --- */

#define TYPE_TEST 0x88b5

/* Sends a critical frame of this length with a number in it. */
static void host_sends(unsigned number, size_t len)
{
	size_t at = fx_eth(frame, FAR, HOST, TYPE_TEST);

	memset(frame + at, 0, len - at);
	put_u16(frame + at, (uint16_t)number);
	frame[len - 1] = (uint8_t)(number * 3 + 1);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

/* Lets the open blocks become due. */
static void time_passes(void)
{
	for (unsigned i = 0; i < CODING_BLOCKS; i++)
		fx.w->coding.block[i].since.ns -= PROTECT_NS;
	worker_begin(fx.w);
	worker_end(fx.w);
}

/* A block does not end by time, even on a busy machine. */
static void time_stands_still(void)
{
	for (unsigned i = 0; i < CODING_BLOCKS; i++)
		fx.w->coding.block[i].since = mono_add_ms(mono_now(), 60000);
}

static const uint8_t *symbol_at(struct datagram *d, struct parity_hdr *h)
{
	int n;

	assert_true(node_gets(2, d));
	assert_int_equal(d->h.kind, LEON_COPY);
	assert_int_equal(d->h.n_hops, 1);
	n = parity_decode(d->b + d->hdr_len, d->len - d->hdr_len, h);
	assert_true(n > 0 && h->kind);
	return d->b + d->hdr_len + n;
}

static bool parity_at(struct datagram *d, struct parity_hdr *h)
{
	if (!node_gets(1, d))
		return false;
	assert_int_equal(d->h.kind, LEON_COPY);
	assert_int_equal(d->h.n_hops, 2);
	assert_int_equal(leon_destination(&d->h), fx_id(2));
	assert_int_equal(parity_decode(d->b + d->hdr_len, d->len - d->hdr_len, h), PARITY_HDR_LEN);
	assert_int_equal(h->kind, 0);
	return true;
}

static void a_block_by_time(void **state)
{
	struct parity_hdr h, p;
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		host_sends(i, 100 + i);
		assert_memory_equal(symbol_at(&d, &h), frame, 100 + i);
		assert_int_equal(h.index, i);
		assert_int_equal(h.first, i);
		assert_int_equal(d.len, d.hdr_len + PARITY_FRAME_HDR_LEN + 100 + i);
		expect_silence();
	}
	assert_false(mono_is_never(protect_due(fx.w)));
	time_passes();
	for (unsigned i = 0; i < 2; i++) {
		assert_true(parity_at(&d, &p));
		assert_true(p.block == h.block && p.index == i && p.symbols == 3);
		assert_int_equal(d.len - d.hdr_len, PARITY_HDR_LEN + PARITY_SYMBOL_HDR + 102);
	}
	expect_silence();
	assert_true(mono_is_never(protect_due(fx.w)));
	assert_int_equal(fx_count(&fx, CNT_critical_parity), 3);
	assert_int_equal(fx_count(&fx, CNT_parity_tx), 2);
	/* IP and UDP headers and LEON header of each parity, and the headers of frames. */
	assert_int_equal(fx_count(&fx, CNT_critical_extra_bytes),
			 2 * (28 + LEON_HDR_LEN(2) + PARITY_HDR_LEN + PARITY_SYMBOL_HDR + 102) +
				 3 * PARITY_FRAME_HDR_LEN);
	/* The datagrams do not count as data of the path in use. */
	assert_int_equal(atomic_load(&fx.w->traffic[2].path_tx), 0);
	/* The next block has other counters. */
	host_sends(0, 60);
	symbol_at(&d, &p);
	assert_true(p.block > h.block && p.index == 0);
}

static void a_block_by_number(void **state)
{
	struct parity_hdr h;
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i <= PARITY_FRAMES; i++) {
		time_stands_still();
		host_sends(i, 60);
		symbol_at(&d, &h);
		assert_int_equal(h.index, i % PARITY_FRAMES);
	}
	for (unsigned i = 0; i < PARITY_ROWS; i++)
		assert_true(parity_at(&d, &h) && h.index == i && h.symbols == PARITY_FRAMES);
	expect_silence();
}

static void no_parity_without_pair(void **state)
{
	struct parity_hdr h;
	struct datagram d;

	(void)state;
	/* The pair, or the node, is gone when the block ends. */
	host_sends(0, 60);
	symbol_at(&d, &h);
	fx_publish(&fx, with_other_node);
	time_passes();
	expect_silence();
	fx_publish(&fx, set_policy);
	host_sends(0, 60);
	symbol_at(&d, &h);
	fx_publish(&fx, without_pair);
	time_passes();
	expect_silence();
	/* Without loss there is no pair: the frame is sent as any other, without a byte more. */
	host_sends(0, 60);
	expect_frame(1, fx_id(2), 60, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_parity_tx), 0);
	assert_int_equal(fx.w->coding.n_open, 0);
}

static void above_the_budget(void **state)
{
	struct parity_hdr h;
	struct datagram d;
	unsigned parities = 0;

	(void)state;
	policy.budget_kbits = 8;
	fx_publish(&fx, set_policy);
	for (unsigned i = 0; i < 10; i++) {
		host_sends(i, 1000);
		symbol_at(&d, &h);
		time_passes();
		parities += parity_at(&d, &h);
	}
	/* The bucket of 3028 bytes; no frame is lost. */
	assert_in_range(parities, 2, 4);
	assert_int_equal(fx_count(&fx, CNT_critical_over_budget), 10 - parities);
	assert_int_equal(fx_count(&fx, CNT_critical_parity), 10);
}

/* --- the receiver --- */

#define DATAGRAMS 64

static struct datagram sent[DATAGRAMS], parity[DATAGRAMS];
static unsigned n_sent, n_parities;

/* Collects the datagrams of the block that ends now. */
static void collect(void)
{
	struct parity_hdr h;

	time_passes();
	for (n_sent = 0; node_gets(2, &sent[n_sent]);)
		n_sent++;
	for (n_parities = 0; parity_at(&parity[n_parities], &h);)
		n_parities++;
}

/* Turns a datagram to slot 2 into the corresponding one of slot 2 to this node. */
static void come_back(const struct datagram *d)
{
	static const node_id_t straight[] = { FX_SELF }, hops[] = { FX_SELF + 1, FX_SELF };
	bool relayed = d->h.n_hops == 2;
	uint8_t buf[4096];
	size_t hdr = fx_header(buf, LEON_COPY, d->h.flags, fx_id(2), relayed, relayed ? 2 : 1,
			       relayed ? hops : straight);
	size_t len = d->len - d->hdr_len;

	memcpy(buf + hdr, d->b + d->hdr_len, len);
	fx_receive(&fx, &fx.ep[relayed ? 1 : 2], buf, hdr + len, 0);
}

/* The host gets one frame, with this number. */
static void host_gets(unsigned number, size_t len)
{
	uint8_t got[16384];

	assert_int_equal(recv(fx.tap, got, sizeof(got), MSG_DONTWAIT), TAP_VNET_LEN + len);
	assert_int_equal(get_u16(got + TAP_VNET_LEN + ETH_HDR_LEN), number);
	assert_int_equal(got[TAP_VNET_LEN + len - 1], (uint8_t)(number * 3 + 1));
}

static void host_gets_nothing(void)
{
	uint8_t got[16384];

	assert_true(recv(fx.tap, got, sizeof(got), MSG_DONTWAIT) < 0);
}

static void lost_frames_are_restored(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++)
		host_sends(i, 100 + 7 * i);
	collect();
	assert_true(n_sent == 8 && n_parities == 3);
	for (unsigned i = 0; i < 8; i++) {
		if (i == 2 || i == 3 || i == 7)
			continue;
		come_back(&sent[i]);
		host_gets(i, 100 + 7 * i);
	}
	come_back(&parity[2]);
	come_back(&parity[0]);
	host_gets_nothing();
	come_back(&parity[1]);
	host_gets(2, 114);
	host_gets(3, 121);
	host_gets(7, 149);
	host_gets_nothing();
	assert_int_equal(fx_count(&fx, CNT_parity_rx), 3);
	assert_int_equal(fx_count(&fx, CNT_parity_recovered), 3);
	/* A frame that arrives after its recovery is not delivered again, nor is a repeated one. */
	come_back(&sent[3]);
	come_back(&sent[0]);
	come_back(&parity[0]);
	host_gets_nothing();
	assert_int_equal(fx_count(&fx, CNT_copy_first), 0);
	assert_int_equal(fx_count(&fx, CNT_copy_second), 0);
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 8);
	assert_int_equal(atomic_load(&fx.w->traffic[2].path_rx), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void too_many_losses(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		host_sends(i, 60);
	collect();
	assert_int_equal(n_parities, 2);
	come_back(&sent[0]);
	host_gets(0, 60);
	come_back(&parity[0]);
	come_back(&parity[1]);
	host_gets_nothing();
	/* A late frame completes the equations. */
	come_back(&sent[2]);
	host_gets(2, 60);
	host_gets(1, 60);
	host_gets(3, 60);
}

static void lost_fragments_are_restored(void **state)
{
	struct parity_hdr h;

	(void)state;
	host_sends(1, 60);
	host_sends(2, 3000);
	host_sends(3, 60);
	collect();
	assert_int_equal(n_sent, 5);
	parity_decode(sent[2].b + sent[2].hdr_len, sent[2].len - sent[2].hdr_len, &h);
	assert_true(h.kind == LEON_FRAGMENT && h.first == 1 && h.index == 2);
	/* Of three fragments only the first arrives, at another worker: this one forgets it. */
	come_back(&sent[1]);
	reasm_forget(fx.w->reasm, fx_id(2), get_u32(sent[1].b + sent[1].hdr_len + 10));
	come_back(&sent[4]);
	host_gets(3, 60);
	come_back(&sent[0]);
	host_gets(1, 60);
	for (unsigned i = 0; i < n_parities; i++)
		come_back(&parity[i]);
	host_gets(2, 3000);
	host_gets_nothing();
	assert_int_equal(fx_count(&fx, CNT_reassembled_frames), 1);
	assert_int_equal(fx_count(&fx, CNT_parity_recovered), 2);
	come_back(&sent[2]);
	come_back(&sent[3]);
	host_gets_nothing();
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void bad_datagrams_are_counted(void **state)
{
	struct datagram bad;

	(void)state;
	host_sends(0, 60);
	collect();
	bad = sent[0];
	bad.b[bad.hdr_len + 9] = 200;
	come_back(&bad);
	host_gets_nothing();
	assert_int_equal(fx_drops(&fx, DROP_parity_bad), 1);
	/* A parity of garbage restores no frame. */
	bad = parity[0];
	memset(bad.b + bad.hdr_len + PARITY_HDR_LEN, 0xff, 8);
	come_back(&bad);
	host_gets_nothing();
	assert_int_equal(fx_drops(&fx, DROP_parity_bad), 2);
	come_back(&sent[0]);
	host_gets(0, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_block_by_time, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_block_by_number, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(no_parity_without_pair, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(above_the_budget, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(lost_frames_are_restored, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(too_many_losses, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(lost_fragments_are_restored, setup, fx_teardown),
		cmocka_unit_test_setup_teardown(bad_datagrams_are_counted, setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
