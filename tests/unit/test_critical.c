// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Critical frames: classification, budget, transmission along two paths, and one delivery at the
 * receiver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

#include "fwd/send/send_state.h"
#include "state/tables/policy.h"
#include "wire/datagram/leon.h"

#define TEST_PORT 5060

static struct policy policy;

static void set_policy(struct snap *s)
{
	snap_set_policy(s, &policy);
	two_paths(s);
}

static int setup_policy(void **state)
{
	(void)state;
	policy = (struct policy){ .duplicate = true, .critical = { .dscp = 1ULL << 46 } };
	if (open_with(true) < 0)
		return -1;
	fx_publish(&fx, set_policy);
	return 0;
}

/* Builds UDP from the local host to a host behind slot 2. DSCP 46 is critical. Returns the frame
 * length. */
static size_t udp_frame(uint8_t dscp, size_t payload)
{
	uint8_t *ip = frame + fx_eth(frame, FAR, HOST, ETHERTYPE_V4);

	memset(ip, 0, 28);
	ip[0] = 0x45;
	ip[1] = (uint8_t)(dscp << 2);
	put_u16(ip + 2, (uint16_t)(28 + payload));
	ip[8] = 64;
	ip[9] = 17;
	put_u32(ip + 12, 0x0a630001);
	put_u32(ip + 16, 0x0a630002);
	put_u16(ip + 20, 40000);
	put_u16(ip + 22, TEST_PORT);
	put_u16(ip + 24, (uint16_t)(8 + payload));
	for (size_t i = 0; i < payload; i++)
		ip[28 + i] = (uint8_t)(i * 7);
	return ETH_HDR_LEN + 28 + payload;
}

