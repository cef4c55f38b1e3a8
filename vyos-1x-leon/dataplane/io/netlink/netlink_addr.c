// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of netlink.h: dumps and changes. Control thread, and the thread of leon-accel.
 */
#include "io/netlink/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "io/netlink/netlink_mnl.h"

struct addr_scan {
	struct nl_addr addr;
	uint32_t flags;
	bool has_local;
};

static int read_addr_attr(const struct nlattr *a, void *arg)
{
	struct addr_scan *scan = arg;
	uint16_t type = mnl_attr_get_type(a);
	size_t want = scan->addr.ip.family == 4 ? 4 : 16;

	if (type == IFA_PROTO)
		scan->addr.protocol = nl_u8(a);
	if (type == IFA_FLAGS && mnl_attr_validate(a, MNL_TYPE_U32) == 0)
		scan->flags = mnl_attr_get_u32(a);
	if ((type != IFA_LOCAL && type != IFA_ADDRESS) || mnl_attr_get_payload_len(a) != want)
		return MNL_CB_OK;
	/* On a point-to-point link IFA_ADDRESS is the remote address and IFA_LOCAL the own one. */
	if (type == IFA_ADDRESS && scan->has_local)
		return MNL_CB_OK;
	memcpy(scan->addr.ip.b, mnl_attr_get_payload(a), want);
	scan->has_local = type == IFA_LOCAL;
	return MNL_CB_OK;
}

bool nl_read_addr(const struct nlmsghdr *nlh, struct nl_addr *out)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	struct addr_scan scan = { 0 };

	if (ifa->ifa_family != AF_INET && ifa->ifa_family != AF_INET6)
		return false;
	scan.flags = ifa->ifa_flags;
	scan.addr.index = (int)ifa->ifa_index;
	scan.addr.ip.family = ifa->ifa_family == AF_INET ? 4 : 6;
	scan.addr.prefix_len = ifa->ifa_prefixlen;
	scan.addr.link_scope = ifa->ifa_scope >= RT_SCOPE_LINK;
	mnl_attr_parse(nlh, sizeof(*ifa), read_addr_attr, &scan);
	scan.addr.tentative = scan.flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED);
	scan.addr.deprecated = scan.flags & IFA_F_DEPRECATED;
	*out = scan.addr;
	return true;
}

struct addr_list {
	int index;
	struct nl_addr *out;
	size_t max;
	int n;
};

static int collect_addr(const struct nlmsghdr *nlh, void *arg)
{
	struct addr_list *list = arg;
	struct nl_addr a;

	if (nlh->nlmsg_type != RTM_NEWADDR || !nl_read_addr(nlh, &a))
		return MNL_CB_OK;
	if (list->index && a.index != list->index)
		return MNL_CB_OK;
	if ((size_t)list->n < list->max)
		list->out[list->n] = a;
	list->n++;
	return MNL_CB_OK;
}

static int dump_addrs(struct nl *nl, mnl_cb_t take, void *arg)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));

	return nl_transact(nl, nlh, take, arg);
}

int nl_addrs(struct nl *nl, int index, struct nl_addr *out, size_t max)
{
	struct addr_list list = { index, out, max, 0 };
	int rc = dump_addrs(nl, collect_addr, &list);

	return rc < 0 ? rc : list.n;
}

struct addr_search {
	const struct ip_addr *ip;
	int found;
};

static int match_addr(const struct nlmsghdr *nlh, void *arg)
{
	struct addr_search *search = arg;
	struct nl_addr a;

	if (nlh->nlmsg_type == RTM_NEWADDR && nl_read_addr(nlh, &a) && !a.tentative &&
	    ip_equal(&a.ip, search->ip))
		search->found = 1;
	return MNL_CB_OK;
}

int nl_has_addr(struct nl *nl, const struct ip_addr *ip)
{
	struct addr_search search = { ip, 0 };
	int rc = dump_addrs(nl, match_addr, &search);

	return rc < 0 ? rc : search.found;
}

static int change_addr(struct nl *nl, uint16_t type, uint16_t flags, uint8_t addr_flags,
		       const struct nl_addr *a)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, type, NLM_F_ACK | flags, sizeof(struct ifaddrmsg));
	struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);

	ifa->ifa_family = nl_family(a->ip.family);
	ifa->ifa_prefixlen = a->prefix_len;
	ifa->ifa_flags = addr_flags;
	ifa->ifa_index = (uint32_t)a->index;
	nl_put_ip(nlh, IFA_LOCAL, &a->ip);
	nl_put_ip(nlh, IFA_ADDRESS, &a->ip);
	if (a->protocol)
		mnl_attr_put_u8(nlh, IFA_PROTO, a->protocol);
	return nl_transact(nl, nlh, NULL, NULL);
}

int nl_addr_add(struct nl *nl, const struct nl_addr *a, bool detect_duplicates)
{
	bool skip_dad = a->ip.family == 6 && !detect_duplicates;
	int r = change_addr(nl, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, skip_dad ? IFA_F_NODAD : 0,
			    a);

	return r == -EEXIST ? 0 : r;
}

int nl_addr_delete(struct nl *nl, const struct nl_addr *a)
{
	int r = change_addr(nl, RTM_DELADDR, 0, 0, a);

	return r == -EADDRNOTAVAIL ? 0 : r;
}
