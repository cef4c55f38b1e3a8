// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses, formats and compares addresses. Pure values; any thread. An IPv4 address has one
 * representation: every entry point converts a v4-mapped IPv6 address to IPv4.
 */
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "defs.h"

static size_t ip_len(const struct ip_addr *ip)
{
	return ip->family == 4 || ip->family == IP_STREAM ? 4 : ip->family == 6 ? 16 : 0;
}

static bool is_v4_mapped(const uint8_t b[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(b, prefix, sizeof(prefix)) == 0;
}

static struct ip_addr ip_from_v6(const uint8_t b[16])
{
	struct ip_addr ip = { .family = 6 };

	if (is_v4_mapped(b)) {
		ip.family = 4;
		memcpy(ip.b, b + 12, 4);
	} else {
		memcpy(ip.b, b, 16);
	}
	return ip;
}

int node_id_parse(const char *s, node_id_t *out)
{
	uint8_t b[4];
	node_id_t id;

	if (inet_pton(AF_INET, s, b) != 1)
		return -EINVAL;
	id = (node_id_t)b[0] << 24 | (node_id_t)b[1] << 16 | (node_id_t)b[2] << 8 | b[3];
	if (id == NODE_ID_NONE)
		return -EINVAL;
	*out = id;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int mac_parse(const char *s, struct mac *out)
{
	struct mac mac;

	/* Compares from left to right, so that a short string fails at its NUL and is not read past
	 * it. */
	for (int i = 0; i < MAC_LEN; i++) {
		int high, low;

		high = hex_digit(s[0]);
		if (high < 0)
			return -EINVAL;
		low = hex_digit(s[1]);
		if (low < 0 || s[2] != (i < MAC_LEN - 1 ? ':' : '\0'))
			return -EINVAL;
		mac.b[i] = (uint8_t)(high << 4 | low);
		s += 3;
	}
	*out = mac;
	return 0;
}

int ip_parse(const char *s, struct ip_addr *out)
{
	struct ip_addr v4 = { .family = 4 };
	uint8_t v6[16];

	if (inet_pton(AF_INET, s, v4.b) == 1)
		*out = v4;
	else if (inet_pton(AF_INET6, s, v6) == 1)
		*out = ip_from_v6(v6);
	else
		return -EINVAL;
	return 0;
}

/* Decimal 0..limit without sign, space or leading zero; -EINVAL for anything else. */
static int decimal_parse(const char *s, unsigned limit)
{
	unsigned value = 0;

	if (*s == '\0' || (*s == '0' && s[1] != '\0'))
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		value = value * 10 + (unsigned)(*s - '0');
		if (value > limit)
			return -EINVAL;
	}
	return (int)value;
}

int endpoint_parse(const char *s, uint16_t default_port, struct endpoint *out)
{
	struct endpoint ep = { .port = default_port };
	const char *ip = s, *ip_end, *port = NULL;
	char text[IP_STRLEN];

	if (*s == '[') {
		ip = s + 1;
		ip_end = strchr(ip, ']');
		if (!ip_end || (ip_end[1] != '\0' && ip_end[1] != ':'))
			return -EINVAL;
		port = ip_end[1] ? ip_end + 2 : NULL;
	} else {
		/* One colon separates a port; more than one can only be an IPv6 address. */
		ip_end = strchr(s, ':');
		if (ip_end && !strchr(ip_end + 1, ':'))
			port = ip_end + 1;
		else
			ip_end = s + strlen(s);
	}
	if ((size_t)(ip_end - ip) >= sizeof(text))
		return -EINVAL;
	memcpy(text, ip, (size_t)(ip_end - ip));
	text[ip_end - ip] = '\0';
	if (ip_parse(text, &ep.ip) < 0 || (*s == '[' && !strchr(text, ':')))
		return -EINVAL;
	if (port) {
		int number = decimal_parse(port, UINT16_MAX);

		if (number <= 0)
			return -EINVAL;
		ep.port = (uint16_t)number;
	}
	*out = ep;
	return 0;
}

/* Reads "IP/LENGTH". Without a length, len becomes that of a host. */
static int parse_with_len(const char *s, struct ip_addr *ip, uint8_t *len)
{
	size_t ip_chars = strcspn(s, "/");
	char text[IP_STRLEN];
	int n;

	if (ip_chars >= sizeof(text))
		return -EINVAL;
	memcpy(text, s, ip_chars);
	text[ip_chars] = '\0';
	if (ip_parse(text, ip) < 0)
		return -EINVAL;
	*len = prefix_host_len(ip);
	if (s[ip_chars] != '/')
		return 0;
	n = decimal_parse(s + ip_chars + 1, *len);
	if (n < 0)
		return -EINVAL;
	*len = (uint8_t)n;
	return 0;
}

int prefix_parse(const char *s, struct prefix *out)
{
	struct prefix p, masked;

	if (parse_with_len(s, &p.ip, &p.len) < 0)
		return -EINVAL;
	masked = p;
	prefix_mask(&masked);
	if (!ip_equal(&masked.ip, &p.ip))
		return -EINVAL;
	*out = p;
	return 0;
}

int ip_and_len_parse(const char *s, struct ip_addr *ip, uint8_t *len)
{
	struct ip_addr a;
	uint8_t n;

	if (!strchr(s, '/') || parse_with_len(s, &a, &n) < 0)
		return -EINVAL;
	*ip = a;
	*len = n;
	return 0;
}

char *node_id_format(node_id_t id, char *buf, size_t len)
{
	snprintf(buf, len, "%u.%u.%u.%u", id >> 24, id >> 16 & 0xff, id >> 8 & 0xff, id & 0xff);
	return buf;
}

char *mac_format(struct mac mac, char *buf, size_t len)
{
	snprintf(buf, len, "%02x:%02x:%02x:%02x:%02x:%02x", mac.b[0], mac.b[1], mac.b[2], mac.b[3],
		 mac.b[4], mac.b[5]);
	return buf;
}

char *ip_format(const struct ip_addr *ip, char *buf, size_t len)
{
	char text[INET6_ADDRSTRLEN] = "none";

	if (ip->family == 4)
		inet_ntop(AF_INET, ip->b, text, sizeof(text));
	else if (ip->family == 6)
		inet_ntop(AF_INET6, ip->b, text, sizeof(text));
	else if (ip->family == IP_STREAM)
		snprintf(text, sizeof(text), "stream-%u", ip->b[2] << 8 | ip->b[3]);
	snprintf(buf, len, "%s", text);
	return buf;
}

char *endpoint_format(const struct endpoint *ep, char *buf, size_t len)
{
	char ip[IP_STRLEN];

	ip_format(&ep->ip, ip, sizeof(ip));
	snprintf(buf, len, ep->ip.family == 6 ? "[%s]:%u" : "%s:%u", ip, ep->port);
	return buf;
}

char *prefix_format(const struct prefix *p, char *buf, size_t len)
{
	char ip[IP_STRLEN];

	snprintf(buf, len, "%s/%u", ip_format(&p->ip, ip, sizeof(ip)), p->len);
	return buf;
}

bool ip_equal(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->family == b->family && memcmp(a->b, b->b, ip_len(a)) == 0;
}

int ip_compare(const struct ip_addr *a, const struct ip_addr *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->b, b->b, ip_len(a));
}

