// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distribution of bulk datagrams over two pairs of lines: the earliest arrival, trains, the mark,
 * and the frames that stay on the pair in use. Reception with relayed datagrams in between. The
 * second pair of node 1 leads to the socket of node 3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fwd/in/received_tables.h"
#include "fwd_one.h"
#include "sealed_one.h"

#define BULK  1200
#define SMALL 100

static bool distributes, longer;

static void configure(struct snap *s)
{
	static const uint16_t direct[] = { 1 };

	if (longer)
		snap_set_path(s, 1, direct, 1, 2000);
	sealed_keys(s);
	s->node[1].has_lines = true;
	s->node[1].other[2] = fx.ep[3];
	s->node[1].hold_us = 60000000; /* longer than any test */
	if (distributes)
		snap_set_second(s, 1, &fx.ep[3], 2);
}

static int setup(void **state)
{
	(void)state;
	if (!sealed_open())
		return -1;
	distributes = true;
	longer = false;
	fx_publish(&fx, configure);
	return 0;
}

static void sends(uint8_t dst, size_t len)
{
	uint8_t out[2048] = { 0 };

	fx_eth(out + TAP_VNET_LEN, dst, HOST, ETHERTYPE_TEST);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

/* Socket of the next datagram, 1 or 3; 0: none. */
static unsigned arrives(bool *marked)
{
	static const unsigned at[] = { 1, 3 };
	struct datagram d;

	for (unsigned i = 0; i < 2; i++)
		if (fx_node_gets(&fx, at[i], &d)) {
			*marked = d.h.flags & LEON_F_SPREAD;
			return at[i];
		}
	return 0;
}

static void expect(unsigned slot, bool is_marked)
{
	bool marked = false;

	assert_int_equal(arrives(&marked), slot);
	assert_int_equal(marked, is_marked);
}

static void test_earliest_arrival(void **state)
{
	struct spread_account a = { 0 };
	mono_t now = { NS_PER_S };

	(void)state;
	atomic_store(&a.line[1].delay_us, 7500);
	assert_false(spread_prefers_second(&a, now));
	atomic_store(&a.line[0].kbits, 50000);
	/* 60 kB take 9.6 ms, 80 kB take 12.8 ms. The account begins 4 ms in the past. */
	spread_pay(&a.line[0], 60000, now);
	assert_false(spread_prefers_second(&a, now));
	spread_pay(&a.line[0], 20000, now);
	/* Its rate is unknown. */
	assert_false(spread_prefers_second(&a, now));
	atomic_store(&a.line[1].kbits, 20000);
	assert_true(spread_prefers_second(&a, now));
	spread_pay(&a.line[1], 25000, now);
	assert_false(spread_prefers_second(&a, now));
}

/* Under load, each line gets the part that it carries. */
static void test_proportion(void **state)
{
	struct spread_account a = { 0 };
	mono_t now = { NS_PER_S };
	uint64_t sent[2] = { 0 };

	(void)state;
	atomic_store(&a.line[0].kbits, 50000);
	atomic_store(&a.line[1].kbits, 25000);
	atomic_store(&a.line[1].delay_us, 7500);
	for (unsigned i = 0; i < 10000; i++) {
		unsigned second = spread_prefers_second(&a, now);

		spread_pay(&a.line[second], 1500, now);
		sent[second] += 1500;
		now = mono_add_us(now, 160); /* 75 Mbit/s */
	}
	assert_in_range(sent[0] * 100 / (sent[0] + sent[1]), 65, 69);
}

static void test_correction(void **state)
{
	struct spread_line l = { .kbits = 50000 };
	mono_t now = { NS_PER_S };

	(void)state;
	shaper_correct(&l.shaper, 5000, now);
	assert_int_equal(spread_backlog_us(&l, now), 5000);
	shaper_correct(&l.shaper, -9000, now);
	assert_int_equal(spread_backlog_us(&l, now), 0);
}

static void test_trains_on_both_lines(void **state)
{
	unsigned on_second = 0, changes = 0, last = 1;

	(void)state;
	fwd_set_line(fx.f, 1, false, 1000, 0);
	fwd_set_line(fx.f, 1, true, 1000, 5000);
	for (unsigned i = 0; i < 40; i++) {
		bool marked = false;
		unsigned at;

		sends(REMOTE, BULK);
		at = arrives(&marked);
		assert_true(at && marked);
		on_second += at == 3;
		changes += at != last;
		last = at;
	}
	assert_in_range(on_second, 10, 25);
	assert_true(changes > 10);
	assert_int_equal(fx_count(&fx, CNT_spread_tx), on_second);
	assert_true(fwd_line_traffic(fx.f, 1, 0).tx_bytes > 10 * BULK);
	assert_true(fwd_line_traffic(fx.f, 1, 2).tx_bytes > 10 * BULK);
}

static void test_other_datagrams_stay(void **state)
{
	(void)state;
	/* A datagram takes seconds, so no stall of the machine empties the account. */
	fwd_set_line(fx.f, 1, false, 1, 0);
	fwd_set_line(fx.f, 1, true, 1000000, 0);
	sends(REMOTE, BULK);
	expect(1, true);
	sends(REMOTE, BULK);
	expect(3, true);
	sends(REMOTE, SMALL);
	expect(1, false);
	/* Two workers of the receiver would reassemble the fragments of one frame. */
	sends(REMOTE, 1900);
	expect(1, false);
	expect(1, false);
	/* The receiver has no buffer for a longer datagram. */
	longer = true;
	fx_publish(&fx, configure);
	sends(REMOTE, HOLD_BYTES);
	expect(3, true);
	sends(REMOTE, HOLD_BYTES + 1);
	expect(1, false);
	/* Along a path with a relay, the order is not restored. */
	sends(FAR, BULK);
	expect(1, false);
	distributes = false;
	fx_publish(&fx, configure);
	sends(REMOTE, BULK);
	expect(1, false);
}

/* The count of a refused datagram serves for the next one, so it never decreases. */
static void test_refused_datagrams_do_not_count(void **state)
{
	uint64_t one;
	int fd = fx.w->tx.family[0].fd;

	(void)state;
	distributes = false;
	fx_publish(&fx, configure);
	sends(REMOTE, BULK);
	one = fwd_line_traffic(fx.f, 1, 0).tx_bytes;
	fx.w->tx.family[0].fd = 9999; /* not open */
	for (unsigned i = 0; i < 3; i++)
		sends(REMOTE, BULK);
	assert_int_equal(fx_drops(&fx, DROP_tx_failed), 3);
	fx.w->tx.family[0].fd = fd;
	sends(REMOTE, BULK);
	assert_int_equal(fwd_line_traffic(fx.f, 1, 0).tx_bytes, 2 * one);
	sends(REMOTE, BULK);
	assert_int_equal(fwd_line_traffic(fx.f, 1, 0).tx_bytes, 3 * one);
}

/* --- reception --- */

struct arrival {
	unsigned from; /* slot of the socket */
	size_t len;
	uint8_t b[512];
};

/* Seals the next datagram of node 1, with a frame of these bytes. relay: slot, or 0. */
static struct arrival datagram(unsigned from, unsigned relay, uint8_t flags, uint8_t mark)
{
	const node_id_t hop[] = { fx_id(relay), fx_id(0) };
	struct arrival a = { .from = from };
	uint8_t text[SMALL], aad[LEON_HDR_LEN_MAX], n_hops = relay ? 2 : 1;
	const struct aead_piece piece = { text, sizeof(text) };

	memset(text, mark, sizeof(text));
	fx_eth(text, HOST, REMOTE, ETHERTYPE_TEST);
	flags |= LEON_F_SEALED | (relay ? LEON_F_LINK_VALUE : 0);
	a.len = fx_header(a.b, LEON_FRAME, flags, fx_id(1), n_hops - 1, n_hops, hop);
	if (relay) {
		put_u64(a.b + a.len, seal_rx_link(seal[relay]));
		a.len += LEON_LINK_LEN;
	}
	a.len += (size_t)seal_data(seal[1], 0, aad, leon_sealed_header(a.b, n_hops, aad), &piece, 1,
				   a.b + a.len);
	return a;
}

static void receive(struct arrival a)
{
	fx_receive(&fx, &fx.ep[a.from], a.b, a.len, 0);
}

/* The mark of the next frame to the host; 0: none. */
static uint8_t host_gets(void)
{
	uint8_t got[TAP_VNET_LEN + SMALL + 1];

	if (recv(fx.tap, got, sizeof(got), MSG_DONTWAIT) != TAP_VNET_LEN + SMALL)
		return 0;
	return got[TAP_VNET_LEN + SMALL - 1];
}

static void test_order_with_relayed_datagrams(void **state)
{
	struct arrival a[5];

	(void)state;
	a[0] = datagram(1, 0, LEON_F_SPREAD, 1);
	a[1] = datagram(2, 2, 0, 2);
	a[2] = datagram(3, 0, LEON_F_SPREAD, 3);
	/* The flag of a relayed datagram has no meaning. */
	a[3] = datagram(2, 2, LEON_F_SPREAD, 4);
	a[4] = datagram(1, 0, LEON_F_SPREAD, 5);
	receive(a[0]);
	assert_int_equal(host_gets(), 1);
	receive(a[2]);
	assert_int_equal(host_gets(), 0);
	receive(a[1]);
	assert_int_equal(host_gets(), 2);
	assert_int_equal(host_gets(), 3);
	receive(a[3]);
	assert_int_equal(host_gets(), 4);
	receive(a[4]);
	assert_int_equal(host_gets(), 5);
	assert_int_equal(fx_count(&fx, CNT_held_rx), 1);
	assert_int_equal(fx_count(&fx, CNT_late_rx), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

/* Node 1 counts relayed datagrams as sent on the line, so this node counts them as received. */
static void test_relayed_data_counts_for_its_pair(void **state)
{
	static const struct {
		unsigned from, line;
	} pair[] = { { 1, 0 }, { 3, 2 } };
	const node_id_t hop[] = { fx_id(0), fx_id(2) };
	struct arrival a = { 0 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		a.from = pair[i].from;
		a.len = fx_header(a.b, LEON_FRAME, LEON_F_SEALED | LEON_F_LINK_VALUE, fx_id(1), 0,
				  2, hop);
		put_u64(a.b + a.len, seal_rx_link(seal[1]));
		a.len += LEON_LINK_LEN + SMALL;
		receive(a);
		assert_int_equal(fx_count(&fx, CNT_relayed_datagrams), i + 1);
		assert_int_equal(fwd_line_traffic(fx.f, 1, pair[i].line).rx_bytes, a.len + 28);
	}
}

/* A relayed datagram waits for nothing, and opens no stream. */
static void test_relayed_datagrams_never_wait(void **state)
{
	struct arrival a[3];

	(void)state;
	for (uint8_t i = 0; i < 3; i++)
		a[i] = datagram(i == 1 ? 1 : 2, i == 1 ? 0 : 2, LEON_F_SPREAD, i + 1);
	receive(a[0]);
	assert_int_equal(host_gets(), 1);
	assert_false(hold_in_use(fx.f->hold));
	receive(a[2]);
	assert_int_equal(host_gets(), 3);
	receive(a[1]);
	assert_int_equal(host_gets(), 2);
	assert_true(hold_in_use(fx.f->hold));
	assert_int_equal(fx_count(&fx, CNT_held_rx), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, sealed_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_earliest_arrival),
		cmocka_unit_test(test_proportion),
		cmocka_unit_test(test_correction),
		TEST(test_trains_on_both_lines),
		TEST(test_other_datagrams_stay),
		TEST(test_refused_datagrams_do_not_count),
		TEST(test_order_with_relayed_datagrams),
		TEST(test_relayed_data_counts_for_its_pair),
		TEST(test_relayed_datagrams_never_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
