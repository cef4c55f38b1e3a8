// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input from the kernel: netlink answers and notifications, and the error queue of a socket.
 * Strangers cause entries of that queue with ICMP errors. The input is {which (8)} and the data of
 * the kernel. Kernel calls are replaced. Answers have the sequence number of the request.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "base/defs.h"
#include "io/netlink/netlink.h"
#include "io/udp.h"

#define ERROR_CONTROL 64 /* control bytes of one entry of the error queue */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t *said;
static size_t said_len;
static unsigned seq;

/* Returns up to `max` bytes of the data. At its end errno is EAGAIN. */
static ssize_t hear(void *buf, size_t max)
{
	size_t n = min_of(max, said_len);

	if (!n) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, said, n);
	said += n;
	said_len -= n;
	return (ssize_t)n;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t size)
{
	struct nlmsghdr h;

	(void)nl;
	memcpy(&h, req, sizeof(h));
	seq = h.nlmsg_seq;
	return (ssize_t)size;
}

/* Corrects the answers to a request, so that each lies inside the datagram. libmnl 1.0.4 accepts a
 * length of 2^31 or more, which only the kernel could send. */
static void put_right(uint8_t *p, size_t left)
{
	struct nlmsghdr h;

	for (size_t n; left >= sizeof(h); p += n, left -= n) {
		memcpy(&h, p, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > left)
			h.nlmsg_len = (uint32_t)left;
		h.nlmsg_seq = seq;
		h.nlmsg_pid = 0;
		memcpy(p, &h, sizeof(h));
		n = min_of((h.nlmsg_len + (size_t)3) & ~(size_t)3, left);
	}
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t size)
{
	ssize_t n = hear(buf, min_of(size, (size_t)2048));

	(void)nl;
	if (n > 0)
		put_right(buf, (size_t)n);
	return n;
}

ssize_t recvmsg(int fd, struct msghdr *mh, int flags)
{
	ssize_t n;

	(void)fd;
	(void)flags;
	n = hear(mh->msg_name, min_of(mh->msg_namelen, 28u));
	if (n < 0)
		return -1;
	n = hear(mh->msg_control, min_of(mh->msg_controllen, (size_t)ERROR_CONTROL));
	mh->msg_controllen = n > 0 ? (size_t)n : 0;
	return 0;
}

static void on_route(void *arg, const struct nl_route *r)
{
	(void)arg;
	if (r->protocol != 76)
		abort();
}

static void on_event(void *arg, const struct nl_event *e)
{
	(void)arg;
	if (strlen(e->link.name) > NL_NAME_MAX)
		abort();
}

static void on_link(void *arg, const struct nl_link *link)
{
	(void)arg;
	if (strlen(link->name) > NL_NAME_MAX || link->vlan_id >= VLAN_IDS)
		abort();
}

static void change_routes(struct nl *nl)
{
	struct nl_route_change change[2] = {
		{ .op = NL_ROUTE_ADD, .route = { .dst = { { 4, { 10 } }, 8 }, .table = 254 } },
		{ .op = NL_ROUTE_DELETE, .route = { .dst = { { 6, { 0xfd } }, 8 }, .table = 254 } },
	};

	nl_routes_change(nl, change, 2);
}

static void look_up(struct nl *nl)
{
	static const struct ip_addr ip = { 4, { 10 } };
	struct nl_lookup l;

	if (nl_route_lookup(nl, &ip, 0, 7, &l) == 0 && l.leads_elsewhere && !l.alive)
		abort();
}

static void read_errors(void)
{
	struct udp_error e;

	while (udp_error_next(-1, &e))
		if (e.to.ip.family != 4 && e.to.ip.family != 6 && !endpoint_is_stream(&e.to))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct nl *nl;
	static struct nl *monitor;
	struct nl_addr addr[4];
	struct nl_link link;
	struct vlan_set vlans;

	if (!nl && (nl_open(&nl) < 0 || nl_monitor_open(&monitor, 76, nl) < 0))
		abort();
	if (len < 1)
		return 0;
	said = data + 1;
	said_len = len - 1;
	switch (data[0]) {
	case 0:
		nl_link_by_index(nl, 1, &link);
		break;
	case 1:
		nl_addrs(nl, 0, addr, array_size(addr));
		break;
	case 2:
		nl_routes(nl, 76, 0, on_route, NULL);
		break;
	case 3:
		nl_monitor_read(monitor, on_event, NULL);
		break;
	case 4:
		change_routes(nl);
		break;
	case 5:
		read_errors();
		break;
	case 6:
		look_up(nl);
		break;
	case 7:
		nl_port_vlans(nl, 3, &vlans);
		break;
	case 8:
		nl_links(nl, on_link, NULL);
		break;
	default:
		break;
	}
	return 0;
}
