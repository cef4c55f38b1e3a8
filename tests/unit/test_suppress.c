// SPDX-License-Identifier: GPL-2.0-or-later
/* ARP and ND suppression: the local answers, the frames without one, and the learned neighbors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

#include "wire/frame/csum.h"

static void host_sends(size_t frame_len)
{
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + frame_len));
}

static struct ip_addr v4(uint8_t last)
{
	return (struct ip_addr){ 4, { 10, 1, 0, last } };
}

static size_t build_arp(uint16_t op, uint8_t sender, uint8_t target)
{
	size_t n = fx_eth(frame, 0, HOST, ETHERTYPE_ARP_);

	memset(frame, 0xff, 6);
	memcpy(frame + n, "\x00\x01\x08\x00\x06\x04", 6);
	put_u16(frame + n + 6, op);
	memcpy(frame + n + 8, fx_mac(HOST).b, 6);
	memcpy(frame + n + 14, v4(sender).b, 4);
	memset(frame + n + 18, 0, 6);
	memcpy(frame + n + 24, v4(target).b, 4);
	if (!sender)
		memset(frame + n + 14, 0, 4);
	return n + 28;
}

/* Makes a local host settled: the other nodes know its address and MAC. */
static void settle_host(const struct ip_addr *ip)
{
	worker_begin(fx.w);
	neigh_learn(fx.neigh, 0, ip, fx_mac(HOST), SLOT_SELF, NEIGH_HOST,
		    fx.w->now_s - NEIGH_SETTLE_S);
}

static void suppress(struct snap *s)
{
	s->suppress_arp = s->suppress_nd = true;
}

static void arp_suppression(void **state)
{
	static const uint8_t others[][3] = {
		{ 1, 0, 9 }, { 1, 9, 9 }, { 2, 1, 9 }, { 2, 1, 1 }, { 1, 1, 7 }, { 1, 1, 8 },
	};
	struct ip_addr remote = v4(9), lost = v4(8), host = v4(1);
	uint8_t got[256];
	struct eth_view v;
	struct arp_view a;
	struct fwd_report ev;
	uint32_t now_s;
	ssize_t n;

	(void)state;
	fx_publish(&fx, suppress);
	worker_begin(fx.w);
	now_s = fx.w->now_s;
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, now_s);
	neigh_learn(fx.neigh, 0, &lost, fx_mac(LOST), 3, NEIGH_HOST, now_s);
	settle_host(&host);
	host_sends(build_arp(1, 1, 9));
	expect_silence();
	n = recv(fx.tap, got, sizeof(got), MSG_DONTWAIT);
	assert_true(n > TAP_VNET_LEN);
	assert_int_equal(eth_parse(got + TAP_VNET_LEN, (size_t)n - TAP_VNET_LEN, &v), 0);
	assert_int_equal(arp_parse(got + TAP_VNET_LEN, (size_t)n - TAP_VNET_LEN, &v, &a), 0);
	assert_int_equal(a.op, 2);
	assert_int_equal(mac_to_u64(a.sender_mac), mac_to_u64(fx_mac(REMOTE)));
	assert_int_equal(mac_to_u64(v.dst), mac_to_u64(fx_mac(HOST)));
	assert_true(ip_equal(&a.sender_ip, &remote));
	assert_int_equal(fx_drops(&fx, DROP_suppressed_arp), 1);
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 1);
	assert_int_equal(fx_reports(FWD_NEIGH, &ev), 0);
	/* A repeated request is flooded. */
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
	/* A probe, an announcement, a reply, and requests for an unknown or unreachable address are
	 * flooded. The two changes before them reset the entry. */
	for (unsigned i = 0; i < array_size(others); i++) {
		neigh_learn(fx.neigh, 0, &remote, fx_mac(0x77), 1, NEIGH_HOST, now_s);
		neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, now_s);
		host_sends(build_arp(others[i][0], others[i][1], others[i][2]));
		assert_int_equal(fx_count(&fx, CNT_flood_tx), 4 + 2 * i);
	}
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 1);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(0x77), 1, NEIGH_HOST, now_s);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, now_s);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 2);
}

/* An address may be in several VLANs behind a tag. */
static void a_second_tag_has_no_neighbors(void **state)
{
	struct ip_addr remote = v4(9), host = v4(1);
	struct fwd_report ev;
	size_t len;

	(void)state;
	fx_publish(&fx, suppress);
	worker_begin(fx.w);
	neigh_learn(fx.neigh, 100, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	neigh_learn(fx.neigh, 100, &host, fx_mac(HOST), SLOT_SELF, NEIGH_HOST,
		    fx.w->now_s - NEIGH_SETTLE_S);
	fdb_learn(fx.fdb, 100, fx_mac(REMOTE), 1, fx.w->now_s);
	for (uint8_t sender = 1; sender < 3; sender++) {
		len = build_arp(1, sender, 9);
		memmove(frame + 20, frame + 12, len - 12);
		memcpy(frame + 12, "\x81\0\0\x64\x81\0\0\5", 8);
		host_sends(len + 8);
		assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
		assert_int_equal(fx_count(&fx, CNT_flood_tx), 2 * sender);
		assert_int_equal(fx_reports(FWD_NEIGH, &ev), 0);
	}
	/* With one tag, the request is answered. */
	len = build_arp(1, 1, 9);
	memmove(frame + 16, frame + 12, len - 12);
	memcpy(frame + 12, "\x81\0\0\x64", 4);
	host_sends(len + 4);
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 1);
}

