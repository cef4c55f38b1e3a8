// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast in frames: the group of a frame by its MAC address, and messages of hosts and routers
 * about groups. These are IGMP (RFC 1112, 2236, 3376), MLD (RFC 2710, 3810), PIM hello (RFC 7761)
 * and multicast router advertisement (RFC 4286). Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/frame/eth.h"

/* The bits of an IPv4 group that its MAC address contains (RFC 1112 section 6.4). */
#define MCAST_V4_BITS 0x7fffffu

/* Returns the address family of a frame to a group that snooping may limit, and the low 32 bits
 * (IPv4: 23 bits) of the group. Returns 0 for a frame that all nodes receive: link-local groups
 * (224.0.0.0/24 with aliases, scopes 1 and 2 of IPv6), IGMP, ICMPv6, other protocols, frames with
 * two tags. */
uint8_t mcast_group_of(const uint8_t *frame, size_t len, const struct eth_view *v, uint32_t *group);

/* Returns true for a group that all nodes receive. */
bool mcast_is_link_local(const struct ip_addr *group);
/* Low 32 bits of an address. */
uint32_t mcast_low(const struct ip_addr *ip);

enum mcast_kind {
	MCAST_QUERY,
	MCAST_REPORT, /* joined and left groups, mcast_next() */
	MCAST_ROUTER, /* the sender is a multicast router */
};
struct mcast_message {
	enum mcast_kind kind;
	uint8_t family;
	struct ip_addr source;
	/* A report of IGMPv1, IGMPv2 or MLDv1. Hosts that receive the report do not report the
	 * group (RFC 2236 section 3, RFC 2710 section 4). */
	bool suppresses;
	/* Query. Family 0 of the group: a general query. */
	struct ip_addr group;
	bool keeps_timer;     /* the query ends no group */
	uint32_t response_ms; /* maximum response time */
	/* Time after which a group without reports has no listener: robustness x query interval +
	 * response time. 0: the query does not state them. */
	uint32_t lifetime_ms;
	/* Records of a report. */
	const uint8_t *record, *end;
	unsigned n_records;
	bool single, leaves; /* one group without records, and it is left */
};
/* Returns 0; -ENOMSG: another protocol, or two tags; -EBADMSG: malformed, to be ignored. */
int mcast_parse(const uint8_t *frame, size_t len, const struct eth_view *v,
		struct mcast_message *m);
/* Reads the next group of a report. Returns false at the end. */
bool mcast_next(struct mcast_message *m, struct ip_addr *group, bool *left);

/* The querier of this node: RFC 3376 sections 8.2 and 8.3, RFC 3810 sections 9.2 and 9.3. */
#define MCAST_QUERY_INTERVAL_S 125
#define MCAST_RESPONSE_MS      10000
/* Response time of a query for one group (RFC 3376 section 8.8). */
#define MCAST_LAST_MEMBER_MS 1000
#define MCAST_QUERY_MAX	     100
/* Source address of the queries, the same at all nodes. */
const struct ip_addr *mcast_querier(uint8_t family);
/* Writes a query, tagged if the VLAN is not 0, at most MCAST_QUERY_MAX bytes. group NULL: a general
 * query. response_ms: at most 12,700. Returns its length. */
size_t mcast_build_query(uint16_t vlan, struct mac src, uint8_t family, const struct ip_addr *group,
			 uint32_t response_ms, void *out);
