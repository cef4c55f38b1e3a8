// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routes of netlink.h: changes in batches, dumps and lookups. Control thread.
 */
#include "io/netlink/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "io/netlink/netlink_mnl.h"

#define NL_BATCH 64 /* requests in a datagram; the answers fit the receive buffer */

static struct nlmsghdr *put_route(void *buf, const struct nl_route_change *c)
{
	const struct nl_route *r = &c->route;
	uint16_t type = c->op == NL_ROUTE_DELETE ? RTM_DELROUTE : RTM_NEWROUTE;
	struct nlmsghdr *nlh = nl_request(buf, type, NLM_F_ACK, sizeof(struct rtmsg));
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	if (c->op == NL_ROUTE_ADD)
		nlh->nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
	if (c->op == NL_ROUTE_REPLACE)
		nlh->nlmsg_flags |= NLM_F_CREATE | NLM_F_REPLACE;
	rtm->rtm_family = nl_family(r->dst.ip.family);
	rtm->rtm_dst_len = r->dst.len;
	rtm->rtm_table = r->table <= 0xff ? (uint8_t)r->table : RT_TABLE_UNSPEC;
	rtm->rtm_protocol = r->protocol;
	rtm->rtm_type = RTN_UNICAST;
	rtm->rtm_scope = r->gateway.family ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
	if (r->gateway.family)
		rtm->rtm_flags = RTNH_F_ONLINK;
	nl_put_ip(nlh, RTA_DST, &r->dst.ip);
	if (r->gateway.family)
		nl_put_ip(nlh, RTA_GATEWAY, &r->gateway);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)r->index);
	mnl_attr_put_u32(nlh, RTA_PRIORITY, r->metric);
	mnl_attr_put_u32(nlh, RTA_TABLE, r->table);
	return nlh;
}

/* Reads answers to all of change[0..n); sequence numbers start at `first`. */
static int read_results(struct nl *nl, struct nl_route_change *change, size_t n, unsigned first)
{
	size_t missing = n;

	while (missing) {
		ssize_t got = mnl_socket_recvfrom(nl->sock, nl->buf, sizeof(nl->buf));
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)nl->buf;
		int left = (int)got;

		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : nl_errno_or(EIO);
		for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
			size_t i = nlh->nlmsg_seq - first;

			if (nlh->nlmsg_type != NLMSG_ERROR || i >= n)
				continue;
			change[i].result = e->error;
			missing--;
		}
	}
	return 0;
}

static int change_some(struct nl *nl, struct nl_route_change *change, size_t n)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_BATCH * 128];
	unsigned first = nl->seq + 1;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		struct nlmsghdr *nlh = put_route(buf + at, &change[i]);

		nlh->nlmsg_seq = ++nl->seq;
		at += (nlh->nlmsg_len + 3u) & ~3u;
	}
	if (mnl_socket_sendto(nl->sock, buf, at) < 0)
		return nl_errno_or(EIO);
	return read_results(nl, change, n, first);
}

int nl_routes_change(struct nl *nl, struct nl_route_change *change, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		change[i].result = -ECANCELED;
	for (size_t i = 0; i < n && rc == 0; i += NL_BATCH)
		rc = change_some(nl, change + i, min_of(n - i, (size_t)NL_BATCH));
	return rc;
}

static int read_route_attr(const struct nlattr *a, void *arg)
{
	struct nl_route *r = arg;
	uint16_t len = mnl_attr_get_payload_len(a);
	struct ip_addr *ip = NULL;

	switch (mnl_attr_get_type(a)) {
	case RTA_DST:
		ip = &r->dst.ip;
		break;
	case RTA_GATEWAY:
		ip = &r->gateway;
		break;
	case RTA_OIF:
		r->index = (int)nl_u32(a);
		break;
	case RTA_PRIORITY:
		r->metric = nl_u32(a);
		break;
	case RTA_TABLE:
		if (mnl_attr_validate(a, MNL_TYPE_U32) == 0)
			r->table = mnl_attr_get_u32(a);
		break;
	default:
		break;
	}
	if (ip && len == (r->dst.ip.family == 4 ? 4 : 16)) {
		ip->family = r->dst.ip.family;
		memcpy(ip->b, mnl_attr_get_payload(a), len);
	}
	return MNL_CB_OK;
}

