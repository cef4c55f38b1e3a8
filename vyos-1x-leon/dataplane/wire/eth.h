// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A read-only view of an Ethernet frame: addresses, VLAN, what it carries and where the headers
 * are. Parses only as far as the packet path needs and never past the bytes given. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define ETH_HDR_LEN   14
#define ETH_FRAME_MIN ETH_HDR_LEN
#define ETH_TAG_LEN   4

#define ETH_TYPE_MIN 0x0600 /* below: a length, and LLC behind it */

#define ETHERTYPE_V4	 0x0800
#define ETHERTYPE_ARP_	 0x0806
#define ETHERTYPE_V6	 0x86dd
#define ETHERTYPE_DOT1Q	 0x8100
#define ETHERTYPE_DOT1AD 0x88a8

struct eth_view {
	struct mac dst, src;
	uint16_t vlan;	    /* outermost VLAN id, 0 where untagged or priority-tagged */
	uint16_t ethertype; /* behind all (at most two) VLAN tags */
	uint16_t l3_offset; /* of the network header */
	/* Filled for IPv4 and IPv6 (extension headers other than hop-by-hop, routing and
	 * destination options end the search), 0 otherwise: */
	uint8_t ip_version; /* 4, 6 or 0 */
	uint8_t ip_proto;   /* transport protocol, 0 where not found */
	bool ip_fragment;   /* any fragment but a whole packet */
	uint16_t l4_offset; /* of the transport header, 0 where not found or not in the bytes */
};

/* 0, or -EBADMSG: shorter than an Ethernet header with its tags, or a multicast source address. */
int eth_parse(const void *frame, size_t len, struct eth_view *v);

/* A priority tag, or an 802.1Q tag of VLAN 0, with another tag behind it. A switch that takes the
 * first tag out has a frame of the second VLAN (VLAN hopping). */
static inline bool eth_hides_tag(const struct eth_view *v)
{
	return !v->vlan && v->l3_offset > ETH_HDR_LEN + ETH_TAG_LEN;
}

/* 01:80:c2:00:00:00 to 0f: 802.1D bridge control addresses, which a bridge never forwards. */
bool eth_is_link_local_control(struct mac dst);

/* ARP (RFC 826) over Ethernet and IPv4. */
struct arp_view {
	uint16_t op; /* 1 request, 2 reply */
	struct mac sender_mac, target_mac;
	struct ip_addr sender_ip, target_ip;
};
/* 0; -EBADMSG where it is no ARP, malformed, neither request nor reply, or claims
 * a multicast MAC. */
int arp_parse(const void *frame, size_t len, const struct eth_view *v, struct arp_view *a);
/* Writes the reply to `request` (with its VLAN tags) on behalf of `mac`; returns its length, at
 * most 64 bytes, 0 where out is too small. */
size_t arp_build_reply(const void *request, const struct eth_view *v, const struct arp_view *a,
		       struct mac mac, void *out, size_t out_len);

/* Frames that announce where a host is, tagged where the VLAN is not 0: at most ETH_ANNOUNCE_MAX
 * bytes; return their length. */
#define ETH_MIN_LEN	 60 /* without its check sequence */
#define ETH_ANNOUNCE_MAX 90
size_t rarp_build_announcement(uint16_t vlan, struct mac mac, void *out);
size_t arp_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, void *out);
size_t nd_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, bool router,
			     void *out);

/* Questions for a host that is known, from the machine with this MAC, in the name of addresses that
 * are nobody's. They are not those of a probe (RFC 5227 section 2.1.1, RFC 4862 section 5.4.3): a
 * host that is just about to take the address pays no heed to them. Any switch learns from the
 * answer where the host is, for it goes to a MAC that is nobody's either, and so everywhere. */
size_t arp_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out);
size_t nd_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out);

/* Neighbor discovery (RFC 4861), solicitation and advertisement only; hop limit, checksum and the
 * rules of sections 7.1.1 and 7.1.2 verified. 0 or -EBADMSG. */
struct nd_view {
	uint8_t type; /* 135 solicitation, 136 advertisement */
	bool router, solicited, override;
	struct ip_addr source, target;
	bool has_lladdr; /* source (135) or target (136) link-layer address option */
	struct mac lladdr;
};
int nd_parse(const void *frame, size_t len, const struct eth_view *v, struct nd_view *n);
/* Writes the advertisement that answers solicitation `n` (with its VLAN tags), to all nodes where
 * the solicitation probes for a duplicate; returns its length (at most 94), or 0. */
size_t nd_build_advert(const void *solicit, const struct eth_view *v, const struct nd_view *n,
		       struct mac mac, bool router, void *out, size_t out_len);

/*
 * Lowers the MSS option of a TCP SYN to at most `mss` in place and mends the checksum
 * incrementally (RFC 1624). csum_partial: the checksum field holds the sum of the pseudo-header
 * only (virtio NEEDS_CSUM, LEON_F_CSUM_PARTIAL); that sum does not cover the options and must stay
 * as it is, whoever completes it sums the new option. True where it changed something.
 */
bool tcp_clamp_mss(void *frame, size_t len, const struct eth_view *v, uint16_t mss,
		   bool csum_partial);