/* The MAC of a host has changed and the host requests another address. The request announces the
 * new MAC, so it must be flooded. */
static void what_contradicts_the_table_travels(void **state)
{
	struct ip_addr remote = v4(9), host = v4(1);
	struct fwd_report ev;
	size_t len;

	(void)state;
	fx_publish(&fx, suppress);
	worker_begin(fx.w);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	/* The sender is unknown here, but other nodes may have an older entry. */
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
	assert_int_equal(fx_reports(FWD_NEIGH, &ev), 1);
	assert_int_equal(ev.neigh.slot, SLOT_SELF);
	assert_int_equal(mac_to_u64(ev.neigh.mac), mac_to_u64(fx_mac(HOST)));
	/* The sender was learned so recently that its first request may have been lost. */
	neigh_learn(fx.neigh, 0, &host, fx_mac(HOST), SLOT_SELF, NEIGH_HOST, fx.w->now_s);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 4);
	/* The MAC differs from the table, or the address was behind another node. */
	neigh_learn(fx.neigh, 0, &host, fx_mac(0x77), SLOT_SELF, NEIGH_HOST, 1);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 6);
	neigh_learn(fx.neigh, 0, &host, fx_mac(HOST), 1, NEIGH_HOST, 1);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 8);
	/* The ARP sender MAC differs from the source MAC of the frame, so the request announces the
	 * address of another host. */
	settle_host(&host);
	len = build_arp(1, 1, 9);
	memcpy(frame + 14 + 8, fx_mac(0x77).b, 6);
	host_sends(len);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 10);
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
}

/* With a unicast request a host verifies its entry (RFC 1122 section 2.3.2.1), so it is
 * forwarded. */
static void a_question_to_one_host_is_doubt(void **state)
{
	struct ip_addr remote = v4(9), host = v4(1);
	size_t len;

	(void)state;
	fx_publish(&fx, suppress);
	settle_host(&host);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	len = build_arp(1, 1, 9);
	memcpy(frame, fx_mac(REMOTE).b, 6);
	host_sends(len);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 1);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
	/* The host has answered. */
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 1);
}

/* A reply with another MAC than the source of its frame, such as that of a proxy. */
static void a_reply_about_another_mac_is_doubt(void **state)
{
	struct ip_addr remote = v4(9), host = v4(1);
	struct fwd_report ev;
	size_t len;

	(void)state;
	fx_publish(&fx, suppress);
	settle_host(&host);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	len = build_arp(2, 9, 1);
	memcpy(frame + 14 + 8, fx_mac(0x77).b, 6);
	host_sends(len);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 4);
	assert_int_equal(fx_reports(FWD_NEIGH, &ev), 0);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 1);
}

static void suppression_needs_the_fdb(void **state)
{
	struct ip_addr remote = v4(9), host = v4(1);

	(void)state;
	settle_host(&host);
	neigh_learn(fx.neigh, 0, &remote, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	/* ARP suppression is off. */
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
	/* ARP suppression is on, but the FDB does not have the MAC behind that node. */
	fx_publish(&fx, suppress);
	fdb_forget_slot(fx.fdb, 1, NULL, fx.w->now_s);
	host_sends(build_arp(1, 1, 9));
	assert_int_equal(fx_count(&fx, CNT_arp_answered), 0);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 4);
}

static size_t build_solicitation(const struct ip_addr *source, const struct ip_addr *target)
{
	size_t n = fx_eth(frame, 0, HOST, ETHERTYPE_V6), icmp = n + 40;
	uint16_t pseudo;

	memset(frame + n, 0, 72);
	memcpy(frame, "\x33\x33\xff\x00\x00\x09", 6);
	frame[n] = 0x60;
	put_u16(frame + n + 4, 32);
	frame[n + 6] = 58;
	frame[n + 7] = 255;
	memcpy(frame + n + 8, source->b, 16);
	memcpy(frame + n + 24, "\xff\x02\0\0\0\0\0\0\0\0\0\x01\xff\0\0\x09", 16);
	frame[icmp] = 135;
	memcpy(frame + icmp + 8, target->b, 16);
	frame[icmp + 24] = 1;
	frame[icmp + 25] = 1;
	memcpy(frame + icmp + 26, fx_mac(HOST).b, 6);
	pseudo = checksum_pseudo(frame + n, 6, 58, 32);
	put_u16(frame + icmp + 2, pseudo);
	assert_true(checksum_complete(frame, icmp + 32, icmp, 2));
	return icmp + 32;
}

