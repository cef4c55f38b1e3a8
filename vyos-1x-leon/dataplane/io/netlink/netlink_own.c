// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configures a private network namespace, see netlink.h.
 */
#include "io/netlink/netlink.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include "io/netlink/netlink_mnl.h"

#define NEW (NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL)

/* EEXIST is success. */
static int run(struct nl *nl, struct nlmsghdr *nlh)
{
	int rc = nl_transact(nl, nlh, NULL, NULL);

	return rc == -EEXIST ? 0 : rc;
}

static struct nlmsghdr *route(struct nl *nl, uint8_t family, uint8_t type, int index,
			      uint32_t table)
{
	struct nlmsghdr *nlh = nl_request(nl->request, RTM_NEWROUTE, NEW, sizeof(struct rtmsg));
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	rtm->rtm_family = nl_family(family);
	rtm->rtm_table = RT_TABLE_UNSPEC;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_type = type;
	rtm->rtm_scope = type == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_LINK;
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)index);
	mnl_attr_put_u32(nlh, RTA_TABLE, table);
	return nlh;
}

static int add_rule(struct nl *nl, uint8_t family, const char *device, uint32_t table)
{
	struct nlmsghdr *nlh =
		nl_request(nl->request, RTM_NEWRULE, NEW, sizeof(struct fib_rule_hdr));
	struct fib_rule_hdr *h = mnl_nlmsg_get_payload(nlh);

	h->family = nl_family(family);
	h->action = FR_ACT_TO_TBL;
	h->table = RT_TABLE_UNSPEC;
	mnl_attr_put_strz(nlh, FRA_IIFNAME, device);
	mnl_attr_put_u32(nlh, FRA_TABLE, table);
	mnl_attr_put_u32(nlh, FRA_PRIORITY, 5);
	return run(nl, nlh);
}

int nl_all_is_local(struct nl *nl, uint8_t family, const char *device, int index, uint32_t table)
{
	int rc = run(nl, route(nl, family, RTN_LOCAL, index, table));

	return rc < 0 ? rc : add_rule(nl, family, device, table);
}

int nl_default_route(struct nl *nl, uint8_t family, int index, uint32_t metric)
{
	struct nlmsghdr *nlh = route(nl, family, RTN_UNICAST, index, NL_TABLE_MAIN);

	mnl_attr_put_u32(nlh, RTA_PRIORITY, metric);
	return run(nl, nlh);
}

int nl_host_route(struct nl *nl, int index, const struct ip_addr *ip, const struct nl_route_tcp *t)
{
	struct nlmsghdr *nlh = route(nl, ip->family, RTN_UNICAST, index, NL_TABLE_MAIN);
	struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct nlattr *metrics;

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	rtm->rtm_dst_len = prefix_host_len(ip);
	nl_put_ip(nlh, RTA_DST, ip);
	metrics = mnl_attr_nest_start(nlh, RTA_METRICS);
	mnl_attr_put_u32(nlh, RTAX_MTU, t->mtu);
	mnl_attr_put_u32(nlh, RTAX_ADVMSS, t->mss);
	mnl_attr_put_u32(nlh, RTAX_INITCWND, t->segments);
	mnl_attr_nest_end(nlh, metrics);
	return nl_transact(nl, nlh, NULL, NULL);
}
