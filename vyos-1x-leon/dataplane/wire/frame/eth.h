// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read-only view of an Ethernet frame: addresses, VLAN, protocols and header offsets. Parses only
 * as far as the packet path needs and never beyond the given bytes. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct wbuf;

#define ETH_HDR_LEN 14
#define ETH_TAG_LEN 4

#define ETH_TYPE_MIN 0x0600 /* smaller values are a length, followed by LLC */

#define ETHERTYPE_V4	 0x0800
#define ETHERTYPE_ARP_	 0x0806
#define ETHERTYPE_V6	 0x86dd
#define ETHERTYPE_DOT1Q	 0x8100
#define ETHERTYPE_DOT1AD 0x88a8

/* Returns true for the EtherType of a VLAN tag. */
static inline bool eth_is_tag(uint16_t ethertype)
{
	return ethertype == ETHERTYPE_DOT1Q || ethertype == ETHERTYPE_DOT1AD;
}

struct eth_view {
	struct mac dst, src;
	uint16_t tag;	    /* EtherType of the outermost VLAN tag; 0: untagged */
	uint16_t vlan;	    /* outermost VLAN id; 0: untagged or priority-tagged */
	uint16_t ethertype; /* EtherType behind all (at most two) VLAN tags */
	uint16_t l3_offset; /* offset of the network header */
	/* Fields of IPv4 and IPv6, else 0. Extension headers other than hop-by-hop, routing,
	 * fragment and destination options count as protocols. */
	uint8_t ip_version; /* 4, 6 or 0 */
	uint8_t ip_proto;   /* transport protocol; 0: not found */
	bool ip_fragment;   /* the packet is a fragment */
	uint16_t l4_offset; /* offset of the transport header; 0: not found or truncated */
};

/* Returns 0, or -EBADMSG: shorter than an Ethernet header with its tags, or a multicast source
 * address. */
int eth_parse(const void *frame, size_t len, struct eth_view *v);

/* Hosts behind a second tag are in VLANs that this node does not distinguish. */
static inline bool eth_has_two_tags(const struct eth_view *v)
{
	return v->l3_offset > ETH_HDR_LEN + ETH_TAG_LEN;
}

/* Returns true for a priority tag or an 802.1Q tag of VLAN 0 in front of another tag. A switch that
 * removes the first tag would forward the frame in the second VLAN (VLAN hopping). */
static inline bool eth_hides_tag(const struct eth_view *v)
{
	return !v->vlan && eth_has_two_tags(v);
}

/* 01:80:c2:00:00:00 to 0f: 802.1D reserved addresses, which a bridge never forwards. */
bool eth_is_link_local_control(struct mac dst);

/* Writes the header of a frame, tagged if the VLAN is not 0. */
void eth_put_header(struct wbuf *b, struct mac dst, struct mac src, uint16_t vlan,
		    uint16_t ethertype);
/* Writes the header of an answer to a frame, with the VLAN tags of the frame. */
void eth_put_answer(struct wbuf *b, const void *frame, const struct eth_view *v, struct mac dst,
		    struct mac src);

/* ARP (RFC 826) over Ethernet and IPv4. */
#define ARP_REQUEST 1
#define ARP_REPLY   2

struct arp_view {
	uint16_t op;
	struct mac sender_mac, target_mac;
	struct ip_addr sender_ip, target_ip;
};
/* Returns 0, or -EBADMSG: no ARP, malformed, neither request nor reply, or a multicast MAC as
 * sender. */
int arp_parse(const void *frame, size_t len, const struct eth_view *v, struct arp_view *a);
/* Writes the reply to `request`, with its VLAN tags, for `mac`. Returns its length, at most 64
 * bytes; 0: out is too small. */
size_t arp_build_reply(const void *request, const struct eth_view *v, const struct arp_view *a,
		       struct mac mac, void *out, size_t out_len);

/* Frames that announce the location of a host, tagged if the VLAN is not 0. Return their length, at
 * most ETH_ANNOUNCE_MAX bytes. */
#define ETH_MIN_LEN	 60 /* without frame check sequence */
#define ETH_ANNOUNCE_MAX 90
size_t rarp_build_announcement(uint16_t vlan, struct mac mac, void *out);
size_t arp_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, void *out);
size_t nd_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, bool router,
			     void *out);

/* Source of the frames that leond itself sends to its LAN: 02:4c and the node-id. The address of
 * the interface is unsuitable. A bridge of the kernel logs a warning for each frame with the
 * address of one of its ports as source. */
static inline struct mac eth_source_of(node_id_t node)
{
	return mac_from_u64(0x024cULL << 32 | node);
}

/* Locally administered unicast MAC that no machine has. */
static inline struct mac eth_nobody(void)
{
	return mac_from_u64(0x024c454f4e01ULL);
}

/* Queries for a known host, from the machine with this MAC, with the addresses of eth_nobody() and
 * mcast_querier() as sender.
 * A query differs from a probe (RFC 5227 section 2.1.1, RFC 4862 section 5.4.3), so it does not
 * disturb a host that is about to claim the address. The reply goes to an unused MAC and is
 * therefore flooded, so every switch learns the port of the host. */
size_t arp_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out);
size_t nd_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out);

/* Neighbor discovery (RFC 4861), solicitation and advertisement only. Verifies hop limit, checksum
 * and the rules of sections 7.1.1 and 7.1.2. Returns 0 or -EBADMSG. */
#define ND_SOLICIT 135
#define ND_ADVERT  136

struct nd_view {
	uint8_t type;
	bool router, solicited, override;
	struct ip_addr source, target;
	bool has_lladdr; /* source (solicitation) or target link-layer address option present */
	struct mac lladdr;
};
int nd_parse(const void *frame, size_t len, const struct eth_view *v, struct nd_view *n);
/* Writes the advertisement that answers solicitation `n`, with its VLAN tags; to all nodes if the
 * solicitation is a duplicate address probe. Returns its length (at most 94), or 0. */
size_t nd_build_advert(const void *solicit, const struct eth_view *v, const struct nd_view *n,
		       struct mac mac, bool router, void *out, size_t out_len);

/*
 * Lowers the MSS option of a TCP SYN to at most `mss` in place and updates the checksum
 * incrementally (RFC 1624). csum_partial: the checksum field holds the pseudo-header sum only
 * (virtio NEEDS_CSUM, LEON_F_CSUM_PARTIAL). This sum does not cover the options and stays
 * unchanged; the device that completes it adds the new option. Returns true after a change.
 */
bool tcp_clamp_mss(void *frame, size_t len, const struct eth_view *v, uint16_t mss,
		   bool csum_partial);
