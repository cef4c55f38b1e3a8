// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process sets up in a network namespace that is its own: addresses, routes that make every
 * packet local, rules. Requests as in netlink.h. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"
#include "io/netlink.h"

/* 0 or -errno. Families are 4 and 6. */
int nl_addr_add(struct nl *nl, int index, const struct ip_addr *ip, uint8_t prefix_len);
/* Packets that come through the link, to whatever address, are for this host: by a rule for the
 * link and a table of local routes through the loopback device. */
int nl_all_is_local(struct nl *nl, uint8_t family, const char *device, uint32_t table);
/* Everything else goes out through the link, for sockets that are bound to it. */
int nl_default_route(struct nl *nl, uint8_t family, int index, uint32_t metric);
/* What TCP is told of a route. */
struct nl_route_tcp {
	uint32_t mtu;	   /* bytes of a packet there; connections that exist follow */
	uint32_t mss;	   /* that is said to take, in SYNs */
	uint32_t segments; /* under way in the first round trip of a new connection */
};
/* Packets to ip go out through the link. In place of such a route that is there. */
int nl_host_route(struct nl *nl, int index, const struct ip_addr *ip, const struct nl_route_tcp *t);
