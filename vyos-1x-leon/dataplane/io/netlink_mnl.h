// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the files netlink*.c share: the socket, a request and its answers. The only
 * includer of libmnl. Control thread.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "io/netlink.h"

#define NL_BUFFER  32768 /* what the kernel fills at most for one part of a dump */
#define NL_REQUEST 512

struct nl {
	struct mnl_socket *sock;
	unsigned seq;
	uint8_t buf[NL_BUFFER];
};

/* libmnl callbacks stop at the first negative return and hand errno back: what the kernel said,
 * with its sign turned, whatever that is. */
static inline int nl_errno_or(int fallback)
{
	return errno > 0 ? -errno : -fallback;
}

/* Sends a request and feeds the answers with its sequence number to cb. 0 or -errno. */
int nl_transact(struct nl *nl, struct nlmsghdr *nlh, mnl_cb_t cb, void *arg);

/* With MNL_SOCKET_AUTOPID. 0 or -errno. */
int nl_open_socket(struct mnl_socket **out, int flags);

/* arg is struct nl_link; what is not about a link leaves it as it is. */
int nl_read_link(const struct nlmsghdr *nlh, void *arg);

/* Starts a link request; index 0 leaves the choice to an attribute, or asks for all. */
struct nlmsghdr *nl_link_request(void *buf, uint16_t type, int index, struct ifinfomsg **ifi);

/* False where the message is not about a port of a bridge, or is about another than `index`. What
 * has no sense in it is left out. */
bool nl_read_port_vlans(const struct nlmsghdr *nlh, int index, struct vlan_set *out);

/* False where the message is not an IPv4 or IPv6 address. */
bool nl_read_addr(const struct nlmsghdr *nlh, struct nl_addr *out);

/* False where the message is not a unicast route of IPv4 or IPv6. */
bool nl_read_route(const struct nlmsghdr *nlh, struct nl_route *r);
