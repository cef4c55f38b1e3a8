// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rtnetlink notifications of links, addresses and routes on one socket, see netlink.h. Reports a
 * receive-buffer overrun, so that the caller reads everything again. A new kind of notification
 * needs a group in groups[], a row in readers[] and, to drop unwanted messages, a branch of the
 * socket filter. Control thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "io/netlink/netlink_mnl.h"

static const int groups[] = {
	RTNLGRP_LINK,	    RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
	RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
};

/* --- socket filter --- */

/* Offsets in a notification. A notification carries one message. */
#define TYPE_AT		(uint32_t) offsetof(struct nlmsghdr, nlmsg_type)
#define PORT_AT		(uint32_t) offsetof(struct nlmsghdr, nlmsg_pid)
#define RTM_PROTOCOL_AT (uint32_t)(sizeof(struct nlmsghdr) + offsetof(struct rtmsg, rtm_protocol))

/* The filter drops routes of other protocols (there may be a million) and the echo of own requests.
 * The kernel drops both before the buffer for links and addresses can fill. BPF loads half words
 * and words as big-endian. */
static int filter_routes(struct nl *m, uint8_t protocol, const struct nl *own)
{
	uint32_t own_port = htonl(mnl_socket_get_portid(own->sock));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, TYPE_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, RTM_PROTOCOL_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, protocol, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PORT_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_port, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = array_size(code), .filter = code };

	return setsockopt(mnl_socket_get_fd(m->sock), SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program)) < 0
		       ? -errno
		       : 0;
}

static int join_groups(struct nl *m)
{
	for (size_t i = 0; i < array_size(groups); i++) {
		int group = groups[i];

		if (mnl_socket_setsockopt(m->sock, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) <
		    0)
			return nl_errno_or(EIO);
	}
	return 0;
}

int nl_monitor_open(struct nl **out, uint8_t route_protocol, const struct nl *own)
{
	struct nl *m;
	int rc = nl_open_socket(&m, SOCK_NONBLOCK);

	if (rc < 0)
		return rc;
	rc = filter_routes(m, route_protocol, own);
	if (rc == 0)
		rc = join_groups(m);
	if (rc < 0) {
		nl_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

int nl_monitor_fd(const struct nl *m)
{
	return mnl_socket_get_fd(m->sock);
}

/* --- readers --- */

/* An AF_BRIDGE message describes the bridge port, not the link. */
static bool read_link(const struct nlmsghdr *nlh, struct nl_event *ev)
{
	if (((const struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_family != AF_UNSPEC)
		return false;
	nl_read_link(nlh, &ev->link);
	return true;
}

static bool read_port(const struct nlmsghdr *nlh, struct nl_event *ev)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);

	ev->link.index = ifi->ifi_index;
	return ifi->ifi_family == AF_BRIDGE;
}

static bool read_addr(const struct nlmsghdr *nlh, struct nl_event *ev)
{
	return nl_read_addr(nlh, &ev->addr);
}

static bool read_route(const struct nlmsghdr *nlh, struct nl_event *ev)
{
	struct nl_route route;

	if (!nl_read_route(nlh, &route))
		return false;
	ev->route_index = route.index;
	return true;
}

static const struct reader {
	uint16_t type;
	enum nl_change change;
	/* Returns false if the notification is irrelevant. */
	bool (*read)(const struct nlmsghdr *nlh, struct nl_event *ev);
} readers[] = {
	{ RTM_NEWLINK, NL_LINK_CHANGED, read_link },
	{ RTM_DELLINK, NL_LINK_GONE, read_link },
	{ RTM_NEWLINK, NL_PORT_CHANGED, read_port },
	{ RTM_DELLINK, NL_PORT_CHANGED, read_port },
	{ RTM_NEWADDR, NL_ADDR_ADDED, read_addr },
	{ RTM_DELADDR, NL_ADDR_GONE, read_addr },
	{ RTM_NEWROUTE, NL_ROUTE_CHANGED, read_route },
	{ RTM_DELROUTE, NL_ROUTE_CHANGED, read_route },
};

struct monitor_call {
	nl_event_fn fn;
	void *arg;
};

static int notify(const struct nlmsghdr *nlh, void *arg)
{
	struct monitor_call *call = arg;

	for (size_t i = 0; i < array_size(readers); i++) {
		struct nl_event ev = { .change = readers[i].change };

		if (readers[i].type == nlh->nlmsg_type && readers[i].read(nlh, &ev))
			call->fn(call->arg, &ev);
	}
	return MNL_CB_OK;
}

int nl_monitor_read(struct nl *m, nl_event_fn fn, void *arg)
{
	struct monitor_call call = { fn, arg };
	struct nl_event overrun = { .change = NL_OVERRUN };

	for (;;) {
		ssize_t n = mnl_socket_recvfrom(m->sock, m->buf, sizeof(m->buf));

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno == ENOBUFS) {
			fn(arg, &overrun);
			continue;
		}
		if (n < 0)
			return nl_errno_or(EIO);
		if (mnl_cb_run(m->buf, (size_t)n, 0, 0, notify, &call) < 0)
			return nl_errno_or(EIO);
	}
}