int prefix_compare(const struct prefix *a, const struct prefix *b)
{
	int order = ip_compare(&a->ip, &b->ip);

	return order ? order : (int)a->len - (int)b->len;
}

uint8_t prefix_host_len(const struct ip_addr *ip)
{
	return (uint8_t)(8 * ip_len(ip));
}

struct prefix prefix_of_host(const struct ip_addr *ip)
{
	return (struct prefix){ .ip = *ip, .len = prefix_host_len(ip) };
}

void prefix_mask(struct prefix *p)
{
	for (size_t i = 0; i < sizeof(p->ip.b); i++) {
		size_t bits = p->len > 8 * i ? p->len - 8 * i : 0;

		if (bits < 8)
			p->ip.b[i] &= (uint8_t)(0xff00 >> bits);
	}
}

bool prefix_has(const struct prefix *p, const struct ip_addr *ip)
{
	struct prefix other = { .ip = *ip, .len = p->len };

	if (p->ip.family != ip->family)
		return false;
	prefix_mask(&other);
	return ip_equal(&p->ip, &other.ip);
}

bool prefix_covers(const struct prefix *p, const struct prefix *longer)
{
	return longer->len >= p->len && prefix_has(p, &longer->ip);
}

bool endpoint_same_address(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && ip_equal(&a->ip, &b->ip);
}

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->line == b->line && endpoint_same_address(a, b);
}

bool endpoint_is_among(const struct endpoint *ep, const struct endpoint *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (endpoint_equal(&list[i], ep))
			return true;
	return false;
}

