// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io/netlink/netlink and io/tap in a namespace of this process. Without a namespace the tests are
 * skipped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <poll.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "netns_util.h"

static struct nl *nl;

static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

static int setup(void **state)
{
	(void)state;
	return nl_open(&nl);
}
static int teardown(void **state)
{
	(void)state;
	nl_close(nl);
	return 0;
}

static void links(void **state)
{
	const struct mac mac = { { 2, 1, 2, 3, 4, 5 } };
	struct nl_link br, port;

	(void)state;
	assert_int_equal(nl_link_by_name(nl, "br7", &br), -ENODEV);
	assert_int_equal(nl_link_by_name(nl, "", &br), -ENODEV);
	assert_int_equal(nl_link_by_name(nl, "a-name-that-is-too-long", &br), -ENODEV);
	assert_true(run("ip link add br7 type bridge"));
	assert_true(run("ip link add v7 type veth peer name w7"));
	assert_true(run("ip link set v7 master br7"));
	assert_int_equal(nl_link_by_name(nl, "br7", &br), 0);
	assert_string_equal(br.kind, "bridge");
	assert_string_equal(br.name, "br7");
	assert_false(br.up);
	assert_int_equal(nl_link_by_name(nl, "v7", &port), 0);
	assert_int_equal(port.master, br.index);
	assert_int_equal(nl_link_set_up(nl, port.index, true), 0);
	assert_int_equal(nl_link_set_mtu(nl, port.index, 1337), 0);
	assert_int_equal(nl_link_set_mac(nl, port.index, mac), 0);
	assert_int_equal(nl_link_by_index(nl, port.index, &port), 0);
	assert_true(port.up);
	assert_false(port.running); /* the other end is down */
	assert_int_equal(port.mtu, 1337);
	assert_memory_equal(port.mac.b, mac.b, 6);
	assert_int_equal(nl_link_set_up(nl, port.index, false), 0);
	assert_int_equal(nl_link_by_index(nl, port.index, &port), 0);
	assert_false(port.up);
	assert_int_equal(nl_link_set_mtu(nl, 9999, 1400), -ENODEV);
	assert_true(nl_link_set_mtu(nl, port.index, 1) < 0);
	assert_true(run("ip link del v7"));
	assert_int_equal(nl_link_by_index(nl, port.index, &port), -ENODEV);
	assert_true(run("ip link del br7"));
}

static void port_of_a_bridge(void **state)
{
	struct vlan_set set;
	struct nl_link v;

	(void)state;
	assert_true(run("ip link add v6 type veth peer name w6"));
	assert_int_equal(nl_link_by_name(nl, "v6", &v), 0);
	assert_int_equal(nl_port_vlans(nl, v.index, &set), -ENODEV);
	assert_true(run("ip link add br6 type bridge"));
	assert_true(run("ip link set v6 master br6"));
	assert_int_equal(nl_port_vlans(nl, v.index, &set), 0);
	assert_true(run("ip link del v6"));
	assert_true(run("ip link del br6"));
}

static const struct nl_addr *find(const struct nl_addr *a, int n, const char *text)
{
	struct ip_addr ip;

	assert_int_equal(ip_parse(text, &ip), 0);
	for (int i = 0; i < n; i++)
		if (ip_equal(&a[i].ip, &ip))
			return &a[i];
	return NULL;
}

