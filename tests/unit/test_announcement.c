// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/arp and nd: other hosts understand the frames that a node sends on behalf of remote
 * hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wire/frame/eth.h"

static const struct mac host = { { 0x02, 0, 0, 0, 0, 0x07 } };

static void view_of(const uint8_t *frame, size_t len, uint16_t vlan, struct eth_view *v)
{
	assert_int_equal(eth_parse(frame, len, v), 0);
	assert_int_equal(v->vlan, vlan);
	assert_true(mac_is_multicast(v->dst));
	assert_memory_equal(v->src.b, host.b, MAC_LEN);
}

static void test_rarp(void **state)
{
	(void)state;
	for (uint16_t vlan = 0; vlan < 20; vlan += 10) {
		uint8_t frame[ETH_ANNOUNCE_MAX];
		size_t len = rarp_build_announcement(vlan, host, frame);
		struct eth_view v;

		view_of(frame, len, vlan, &v);
		assert_int_equal(len, ETH_MIN_LEN + (vlan ? 4 : 0));
		assert_int_equal(v.ethertype, 0x8035);
		assert_memory_equal(frame + v.l3_offset, "\0\1\x08\0\6\4\0\3", 8);
		assert_memory_equal(frame + v.l3_offset + 8, host.b, MAC_LEN);
		assert_memory_equal(frame + v.l3_offset + 18, host.b, MAC_LEN);
	}
}

static void test_gratuitous_arp(void **state)
{
	const struct ip_addr ip = { 4, { 10, 77, 0, 7 } };

	(void)state;
	for (uint16_t vlan = 0; vlan < 20; vlan += 10) {
		uint8_t frame[ETH_ANNOUNCE_MAX];
		size_t len = arp_build_announcement(vlan, host, &ip, frame);
		struct eth_view v;
		struct arp_view a;

		view_of(frame, len, vlan, &v);
		assert_int_equal(arp_parse(frame, len, &v, &a), 0);
		assert_int_equal(a.op, 1);
		assert_memory_equal(a.sender_mac.b, host.b, MAC_LEN);
		assert_true(ip_equal(&a.sender_ip, &ip) && ip_equal(&a.target_ip, &ip));
	}
}

static void test_unsolicited_advertisement(void **state)
{
	const struct ip_addr ip = { 6, { 0xfd, 0, 0, 0x77, [15] = 7 } };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint16_t vlan = i & 1 ? 10 : 0;
		bool router = i & 2;
		uint8_t frame[ETH_ANNOUNCE_MAX];
		size_t len = nd_build_announcement(vlan, host, &ip, router, frame);
		struct eth_view v;
		struct nd_view n;

		view_of(frame, len, vlan, &v);
		assert_true(len <= ETH_ANNOUNCE_MAX);
		assert_int_equal(nd_parse(frame, len, &v, &n), 0);
		assert_int_equal(n.type, 136);
		assert_true(n.override && !n.solicited && n.router == router && n.has_lladdr);
		assert_true(ip_equal(&n.source, &ip) && ip_equal(&n.target, &ip));
		assert_memory_equal(n.lladdr.b, host.b, MAC_LEN);
	}
}

/* The answer is a broadcast. The request must not conflict with a host that is about to use the
 * address. A request from 0 would be a probe, and a request from the address itself a claim. */
static void test_questions(void **state)
{
	const struct ip_addr v4 = { 4, { 10, 77, 0, 7 } };
	const struct ip_addr v6 = { 6, { 0xfd, 0, 0, 0x77, [13] = 1, 2, 7 } };

	(void)state;
	for (uint16_t vlan = 0; vlan < 20; vlan += 10) {
		uint8_t frame[ETH_ANNOUNCE_MAX];
		size_t len = arp_build_question(vlan, host, &v4, frame);
		struct eth_view v;
		struct arp_view a;
		struct nd_view n;

		view_of(frame, len, vlan, &v);
		assert_int_equal(len, ETH_MIN_LEN + (vlan ? 4 : 0));
		assert_int_equal(arp_parse(frame, len, &v, &a), 0);
		assert_int_equal(a.op, 1);
		assert_true(ip_equal(&a.target_ip, &v4));
		assert_memory_equal(a.sender_ip.b, "\xc0\0\0\x08", 4);
		assert_memory_not_equal(a.sender_mac.b, host.b, MAC_LEN);
		assert_false(mac_is_multicast(a.sender_mac));
		len = nd_build_question(vlan, host, &v6, frame);
		view_of(frame, len, vlan, &v);
		assert_memory_equal(v.dst.b, "\x33\x33\xff\x01\x02\x07", MAC_LEN);
		assert_int_equal(nd_parse(frame, len, &v, &n), 0);
		assert_int_equal(n.type, 135);
		assert_true(ip_equal(&n.target, &v6));
		assert_memory_equal(n.source.b,
				    "\xfe\x80\0\0\0\0\0\0\0\x4c\x45\xff\xfe\x4f\x4e\x01", 16);
		assert_true(n.has_lladdr);
		assert_memory_not_equal(n.lladdr.b, host.b, MAC_LEN);
		assert_memory_equal(n.lladdr.b, a.sender_mac.b, MAC_LEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rarp),
		cmocka_unit_test(test_gratuitous_arp),
		cmocka_unit_test(test_unsolicited_advertisement),
		cmocka_unit_test(test_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
