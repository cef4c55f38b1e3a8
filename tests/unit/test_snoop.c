// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast in the packet path. Nodes with listeners receive copies, the control thread receives
 * joins, queries and routers, and the LAN receives no suppressing reports of other sites.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"
#include "mcast_frame.h"

#include "state/tables/listeners.h"

static struct listeners *listeners;

static void snooping(struct snap *s)
{
	s->listeners = listeners;
	s->storm_multicast = 4; /* one at once, the next after 250 ms */
}

static void no_limit(struct snap *s)
{
	s->listeners = listeners;
}

static int setup(void **state)
{
	if (from_tap_setup(state) < 0)
		return -1;
	listeners = listeners_new(FX_NODES);
	fx_publish(&fx, snooping);
	return 0;
}

static int teardown(void **state)
{
	fx_teardown(state);
	listeners_free(listeners);
	return 0;
}

static void announce(uint16_t slot, const uint64_t *entry, unsigned n)
{
	listener_set_free(
		listeners_replace(listeners, slot, n ? listener_set_new(entry, n) : NULL));
}

static size_t send_to(const char *group, uint8_t proto, const void *body, size_t len)
{
	len = mcast_frame(frame, group, proto, body, len);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
	return len;
}

static void copies(void **state)
{
	const uint64_t wanted[] = { listener_entry(0, 4, 0), listener_entry(0, 4, 0xef010101) };
	size_t len;

	(void)state;
	/* Node 1 has announced nothing, and node 2 has no listener. */
	announce(2, wanted, 1);
	len = send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	expect_frame(1, fx_id(1), len, 0);
	expect_silence();
	assert_int_equal(fx_count(&fx, CNT_multicast_pruned), 1);
	/* No node has a listener. Such frames use no credit of the storm limit. */
	announce(1, wanted, 1);
	for (unsigned i = 0; i < 10; i++)
		send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	expect_silence();
	assert_int_equal(fx_drops(&fx, DROP_no_listener), 10);
	assert_int_equal(fx_drops(&fx, DROP_storm_multicast), 0);
	/* A frame to listeners is subject to the limit. */
	announce(1, wanted, 2);
	send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	assert_int_equal(fx_drops(&fx, DROP_storm_multicast), 1);
	expect_silence();
	/* Both nodes, through the first. The other group has an equal MAC address. */
	fx_publish(&fx, no_limit);
	announce(2, wanted, 2);
	len = send_to("239.129.1.1", PROTO_UDP, "12345678", 8);
	expect_frame(1, fx_id(1), len, 0);
	expect_frame(1, fx_id(2), len, 0);
	expect_silence();
}

static void all_groups_of_the_link(void **state)
{
	const uint64_t nothing[] = { listener_entry(0, 4, 0), listener_entry(0, 6, 0) };
	static const char *const groups[] = { "224.0.0.5", "224.0.0.18", "224.0.0.251", "ff02::fb",
					      "ff02::1:ff00:1" };

	(void)state;
	fx_publish(&fx, no_limit);
	announce(1, nothing, 2);
	announce(2, nothing, 2);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		size_t len = send_to(groups[i], PROTO_UDP, "12345678", 8);

		expect_frame(1, fx_id(1), len, 0);
		expect_frame(1, fx_id(2), len, 0);
	}
	send_to("ff05::2", PROTO_UDP, "12345678", 8);
	expect_silence();
	assert_int_equal(fx_drops(&fx, DROP_no_listener), 1);
}

static struct segments *map;

static void mapped(struct snap *s)
{
	s->listeners = listeners;
	s->segments = map;
}

/* A node announces the segment of the overlay. */
static void segments(void **state)
{
	const uint64_t of_vlan[] = { listener_entry(0, 4, 0), listener_entry(0, 4, 0xef010101) };
	const uint64_t of_segment[] = { listener_entry(70000, 4, 0),
					listener_entry(70000, 4, 0xef010101) };
	const struct segment untagged = { .vlan = 0, .id = 70000 };
	struct datagram d;

	(void)state;
	map = segments_new(&untagged, 1);
	fx_publish(&fx, mapped);
	announce(1, of_vlan, 1);
	announce(2, of_segment, 1);
	send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	assert_true(node_gets(1, &d));
	assert_int_equal(leon_destination(&d.h), fx_id(1));
	expect_silence();
	announce(2, of_segment, 2);
	send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	assert_true(node_gets(1, &d) && node_gets(1, &d));
	assert_int_equal(leon_destination(&d.h), fx_id(2));
	fx_publish(&fx, NULL);
	segments_free(map);
}

static void on_vlan_10(struct snap *s)
{
	static const struct id_range ten = { 10, 10 };

	s->listeners = listeners;
	snap_limit_segments(s, 1, &ten, 1);
	snap_limit_segments(s, 2, NULL, 0);
}

/* A node that does not serve the VLAN receives nothing, also without an announcement. */
static void vlans(void **state)
{
	(void)state;
	fx_publish(&fx, on_vlan_10);
	send_to("239.1.1.1", PROTO_UDP, "12345678", 8);
	expect_silence();
	assert_int_equal(fx_drops(&fx, DROP_no_listener), 1);
}