static void addresses(void **state)
{
	struct nl_addr a[16];
	struct nl_link v;
	int n, all;

	(void)state;
	assert_true(run("ip link set lo up"));
	assert_true(run("ip link add v8 type veth peer name w8"));
	assert_true(run("ip link set v8 up"));
	assert_true(run("ip addr add 192.0.2.5/24 dev v8"));
	assert_true(run("ip addr add 198.51.100.1 peer 198.51.100.2/32 dev v8"));
	assert_true(run("ip -6 addr add 2001:db8::5/64 dev v8 nodad"));
	assert_int_equal(nl_link_by_name(nl, "v8", &v), 0);
	n = nl_addrs(nl, v.index, a, array_size(a));
	assert_true(n >= 3);
	assert_non_null(find(a, n, "192.0.2.5"));
	assert_int_equal(find(a, n, "192.0.2.5")->prefix_len, 24);
	assert_int_equal(find(a, n, "192.0.2.5")->index, v.index);
	assert_false(find(a, n, "192.0.2.5")->link_scope);
	/* Of a peer-to-peer pair, only the local address is listed. */
	assert_non_null(find(a, n, "198.51.100.1"));
	assert_null(find(a, n, "198.51.100.2"));
	assert_non_null(find(a, n, "2001:db8::5"));
	assert_false(find(a, n, "2001:db8::5")->tentative);
	assert_null(find(a, n, "127.0.0.1"));
	all = nl_addrs(nl, 0, a, array_size(a));
	assert_true(all > n);
	assert_non_null(find(a, all, "127.0.0.1"));
	assert_true(find(a, all, "127.0.0.1")->link_scope);
	/* Without a buffer the call returns the number of addresses. */
	assert_int_equal(nl_addrs(nl, v.index, NULL, 0), n);
	assert_true(run("ip link del v8"));
}

static void own_addresses(void **state)
{
	struct nl_addr a[16], own = { .prefix_len = 24, .protocol = 76 };
	struct nl_link v;
	int n;

	(void)state;
	assert_true(run("ip link add v8 type veth peer name w8"));
	assert_int_equal(nl_link_by_name(nl, "v8", &v), 0);
	own.index = v.index;
	assert_int_equal(ip_parse("192.0.2.7", &own.ip), 0);
	assert_int_equal(nl_addr_add(nl, &own, true), 0);
	assert_int_equal(nl_addr_add(nl, &own, true), 0);
	assert_int_equal(ip_parse("2001:db8::7", &own.ip), 0);
	own.prefix_len = 64;
	assert_int_equal(nl_addr_add(nl, &own, false), 0);
	assert_true(run("ip addr add 192.0.2.8/24 dev v8"));
	n = nl_addrs(nl, v.index, a, array_size(a));
	assert_int_equal(find(a, n, "192.0.2.7")->protocol, 76);
	assert_int_equal(find(a, n, "2001:db8::7")->protocol, 76);
	assert_int_equal(find(a, n, "2001:db8::7")->prefix_len, 64);
	assert_int_equal(find(a, n, "192.0.2.8")->protocol, 0);
	assert_int_equal(nl_addr_delete(nl, &own), 0);
	assert_int_equal(nl_addr_delete(nl, &own), 0);
	assert_null(find(a, nl_addrs(nl, v.index, a, array_size(a)), "2001:db8::7"));
	own.index = 9999;
	assert_int_equal(nl_addr_add(nl, &own, true), -ENODEV);
	assert_true(run("ip link del v8"));
}

struct seen {
	bool link_up, link_gone, addr_added, addr_gone;
	unsigned routes, overruns;
};

static void on_event(void *arg, const struct nl_event *ev)
{
	struct seen *s = arg;

	switch (ev->change) {
	case NL_LINK_CHANGED:
		s->link_up |= strcmp(ev->link.name, "v9") == 0 && ev->link.up;
		break;
	case NL_LINK_GONE:
		s->link_gone |= strcmp(ev->link.name, "v9") == 0;
		break;
	case NL_ADDR_ADDED:
		s->addr_added |= ev->addr.ip.family == 4 && ev->addr.ip.b[3] == 9;
		break;
	case NL_ADDR_GONE:
		s->addr_gone |= ev->addr.ip.family == 4 && ev->addr.ip.b[3] == 9;
		break;
	case NL_ROUTE_CHANGED:
		s->routes++;
		break;
	case NL_PORT_CHANGED:
		break;
	case NL_OVERRUN:
		s->overruns++;
		break;
	}
}

#define N_ROUTES 300

static void count_route(void *arg, const struct nl_route *route)
{
	unsigned *n = arg;

	assert_int_equal(route->protocol, 76);
	assert_true(route->metric > 0);
	n[route->dst.ip.family == 6]++;
	n[2] += route->gateway.family != 0;
}