static void host_sends(size_t len)
{
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

/* --- the class --- */

static bool matches(const struct policy_class *c, size_t len)
{
	struct eth_view v;

	assert_int_equal(eth_parse(frame, len, &v), 0);
	return policy_matches(c, frame, len, &v);
}

static void class_by_field(void **state)
{
	struct policy_class dscp = { .dscp = 1ULL << 46 }, mac = { .n_macs = 1 },
			    type = { .n_ethertypes = 1, .ethertype = { ETHERTYPE_ARP_ } },
			    service = { .n_services = 1, .service = { { 17, TEST_PORT } } },
			    protocol = { .n_services = 1, .service = { { 17, 0 } } }, vlan = { 0 },
			    none = { 0 };
	size_t len = udp_frame(46, 20);

	(void)state;
	mac.mac[0] = fx_mac(HOST);
	vlan_set_add(&vlan.vlans, 4094);
	assert_true(policy_class_is_empty(&none));
	assert_false(matches(&none, len));
	assert_true(matches(&dscp, len));
	assert_true(matches(&mac, len));
	assert_false(matches(&type, len));
	assert_true(matches(&service, len));
	assert_true(matches(&protocol, len));
	assert_false(matches(&vlan, len));
	/* ECN bits are not part of the DSCP, and either port may match. */
	frame[ETH_HDR_LEN + 1] |= 3;
	assert_true(matches(&dscp, len));
	put_u16(frame + ETH_HDR_LEN + 20, TEST_PORT);
	put_u16(frame + ETH_HDR_LEN + 22, 1);
	assert_true(matches(&service, len));
	mac.mac[0] = fx_mac(FAR);
	assert_true(matches(&mac, len));
	mac.mac[0] = fx_mac(REMOTE);
	assert_false(matches(&mac, len));
	len = udp_frame(45, 20);
	assert_false(matches(&dscp, len));
	/* A later IP fragment has no ports, but has a protocol and a DSCP. */
	put_u16(frame + ETH_HDR_LEN + 6, 100);
	assert_false(matches(&service, len));
	assert_true(matches(&protocol, len));
	/* Nothing beyond the end is read. */
	len = fx_eth(frame, FAR, HOST, ETHERTYPE_V4);
	assert_false(matches(&dscp, len));
	assert_false(matches(&service, len));
	fx_eth(frame, FAR, HOST, ETHERTYPE_ARP_);
	assert_true(matches(&type, 60));
}

static void class_by_tag_and_ipv6(void **state)
{
	struct policy_class dscp = { .dscp = 1ULL << 46 }, vlan = { 0 },
			    service = { .n_services = 1, .service = { { 17, TEST_PORT } } },
			    protocol = { .n_services = 2, .service = { { 17, 0 }, { 51, 0 } } };
	uint8_t *p = frame + fx_eth(frame, FAR, HOST, ETHERTYPE_DOT1Q);

	(void)state;
	vlan_set_add(&vlan.vlans, 100);
	put_u16(p, 0xa000 | 100);
	put_u16(p + 2, ETHERTYPE_V6);
	memset(p + 4, 0, 60);
	put_u32(p + 4, 0x60000000u | 46u << 22);
	p[4 + 6] = 59;
	assert_true(matches(&vlan, 80));
	assert_true(matches(&dscp, 80));
	put_u16(p, 101);
	put_u32(p + 4, 0x60000000u | 47u << 22);
	assert_false(matches(&vlan, 80));
	assert_false(matches(&dscp, 80));
	assert_false(matches(&protocol, 80));
	/* The first fragment of UDP. */
	p[4 + 6] = 44;
	p[4 + 40] = 17;
	p[4 + 43] = 1;
	put_u16(p + 4 + 48 + 2, TEST_PORT);
	assert_true(matches(&protocol, 80));
	assert_false(matches(&service, 80));
	p[4 + 6] = 51; /* AH */
	assert_true(matches(&protocol, 80));
}

static void code_points(void **state)
{
	uint8_t v;

	(void)state;
	assert_true(policy_number_of(policy_dscps, "ef", &v));
	assert_int_equal(v, 46);
	assert_true(policy_number_of(policy_dscps, "cs5", &v));
	assert_int_equal(v, 40);
	assert_false(policy_number_of(policy_dscps, "EF", &v));
	assert_string_equal(policy_name_of(policy_dscps, 34), "af41");
	assert_null(policy_name_of(policy_dscps, 1));
}

/* --- the budget --- */

/* Sends `per_s` frames per second for ten seconds, and returns the bytes within the budget. */
static uint64_t taken_bytes(uint32_t kbits, unsigned per_s, size_t len)
{
	struct budget b = { 0 };
	uint64_t bytes = 0;

	for (unsigned i = 0; i < 10 * per_s; i++) {
		mono_t now = { NS_PER_S + (int64_t)i * (NS_PER_S / per_s) };

		bytes += budget_take(&b, kbits, len, now) ? len : 0;
	}
	return bytes;
}

static void budget_is_kept(void **state)
{
	uint64_t ten_seconds = 500 * 1000 / 8 * 10;

	(void)state;
	/* The budget accepts all frames below its rate. */
	assert_int_equal(taken_bytes(500, 100, 200), 10 * 100 * 200);
	/* Far above its rate, the budget accepts ten seconds and the depth of the bucket. */
	assert_in_range(taken_bytes(500, 100000, 200), ten_seconds, ten_seconds * 103 / 100);
	assert_in_range(taken_bytes(500, 5000, 1500), ten_seconds, ten_seconds * 103 / 100);
	/* At a very low rate, one frame takes longer than the depth of the bucket. */
	assert_true(taken_bytes(20, 100, 1514) > 0);
	assert_in_range(taken_bytes(20, 100, 1514), 20 * 1000 / 8 * 10, 20 * 1000 / 8 * 10 + 3028);
	/* Without a rate there is no limit. */
	assert_int_equal(taken_bytes(0, 1000, 1500), 10 * 1000 * 1500);
}

/* --- two copies --- */

/* Reads a copy that a node received. Returns the start of its frame or fragment. */
static const uint8_t *copy_at(unsigned slot, struct datagram *d, struct copy_hdr *h)
{
	assert_true(node_gets(slot, d));
	assert_int_equal(d->h.kind, LEON_COPY);
	assert_int_equal(leon_destination(&d->h), fx_id(2));
	assert_int_equal(copy_decode(d->b + d->hdr_len, d->len - d->hdr_len, h), 0);
	return d->b + d->hdr_len + COPY_HDR_LEN;
}

static void one_along_each(void **state)
{
	size_t len = udp_frame(46, 100);
	struct copy_hdr a, b;
	struct datagram d;
	uint64_t first;

	(void)state;
	host_sends(len);
	assert_memory_equal(copy_at(2, &d, &a), frame, len);
	assert_int_equal(d.h.n_hops, 1);
	assert_int_equal(d.len, d.hdr_len + COPY_HDR_LEN + len);
	assert_memory_equal(copy_at(1, &d, &b), frame, len);
	assert_int_equal(d.h.n_hops, 2);
	assert_true(a.counter == b.counter && a.worker == b.worker && a.kind == LEON_FRAME);
	first = a.counter;
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_critical_duplicated), 1);
	assert_int_equal(fx_count(&fx, CNT_critical_frames), 1);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 1);
	/* IP and UDP headers, LEON header of two hops, frame, and twice the header of a copy. */
	assert_int_equal(fx_count(&fx, CNT_critical_extra_bytes),
			 28 + LEON_HDR_LEN(2) + len + 2 * COPY_HDR_LEN);
	/* Copies do not count as data of the path in use. */
	assert_int_equal(atomic_load(&fx.w->traffic[2].path_tx), 0);
	assert_int_equal(atomic_load(&fx.w->traffic[2].link_tx), 1);
	assert_int_equal(atomic_load(&fx.w->traffic[1].link_tx), 1);
	host_sends(udp_frame(46, 100));
	copy_at(2, &d, &a);
	assert_true(a.counter == first + 1);
	copy_at(1, &d, &b);
	assert_true(b.counter == first + 1);
}

