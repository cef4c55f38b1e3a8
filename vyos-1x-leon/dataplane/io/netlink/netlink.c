// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rtnetlink over libmnl: links of netlink.h. Addresses are in netlink_addr.c, bridge ports in
 * netlink_bridge.c, routes in netlink_route.c, notifications in netlink_monitor.c. Control thread.
 * Each request carries a sequence number and waits for its own acknowledgement, at most
 * NL_TIMEOUT_MS. The kernel works inside sendmsg() and waits there for its RTNL lock, without a
 * limit.
 */
#include "io/netlink/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/netlink/netlink_mnl.h"

#define NL_TIMEOUT_MS 2000
#define IFF_TAP_TYPE  2 /* IFLA_TUN_TYPE of a TAP: IFF_TAP of linux/if_tun.h */

int nl_open_socket(struct nl **out, int flags)
{
	struct nl *nl = x_new(struct nl);
	int rc;

	nl->sock = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = nl_errno_or(EIO);
		nl_close(nl);
		return rc;
	}
	*out = nl;
	return 0;
}

int nl_open(struct nl **out)
{
	struct timeval tv = { .tv_sec = NL_TIMEOUT_MS / 1000 };
	struct nl *nl;
	int rc = nl_open_socket(&nl, 0);

	if (rc < 0)
		return rc;
	if (setsockopt(mnl_socket_get_fd(nl->sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0) {
		rc = -errno;
		nl_close(nl);
		return rc;
	}
	nl->seq = (unsigned)time(NULL);
	*out = nl;
	return 0;
}

void nl_close(struct nl *nl)
{
	if (!nl)
		return;
	if (nl->sock)
		mnl_socket_close(nl->sock);
	free(nl);
}

struct nlmsghdr *nl_request(void *buf, uint16_t type, uint16_t flags, size_t body_len)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	mnl_nlmsg_put_extra_header(nlh, body_len);
	return nlh;
}

int nl_transact(struct nl *nl, struct nlmsghdr *nlh, mnl_cb_t cb, void *arg)
{
	unsigned port = mnl_socket_get_portid(nl->sock);
	ssize_t n;
	int rc;

	nlh->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->sock, nlh, nlh->nlmsg_len) < 0)
		return nl_errno_or(EIO);
	do {
		n = mnl_socket_recvfrom(nl->sock, nl->buf, sizeof(nl->buf));
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : nl_errno_or(EIO);
		errno = 0;
		rc = mnl_cb_run(nl->buf, (size_t)n, nl->seq, port, cb, arg);
		/* An answer to a request that timed out earlier is skipped. */
		if (rc < 0 && (errno == EPROTO || errno == ESRCH))
			rc = MNL_CB_OK;
	} while (rc >= MNL_CB_OK);
	return rc == MNL_CB_ERROR ? nl_errno_or(EIO) : 0;
}

/* --- links --- */

struct info_scan {
	struct nl_link *link;
	const struct nlattr *data;
	bool is_8021ad; /* 802.1ad service tags; LEON carries them as part of the frame */
};

/* Copies a text, truncated at the end of the buffer. */
static void get_text(const struct nlattr *a, char *out, size_t size)
{
	size_t n = strnlen(mnl_attr_get_str(a), mnl_attr_get_payload_len(a));

	snprintf(out, size, "%.*s", (int)n, mnl_attr_get_str(a));
}

/* The meaning of an attribute depends on the kind of the link. */
static int read_data_attr(const struct nlattr *a, void *arg)
{
	struct info_scan *scan = arg;
	struct nl_link *l = scan->link;
	uint16_t type = mnl_attr_get_type(a);

	if (strcmp(l->kind, "tun") == 0 && type == IFLA_TUN_TYPE)
		l->tun_is_tap = nl_u8(a) == IFF_TAP_TYPE;
	else if (strcmp(l->kind, "tun") == 0 && type == IFLA_TUN_NUM_QUEUES)
		l->tun_queues = nl_u32(a);
	else if (strcmp(l->kind, "vrf") == 0 && type == IFLA_VRF_TABLE)
		l->vrf_table = nl_u32(a);
	else if (strcmp(l->kind, "bridge") == 0 && type == IFLA_BR_VLAN_FILTERING)
		l->vlan_filtering = nl_u8(a);
	else if (strcmp(l->kind, "bridge") == 0 && type == IFLA_BR_VLAN_PROTOCOL)
		l->vlan_protocol = ntohs(nl_u16(a));
	else if (strcmp(l->kind, "vlan") == 0 && type == IFLA_VLAN_ID)
		l->vlan_id = nl_u16(a) % VLAN_IDS;
	else if (strcmp(l->kind, "vlan") == 0 && type == IFLA_VLAN_PROTOCOL)
		scan->is_8021ad = nl_u16(a) != htons(ETH_P_8021Q);
	return MNL_CB_OK;
}

static int read_info_attr(const struct nlattr *a, void *arg)
{
	struct info_scan *scan = arg;
	uint16_t type = mnl_attr_get_type(a);

	if (type == IFLA_INFO_DATA)
		scan->data = a;
	else if (mnl_attr_validate(a, MNL_TYPE_STRING) < 0)
		return MNL_CB_OK;
	else if (type == IFLA_INFO_KIND)
		get_text(a, scan->link->kind, sizeof(scan->link->kind));
	else if (type == IFLA_INFO_SLAVE_KIND)
		scan->link->in_vrf =
			strncmp(mnl_attr_get_str(a), "vrf", mnl_attr_get_payload_len(a)) == 0;
	return MNL_CB_OK;
}