static struct nl_route_change change(const char *dst, const char *gateway, uint32_t metric,
				     int index)
{
	struct nl_route_change c = {
		.op = NL_ROUTE_ADD,
		.route = { .metric = metric,
			   .table = NL_TABLE_MAIN,
			   .index = index,
			   .protocol = 76 },
	};

	assert_int_equal(prefix_parse(dst, &c.route.dst), 0);
	if (gateway)
		assert_int_equal(ip_parse(gateway, &c.route.gateway), 0);
	return c;
}

static void routes(void **state)
{
	struct nl_route_change c[6], *many = calloc(N_ROUTES, sizeof(*many));
	struct nl *m = NULL;
	struct seen seen = { 0 };
	unsigned n[3] = { 0 };
	char text[32];
	struct nl_link v;

	(void)state;
	assert_non_null(many);
	assert_true(run("ip link add v10 type veth peer name w10"));
	assert_true(run("ip link set v10 up"));
	assert_true(run("ip link set w10 up"));
	assert_int_equal(nl_link_by_name(nl, "v10", &v), 0);
	assert_int_equal(nl_monitor_open(&m, 76, nl), 0);

	/* A gateway outside the networks of the interface is valid. An equal route fails the second
	 * time. */
	c[0] = change("10.9.0.1/32", NULL, 500, v.index);
	c[1] = change("10.8.0.0/16", "10.9.0.1", 500, v.index);
	c[2] = change("fd00:9::1/128", NULL, 500, v.index);
	c[3] = change("fd00:8::/32", "fd00:9::1", 500, v.index);
	c[4] = change("10.9.0.1/32", NULL, 500, v.index);
	c[5] = change("10.9.0.9/32", NULL, 500, 9999);
	assert_int_equal(nl_routes_change(nl, c, 6), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c[i].result, 0);
	assert_int_equal(c[4].result, -EEXIST);
	assert_int_equal(c[5].result, -ENODEV);
	/* Routes of other protocols and interfaces are not listed. */
	assert_true(run("ip route add 10.9.0.7/32 dev v10 proto 77"));
	assert_true(run("ip route add 10.9.0.8/32 dev lo proto 76"));
	assert_int_equal(nl_routes(nl, 76, v.index, count_route, n), 0);
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], 2);

	/* A route replaces the one with equal metric and is deleted. A second deletion fails. */
	c[0] = change("10.8.0.0/16", "10.9.0.2", 500, v.index);
	c[0].op = NL_ROUTE_REPLACE;
	c[1] = c[0];
	c[1].op = NL_ROUTE_DELETE;
	c[2] = c[1];
	assert_int_equal(nl_routes_change(nl, c, 3), 0);
	assert_int_equal(c[0].result, 0);
	assert_int_equal(c[1].result, 0);
	assert_int_equal(c[2].result, -ESRCH);

	/* The routes need more than one message. */
	for (int i = 0; i < N_ROUTES; i++) {
		snprintf(text, sizeof(text), "10.7.%d.%d/32", i / 256, i % 256);
		many[i] = change(text, NULL, 1000, v.index);
	}
	assert_int_equal(nl_routes_change(nl, many, N_ROUTES), 0);
	for (int i = 0; i < N_ROUTES; i++)
		assert_int_equal(many[i].result, 0);

	/* Changes by others to routes of this protocol are reported, own changes are not. */
	assert_true(run("ip route del 10.7.0.1/32 dev v10 proto 76"));
	assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	assert_int_equal(seen.routes, 2); /* the earlier route to lo, and this route */
	nl_close(m);
	free(many);
	assert_true(run("ip link del v10"));
}

static struct nl_lookup look_up(const char *text, int own)
{
	struct nl_lookup l;
	struct ip_addr ip;

	assert_int_equal(ip_parse(text, &ip), 0);
	assert_int_equal(nl_route_lookup(nl, &ip, 0, own, &l), 0);
	return l;
}

/* The kernel updates the carrier in the routes, and adds the routes of an IPv6 address, with a
 * delay. */
static void come_to_be(const char *text, enum nl_lookup_kind kind, bool alive)
{
	struct nl_lookup l = look_up(text, 0);

	for (int tries = 0; l.kind != kind || l.alive != alive; tries++) {
		assert_true(tries < 2000);
		poll(NULL, 0, 10);
		l = look_up(text, 0);
	}
}