static void others_as_before(void **state)
{
	size_t len = udp_frame(0, 100);

	(void)state;
	host_sends(len);
	expect_frame(1, fx_id(2), len, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_critical_frames), 0);
	/* A node without two paths gets one copy. */
	len = udp_frame(46, 100);
	frame[5] = REMOTE;
	host_sends(len);
	expect_frame(1, fx_id(1), len, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_critical_frames), 1);
	assert_int_equal(fx_count(&fx, CNT_critical_duplicated), 0);
}

static void to_all(void **state)
{
	struct copy_hdr h;
	struct datagram d;
	size_t len = udp_frame(46, 60);

	(void)state;
	memset(frame, 0xff, 6);
	host_sends(len);
	/* Slot 1 gets one copy. Slot 2 gets two copies, one of them through slot 1. */
	expect_frame(1, fx_id(1), len, 0);
	assert_memory_equal(copy_at(1, &d, &h), frame, len);
	assert_memory_equal(copy_at(2, &d, &h), frame, len);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
}

static void set_small_budget(struct snap *s)
{
	policy.budget_kbits = 8;
	set_policy(s);
}

static void above_the_budget_once(void **state)
{
	struct copy_hdr h;
	struct datagram d;
	unsigned twice = 0, once = 0;

	(void)state;
	fx_publish(&fx, set_small_budget);
	for (unsigned i = 0; i < 40; i++) {
		host_sends(udp_frame(46, 100));
		if (node_gets(2, &d)) {
			twice++;
			copy_at(1, &d, &h);
		} else {
			once++;
			expect_frame(1, fx_id(2), ETH_HDR_LEN + 128, 0);
		}
	}
	/* The bucket of 3028 bytes, and its refill during the test. */
	assert_in_range(twice, 14, 20);
	assert_int_equal(fx_count(&fx, CNT_critical_duplicated), twice);
	assert_int_equal(fx_count(&fx, CNT_critical_over_budget), once);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 40);
}

/* --- the receiver --- */

/* Turns a datagram to a node into the corresponding datagram of slot 2 to this node, relayed or
 * direct. */
