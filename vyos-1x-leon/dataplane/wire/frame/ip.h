// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers of IPv4 (RFC 791), IPv6 (RFC 8200), TCP (RFC 9293) and UDP (RFC 768): protocol numbers,
 * lengths, and offsets of fields. Constants; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROTO_IGMP   2
#define PROTO_TCP    6
#define PROTO_UDP    17
#define PROTO_ICMPV6 58

/* Lengths of addresses, and of headers without options. */
#define V4_LEN	    4
#define V6_LEN	    16
#define V4_HDR_LEN  20
#define V6_HDR_LEN  40
#define TCP_HDR_MIN 20
#define UDP_HDR_LEN 8

/* Offsets. The destination address follows the source address. */
#define V4_LENGTH    2
#define V4_ID	     4
#define V4_FRAGMENT  6
#define V4_TTL	     8
#define V4_CHECKSUM  10
#define V4_SRC	     12
#define V6_LENGTH    4
#define V6_NEXT	     6
#define V6_SRC	     8
#define V6_DST	     24
#define TCP_SEQ	     4
#define TCP_ACK_NO   8
#define TCP_DOFF     12
#define TCP_FLAGS    13
#define TCP_WINDOW   14
#define TCP_CHECKSUM 16
#define TCP_URGENT   18
#define UDP_LENGTH   4
#define UDP_CHECKSUM 6

#define V4_DF	0x4000 /* in V4_FRAGMENT */
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_CWR 0x80

/* TCP, UDP, DCCP, SCTP and UDP-Lite begin with the ports of source and destination. */
static inline bool ip_has_ports(uint8_t protocol)
{
	return protocol == PROTO_TCP || protocol == PROTO_UDP || protocol == 33 ||
	       protocol == 132 || protocol == 136;
}
