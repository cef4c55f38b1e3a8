// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Netlink answers of a kernel and invalid ones: the VLANs of a bridge port, and the lower link of a
 * stacked one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "io/netlink/netlink_mnl.h"

/* Answers of the Debian kernel 6.1: port 3 of a bridge in some VLANs, and port 4 with its
 * defaults. */
static struct vlan_set recorded(const char *name, int index)
{
	static _Alignas(struct nlmsghdr) uint8_t buf[4096];
	struct vlan_set set, found = { 0 };
	char path[256];
	int n, ports = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/kernel/%s", SOURCE_ROOT, name);
	f = fopen(path, "r");
	assert_non_null(f);
	fgetc(f); /* skips the byte for the fuzzer */
	n = (int)fread(buf, 1, sizeof(buf), f);
	fclose(f);
	for (const struct nlmsghdr *h = (void *)buf; mnl_nlmsg_ok(h, n); h = mnl_nlmsg_next(h, &n))
		if (nl_read_port_vlans(h, index, &set)) {
			found = set;
			ports++;
		}
	assert_int_equal(ports, 1);
	return found;
}

static void vlans_are(const struct vlan_set *s, const char *want)
{
	char text[128];

	vlan_set_format(s, text, sizeof(text));
	assert_string_equal(text, want);
}

static void vlans_of_a_port(void **state)
{
	struct vlan_set some = recorded("bridge-some", 3), tagged = recorded("bridge-tagged", 3);
	struct vlan_set initial_queue_us = recorded("bridge-some", 4),
			news = recorded("bridge-news", 3);

	(void)state;
	/* The untagged VLANs 1 and 40 appear as VLAN 0. */
	vlans_are(&some, "VLAN 0, 10, 20 to 29, 4094");
	vlans_are(&news, "VLAN 0, 10, 20 to 29, 4094");
	vlans_are(&tagged, "VLAN 10, 20 to 29, 4094");
	vlans_are(&initial_queue_us, "VLAN 0");
}

/* A message of port 3 with several bridge_vlan_info attributes. */
static struct vlan_set told(const uint16_t (*info)[2], size_t n)
{
	_Alignas(struct nlmsghdr) uint8_t buf[512];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;
	struct nlattr *spec;
	struct vlan_set set;

	h->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_family = AF_BRIDGE;
	ifi->ifi_index = 3;
	spec = mnl_attr_nest_start(h, IFLA_AF_SPEC);
	for (size_t i = 0; i < n; i++)
		mnl_attr_put(h, IFLA_BRIDGE_VLAN_INFO, sizeof(info[i]), info[i]);
	mnl_attr_nest_end(h, spec);
	assert_false(nl_read_port_vlans(h, 4, &set));
	assert_true(nl_read_port_vlans(h, 3, &set));
	return set;
}

static void vlans_without_sense(void **state)
{
	enum { PVID = 2, UNTAGGED = 4, BEGIN = 8, END = 16 };
	static const uint16_t odd[][2] = {
		{ 0, 0 },    { 0, 4095 + 1 }, { BEGIN, 50 }, { END, 40 }, /* the reverse order */
		{ END, 60 }, { BEGIN, 70 },   { 0, 75 },     { BEGIN, 4090 },
	};
	static const uint16_t tags_out[][2] = { { PVID, 5 } };
	static const uint16_t taken_off[][2] = { { UNTAGGED, 5 },
						 { BEGIN | UNTAGGED, 7 },
						 { END | UNTAGGED, 9 } };
	struct vlan_set set = told(odd, array_size(odd));

	(void)state;
	vlans_are(&set, "VLAN 40, 60, 75");
	set = told(tags_out, array_size(tags_out));
	vlans_are(&set, "VLAN 0, 5");
	set = told(taken_off, array_size(taken_off));
	vlans_are(&set, "VLAN 0");
}

/* The lower link of a macvlan on link 2. */
static int lower_of_macvlan(bool from_another_namespace)
{
	_Alignas(struct nlmsghdr) uint8_t buf[512];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct nl_link link = { 0 };
	struct ifinfomsg *ifi;
	struct nlattr *info;

	h->nlmsg_type = RTM_NEWLINK;
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_index = 3;
	mnl_attr_put_u32(h, IFLA_LINK, 2);
	info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_strz(h, IFLA_INFO_KIND, "macvlan");
	mnl_attr_nest_end(h, info);
	if (from_another_namespace)
		mnl_attr_put_u32(h, IFLA_LINK_NETNSID, 0);
	nl_read_link(h, &link);
	assert_int_equal(link.index, 3);
	return link.lower;
}

static void a_lower_link_in_another_namespace(void **state)
{
	(void)state;
	assert_int_equal(lower_of_macvlan(false), 2);
	assert_int_equal(lower_of_macvlan(true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vlans_of_a_port),
		cmocka_unit_test(vlans_without_sense),
		cmocka_unit_test(a_lower_link_in_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
