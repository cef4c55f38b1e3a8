// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/mcast: groups of frames, and the messages of IGMP, MLD and PIM: all fields, all
 * versions, damaged messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "mcast_frame.h"
#include "wire/frame/mcast.h"

static uint8_t frame[2048];
static size_t len;

static void begin(const char *to, uint8_t proto, const void *body, size_t body_len)
{
	len = mcast_frame(frame, to, proto, body, body_len);
}

static int parse(struct mcast_message *m)
{
	struct eth_view v;

	assert_int_equal(eth_parse(frame, len, &v), 0);
	return mcast_parse(frame, len, &v, m);
}

static void add_tag(uint8_t vlan)
{
	memmove(frame + 16, frame + 12, len - 12);
	memcpy(frame + 12, "\x81\0\0", 3);
	frame[15] = vlan;
	len += 4;
}

#define MESSAGE(to, proto, bytes) begin(to, proto, bytes, sizeof(bytes) - 1)

static uint8_t limited_group(const char *to, uint8_t proto, uint32_t *group)
{
	struct eth_view v;

	begin(to, proto, "12345678", 8);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	return mcast_group_of(frame, len, &v, group);
}

static void groups_of_frames(void **state)
{
	static const char *const all[] = { "224.0.0.1",	  "224.0.0.5",	 "224.0.0.18",
					   "224.0.0.251", "239.128.0.7", "ff02::1",
					   "ff01::2",	  "ff02::fb",	 "ff12::9" };
	struct eth_view v;
	uint32_t group;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(limited_group(all[i], 17, &group), 0);
	assert_int_equal(limited_group("239.129.2.3", 17, &group), 4);
	assert_int_equal(group, 0x010203);
	/* The precision time protocol has a group outside the link-local range. */
	assert_int_equal(limited_group("224.0.1.129", 17, &group), 4);
	assert_int_equal(group, 0x000181);
	assert_int_equal(limited_group("ff15::1:2", 17, &group), 6);
	assert_int_equal(group, 0x00010002);
	/* Messages of hosts and routers go to all. */
	assert_int_equal(limited_group("239.1.2.3", 2, &group), 0);
	assert_int_equal(limited_group("ff15::1:2", 58, &group), 0);
	/* Other protocols, and frames that are too short. */
	begin("239.1.2.3", 17, "12345678", 8);
	put_u16(frame + 12, 0x88b6);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(mcast_group_of(frame, len, &v, &group), 0);
	begin("ff15::1:2", 17, "12345678", 8);
	assert_int_equal(eth_parse(frame, 40, &v), 0);
	assert_int_equal(mcast_group_of(frame, 40, &v, &group), 0);
	/* Two tags: the VLAN of the host is unknown. */
	begin("239.1.2.3", 17, "12345678", 8);
	add_tag(5);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(mcast_group_of(frame, len, &v, &group), 4);
	add_tag(100);
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(mcast_group_of(frame, len, &v, &group), 0);
	/* A unicast packet in a frame to a group (RFC 6085). */
	begin("ff15::1:2", 17, "12345678", 8);
	frame[ETH_HDR_LEN + 24] = 0x20;
	assert_int_equal(eth_parse(frame, len, &v), 0);
	assert_int_equal(mcast_group_of(frame, len, &v, &group), 0);
}

static void expect_group(struct mcast_message *m, const char *text, bool is_left)
{
	struct ip_addr group, wanted = ip(text);
	bool left;

	assert_true(mcast_next(m, &group, &left));
	assert_true(ip_equal(&group, &wanted));
	assert_int_equal(left, is_left);
}

static void expect_end(struct mcast_message *m)
{
	struct ip_addr group;
	bool left;

	assert_false(mcast_next(m, &group, &left));
	assert_false(mcast_next(m, &group, &left));
}