static void lookups(void **state)
{
	struct nl_link v, w;
	struct nl_lookup l;

	(void)state;
	assert_true(run("ip link set lo up"));
	assert_true(run("ip link add v11 type veth peer name w11"));
	assert_true(run("ip link set v11 up"));
	assert_true(run("ip link set w11 up"));
	assert_int_equal(nl_link_by_name(nl, "v11", &v), 0);
	assert_int_equal(nl_link_by_name(nl, "w11", &w), 0);
	assert_int_equal(look_up("10.11.0.0", 0).kind, NL_LOOKUP_NONE);
	assert_int_equal(look_up("fd00:11::", 0).kind, NL_LOOKUP_NONE);
	assert_true(run("ip addr add 10.11.0.1/24 dev v11"));
	assert_true(run("ip -6 addr add fd00:11::1/64 dev v11 nodad"));
	come_to_be("10.11.0.9", NL_LOOKUP_UNICAST, true);
	l = look_up("10.11.0.9", w.index);
	assert_int_equal(l.kind, NL_LOOKUP_UNICAST);
	assert_int_equal(l.prefix_len, 24);
	assert_int_equal(l.index, v.index);
	assert_true(l.leads_elsewhere);
	assert_false(look_up("10.11.0.9", v.index).leads_elsewhere);
	assert_int_equal(look_up("10.11.0.1", 0).kind, NL_LOOKUP_LOCAL);
	come_to_be("fd00:11::1", NL_LOOKUP_LOCAL, true);
	assert_int_equal(look_up("10.11.0.255", 0).kind, NL_LOOKUP_OF_LINK);
	/* The default route, a refusal inside it, a blackhole, and two next hops, one of them
	 * local. */
	assert_true(run("ip route add default via 10.11.0.2"));
	assert_int_equal(look_up("10.12.0.0", 0).prefix_len, 0);
	assert_true(run("ip route add unreachable 10.12.0.0/16"));
	assert_true(run("ip route add prohibit 10.13.0.0/16"));
	assert_true(run("ip route add blackhole 10.14.0.0/16"));
	assert_true(run("ip -6 route add blackhole fd00:14::/32"));
	assert_true(run("ip route add 10.15.0.0/16 nexthop dev v11 nexthop dev w11"));
	assert_int_equal(look_up("10.12.0.0", 0).kind, NL_LOOKUP_NONE);
	assert_int_equal(look_up("10.13.0.0", 0).kind, NL_LOOKUP_NONE);
	assert_int_equal(look_up("10.14.0.0", 0).kind, NL_LOOKUP_BLACKHOLE);
	assert_int_equal(look_up("fd00:14::", 0).kind, NL_LOOKUP_BLACKHOLE);
	assert_true(look_up("10.15.0.0", v.index).leads_elsewhere);
	/* Without carrier the routes stay and are marked. */
	assert_true(run("ip link set w11 down"));
	come_to_be("10.11.0.9", NL_LOOKUP_UNICAST, false);
	come_to_be("fd00:11::9", NL_LOOKUP_UNICAST, false);
	assert_true(run("ip link del v11"));
}

/* Returns the gateway, or "none". */
static const char *gateway_to(const struct nl_flow *flow, char buf[IP_STRLEN])
{
	struct nl_next_hop hop;

	assert_int_equal(nl_next_hop(nl, flow, &hop), 0);
	return hop.gateway.family ? ip_format(&hop.gateway, buf, IP_STRLEN) : "none";
}