static void read_info(const struct nlattr *info, struct nl_link *l)
{
	struct info_scan scan = { .link = l };

	mnl_attr_parse_nested(info, read_info_attr, &scan);
	if (scan.data)
		mnl_attr_parse_nested(scan.data, read_data_attr, &scan);
	if (scan.is_8021ad)
		l->vlan_id = 0;
}

static int read_link_attr(const struct nlattr *a, void *arg)
{
	struct nl_link *l = arg;

	switch (mnl_attr_get_type(a)) {
	case IFLA_IFNAME:
		get_text(a, l->name, sizeof(l->name));
		break;
	case IFLA_MTU:
		l->mtu = nl_u32(a);
		break;
	case IFLA_MASTER:
		l->master = (int)nl_u32(a);
		break;
	case IFLA_LINK:
		l->lower = (int)nl_u32(a);
		break;
	case IFLA_LINK_NETNSID:
		l->lower_elsewhere = true;
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(a) == MAC_LEN)
			memcpy(l->mac.b, mnl_attr_get_payload(a), MAC_LEN);
		break;
	case IFLA_LINKINFO:
		read_info(a, l);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static bool is_stacked(const char *kind)
{
	static const char *const kinds[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap" };

	for (size_t i = 0; i < array_size(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

int nl_read_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct nl_link *l = arg;

	if (nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK)
		return MNL_CB_OK;
	*l = (struct nl_link){ .index = ifi->ifi_index,
			       .up = ifi->ifi_flags & IFF_UP,
			       .running = ifi->ifi_flags & IFF_RUNNING };
	mnl_attr_parse(nlh, sizeof(*ifi), read_link_attr, l);
	/* IFLA_LINK of other kinds may be a peer in another namespace. The kernel sets
	 * IFLA_LINK_NETNSID only if the link is in another namespace. */
	if (!is_stacked(l->kind) || l->lower_elsewhere)
		l->lower = 0;
	return MNL_CB_OK;
}

struct nlmsghdr *nl_link_request(struct nl *nl, uint16_t type, uint16_t flags, int index)
{
	struct nlmsghdr *nlh = nl_request(nl->request, type, flags, sizeof(struct ifinfomsg));

	((struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_index = index;
	return nlh;
}

static int get_link(struct nl *nl, const char *name, int index, struct nl_link *out)
{
	struct nl_link link = { 0 };
	struct nlmsghdr *nlh = nl_link_request(nl, RTM_GETLINK, NLM_F_ACK, index);
	int rc;

	if (name)
		mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	rc = nl_transact(nl, nlh, nl_read_link, &link);
	if (rc < 0)
		return rc;
	if (!link.index)
		return -ENODEV;
	*out = link;
	return 0;
}

int nl_link_by_name(struct nl *nl, const char *name, struct nl_link *out)
{
	if (!*name || strlen(name) > NL_NAME_MAX)
		return -ENODEV;
	return get_link(nl, name, 0, out);
}

int nl_link_by_index(struct nl *nl, int index, struct nl_link *out)
{
	return index > 0 ? get_link(nl, NULL, index, out) : -ENODEV;
}

struct link_scan {
	nl_link_fn fn;
	void *arg;
};

static int each_link(const struct nlmsghdr *nlh, void *arg)
{
	struct link_scan *scan = arg;
	struct nl_link link = { 0 };

	nl_read_link(nlh, &link);
	if (link.index)
		scan->fn(scan->arg, &link);
	return MNL_CB_OK;
}

int nl_links(struct nl *nl, nl_link_fn fn, void *arg)
{
	struct link_scan scan = { fn, arg };
	struct nlmsghdr *nlh = nl_link_request(nl, RTM_GETLINK, NLM_F_DUMP, 0);

	return nl_transact(nl, nlh, each_link, &scan);
}

uint32_t nl_link_table(struct nl *nl, const struct nl_link *link)
{
	struct nl_link master;

	if (link->vrf_table)
		return link->vrf_table;
	if (link->master && nl_link_by_index(nl, link->master, &master) == 0 && master.vrf_table)
		return master.vrf_table;
	return NL_TABLE_MAIN;
}

static int set_link(struct nl *nl, int index, uint16_t attr, const void *value, size_t len)
{
	struct nlmsghdr *nlh = nl_link_request(nl, RTM_SETLINK, NLM_F_ACK, index);

	mnl_attr_put(nlh, attr, len, value);
	return nl_transact(nl, nlh, NULL, NULL);
}

int nl_link_set_mtu(struct nl *nl, int index, uint32_t mtu)
{
	return set_link(nl, index, IFLA_MTU, &mtu, sizeof(mtu));
}

int nl_link_set_mac(struct nl *nl, int index, struct mac mac)
{
	return set_link(nl, index, IFLA_ADDRESS, mac.b, MAC_LEN);
}

int nl_link_set_master(struct nl *nl, int index, int master)
{
	return set_link(nl, index, IFLA_MASTER, &master, sizeof(master));
}

int nl_link_set_up(struct nl *nl, int index, bool up)
{
	struct nlmsghdr *nlh = nl_link_request(nl, RTM_SETLINK, NLM_F_ACK, index);
	struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);

	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	return nl_transact(nl, nlh, NULL, NULL);
}
