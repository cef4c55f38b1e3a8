// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses: MAC, node-id, IP, endpoint (IP and UDP port). Pure values: compare, hash, parse,
 * format. Any thread. All integers are in host byte order; address bytes are in network order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* node-id: 32 bits, written like an IPv4 address; 0 is "no node" and never valid on the wire. */
typedef uint32_t node_id_t;
#define NODE_ID_NONE   0u
#define NODE_ID_STRLEN 16 /* "255.255.255.255" and NUL */

#define MAC_LEN	   6
#define MAC_STRLEN 18

struct mac {
	uint8_t b[MAC_LEN];
};

struct ip_addr {
	uint8_t family; /* 0 none, 4 or 6 (not AF_*: this is a wire value too), or IP_STREAM */
	uint8_t b[16];	/* first 4 bytes for IPv4, the rest zero */
};

/*
 * A stream: a connection that a program of this host relays (leon-tls). The program has a UDP
 * socket at an address of 127.76.0.0/16 for each stream, and datagrams to and from the socket pass
 * the stream. The address is that of the socket. The family differs from 4, so that no message can
 * name such an address, and no stream is mistaken for an address of the underlay.
 */
#define IP_STREAM	   8
#define IP_STREAM_NET	   127, 76
#define IP_STREAM_ACCEPTED 0x80 /* in b[2]: the other end began the connection */
#define IP_STREAM_HOST                                                                             \
	{                                                                                          \
		IP_STREAM,                                                                         \
		{                                                                                  \
			IP_STREAM_NET, 0, 1                                                        \
		}                                                                                  \
	} /* sockets of leond itself */

/* Lines of this host: sources of datagrams to the underlay. doc/decisions/080. */
#define LINES_MAX  2
#define LINE_PAIRS (LINES_MAX * LINES_MAX) /* an own line and a line of another node */

struct endpoint {
	struct ip_addr ip;
	uint16_t port; /* UDP port */
	uint8_t line;  /* line of this host to the address; no message contains it */
};

/* Address prefix. The host bits are zero; prefix_parse() and prefix_mask() ensure this. */
struct prefix {
	struct ip_addr ip;
	uint8_t len; /* bits */
};

#define IP_STRLEN	46
#define PREFIX_STRLEN	50 /* "v6/128" */
#define ENDPOINT_STRLEN 56 /* "[v6]:port" */

struct sockaddr_storage;

/*
 * Parsers return 0 or -EINVAL and write *out only on success. 0.0.0.0 is not a node-id. A v4-mapped
 * IPv6 address becomes IPv4, also in endpoint_from_sockaddr().
 */
int node_id_parse(const char *s, node_id_t *out);
int mac_parse(const char *s, struct mac *out);
int ip_parse(const char *s, struct ip_addr *out);
/* "1.2.3.4", "1.2.3.4:5", "::1", "[::1]:5" */
int endpoint_parse(const char *s, uint16_t default_port, struct endpoint *out);
/* Accepts "10.1.0.0/16" and "2001:db8::/32". An address without a length is a host prefix. Host
 * bits must be zero. */
int prefix_parse(const char *s, struct prefix *out);
/* Accepts an address with its length, such as "10.99.0.1/24". Host bits may be set. */
int ip_and_len_parse(const char *s, struct ip_addr *ip, uint8_t *len);

/* Formatters write at most len bytes, always terminate, and return buf. */
char *node_id_format(node_id_t id, char *buf, size_t len);
char *mac_format(struct mac mac, char *buf, size_t len);
char *ip_format(const struct ip_addr *ip, char *buf, size_t len);
char *endpoint_format(const struct endpoint *ep, char *buf, size_t len);
char *prefix_format(const struct prefix *p, char *buf, size_t len);
/* The same as an argument. The text lasts until the end of the surrounding block. */
#define NODE_ID_TEXT(id)  node_id_format((id), (char[NODE_ID_STRLEN]){ 0 }, NODE_ID_STRLEN)
#define MAC_TEXT(mac)	  mac_format((mac), (char[MAC_STRLEN]){ 0 }, MAC_STRLEN)
#define IP_TEXT(ip)	  ip_format((ip), (char[IP_STRLEN]){ 0 }, IP_STRLEN)
#define ENDPOINT_TEXT(ep) endpoint_format((ep), (char[ENDPOINT_STRLEN]){ 0 }, ENDPOINT_STRLEN)
#define PREFIX_TEXT(p)	  prefix_format((p), (char[PREFIX_STRLEN]){ 0 }, PREFIX_STRLEN)

/* True for fe80::/10. A link-local address is valid only together with its interface. */
bool ip_is_v6_link_local(const struct ip_addr *ip);
/* True for private addresses: RFC 1918, RFC 6598 (carrier-grade NAT), RFC 4193. */
bool ip_is_private(const struct ip_addr *ip);
/* True if hosts of the Internet can send to the address: unicast, and outside the special blocks of
 * RFC 6890. */
bool ip_is_global(const struct ip_addr *ip);
bool ip_equal(const struct ip_addr *a, const struct ip_addr *b);
bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);
bool endpoint_is_among(const struct endpoint *ep, const struct endpoint *list, unsigned n);
/* Compares address and port without the line. */
bool endpoint_same_address(const struct endpoint *a, const struct endpoint *b);
/* Orders by family, address bytes, then length, so that a prefix directly precedes the prefixes it
 * covers. */
int ip_compare(const struct ip_addr *a, const struct ip_addr *b);
int prefix_compare(const struct prefix *a, const struct prefix *b);
uint8_t prefix_host_len(const struct ip_addr *ip); /* 32 or 128 */
struct prefix prefix_of_host(const struct ip_addr *ip);
void prefix_mask(struct prefix *p); /* clears the host bits */
bool prefix_has(const struct prefix *p, const struct ip_addr *ip);
/* true also if both are equal */
bool prefix_covers(const struct prefix *p, const struct prefix *longer);
/* Unicast address a node may be reached at: not zero, not multicast, not broadcast. */
bool ip_is_usable(const struct ip_addr *ip);
/* Likewise, and the port is not 0. */
bool endpoint_is_usable(const struct endpoint *ep);
static inline bool endpoint_is_stream(const struct endpoint *ep)
{
	return ep->ip.family == IP_STREAM;
}

/* v4-mapped IPv6 becomes IPv4. An address of 127.76.0.0/16 becomes a stream; the kernel drops
 * datagrams from other hosts with such a source. */
int endpoint_from_sockaddr(const struct sockaddr_storage *ss, struct endpoint *out);
/* Returns the length of the sockaddr written. */
unsigned endpoint_to_sockaddr(const struct endpoint *ep, struct sockaddr_storage *ss);

static inline bool mac_is_multicast(struct mac m)
{
	return m.b[0] & 1;
}
static inline uint64_t mac_to_u64(struct mac m)
{
	return (uint64_t)m.b[0] << 40 | (uint64_t)m.b[1] << 32 | (uint64_t)m.b[2] << 24 |
	       (uint64_t)m.b[3] << 16 | (uint64_t)m.b[4] << 8 | m.b[5];
}
static inline struct mac mac_from_u64(uint64_t v)
{
	return (struct mac){ { (uint8_t)(v >> 40), (uint8_t)(v >> 32), (uint8_t)(v >> 24),
			       (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v } };
}

/* 64-bit finaliser of murmur3, for keys that this host chooses. Hash tables with keys from the
 * network use base/siphash.h. */
static inline uint64_t hash_mix64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	x ^= x >> 33;
	return x;
}