static void igmp_queries(void **state)
{
	struct ip_addr source = ip("10.0.0.1"), group = ip("239.1.1.1");
	struct mcast_message m;

	(void)state;
	MESSAGE("224.0.0.1", 2, "\x11\0\0\0\0\0\0\0"); /* version 1 */
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_QUERY);
	assert_true(ip_equal(&m.source, &source));
	assert_int_equal(m.group.family, 0);
	assert_int_equal(m.response_ms, 10000);
	assert_int_equal(m.lifetime_ms, 0);
	MESSAGE("239.1.1.1", 2, "\x11\xff\0\0\xef\1\1\1"); /* version 2 */
	assert_int_equal(parse(&m), 0);
	assert_true(ip_equal(&m.group, &group));
	assert_int_equal(m.response_ms, 25500);
	MESSAGE("224.0.0.1", 2, "\x11\x64\0\0\0\0\0\0\2\x7d\0\0"); /* version 3 */
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.response_ms, 10000);
	assert_int_equal(m.lifetime_ms, 260000);
	assert_false(m.keeps_timer);
	/* Floating-point codes: 1 0001 with exponent 0 + 3, and exponent 1. */
	MESSAGE("239.1.1.1", 2, "\x11\x81\0\0\xef\1\1\1\3\x91\0\1\x0a\0\0\2");
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.response_ms, 13600);
	assert_int_equal(m.lifetime_ms, 3 * 272000 + 13600);
	assert_true(m.keeps_timer);
	/* The querier has received a report (flag S). */
	MESSAGE("239.1.1.1", 2, "\x11\x0a\0\0\xef\1\1\1\x0a\x7d\0\0");
	assert_int_equal(parse(&m), 0);
	assert_true(m.keeps_timer);
	/* Lengths between the versions are ignored (RFC 3376 section 7.1). */
	MESSAGE("224.0.0.1", 2, "\x11\x64\0\0\0\0\0\0\2\x7d");
	assert_int_equal(parse(&m), -EBADMSG);
	MESSAGE("224.0.0.1", 2, "\x11\x64\0\0\x0a\0\0\1"); /* no group */
	assert_int_equal(parse(&m), -EBADMSG);
}

static void igmp_reports(void **state)
{
	struct mcast_message m;

	(void)state;
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_REPORT);
	assert_true(m.suppresses);
	expect_group(&m, "239.1.1.1", false);
	expect_end(&m);
	MESSAGE("224.0.0.2", 2, "\x17\0\0\0\xef\1\1\1");
	assert_int_equal(parse(&m), 0);
	assert_false(m.suppresses);
	expect_group(&m, "239.1.1.1", true);
	expect_end(&m);
	MESSAGE("224.0.0.22", 2,
		"\x22\0\0\0\0\0\0\7"
		"\4\0\0\0\xef\1\1\1"			   /* to exclude nothing: joined */
		"\3\0\0\0\xef\1\1\2"			   /* to include nothing: left */
		"\1\1\0\1\xef\1\1\3\x0a\0\0\1zzzz"	   /* includes one source, with data */
		"\6\0\0\1\xef\1\1\4\x0a\0\0\1"		   /* blocks a source: left */
		"\x63\0\0\0\xef\1\1\5"			   /* unknown */
		"\2\0\0\0\x0a\1\1\6"			   /* no group */
		"\5\0\0\2\xef\1\1\7\x0a\0\0\1\x0a\0\0\2"); /* allows sources */
	assert_int_equal(parse(&m), 0);
	assert_false(m.suppresses);
	expect_group(&m, "239.1.1.1", false);
	expect_group(&m, "239.1.1.2", true);
	expect_group(&m, "239.1.1.3", false);
	expect_group(&m, "239.1.1.4", true);
	expect_group(&m, "239.1.1.7", false);
	expect_end(&m);
	/* The reports of all VLANs behind a tag would count as one. */
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
	add_tag(5);
	assert_int_equal(parse(&m), 0);
	add_tag(100);
	assert_int_equal(parse(&m), -ENOMSG);
	/* A record that exceeds the message ends it. */
	MESSAGE("224.0.0.22", 2, "\x22\0\0\0\0\0\0\2\4\0\0\0\xef\1\1\1\4\0\xff\xff\xef\1\1\2");
	assert_int_equal(parse(&m), 0);
	expect_group(&m, "239.1.1.1", false);
	expect_end(&m);
}

static void mld(void **state)
{
	static const char done[] = "\x84\0\0\0\0\0\0\0\xff\x15\0\0\0\0\0\0\0\0\0\0\0\1\0\2";
	static const char query[] =
		"\x82\0\0\0\x81\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\x14\0\0";
	static const char report[] =
		"\x8f\0\0\0\0\0\0\1\4\0\0\0\xff\x15\0\0\0\0\0\0\0\0\0\0\0\1\0\2";
	struct mcast_message m;

	(void)state;
	begin("ff02::2", 58, done, sizeof(done) - 1);
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.family, 6);
	expect_group(&m, "ff15::1:2", true);
	expect_end(&m);
	begin("ff02::1", 58, query, sizeof(query) - 1);
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_QUERY);
	assert_int_equal(m.group.family, 0);
	assert_int_equal(m.response_ms, 0x1100 << 3);
	assert_int_equal(m.lifetime_ms, 2 * 20 * 1000 + (0x1100 << 3));
	begin("ff02::16", 58, report, sizeof(report) - 1);
	assert_int_equal(parse(&m), 0);
	assert_false(m.suppresses);
	expect_group(&m, "ff15::1:2", false);
	expect_end(&m);
	/* A query must have a link-local source; a report may have none (RFC 3590). */
	begin("ff02::1", 58, query, sizeof(query) - 1);
	frame[22] = 0x20;
	assert_int_equal(parse(&m), -EBADMSG);
	/* Neighbor discovery is another protocol. */
	MESSAGE("ff02::1", 58, "\x87\0\0\0\0\0\0\0");
	assert_int_equal(parse(&m), -ENOMSG);
}

