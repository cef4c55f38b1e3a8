// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fragments from the overlay: reassembly, errors, time-outs, and the buffers of a full batch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fwd_one.h"

#include "wire/datagram/leon.h"

static size_t build_fragment(uint8_t *out, uint32_t id, uint16_t offset, uint16_t total,
			     const uint8_t *frame, size_t len, uint8_t flags)
{
	static const node_id_t us[] = { N(0) };
	struct fragment_hdr h = { .id = id, .offset = offset, .total = total };
	size_t n = fx_header(out, LEON_FRAGMENT, flags, N(1), 0, 1, us);

	fragment_encode(&h, out + n);
	memcpy(out + n + FRAGMENT_HDR_LEN, frame + offset, len);
	return n + FRAGMENT_HDR_LEN + len;
}

static void fragments(void **state)
{
	uint8_t frame[3000], buf[2048], got[4096];
	ssize_t n;

	(void)state;
	memset(frame, 0x5a, sizeof(frame));
	fx_eth(frame, 1, 2, ETHERTYPE_TEST);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 1, 1500, 3000, frame, 1500, 0), 0);
	assert_int_equal(fwd_reassembly_bytes(fx.f), 3000);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 1, 1500, 3000, frame, 1500, 0), 0);
	assert_int_equal(fx_drops(&fx, DROP_fragment_duplicate), 1);
	assert_int_equal(read(fx.tap, got, sizeof(got)), -1);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 1, 0, 3000, frame, 1500, 0), 0);
	n = read(fx.tap, got, sizeof(got));
	assert_int_equal(n, TAP_VNET_LEN + 3000);
	assert_memory_equal(got + TAP_VNET_LEN, frame, 3000);
	assert_int_equal(fx_count(&fx, CNT_reassembled_frames), 1);
	assert_int_equal(fwd_reassembly_bytes(fx.f), 0);

	/* Impossible values, and fragments that overlap. */
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 2, 0, 100, frame, 101, 0), 0);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 2, 0, 0, frame, 0, 0), 0);
	assert_int_equal(fx_drops(&fx, DROP_fragment_bad), 2);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 3, 0, 3000, frame, 1500, 0), 0);
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 3, 1400, 3000, frame, 1500, 0), 0);
	assert_int_equal(fx_drops(&fx, DROP_fragment_bad), 3);
}

static void fragments_given_up(void **state)
{
	uint8_t frame[200] = { 0 }, buf[512];
	unsigned most;

	(void)state;
	fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, 1, 0, 200, frame, 100, 0), 0);
	worker_begin(fx.w);
	fx.w->now = mono_add_ns(fx.w->now, REASM_TIMEOUT_NS + NS_PER_MS);
	worker_end(fx.w);
	assert_int_equal(fx_drops(&fx, DROP_fragment_timeout), 1);
	assert_int_equal(fwd_reassembly_bytes(fx.f), 0);
	most = REASM_BYTES / FRAGMENT_FRAME_MAX;
	for (uint32_t id = 10; id < 10 + most; id++)
		fx_receive(&fx, &fx.ep[1], buf, build_fragment(buf, id, 0, 200, frame, 100, 0), 0);
	assert_true(fx_drops(&fx, DROP_fragment_memory) > 0);
	assert_true(fx_drops(&fx, DROP_fragment_memory) < most / 4);
}

/* Passes a datagram to the receive step within a batch. */
static void receive(uint8_t *data, size_t len)
{
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .data = data, .len = len, .segment = len, .from = &ss };

	endpoint_to_sockaddr(&fx.ep[1], &ss);
	from_net_message(fx.w, &m);
}

/* The batch is full when the frame is complete. The frame keeps its buffer, the only one. The first
 * fragment of a further frame needs a buffer before the TAP has the frame. */
static void full_batch_keeps_the_frame(void **state)
{
	static const node_id_t us[] = { N(0) };
	uint8_t frame[3000], other[3000], small[COALESCE_UNITS][100], part[3][2048], got[4096];
	size_t n;

	(void)state;
	reasm_free(fx.w->reasm);
	fx.w->reasm = reasm_new(1);
	memset(frame, 0x5a, sizeof(frame));
	fx_eth(frame, 1, 2, ETHERTYPE_TEST);
	memset(other, 0xee, sizeof(other));
	worker_begin(fx.w);
	for (unsigned i = 0; i < COALESCE_UNITS; i++) {
		memset(small[i], 0, sizeof(small[i]));
		n = fx_header(small[i], LEON_FRAME, 0, N(1), 0, 1, us);
		fx_eth(small[i] + n, 1, 2, ETHERTYPE_TEST);
		receive(small[i], n + 60);
	}
	receive(part[0], build_fragment(part[0], 1, 0, 3000, frame, 1500, 0));
	receive(part[1], build_fragment(part[1], 1, 1500, 3000, frame, 1500, 0));
	receive(part[2], build_fragment(part[2], 2, 0, 3000, other, 1500, 0));
	worker_end(fx.w);
	for (unsigned i = 0; i < COALESCE_UNITS; i++)
		assert_int_equal(read(fx.tap, got, sizeof(got)), TAP_VNET_LEN + 60);
	assert_int_equal(read(fx.tap, got, sizeof(got)), TAP_VNET_LEN + 3000);
	assert_memory_equal(got + TAP_VNET_LEN, frame, 3000);
	assert_int_equal(fx_drops(&fx, DROP_fragment_memory), 1);
	assert_int_equal(fx_all_drops(&fx), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fragments, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(fragments_given_up, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(full_batch_keeps_the_frame, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