bool nl_read_route(const struct nlmsghdr *nlh, struct nl_route *r)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	if ((rtm->rtm_family != AF_INET && rtm->rtm_family != AF_INET6) ||
	    rtm->rtm_type != RTN_UNICAST || (rtm->rtm_flags & RTM_F_CLONED))
		return false;
	*r = (struct nl_route){
		.dst = { .ip.family = rtm->rtm_family == AF_INET ? 4 : 6, .len = rtm->rtm_dst_len },
		.table = rtm->rtm_table,
		.protocol = rtm->rtm_protocol,
	};
	return mnl_attr_parse(nlh, sizeof(*rtm), read_route_attr, r) == MNL_CB_OK;
}

struct route_scan {
	struct nl_route wanted;
	nl_route_fn fn;
	void *arg;
};

static int collect_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct route_scan *scan = arg;
	struct nl_route r;

	if (nlh->nlmsg_type == RTM_NEWROUTE && nl_read_route(nlh, &r) &&
	    r.protocol == scan->wanted.protocol && r.index == scan->wanted.index)
		scan->fn(scan->arg, &r);
	return MNL_CB_OK;
}

static int scan_routes(struct nl *nl, uint8_t family, struct route_scan *scan)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, RTM_GETROUTE, NLM_F_DUMP, sizeof(struct rtmsg));
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	rtm->rtm_family = family;
	/* With strict checking the kernel filters the dump; without it, this code does. */
	rtm->rtm_protocol = scan->wanted.protocol;
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)scan->wanted.index);
	return nl_transact(nl, nlh, collect_route, scan);
}

int nl_routes(struct nl *nl, uint8_t protocol, int index, nl_route_fn fn, void *arg)
{
	struct route_scan scan = {
		.wanted = { .protocol = protocol, .index = index },
		.fn = fn,
		.arg = arg,
	};
	int rc, strict = 1;

	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &strict, sizeof(strict));
	rc = scan_routes(nl, AF_INET, &scan);
	if (rc == 0)
		rc = scan_routes(nl, AF_INET6, &scan);
	strict = 0;
	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &strict, sizeof(strict));
	/* EAFNOSUPPORT: a kernel without IPv6. */
	return rc == -EAFNOSUPPORT ? 0 : rc;
}

/* --- FIB lookup --- */

#define RTNH_F_UNUSABLE (RTNH_F_DEAD | RTNH_F_LINKDOWN)

struct next_hops {
	int index;
	const struct nlattr *multipath; /* NULL: one next-hop */
};

static int read_next_hops(const struct nlattr *a, void *arg)
{
	struct next_hops *hops = arg;

	if (mnl_attr_get_type(a) == RTA_OIF)
		hops->index = (int)nl_u32(a);
	if (mnl_attr_get_type(a) == RTA_MULTIPATH)
		hops->multipath = a;
	return MNL_CB_OK;
}

static void note_next_hop(struct nl_lookup *l, int index, unsigned flags)
{
	if (flags & RTNH_F_UNUSABLE)
		return;
	l->index = index;
	l->alive = true;
	l->leads_elsewhere = l->leads_elsewhere || index != l->own_index;
}

/* The first live next-hop represents all of them. */
static void read_multipath(const struct nlattr *a, struct nl_lookup *l)
{
	const struct rtnexthop *nh = mnl_attr_get_payload(a);
	int left = mnl_attr_get_payload_len(a);

	for (; left >= (int)sizeof(*nh) && RTNH_OK(nh, left);
	     left -= RTNH_ALIGN(nh->rtnh_len), nh = RTNH_NEXT(nh))
		note_next_hop(l, nh->rtnh_ifindex, nh->rtnh_flags);
}

