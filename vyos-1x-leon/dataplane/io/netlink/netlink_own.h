// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configuration of a process's own network namespace: policy rules, and routes that
 * deliver every packet locally. Requests as in netlink.h. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"
#include "io/netlink/netlink.h"

/* All functions return 0 or -errno. Families are 4 and 6. */
/* Delivers all packets that arrive through the link locally, for any destination address. A rule
 * for the link leads to its table with a local route. The route names the link, because the kernel
 * uses only such routes for IPv6 link-local addresses. */
int nl_all_is_local(struct nl *nl, uint8_t family, const char *device, int index, uint32_t table);
/* Routes all other packets of sockets bound to the link out through this link. */
int nl_default_route(struct nl *nl, uint8_t family, int index, uint32_t metric);
/* TCP parameters of a route. */
struct nl_route_tcp {
	uint32_t mtu;	   /* path MTU in bytes; existing connections follow it */
	uint32_t mss;	   /* advertised MSS (advmss) */
	uint32_t segments; /* initial congestion window in segments (initcwnd) */
};
/* Routes packets to ip out through the link. Replaces an existing route of the kind. */
int nl_host_route(struct nl *nl, int index, const struct ip_addr *ip, const struct nl_route_tcp *t);
