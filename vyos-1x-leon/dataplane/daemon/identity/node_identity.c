// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Node-id and MAC of this node: the node-id from the configuration or the host's addresses, the MAC
 * of its interface. Control thread, at the start.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/identity/own_identity.h"
#include "io/netlink/netlink.h"
#include "state/conf/conf.h"

#define ADDRS_MAX 256 /* limit of addresses; for a VRF those of all interfaces are searched */

static node_id_t id_of(const struct ip_addr *ip)
{
	if (ip->family != 4)
		return NODE_ID_NONE;
	return (node_id_t)ip->b[0] << 24 | (node_id_t)ip->b[1] << 16 | (node_id_t)ip->b[2] << 8 |
	       ip->b[3];
}

/* Returns true if the address belongs to the interface, or to an interface of the VRF. */
static bool is_of(struct nl *nl, const struct nl_link *source, int index)
{
	struct nl_link link;

	if (index == source->index)
		return true;
	return source->vrf_table && nl_link_by_index(nl, index, &link) == 0 &&
	       link.master == source->index;
}

/* Returns the first global IPv4 address of the interface or VRF. */
static int from_interface(const char *name, struct nl *nl, node_id_t *out, char *err,
			  size_t err_len)
{
	struct nl_addr addr[ADDRS_MAX];
	struct nl_link link;
	int n;

	if (nl_link_by_name(nl, name, &link) < 0) {
		snprintf(err, err_len, "source-interface: there is no interface %s", name);
		return -EADDRNOTAVAIL;
	}
	n = nl_addrs(nl, link.vrf_table ? 0 : link.index, addr, ADDRS_MAX);
	for (int i = 0; i < n && i < ADDRS_MAX; i++) {
		if (addr[i].ip.family == 4 && !addr[i].link_scope &&
		    is_of(nl, &link, addr[i].index)) {
			*out = id_of(&addr[i].ip);
			return 0;
		}
	}
	snprintf(err, err_len,
		 "node-id: source-interface %s has no IPv4 address to use as node-id; set node-id",
		 name);
	return -EADDRNOTAVAIL;
}

bool identity_is_missing(const struct conf *c, char *err, size_t err_len)
{
	if (c->node_id != NODE_ID_NONE || c->source4.family == 4 || c->source_interface[0] ||
	    c->line[0].ip.family == 4)
		return false;
	snprintf(err, err_len,
		 "node-id: missing; set node-id, an IPv4 source-address, a source-interface, or an "
		 "IPv4 address of the first line");
	return true;
}

int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len)
{
	if (c->node_id != NODE_ID_NONE) {
		*out = c->node_id;
		return 0;
	}
	if (c->source4.family == 4) {
		*out = id_of(&c->source4);
		return 0;
	}
	if (c->n_lines && c->line[0].ip.family == 4) {
		*out = id_of(&c->line[0].ip);
		return 0;
	}
	return from_interface(c->source_interface, nl, out, err, err_len);
}

struct mac identity_mac(const struct conf *c, node_id_t self)
{
	uint64_t h = hash_mix64((uint64_t)self << 24 ^ c->vni);
	struct mac m;

	/* Two interfaces of one node may be in the same segment and need different MACs. */
	for (const char *p = c->interface; *p; p++)
		h = hash_mix64(h ^ (uint8_t)*p);
	m = mac_from_u64(h & 0xffffffffffffULL);

	/* Locally administered, unicast. */
	m.b[0] = (uint8_t)((m.b[0] & 0xfc) | 0x02);
	return c->has_mac ? c->mac : m;
}