static void nd_suppression(void **state)
{
	struct ip_addr target = { 6, { 0xfe, 0x80, [15] = 9 } };
	struct ip_addr source = { 6, { 0xfe, 0x80, [15] = 1 } }, none = { 6, { 0 } };
	uint8_t got[256];
	struct eth_view v;
	struct nd_view nd;
	ssize_t n;

	(void)state;
	fx_publish(&fx, suppress);
	worker_begin(fx.w);
	neigh_learn(fx.neigh, 0, &target, fx_mac(REMOTE), 1, NEIGH_ROUTER, fx.w->now_s);
	/* A probe for duplicate addresses is never answered here. */
	host_sends(build_solicitation(&none, &target));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 2);
	/* A solicitation from an unknown host, or from a new MAC, is not answered either. */
	host_sends(build_solicitation(&source, &target));
	neigh_learn(fx.neigh, 0, &source, fx_mac(0x77), SLOT_SELF, NEIGH_HOST, 1);
	host_sends(build_solicitation(&source, &target));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 6);
	settle_host(&source);
	host_sends(build_solicitation(&source, &target));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 6);
	n = recv(fx.tap, got, sizeof(got), MSG_DONTWAIT);
	assert_true(n > TAP_VNET_LEN);
	assert_int_equal(eth_parse(got + TAP_VNET_LEN, (size_t)n - TAP_VNET_LEN, &v), 0);
	assert_int_equal(nd_parse(got + TAP_VNET_LEN, (size_t)n - TAP_VNET_LEN, &v, &nd), 0);
	assert_int_equal(nd.type, 136);
	assert_true(nd.router && nd.has_lladdr);
	assert_int_equal(mac_to_u64(nd.lladdr), mac_to_u64(fx_mac(REMOTE)));
	assert_int_equal(fx_drops(&fx, DROP_suppressed_nd), 1);
	assert_int_equal(fx_count(&fx, CNT_nd_answered), 1);
	/* The two changes reset the entry. */
	neigh_learn(fx.neigh, 0, &target, fx_mac(0x77), 1, NEIGH_ROUTER, fx.w->now_s);
	neigh_learn(fx.neigh, 0, &target, fx_mac(REMOTE), 1, NEIGH_ROUTER, fx.w->now_s);
	/* Neighbor unreachability detection (RFC 4861 section 7.3) verifies an entry. */
	n = (ssize_t)build_solicitation(&source, &target);
	memcpy(frame, fx_mac(REMOTE).b, 6);
	host_sends((size_t)n);
	host_sends(build_solicitation(&source, &target));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 8);
	assert_int_equal(fx_count(&fx, CNT_nd_answered), 1);
}

/* An announcement that contradicts the table, and a request without a sender, are flooded. */
static void announcements_and_questions_travel(void **state)
{
	struct ip_addr target = { 6, { 0xfe, 0x80, [15] = 9 } };
	struct fwd_report ev;
	uint8_t *icmp = frame + 14 + 40;
	size_t len;

	(void)state;
	fx_publish(&fx, suppress);
	worker_begin(fx.w);
	neigh_learn(fx.neigh, 0, &target, fx_mac(REMOTE), 1, NEIGH_HOST, fx.w->now_s);
	host_sends(nd_build_question(0, fx_mac(HOST), &target, frame));
	/* A solicitation does not show the role, and its report delays no report with a role. */
	host_sends(build_solicitation(&target, &target));
	host_sends(nd_build_announcement(0, fx_mac(HOST), &target, false, frame));
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 6);
	assert_int_equal(fx_reports(FWD_NEIGH, &ev), 2);
	assert_int_equal(ev.neigh.role, NEIGH_HOST);
	/* Several nodes of an anycast address answer, without the override flag. */
	len = nd_build_announcement(0, fx_mac(0x77), &target, false, frame);
	icmp[4] = 0;
	put_u16(icmp + 2, checksum_pseudo(frame + 14, 6, 58, 32));
	assert_true(checksum_complete(frame, len, (size_t)(icmp - frame), 2));
	host_sends(len);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 8);
	assert_int_equal(fx_reports(FWD_NEIGH, &ev), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, from_tap_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(arp_suppression),
		T(a_second_tag_has_no_neighbors),
		T(suppression_needs_the_fdb),
		T(what_contradicts_the_table_travels),
		T(a_question_to_one_host_is_doubt),
		T(a_reply_about_another_mac_is_doubt),
		T(nd_suppression),
		T(announcements_and_questions_travel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
