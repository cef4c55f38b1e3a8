// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notifications of rtnetlink: links, addresses and routes that change, as netlink.h has
 * them. Control thread. What overran the socket's buffer is said, so that the caller
 * asks for everything anew.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/netlink_mnl.h"

struct nl_monitor {
	struct mnl_socket *sock;
	uint8_t buf[NL_BUFFER];
};

int nl_monitor_open(struct nl_monitor **out)
{
	struct nl_monitor *m = x_new(struct nl_monitor);
	int rc = nl_open_socket(&m->sock, SOCK_NONBLOCK,
				RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);

	if (rc < 0) {
		nl_monitor_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

/* Offsets in a notification, which carries one message. */
#define RTM_PROTOCOL_AT (uint32_t)(sizeof(struct nlmsghdr) + offsetof(struct rtmsg, rtm_protocol))
#define NL_PORT_AT	(uint32_t) offsetof(struct nlmsghdr, nlmsg_pid)

int nl_monitor_open_routes(struct nl_monitor **out, uint8_t protocol, const struct nl *own)
{
	/* Words are loaded as if they were big-endian. */
	uint32_t own_port = htonl(mnl_socket_get_portid(own->sock));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, RTM_PROTOCOL_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, protocol, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NL_PORT_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_port, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = array_size(code), .filter = code };
	struct nl_monitor *m = x_new(struct nl_monitor);
	int rc = nl_open_socket(&m->sock, SOCK_NONBLOCK, RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);

	if (rc == 0 && setsockopt(mnl_socket_get_fd(m->sock), SOL_SOCKET, SO_ATTACH_FILTER,
				  &program, sizeof(program)) < 0)
		rc = -errno;
	if (rc < 0) {
		nl_monitor_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

void nl_monitor_close(struct nl_monitor *m)
{
	if (!m)
		return;
	if (m->sock)
		mnl_socket_close(m->sock);
	free(m);
}

int nl_monitor_fd(const struct nl_monitor *m)
{
	return mnl_socket_get_fd(m->sock);
}

struct monitor_call {
	nl_event_fn fn;
	void *arg;
};

static int notify(const struct nlmsghdr *nlh, void *arg)
{
	struct monitor_call *call = arg;
	struct nl_event ev = { 0 };
	struct nl_route route;

	switch (nlh->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		/* Messages of AF_BRIDGE are about the port, not about the link. */
		if (((const struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_family != AF_UNSPEC)
			return MNL_CB_OK;
		ev.change = nlh->nlmsg_type == RTM_NEWLINK ? NL_LINK_CHANGED : NL_LINK_GONE;
		nl_read_link(nlh, &ev.link);
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		ev.change = nlh->nlmsg_type == RTM_NEWADDR ? NL_ADDR_ADDED : NL_ADDR_GONE;
		if (!nl_read_addr(nlh, &ev.addr))
			return MNL_CB_OK;
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		if (!nl_read_route(nlh, &route))
			return MNL_CB_OK;
		ev.change = NL_ROUTE_CHANGED;
		ev.route_index = route.index;
		break;
	default:
		return MNL_CB_OK;
	}
	call->fn(call->arg, &ev);
	return MNL_CB_OK;
}

int nl_monitor_read(struct nl_monitor *m, nl_event_fn fn, void *arg)
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
