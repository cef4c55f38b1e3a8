// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples of frames from the TAP: number, bias and variance, super-frames, a full ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/virtio_net.h>

#include "from_tap_lab.h"

#include "wire/ipfix.h"

#define POPULATION 100u

/* --- the sampler --- */

static void one_of_each_block(void **state)
{
	struct sampler s;
	unsigned n = 0;

	(void)state;
	sampler_start(&s, POPULATION, 0);
	for (unsigned block = 0; block < 10000; block++) {
		for (unsigned i = 0; i < POPULATION; i++)
			n += sampler_take(&s, 1);
		assert_int_equal(n, block + 1);
	}
	sampler_start(&s, 1, 0);
	assert_int_equal(sampler_take(&s, 1), 1);
	assert_int_equal(sampler_take(&s, 45), 45);
	/* Segments in groups of any size. */
	sampler_start(&s, POPULATION, 5);
	n = 0;
	for (unsigned i = 0; i < 100000; i++)
		n += sampler_take(&s, i % 45);
	assert_in_range(n, 21998, 22000);
}

/* Traffic with the period of the sampling: a frame of 100 belongs to the flow. Its share is
 * estimated without bias, with the variance of random sampling or less. */
static void periodic_traffic_has_no_bias(void **state)
{
	const unsigned runs = 400, blocks = 1000;
	double sum = 0, squares = 0, mean;

	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct sampler s;
		unsigned n = 0;

		sampler_start(&s, POPULATION, run * 0x9e3779b97f4a7c15ull);
		for (unsigned i = 0; i < blocks * POPULATION; i++)
			n += sampler_take(&s, 1) && i % POPULATION == 17;
		sum += n;
		squares += (double)n * n;
	}
	mean = sum / runs;
	/* The expected value is 10, and the standard deviation of the mean is 0.16. */
	assert_true(mean > 9.2 && mean < 10.8);
	assert_true(squares / runs - mean * mean < 14);
}

/* --- frames --- */

static void sample_all(struct snap *s)
{
	s->flow_sampling = 1;
}

/* A UDP datagram with `len` bytes of payload, in a frame with padding. */
static size_t write_udp(size_t len)
{
	uint8_t *ip = frame + 14, *udp = ip + 20;

	memset(out, 0, TAP_VNET_LEN + 200);
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_V4);
	ip[0] = 0x45;
	put_u16(ip + 2, (uint16_t)(28 + len));
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, "\x0a\x0a\x00\x01\x0a\x0a\x00\x02", 8);
	put_u16(udp, 4000);
	put_u16(udp + 2, 53);
	put_u16(udp + 4, (uint16_t)(8 + len));
	return 14 + 28 + len;
}

static void a_datagram_becomes_a_sample(void **state)
{
	struct sampled_flow f;
	size_t len = write_udp(3);

	(void)state;
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
	assert_false(fwd_next_sample(fx.f, &f));
	fx_publish(&fx, sample_all);
	/* The frame has padding up to the minimum of Ethernet. */
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 60));
	assert_true(fwd_next_sample(fx.f, &f));
	assert_int_equal(f.packets, 1);
	assert_int_equal(f.octets, 31);
	assert_int_equal(f.key.version, 4);
	assert_int_equal(f.key.protocol, 17);
	assert_int_equal(f.key.src_port, 4000);
	assert_int_equal(f.key.dst_port, 53);
	assert_int_equal(f.key.node, fx_id(1));
	assert_memory_equal(f.key.dst, "\x0a\x0a\x00\x02", 4);
	assert_memory_equal(f.src.b, fx_mac(HOST).b, MAC_LEN);
	assert_false(fwd_next_sample(fx.f, &f));
	/* A flooded frame has one sample, although it has two copies. */
	fx_eth(frame, 0x77, HOST, ETHERTYPE_V4);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
	assert_true(fwd_next_sample(fx.f, &f));
	assert_int_equal(f.key.node, NODE_ID_NONE);
	assert_false(fwd_next_sample(fx.f, &f));
	/* Frames without IP, and truncated ports. */
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 100));
	assert_false(fwd_next_sample(fx.f, &f));
	write_udp(3);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 14 + 22));
	assert_true(fwd_next_sample(fx.f, &f));
	assert_int_equal(f.key.dst_port, 0);
	assert_int_equal(f.octets, 22);
}

static void a_super_frame_counts_as_its_segments(void **state)
{
	const struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					  .gso_type = TAP_GSO_UDP_L4,
					  .gso_size = 1000,
					  .csum_start = 34,
					  .csum_offset = 6 };
	struct sampled_flow f;

	(void)state;
	fx_publish(&fx, sample_all);
	write_udp(4500);
	memcpy(out, &h, sizeof(h));
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 14 + 28 + 4500));
	assert_true(fwd_next_sample(fx.f, &f));
	assert_int_equal(f.packets, 5);
	assert_int_equal(f.octets, 4500 + 5 * 28);
	assert_false(fwd_next_sample(fx.f, &f));
}

static void a_full_ring_counts(void **state)
{
	size_t len = write_udp(3);
	struct sampled_flow f;
	unsigned n = 0, sent = 20000;

	(void)state;
	fx_publish(&fx, sample_all);
	for (unsigned i = 0; i < sent; i++)
		assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
	while (fwd_next_sample(fx.f, &f))
		n++;
	assert_true(n > 0 && n < sent);
	assert_int_equal(fx_count(&fx, CNT_flow_samples), n);
	assert_int_equal(fx_count(&fx, CNT_flow_samples_lost), sent - n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_each_block),
		cmocka_unit_test(periodic_traffic_has_no_bias),
		cmocka_unit_test_setup_teardown(a_datagram_becomes_a_sample, from_tap_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(a_super_frame_counts_as_its_segments,
						from_tap_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(a_full_ring_counts, from_tap_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