static void next_hops(void **state)
{
	const struct ip_addr first = { 4, { 10, 21, 0, 1 } }, second = { 4, { 10, 22, 0, 1 } };
	struct nl_flow flow = { .to = { 4, { 193, 0, 14, 129 } } };
	struct nl_next_hop hop;
	struct nl_link link;
	char buf[IP_STRLEN];

	(void)state;
	assert_true(run("ip link add v21 type veth peer name w21"));
	assert_true(run("ip link set v21 up"));
	assert_true(run("ip link set w21 up"));
	assert_string_equal(gateway_to(&flow, buf), "none");
	assert_true(run("ip addr add 10.21.0.1/24 dev v21"));
	assert_true(run("ip addr add 10.22.0.1/24 dev w21"));
	assert_true(run("ip route add default via 10.21.0.9"));
	assert_string_equal(gateway_to(&flow, buf), "10.21.0.9");
	assert_int_equal(nl_next_hop(nl, &flow, &hop), 0);
	assert_true(ip_equal(&hop.source, &first));
	/* A neighbor needs no gateway. */
	flow.to.b[0] = 10, flow.to.b[1] = 21, flow.to.b[2] = 0;
	assert_string_equal(gateway_to(&flow, buf), "none");
	flow.to = (struct ip_addr){ 4, { 193, 0, 14, 129 } };
	/* Mark, source and device select another route. */
	assert_true(run("ip route add default via 10.22.0.9 table 7"));
	assert_true(run("ip rule add fwmark 7 table 7"));
	flow.mark = 7;
	assert_string_equal(gateway_to(&flow, buf), "10.22.0.9");
	flow.mark = 0;
	assert_true(run("ip rule add from 10.22.0.1 table 7"));
	flow.from = second;
	assert_string_equal(gateway_to(&flow, buf), "10.22.0.9");
	flow.from.family = 0;
	assert_true(run("ip route add default via 10.22.0.8 metric 9"));
	assert_int_equal(nl_link_by_name(nl, "w21", &link), 0);
	flow.index = link.index;
	assert_string_equal(gateway_to(&flow, buf), "10.22.0.8");
	/* No route, and an address that this host does not have. */
	flow.index = 0;
	flow.from = (struct ip_addr){ 4, { 10, 23, 0, 1 } };
	assert_string_equal(gateway_to(&flow, buf), "none");
	flow.from.family = 0;
	assert_true(run("ip route replace blackhole 193.0.14.0/24"));
	assert_string_equal(gateway_to(&flow, buf), "none");
	assert_true(run("ip rule del fwmark 7 table 7"));
	assert_true(run("ip rule del from 10.22.0.1 table 7"));
	assert_true(run("ip route del blackhole 193.0.14.0/24"));
	assert_true(run("ip link del v21"));
}

static void monitor(void **state)
{
	struct nl *m = NULL;
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(nl_monitor_open(&m, 76, nl), 0);
	assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	assert_true(run("ip link add v9 type veth peer name w9"));
	assert_true(run("ip link set v9 up"));
	assert_true(run("ip addr add 192.0.2.9/24 dev v9"));
	assert_true(run("ip addr del 192.0.2.9/24 dev v9"));
	assert_true(run("ip link del v9"));
	while (!seen.link_gone) {
		struct pollfd pfd = { .fd = nl_monitor_fd(m), .events = POLLIN };

		assert_int_equal(poll(&pfd, 1, 20000), 1);
		assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	}
	assert_true(seen.link_up && seen.addr_added && seen.addr_gone);
	nl_close(m);
}

/* Adds and deletes N_ROUTES routes. The notifications exceed any buffer. */
static void many_routes(struct nl *by, int index, uint8_t protocol)
{
	struct nl_route_change c[N_ROUTES];
	char text[32];

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < N_ROUTES; i++) {
			snprintf(text, sizeof(text), "10.7.%d.%d/32", i / 256, i % 256);
			c[i] = change(text, NULL, 1000, index);
			c[i].route.protocol = protocol;
			c[i].op = round % 2 ? NL_ROUTE_DELETE : NL_ROUTE_ADD;
		}
		assert_int_equal(nl_routes_change(by, c, N_ROUTES), 0);
	}
}