static bool ipv4_is_usable(const uint8_t b[4])
{
	bool zero = !(b[0] | b[1] | b[2] | b[3]);
	bool multicast = (b[0] & 0xf0) == 0xe0;
	bool broadcast = (b[0] & b[1] & b[2] & b[3]) == 0xff;

	return !zero && !multicast && !broadcast;
}

static bool ipv6_is_usable(const uint8_t b[16])
{
	static const uint8_t zero[16];

	/* A v4-mapped address would be a second name of an IPv4 address. */
	return memcmp(b, zero, sizeof(zero)) != 0 && b[0] != 0xff && !is_v4_mapped(b);
}

bool ip_is_v6_link_local(const struct ip_addr *ip)
{
	return ip->family == 6 && ip->b[0] == 0xfe && (ip->b[1] & 0xc0) == 0x80;
}

bool ip_is_private(const struct ip_addr *ip)
{
	static const struct prefix networks[] = {
		{ { 4, { 10 } }, 8 },	    { { 4, { 172, 16 } }, 12 }, { { 4, { 192, 168 } }, 16 },
		{ { 4, { 100, 64 } }, 10 }, { { 6, { 0xfc } }, 7 },
	};

	for (size_t i = 0; i < array_size(networks); i++)
		if (prefix_has(&networks[i], ip))
			return true;
	return false;
}

bool ip_is_global(const struct ip_addr *ip)
{
	static const struct prefix global6 = { { 6, { 0x20 } }, 3 };
	static const struct prefix special[] = {
		{ { 4, { 0 } }, 8 },
		{ { 4, { 127 } }, 8 },
		{ { 4, { 169, 254 } }, 16 },
		{ { 4, { 192, 0, 0 } }, 24 },
		{ { 4, { 192, 0, 2 } }, 24 },
		{ { 4, { 198, 18 } }, 15 },
		{ { 4, { 198, 51, 100 } }, 24 },
		{ { 4, { 203, 0, 113 } }, 24 },
		{ { 4, { 224 } }, 3 },
		{ { 6, { 0x20, 0x01, 0x0d, 0xb8 } }, 32 },
	};

	for (size_t i = 0; i < array_size(special); i++)
		if (prefix_has(&special[i], ip))
			return false;
	return !ip_is_private(ip) && (ip->family == 4 || prefix_has(&global6, ip));
}

bool ip_is_usable(const struct ip_addr *ip)
{
	if (ip->family == 4)
		return ipv4_is_usable(ip->b);
	return ip->family == 6 && ipv6_is_usable(ip->b);
}

bool endpoint_is_usable(const struct endpoint *ep)
{
	return ep->port && ip_is_usable(&ep->ip);
}

static const uint8_t stream_net[] = { IP_STREAM_NET };

int endpoint_from_sockaddr(const struct sockaddr_storage *ss, struct endpoint *out)
{
	if (ss->ss_family == AF_INET) {
		struct sockaddr_in sin;
		struct endpoint ep = { .ip.family = 4 };

		memcpy(&sin, ss, sizeof(sin));
		memcpy(ep.ip.b, &sin.sin_addr, 4);
		ep.port = ntohs(sin.sin_port);
		if (ep.ip.b[0] == stream_net[0] && ep.ip.b[1] == stream_net[1])
			ep.ip.family = IP_STREAM;
		*out = ep;
		return 0;
	}
	if (ss->ss_family == AF_INET6) {
		struct sockaddr_in6 sin6;

		memcpy(&sin6, ss, sizeof(sin6));
		*out = (struct endpoint){ .ip = ip_from_v6(sin6.sin6_addr.s6_addr),
					  .port = ntohs(sin6.sin6_port) };
		return 0;
	}
	return -EAFNOSUPPORT;
}

unsigned endpoint_to_sockaddr(const struct endpoint *ep, struct sockaddr_storage *ss)
{
	*ss = (struct sockaddr_storage){ 0 };
	if (ep->ip.family == 6) {
		struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
					     .sin6_port = htons(ep->port) };

		memcpy(&sin6.sin6_addr, ep->ip.b, 16);
		memcpy(ss, &sin6, sizeof(sin6));
		return sizeof(sin6);
	}
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(ep->port) };

	memcpy(&sin.sin_addr, ep->ip.b, 4);
	memcpy(ss, &sin, sizeof(sin));
	return sizeof(sin);
}
