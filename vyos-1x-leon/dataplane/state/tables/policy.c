// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classifies critical frames, see policy.h. Workers call it for each frame from the local segment
 * if a policy exists. The control thread uses the names of DSCP values and protocols.
 */
#include "state/tables/policy.h"

#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/ecn.h"

/* --- classification --- */

static bool has_dscp(const struct policy_class *c, const uint8_t *frame, size_t len,
		     const struct eth_view *v)
{
	uint8_t class;

	return c->dscp && ip_class(frame, len, v, &class) && c->dscp >> (class >> DSCP_SHIFT) & 1;
}

static bool has_mac(const struct policy_class *c, const struct eth_view *v)
{
	for (unsigned i = 0; i < c->n_macs; i++) {
		uint64_t mac = mac_to_u64(c->mac[i]);

		if (mac == mac_to_u64(v->src) || mac == mac_to_u64(v->dst))
			return true;
	}
	return false;
}

static bool has_ethertype(const struct policy_class *c, const struct eth_view *v)
{
	for (unsigned i = 0; i < c->n_ethertypes; i++)
		if (c->ethertype[i] == v->ethertype)
			return true;
	return false;
}

/* See ip_has_ports(). An IP fragment has no readable ports. */
static bool has_port(const uint8_t *frame, size_t len, const struct eth_view *v, uint16_t port)
{
	const uint8_t *l4 = frame + v->l4_offset;

	if (!v->l4_offset || v->ip_fragment || v->l4_offset + 4u > len)
		return false;
	return get_u16(l4) == port || get_u16(l4 + 2) == port;
}

static bool has_service(const struct policy_class *c, const uint8_t *frame, size_t len,
			const struct eth_view *v)
{
	for (unsigned i = 0; v->ip_version && i < c->n_services; i++) {
		const struct policy_service *s = &c->service[i];

		if (s->protocol == v->ip_proto && (!s->port || has_port(frame, len, v, s->port)))
			return true;
	}
	return false;
}

bool policy_matches(const struct policy_class *c, const uint8_t *frame, size_t len,
		    const struct eth_view *v)
{
	return has_dscp(c, frame, len, v) || vlan_set_has(&c->vlans, v->vlan) ||
	       has_ethertype(c, v) || has_service(c, frame, len, v) || has_mac(c, v);
}

bool policy_class_is_empty(const struct policy_class *c)
{
	return !c->dscp && vlan_set_is_empty(&c->vlans) && !c->n_macs && !c->n_ethertypes &&
	       !c->n_services;
}

/* --- names --- */

/* Each list ends with an empty row. */
const struct policy_name policy_dscps[] = {
	{ "default", 0 }, { "cs1", 8 },	  { "cs2", 16 },  { "cs3", 24 },  { "cs4", 32 },
	{ "cs5", 40 },	  { "cs6", 48 },  { "cs7", 56 },  { "af11", 10 }, { "af12", 12 },
	{ "af13", 14 },	  { "af21", 18 }, { "af22", 20 }, { "af23", 22 }, { "af31", 26 },
	{ "af32", 28 },	  { "af33", 30 }, { "af41", 34 }, { "af42", 36 }, { "af43", 38 },
	{ "va", 44 },	  { "ef", 46 },	  { NULL, 0 },
};
const struct policy_name policy_protocols[] = {
	{ "icmp", 1 },	 { "tcp", 6 },	     { "udp", 17 },	  { "dccp", 33 }, { "gre", 47 },
	{ "esp", 50 },	 { "ah", 51 },	     { "ipv6-icmp", 58 }, { "ospf", 89 }, { "vrrp", 112 },
	{ "sctp", 132 }, { "udplite", 136 }, { NULL, 0 },
};

bool policy_number_of(const struct policy_name *row, const char *name, uint8_t *out)
{
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	if (row->name)
		*out = row->number;
	return row->name;
}

const char *policy_name_of(const struct policy_name *row, uint8_t number)
{
	while (row->name && row->number != number)
		row++;
	return row->name;
}