/* Changes of unrelated routes take no buffer from link events. A lost event is reported. */
static void monitor_room(void **state)
{
	struct nl *m = NULL;
	struct nl *other = NULL;
	struct seen seen = { 0 };
	struct nl_link v;

	(void)state;
	assert_int_equal(nl_open(&other), 0);
	assert_true(run("ip link add v10 type veth peer name w10"));
	assert_true(run("ip link set v10 up"));
	assert_int_equal(nl_link_by_name(nl, "v10", &v), 0);
	assert_int_equal(nl_monitor_open(&m, 76, nl), 0);
	many_routes(other, v.index, 77);
	many_routes(nl, v.index, 76);
	assert_true(run("ip link add v9 type veth peer name w9"));
	assert_true(run("ip link set v9 up"));
	assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	assert_int_equal(seen.overruns, 0);
	assert_int_equal(seen.routes, 0);
	assert_true(seen.link_up);

	many_routes(other, v.index, 76);
	assert_true(run("ip link del v9"));
	assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	assert_true(seen.overruns > 0);
	assert_true(run("ip addr add 192.0.2.9/24 dev v10"));
	assert_int_equal(nl_monitor_read(m, on_event, &seen), 0);
	assert_true(seen.addr_added);
	nl_close(m);
	nl_close(other);
	assert_true(run("ip link del v10"));
}

static bool tap_possible(void)
{
	return access("/dev/net/tun", R_OK | W_OK) == 0;
}

static void tap_queues(void **state)
{
	const struct mac mac = { { 2, 9, 9, 9, 9, 9 } };
	struct tap t, second;
	struct nl_link link;

	(void)state;
	if (!tap_possible())
		skip();
	assert_int_equal(tap_open(&t, nl, "leon7", 3), 0);
	assert_int_equal(t.n_queues, 3);
	assert_string_equal(t.name, "leon7");
	assert_int_equal(nl_link_set_mac(nl, t.ifindex, mac), 0);
	assert_int_equal(nl_link_set_mtu(nl, t.ifindex, 1420), 0);
	assert_int_equal(nl_link_set_up(nl, t.ifindex, true), 0);
	assert_int_equal(nl_link_by_name(nl, "leon7", &link), 0);
	assert_int_equal(link.index, t.ifindex);
	assert_string_equal(link.kind, "tun");
	assert_true(link.tun_is_tap && link.up);
	assert_int_equal(link.tun_queues, 3);
	assert_int_equal(link.mtu, 1420);
	assert_memory_equal(link.mac.b, mac.b, 6);
	/* Another daemon would receive a part of the frames. */
	assert_int_equal(tap_open(&second, nl, "leon7", 1), -EBUSY);
	tap_close(&t);
	assert_int_equal(nl_link_by_name(nl, "leon7", &link), -ENODEV);
}

static void tap_refusals(void **state)
{
	struct tap t;

	(void)state;
	if (!tap_possible())
		skip();
	assert_true(run("ip link add br8 type bridge"));
	assert_int_equal(tap_open(&t, nl, "br8", 1), -EEXIST);
	assert_true(run("ip link del br8"));
	assert_int_equal(tap_open(&t, nl, "", 1), -EINVAL);
	assert_int_equal(tap_open(&t, nl, "sixteen-letters-", 1), -EINVAL);
	assert_true(run("ip tuntap add tun8 mode tun"));
	assert_int_equal(tap_open(&t, nl, "tun8", 1), -EEXIST);
	assert_true(run("ip link del tun8"));
}

static void tap_that_persists(void **state)
{
	struct nl_link link;
	struct tap t;

	(void)state;
	if (!tap_possible())
		skip();
	assert_true(run("ip tuntap add leon8 mode tap multi_queue"));
	assert_int_equal(tap_open(&t, nl, "leon8", 2), 0);
	assert_int_equal(t.n_queues, 2);
	tap_close(&t);
	assert_int_equal(nl_link_by_name(nl, "leon8", &link), 0);
	assert_true(run("ip link del leon8"));
	/* One queue needs one worker. */
	assert_true(run("ip tuntap add leon8 mode tap"));
	assert_int_equal(tap_open(&t, nl, "leon8", 2), 0);
	assert_int_equal(t.n_queues, 1);
	tap_close(&t);
	assert_true(run("ip link del leon8"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(links),	  T(port_of_a_bridge), T(addresses),	T(routes),
		T(own_addresses), T(lookups),	       T(next_hops),	T(monitor),
		T(monitor_room),  T(tap_queues),       T(tap_refusals), T(tap_that_persists),
	};

	log_set_sink(silent, NULL);
	if (!netns_enter()) {
		printf("1..0 # SKIP no network namespaces here\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
