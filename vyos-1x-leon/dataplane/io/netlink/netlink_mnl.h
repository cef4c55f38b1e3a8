// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shared parts of netlink*.c: the socket, a request and its answers. The only includer of libmnl.
 * Control thread.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "io/netlink/netlink.h"

#define NL_BUFFER  32768 /* largest size of one part of a dump */
#define NL_REQUEST 512

struct nl {
	struct mnl_socket *sock;
	unsigned seq;
	_Alignas(struct nlmsghdr) uint8_t request[NL_REQUEST];
	uint8_t buf[NL_BUFFER];
};

/* libmnl stops at the first negative return of a callback and returns errno. The callback therefore
 * stores the kernel's error, negated, in errno. */
static inline int nl_errno_or(int fallback)
{
	return errno > 0 ? -errno : -fallback;
}

/* Numbers of attributes; 0 for a malformed attribute. */
static inline uint8_t nl_u8(const struct nlattr *a)
{
	return mnl_attr_validate(a, MNL_TYPE_U8) < 0 ? 0 : mnl_attr_get_u8(a);
}
static inline uint16_t nl_u16(const struct nlattr *a)
{
	return mnl_attr_validate(a, MNL_TYPE_U16) < 0 ? 0 : mnl_attr_get_u16(a);
}
static inline uint32_t nl_u32(const struct nlattr *a)
{
	return mnl_attr_validate(a, MNL_TYPE_U32) < 0 ? 0 : mnl_attr_get_u32(a);
}

static inline uint8_t nl_family(uint8_t family)
{
	return family == 4 ? AF_INET : AF_INET6;
}
static inline void nl_put_ip(struct nlmsghdr *nlh, uint16_t type, const struct ip_addr *ip)
{
	mnl_attr_put(nlh, type, ip->family == 4 ? 4 : 16, ip->b);
}

/* Starts a request with a zeroed body, such as a struct rtmsg, as the payload. */
struct nlmsghdr *nl_request(void *buf, uint16_t type, uint16_t flags, size_t body_len);
/* Sends a request and passes the answers with its sequence number to cb. Returns 0 or -errno. */
int nl_transact(struct nl *nl, struct nlmsghdr *nlh, mnl_cb_t cb, void *arg);

/* Opens a socket with MNL_SOCKET_AUTOPID, for nl_close(). Returns 0 or -errno. */
int nl_open_socket(struct nl **out, int flags);

/* arg is struct nl_link; messages about other objects do not change it. */
int nl_read_link(const struct nlmsghdr *nlh, void *arg);

/* Starts a link request. With index 0 an attribute selects the link, or the request is for all
 * links. */
struct nlmsghdr *nl_link_request(struct nl *nl, uint16_t type, uint16_t flags, int index);

/* Returns false if the message is not about a bridge port, or about a port other than `index`.
 * Skips malformed attributes. */
bool nl_read_port_vlans(const struct nlmsghdr *nlh, int index, struct vlan_set *out);

/* Returns false if the message is not an IPv4 or IPv6 address. */
bool nl_read_addr(const struct nlmsghdr *nlh, struct nl_addr *out);

/* Returns false if the message is not a unicast route of IPv4 or IPv6. */
bool nl_read_route(const struct nlmsghdr *nlh, struct nl_route *r);