static void joins_are_reported(void **state)
{
	struct ip_addr wanted = ip("239.1.1.3");
	struct fwd_report r;

	(void)state;
	fx_publish(&fx, no_limit);
	send_to("224.0.0.22", PROTO_IGMP,
		"\x22\0\0\0\0\0\0\4"
		"\4\0\0\0\xef\1\1\1"   /* joined */
		"\3\0\0\0\xef\1\1\2"   /* left */
		"\4\0\0\0\xe0\0\0\xfb" /* link-local */
		"\2\0\0\0\xef\1\1\3",  /* joined */
		40);
	assert_int_equal(fx_reports(FWD_MULTICAST, &r), 3);
	assert_int_equal(r.multicast.kind, MCAST_REPORT);
	assert_false(r.multicast.left);
	assert_int_equal(r.multicast.vlan, 0);
	assert_true(ip_equal(&r.multicast.query.group, &wanted));
	/* Hosts that report one group within 100 ms are one report. */
	send_to("239.1.1.3", PROTO_IGMP, "\x16\0\0\0\xef\1\1\3", 8);
	assert_int_equal(fx_reports(FWD_MULTICAST, NULL), 0);
	/* IGMP and PIM of the LAN. */
	send_to("224.0.0.1", PROTO_IGMP, "\x11\x64\0\0\0\0\0\0", 8);
	assert_int_equal(fx_reports(FWD_MULTICAST, &r), 1);
	assert_int_equal(r.multicast.kind, MCAST_QUERY);
	assert_true(r.multicast.query.on_lan);
	assert_int_equal(r.multicast.query.response_ms, 10000);
	send_to("ff02::d", PROTO_PIM, "\x20\0\0\0", 4);
	assert_int_equal(fx_reports(FWD_MULTICAST, &r), 1);
	assert_int_equal(r.multicast.kind, MCAST_ROUTER);
	assert_int_equal(r.multicast.family, 6);
	/* Without snooping nothing is reported. */
	fx_publish(&fx, NULL);
	send_to("239.1.1.9", PROTO_IGMP, "\x16\0\0\0\xef\1\1\x09", 8);
	assert_int_equal(fx_reports(FWD_MULTICAST, NULL), 0);
}

static void blocked(struct snap *s)
{
	struct snap_lan *lan = snap_add_lan(s);

	lan->guarded = true;
	vlan_set_add(&lan->blocked, 0);
	s->listeners = listeners;
}

/* A node that does not forward learns the listeners, because it may become the forwarder. */
static void while_blocked(void **state)
{
	(void)state;
	fx_publish(&fx, blocked);
	send_to("239.1.1.1", PROTO_IGMP, "\x16\0\0\0\xef\1\1\1", 8);
	assert_int_equal(fx_reports(FWD_MULTICAST, NULL), 1);
	assert_int_equal(fx_drops(&fx, DROP_loop_blocked), 1);
	expect_silence();
}

/* Sends a frame from node 1. Returns true if the LAN receives the frame. */
static bool lan_gets(const char *group, uint8_t proto, const void *body, size_t body_len)
{
	static const node_id_t here[] = { FX_SELF };
	uint8_t datagram[512], got[512];
	size_t len = fx_header(datagram, LEON_FRAME, 0, fx_id(1), 0, 1, here);

	len += mcast_frame(datagram + len, group, proto, body, body_len);
	fx_receive(&fx, &fx.ep[1], datagram, len, 0);
	return recv(fx.tap, got, sizeof(got), MSG_DONTWAIT) > 0;
}

static void from_other_sites(void **state)
{
	struct fwd_report r;

	(void)state;
	fx_publish(&fx, no_limit);
	assert_true(lan_gets("239.1.1.1", PROTO_UDP, "12345678", 8));
	/* Without a querier, switches need the report. */
	assert_true(lan_gets("239.1.1.4", PROTO_IGMP, "\x16\0\0\0\xef\1\1\4", 8));
	/* A report that suppresses others is withheld; a report of IGMPv3 suppresses none. */
	listeners_set_withholds(listeners, 0, 4, true);
	assert_false(lan_gets("239.1.1.1", PROTO_IGMP, "\x16\0\0\0\xef\1\1\1", 8));
	assert_int_equal(fx_drops(&fx, DROP_report_withheld), 1);
	assert_true(lan_gets("224.0.0.22", PROTO_IGMP, "\x22\0\0\0\0\0\0\1\4\0\0\0\xef\1\1\1", 16));
	assert_int_equal(fx_reports(FWD_MULTICAST, NULL), 0);
	/* A router needs the report. */
	listeners_set_withholds(listeners, 0, 4, false);
	assert_true(lan_gets("239.1.1.2", PROTO_IGMP, "\x16\0\0\0\xef\1\1\2", 8));
	/* A querier elsewhere is no router here. */
	assert_true(lan_gets("224.0.0.1", PROTO_IGMP, "\x11\x64\0\0\0\0\0\0", 8));
	assert_int_equal(fx_reports(FWD_MULTICAST, &r), 1);
	assert_int_equal(r.multicast.kind, MCAST_QUERY);
	assert_false(r.multicast.query.on_lan);
	assert_true(lan_gets("ff02::d", PROTO_PIM, "\x20\0\0\0", 4));
	assert_int_equal(fx_reports(FWD_MULTICAST, &r), 1);
	assert_int_equal(r.multicast.kind, MCAST_ROUTER);
	assert_false(r.multicast.query.on_lan);
	/* Without snooping all is delivered. */
	fx_publish(&fx, NULL);
	assert_true(lan_gets("239.1.1.3", PROTO_IGMP, "\x16\0\0\0\xef\1\1\3", 8));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(copies),	     T(all_groups_of_the_link), T(vlans),
		T(segments),	     T(joins_are_reported),	T(while_blocked),
		T(from_other_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