static int read_lookup(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct next_hops hops = { 0 };
	struct nl_lookup *l = arg;

	if (nlh->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	/* A kernel without RTM_F_FIB_MATCH answers with the resolved route. */
	l->kind = rtm->rtm_flags & RTM_F_CLONED	 ? NL_LOOKUP_UNKNOWN
		  : rtm->rtm_type == RTN_LOCAL	 ? NL_LOOKUP_LOCAL
		  : rtm->rtm_type == RTN_UNICAST ? NL_LOOKUP_UNICAST
						 : NL_LOOKUP_OF_LINK;
	l->prefix_len = rtm->rtm_dst_len;
	l->protocol = rtm->rtm_protocol;
	mnl_attr_parse(nlh, sizeof(*rtm), read_next_hops, &hops);
	if (hops.multipath)
		read_multipath(hops.multipath, l);
	else
		note_next_hop(l, hops.index, rtm->rtm_flags);
	return MNL_CB_OK;
}

int nl_route_lookup(struct nl *nl, const struct ip_addr *ip, int vrf, int own_index,
		    struct nl_lookup *out)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, RTM_GETROUTE, NLM_F_ACK, sizeof(struct rtmsg));
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	int rc;

	*out = (struct nl_lookup){ .own_index = own_index };
	rtm->rtm_family = nl_family(ip->family);
	rtm->rtm_dst_len = prefix_host_len(ip);
	rtm->rtm_flags = RTM_F_FIB_MATCH;
	nl_put_ip(nlh, RTA_DST, ip);
	if (vrf)
		mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)vrf);
	rc = nl_transact(nl, nlh, read_lookup, out);
	switch (rc) {
	case -EINVAL: /* the kernel's answer for a blackhole route */
		out->kind = NL_LOOKUP_BLACKHOLE;
		return 0;
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EACCES: /* prohibit route */
	case -EAGAIN: /* throw route without a following match */
		out->kind = NL_LOOKUP_NONE;
		return 0;
	default:
		return rc;
	}
}

/* --- next hop --- */

static int read_next_hop_attr(const struct nlattr *a, void *arg)
{
	struct nl_next_hop *hop = arg;
	struct ip_addr *ip = NULL;

	if (mnl_attr_get_type(a) == RTA_GATEWAY)
		ip = &hop->gateway;
	if (mnl_attr_get_type(a) == RTA_PREFSRC)
		ip = &hop->source;
	if (ip && mnl_attr_get_payload_len(a) == 4) {
		ip->family = 4;
		memcpy(ip->b, mnl_attr_get_payload(a), 4);
	}
	return MNL_CB_OK;
}

static int read_next_hop(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type == RTM_NEWROUTE && rtm->rtm_family == AF_INET &&
	    rtm->rtm_type == RTN_UNICAST)
		mnl_attr_parse(nlh, sizeof(*rtm), read_next_hop_attr, arg);
	return MNL_CB_OK;
}

int nl_next_hop(struct nl *nl, const struct nl_flow *flow, struct nl_next_hop *out)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, RTM_GETROUTE, NLM_F_ACK, sizeof(struct rtmsg));
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	int rc;

	*out = (struct nl_next_hop){ .gateway.family = 0 };
	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = 32;
	nl_put_ip(nlh, RTA_DST, &flow->to);
	if (flow->from.family == 4) {
		rtm->rtm_src_len = 32;
		nl_put_ip(nlh, RTA_SRC, &flow->from);
	}
	if (flow->index)
		mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)flow->index);
	if (flow->mark)
		mnl_attr_put_u32(nlh, RTA_MARK, flow->mark);
	rc = nl_transact(nl, nlh, read_next_hop, out);
	if (out->source.family == 0)
		out->source = flow->from;
	switch (rc) {
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EACCES:
	case -EINVAL: /* a blackhole route, or the address is gone */
		return 0;
	default:
		return rc;
	}
}
