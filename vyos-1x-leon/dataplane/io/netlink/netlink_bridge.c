// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLANs of a bridge port, see netlink.h. Control thread. The kernel reports one AF_BRIDGE message
 * per port. Its attribute IFLA_AF_SPEC is a list of bridge_vlan_info in which two entries may
 * describe a range (linux/if_bridge.h).
 */
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <string.h>
#include <sys/socket.h>

#include "io/netlink/netlink_mnl.h"

struct vlan_scan {
	uint16_t begin; /* begin of an open range, or 0 */
	struct vlan_set set;
};

/* A VLAN is untagged at a port if its frames leave without a tag, or if untagged frames that arrive
 * belong to it (PVID). */
static void add_vlans(struct vlan_set *set, uint16_t first, uint16_t last, uint16_t flags)
{
	if (flags & (BRIDGE_VLAN_INFO_UNTAGGED | BRIDGE_VLAN_INFO_PVID))
		vlan_set_add(set, 0);
	if (!(flags & BRIDGE_VLAN_INFO_UNTAGGED))
		vlan_set_add_range(set, first, last);
}

static int read_vlan_info(const struct nlattr *a, void *arg)
{
	struct vlan_scan *scan = arg;
	struct bridge_vlan_info info;

	if (mnl_attr_get_type(a) != IFLA_BRIDGE_VLAN_INFO ||
	    mnl_attr_get_payload_len(a) < sizeof(info))
		return MNL_CB_OK;
	memcpy(&info, mnl_attr_get_payload(a), sizeof(info));
	if (info.vid == 0 || info.vid >= VLAN_IDS)
		return MNL_CB_OK;
	if (info.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) {
		scan->begin = info.vid;
		return MNL_CB_OK;
	}
	if (!(info.flags & BRIDGE_VLAN_INFO_RANGE_END) || scan->begin > info.vid)
		scan->begin = 0;
	add_vlans(&scan->set, scan->begin ? scan->begin : info.vid, info.vid, info.flags);
	scan->begin = 0;
	return MNL_CB_OK;
}

static int read_spec(const struct nlattr *a, void *arg)
{
	if (mnl_attr_get_type(a) == IFLA_AF_SPEC)
		mnl_attr_parse_nested(a, read_vlan_info, arg);
	return MNL_CB_OK;
}

bool nl_read_port_vlans(const struct nlmsghdr *nlh, int index, struct vlan_set *out)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct vlan_scan scan = { 0 };

	if (nlh->nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(nlh) < sizeof(*ifi) ||
	    ifi->ifi_family != AF_BRIDGE || ifi->ifi_index != index)
		return false;
	mnl_attr_parse(nlh, sizeof(*ifi), read_spec, &scan);
	*out = scan.set;
	return true;
}

struct port_scan {
	int index;
	bool found;
	struct vlan_set *out;
};

static int collect_port(const struct nlmsghdr *nlh, void *arg)
{
	struct port_scan *scan = arg;

	scan->found |= nl_read_port_vlans(nlh, scan->index, scan->out);
	return MNL_CB_OK;
}

int nl_port_vlans(struct nl *nl, int index, struct vlan_set *out)
{
	struct port_scan scan = { .index = index, .out = out };
	/* The kernel can dump the ports of all bridges only, not of one. */
	struct nlmsghdr *nlh = nl_link_request(nl, RTM_GETLINK, NLM_F_DUMP, 0);
	int rc;

	((struct ifinfomsg *)mnl_nlmsg_get_payload(nlh))->ifi_family = AF_BRIDGE;
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_BRVLAN_COMPRESSED);
	*out = (struct vlan_set){ 0 };
	rc = nl_transact(nl, nlh, collect_port, &scan);
	if (rc < 0)
		return rc;
	return scan.found ? 0 : -ENODEV;
}