static void come_back(struct datagram *d, bool relayed, unsigned times)
{
	static const node_id_t straight[] = { FX_SELF }, hops[] = { FX_SELF + 1, FX_SELF };
	uint8_t buf[4096];
	size_t hdr = fx_header(buf, LEON_COPY, d->h.flags, fx_id(2), relayed, relayed ? 2 : 1,
			       relayed ? hops : straight);
	size_t len = d->len - d->hdr_len;

	memcpy(buf + hdr, d->b + d->hdr_len, len);
	for (unsigned i = 0; i < times; i++) {
		uint8_t again[4096];

		memcpy(again, buf, hdr + len);
		fx_receive(&fx, &fx.ep[relayed ? 1 : 2], again, hdr + len, 0);
	}
}

static unsigned hosts_get(size_t len)
{
	uint8_t got[16384];
	unsigned n = 0;
	ssize_t r;

	while ((r = recv(fx.tap, got, sizeof(got), MSG_DONTWAIT)) >= 0) {
		assert_int_equal(r, TAP_VNET_LEN + len);
		assert_memory_equal(got + TAP_VNET_LEN + 12, frame + 12, len - 12);
		n++;
	}
	return n;
}

static void taken_once(void **state)
{
	struct datagram a, b;
	struct copy_hdr h;
	size_t len = udp_frame(46, 100);

	(void)state;
	host_sends(len);
	copy_at(2, &a, &h);
	copy_at(1, &b, &h);
	come_back(&b, true, 1);
	assert_int_equal(hosts_get(len), 1);
	come_back(&a, false, 1);
	assert_int_equal(hosts_get(len), 0);
	assert_int_equal(fx_count(&fx, CNT_copy_first), 1);
	assert_int_equal(fx_count(&fx, CNT_copy_second), 1);
	come_back(&a, false, 2);
	assert_int_equal(hosts_get(len), 0);
	assert_int_equal(fx_count(&fx, CNT_copy_second), 1);
	/* A dropped copy causes no learning and does not count for the path comparison. */
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 1);
	assert_int_equal(atomic_load(&fx.w->traffic[2].path_rx), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void pieces_of_both(void **state)
{
	struct datagram d, piece[2][3];
	struct copy_hdr h;
	size_t len = udp_frame(46, 3000), n[2] = { 0 };

	(void)state;
	host_sends(len);
	/* Fragments fit the smaller of the two paths and are equal, with one identification. */
	while (n[0] < 3) {
		struct fragment_hdr f, g;
		const uint8_t *p = copy_at(2, &piece[0][n[0]], &h);

		assert_int_equal(h.kind, LEON_FRAGMENT);
		assert_int_equal(fragment_decode(p, 1000, &f), 0);
		p = copy_at(1, &piece[1][n[1]], &h);
		assert_int_equal(fragment_decode(p, 1000, &g), 0);
		assert_true(f.id == g.id && f.offset == g.offset && f.total == len);
		assert_true(piece[1][n[1]].len <= FX_MTU - 100);
		n[0]++;
		n[1]++;
	}
	expect_silence();
	/* Each path loses a different fragment, and the frame is complete. */
	come_back(&piece[0][0], false, 1);
	come_back(&piece[1][0], true, 1);
	come_back(&piece[1][1], true, 1);
	assert_int_equal(hosts_get(len), 0);
	come_back(&piece[0][2], false, 1);
	assert_int_equal(hosts_get(len), 1);
	/* Late fragments are ignored and occupy no memory. */
	come_back(&piece[1][2], true, 1);
	come_back(&piece[0][1], false, 1);
	assert_int_equal(hosts_get(len), 0);
	assert_int_equal(fwd_reassembly_bytes(fx.f), 0);
	assert_int_equal(fx_count(&fx, CNT_copy_first), 1);
	assert_int_equal(fx_count(&fx, CNT_copy_second), 1);
	assert_int_equal(fx_all_drops(&fx), 0);
	/* The fragments of the next frame have another identification. */
	host_sends(udp_frame(0, 3000));
	while (node_gets(1, &d))
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(class_by_field, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(class_by_tag_and_ipv6, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(code_points, from_tap_setup, fx_teardown),
		cmocka_unit_test(budget_is_kept),
		cmocka_unit_test_setup_teardown(one_along_each, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(others_as_before, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(to_all, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(above_the_budget_once, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(taken_once, setup_policy, fx_teardown),
		cmocka_unit_test_setup_teardown(pieces_of_both, setup_policy, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