static void routers(void **state)
{
	struct mcast_message m;

	(void)state;
	MESSAGE("224.0.0.13", 103, "\x20\0\0\0\0\1\0\2\0\x69");
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_ROUTER);
	MESSAGE("ff02::d", 103, "\x20\0\0\0\0\1\0\2\0\x69");
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_ROUTER);
	assert_int_equal(m.family, 6);
	MESSAGE("224.0.0.13", 103, "\x23\0\0\0\0\1\0\2\0\x69"); /* join/prune */
	assert_int_equal(parse(&m), -ENOMSG);
	MESSAGE("224.0.0.106", 2, "\x30\x14\0\0\0\0\0\0"); /* RFC 4286 */
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_ROUTER);
	MESSAGE("224.0.0.4", 2, "\x13\1\0\0\0\0\0\0");
	assert_int_equal(parse(&m), 0);
	assert_int_equal(m.kind, MCAST_ROUTER);
	MESSAGE("224.0.0.1", 2, "\x99\0\0\0\0\0\0\0");
	assert_int_equal(parse(&m), -ENOMSG);
	begin("239.1.1.1", 17, "12345678", 8);
	assert_int_equal(parse(&m), -ENOMSG);
}

/* The queries of this node are valid messages. */
static void own_queries(void **state)
{
	const struct ip_addr groups[] = { ip("239.1.1.1"), ip("ff15::1:2") };
	const struct mac src = { { 2, 0, 0, 0, 0, 1 } };
	struct mcast_message m;
	struct eth_view v;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		const struct ip_addr *group = i % 2 ? &groups[i / 4] : NULL;
		uint8_t family = i / 4 ? 6 : 4;
		uint16_t vlan = i & 2 ? 10 : 0;

		len = mcast_build_query(vlan, src, family, group, 10000, frame);
		assert_true(len >= ETH_MIN_LEN && len <= MCAST_QUERY_MAX);
		assert_int_equal(eth_parse(frame, len, &v), 0);
		assert_int_equal(v.vlan, vlan);
		if (family == 4)
			assert_int_equal(csum_fold(csum_add(0, frame + v.l3_offset, 24)), 0xffff);
		assert_int_equal(parse(&m), 0);
		assert_int_equal(m.kind, MCAST_QUERY);
		assert_int_equal(m.family, family);
		assert_true(ip_equal(&m.source, mcast_querier(family)));
		assert_int_equal(m.response_ms, 10000);
		assert_int_equal(m.lifetime_ms, 260000);
		assert_true(group ? ip_equal(&m.group, group) : !m.group.family);
	}
}

static void damaged(void **state)
{
	struct mcast_message m;

	(void)state;
	/* Every byte of the message is covered by its checksum. */
	for (size_t at = 38; at < 46; at++) {
		MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
		frame[at] ^= 0x10;
		assert_int_equal(parse(&m), -EBADMSG);
	}
	/* The packet is longer than the frame, or a fragment. */
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
	len--;
	assert_int_equal(parse(&m), -EBADMSG);
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
	frame[ETH_HDR_LEN + 6] = 0x20;
	assert_int_equal(parse(&m), -EBADMSG);
	/* Padding of the frame is no part of the packet. */
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0\xef\1\1\1");
	len += 20;
	assert_int_equal(parse(&m), 0);
	MESSAGE("239.1.1.1", 2, "\x16\0\0\0");
	assert_int_equal(parse(&m), -EBADMSG);
	MESSAGE("224.0.0.22", 2, "\x22\0\0\0\0\0\0\1");
	assert_int_equal(parse(&m), 0);
	expect_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_frames), cmocka_unit_test(igmp_queries),
		cmocka_unit_test(igmp_reports),	    cmocka_unit_test(mld),
		cmocka_unit_test(routers),	    cmocka_unit_test(damaged),
		cmocka_unit_test(own_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
