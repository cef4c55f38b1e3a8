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

int nl_open_socket(struct mnl_socket **out, int flags)
{
	struct mnl_socket *sock = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	int rc;

	if (!sock)
		return nl_errno_or(EIO);
	if (mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = nl_errno_or(EIO);
		mnl_socket_close(sock);
		return rc;
	}
	*out = sock;
	return 0;
}

int nl_open(struct nl **out)
{
	struct timeval tv = { .tv_sec = NL_TIMEOUT_MS / 1000 };
	struct nl *nl = x_new(struct nl);
	int rc = nl_open_socket(&nl->sock, 0);

	if (rc < 0) {
		nl_close(nl);
		return rc;
	}
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

static int read_tun_attr(const struct nlattr *a, void *arg)
{
	struct nl_link *l = arg;

	switch (mnl_attr_get_type(a)) {
	case IFLA_TUN_TYPE:
		if (mnl_attr_validate(a, MNL_TYPE_U8) == 0)
			l->tun_is_tap = mnl_attr_get_u8(a) == IFF_TAP_TYPE;
		break;
	case IFLA_TUN_NUM_QUEUES:
		if (mnl_attr_validate(a, MNL_TYPE_U32) == 0)
			l->tun_queues = mnl_attr_get_u32(a);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

struct info_scan {
	struct nl_link *link;
	const struct nlattr *data;
};

static int read_info_attr(const struct nlattr *a, void *arg)
{
	struct info_scan *scan = arg;

	if (mnl_attr_get_type(a) == IFLA_INFO_KIND && mnl_attr_validate(a, MNL_TYPE_STRING) == 0) {
		size_t n = strnlen(mnl_attr_get_str(a), mnl_attr_get_payload_len(a));

		n = min_of(n, sizeof(scan->link->kind) - 1);
		memcpy(scan->link->kind, mnl_attr_get_str(a), n);
		scan->link->kind[n] = 0;
	}
	if (mnl_attr_get_type(a) == IFLA_INFO_SLAVE_KIND &&
	    mnl_attr_validate(a, MNL_TYPE_STRING) == 0)
		scan->link->in_vrf =
			strncmp(mnl_attr_get_str(a), "vrf", mnl_attr_get_payload_len(a)) == 0;
	if (mnl_attr_get_type(a) == IFLA_INFO_DATA)
		scan->data = a;
	return MNL_CB_OK;
}

static int read_vrf_attr(const struct nlattr *a, void *arg)
{
	struct nl_link *l = arg;

	if (mnl_attr_get_type(a) == IFLA_VRF_TABLE && mnl_attr_validate(a, MNL_TYPE_U32) == 0)
		l->vrf_table = mnl_attr_get_u32(a);
	return MNL_CB_OK;
}

static int read_bridge_attr(const struct nlattr *a, void *arg)
{
	struct nl_link *l = arg;

	if (mnl_attr_get_type(a) == IFLA_BR_VLAN_FILTERING &&
	    mnl_attr_validate(a, MNL_TYPE_U8) == 0)
		l->vlan_filtering = mnl_attr_get_u8(a);
	if (mnl_attr_get_type(a) == IFLA_BR_VLAN_PROTOCOL &&
	    mnl_attr_validate(a, MNL_TYPE_U16) == 0)
		l->vlan_protocol = ntohs(mnl_attr_get_u16(a));
	return MNL_CB_OK;
}

struct vlan_dev_scan {
	uint16_t id;
	bool is_8021ad; /* 802.1ad service tags; LEON carries them as part of the frame */
};

static int read_vlan_attr(const struct nlattr *a, void *arg)
{
	struct vlan_dev_scan *scan = arg;

	if (mnl_attr_validate(a, MNL_TYPE_U16) < 0)
		return MNL_CB_OK;
	if (mnl_attr_get_type(a) == IFLA_VLAN_ID)
		scan->id = mnl_attr_get_u16(a) % VLAN_IDS;
	if (mnl_attr_get_type(a) == IFLA_VLAN_PROTOCOL)
		scan->is_8021ad = mnl_attr_get_u16(a) != htons(ETH_P_8021Q);
	return MNL_CB_OK;
}

static void read_vlan(const struct nlattr *data, struct nl_link *l)
{
	struct vlan_dev_scan scan = { 0 };

	mnl_attr_parse_nested(data, read_vlan_attr, &scan);
	l->vlan_id = scan.is_8021ad ? 0 : scan.id;
}

static void read_info(const struct nlattr *info, struct nl_link *l)
{
	struct info_scan scan = { .link = l };

	mnl_attr_parse_nested(info, read_info_attr, &scan);
	if (!scan.data)
		return;
	if (strcmp(l->kind, "tun") == 0)
		mnl_attr_parse_nested(scan.data, read_tun_attr, l);
	if (strcmp(l->kind, "vrf") == 0)
		mnl_attr_parse_nested(scan.data, read_vrf_attr, l);
	if (strcmp(l->kind, "bridge") == 0)
		mnl_attr_parse_nested(scan.data, read_bridge_attr, l);
	if (strcmp(l->kind, "vlan") == 0)
		read_vlan(scan.data, l);
}

static int read_link_attr(const struct nlattr *a, void *arg)
{
	struct nl_link *l = arg;
	size_t n;

	switch (mnl_attr_get_type(a)) {
	case IFLA_IFNAME:
		n = strnlen(mnl_attr_get_str(a), mnl_attr_get_payload_len(a));
		n = min_of(n, sizeof(l->name) - 1);
		memcpy(l->name, mnl_attr_get_str(a), n);
		l->name[n] = 0;
		break;
	case IFLA_MTU:
		if (mnl_attr_validate(a, MNL_TYPE_U32) == 0)
			l->mtu = mnl_attr_get_u32(a);
		break;
	case IFLA_MASTER:
		if (mnl_attr_validate(a, MNL_TYPE_U32) == 0)
			l->master = (int)mnl_attr_get_u32(a);
		break;
	case IFLA_LINK:
		if (mnl_attr_validate(a, MNL_TYPE_U32) == 0)
			l->lower = (int)mnl_attr_get_u32(a);
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

struct nlmsghdr *nl_link_request(void *buf, uint16_t type, int index, struct ifinfomsg **ifi)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	*ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(**ifi));
	(*ifi)->ifi_family = AF_UNSPEC;
	(*ifi)->ifi_index = index;
	return nlh;
}

static int get_link(struct nl *nl, const char *name, int index, struct nl_link *out)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct nl_link link = { 0 };
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_GETLINK, index, &ifi);
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
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct link_scan scan = { fn, arg };
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_GETLINK, 0, &ifi);

	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
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

int nl_link_set_mtu(struct nl *nl, int index, uint32_t mtu)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_SETLINK, index, &ifi);

	mnl_attr_put_u32(nlh, IFLA_MTU, mtu);
	return nl_transact(nl, nlh, NULL, NULL);
}

int nl_link_set_mac(struct nl *nl, int index, struct mac mac)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_SETLINK, index, &ifi);

	mnl_attr_put(nlh, IFLA_ADDRESS, MAC_LEN, mac.b);
	return nl_transact(nl, nlh, NULL, NULL);
}

int nl_link_set_master(struct nl *nl, int index, int master)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_SETLINK, index, &ifi);

	mnl_attr_put_u32(nlh, IFLA_MASTER, (uint32_t)master);
	return nl_transact(nl, nlh, NULL, NULL);
}

int nl_link_set_up(struct nl *nl, int index, bool up)
{
	_Alignas(struct nlmsghdr) uint8_t buf[NL_REQUEST];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh = nl_link_request(buf, RTM_SETLINK, index, &ifi);

	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	return nl_transact(nl, nlh, NULL, NULL);
}
