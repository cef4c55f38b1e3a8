// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See flow_capture.h.
 */
#include "wire/flow_capture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"

#define VLAN_LAST   4094
#define PORTS_LEN   4
#define WORD_LEN    64
#define FILTER_WORD "mac, host, vlan, proto or port"

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = { { "icmp", 1 },   { "igmp", 2 },  { "tcp", 6 },    { "udp", 17 },
		  { "icmp6", 58 }, { "ospf", 89 }, { "vrrp", 112 }, { "sctp", 132 } };

/* --- text --- */

static bool refuse(char *err, size_t len, const char *fmt, ...) attr_printf(3, 4);
static bool refuse(char *err, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, len, fmt, ap);
	va_end(ap);
	return false;
}

/* Copies the next word. Returns false at the end. */
static bool next_word(const char **text, char word[WORD_LEN])
{
	size_t len;

	*text += strspn(*text, " \t");
	len = strcspn(*text, " \t");
	snprintf(word, WORD_LEN, "%.*s", (int)min_of(len, (size_t)WORD_LEN - 1), *text);
	*text += len;
	return len > 0;
}

static bool parse_number(const char *s, unsigned low, unsigned high, unsigned *out)
{
	char *end;
	unsigned long n;

	if (*s < '0' || *s > '9' || strlen(s) > 5)
		return false;
	n = strtoul(s, &end, 10);
	*out = (unsigned)n;
	return !*end && n >= low && n <= high;
}

static bool parse_protocol(const char *s, uint8_t *out)
{
	unsigned n;

	for (size_t i = 0; i < array_size(protocols); i++)
		if (strcmp(protocols[i].name, s) == 0) {
			*out = protocols[i].number;
			return true;
		}
	if (!parse_number(s, 1, 255, &n))
		return false;
	*out = (uint8_t)n;
	return true;
}

static bool add_mac(struct capture_filter *f, const char *s, char *err, size_t len)
{
	if (f->n_macs == 2)
		return refuse(err, len, "a flow has at most two MAC addresses");
	if (mac_parse(s, &f->mac[f->n_macs]) < 0)
		return refuse(err, len, "\"%s\" is no MAC address such as 02:00:00:00:00:01", s);
	f->n_macs++;
	return true;
}

static bool add_host(struct capture_filter *f, const char *s, char *err, size_t len)
{
	if (f->n_hosts == 2)
		return refuse(err, len, "a flow has at most two hosts");
	if (ip_parse(s, &f->host[f->n_hosts]) < 0)
		return refuse(err, len, "\"%s\" is no IP address", s);
	if (f->n_hosts && f->host[0].family != f->host[1].family)
		return refuse(err, len, "the two hosts need addresses of one family");
	f->n_hosts++;
	return true;
}

static bool is_given(const struct capture_filter *f, const char *key)
{
	return (strcmp(key, "vlan") == 0 && f->vlan != CAPTURE_NO_VLAN) ||
	       (strcmp(key, "proto") == 0 && f->protocol) || (strcmp(key, "port") == 0 && f->port);
}

static bool add_part(struct capture_filter *f, const char *key, const char *s, char *err,
		     size_t len)
{
	unsigned n;

	if (strcmp(key, "mac") == 0)
		return add_mac(f, s, err, len);
	if (strcmp(key, "host") == 0)
		return add_host(f, s, err, len);
	if (is_given(f, key))
		return refuse(err, len, "the filter has two values of \"%s\"", key);
	if (strcmp(key, "vlan") == 0) {
		if (!parse_number(s, 0, VLAN_LAST, &n))
			return refuse(err, len, "\"%s\" is no VLAN from 0 (untagged) to 4094", s);
		f->vlan = (uint16_t)n;
		return true;
	}
	if (strcmp(key, "proto") == 0)
		return parse_protocol(s, &f->protocol) ||
		       refuse(err, len,
			      "\"%s\" is no protocol: tcp, udp, icmp, icmp6, igmp, sctp, ospf, "
			      "vrrp, or a number from 1 to 255",
			      s);
	if (strcmp(key, "port") == 0) {
		if (!parse_number(s, 1, 65535, &n))
			return refuse(err, len, "\"%s\" is no port from 1 to 65535", s);
		f->port = (uint16_t)n;
		return true;
	}
	return refuse(err, len, "unknown word \"%s\" in the filter: expected %s", key, FILTER_WORD);
}

bool capture_filter_parse(const char *text, struct capture_filter *f, char *err, size_t err_len)
{
	char key[WORD_LEN], value[WORD_LEN];

	*f = (struct capture_filter){ .vlan = CAPTURE_NO_VLAN };
	while (next_word(&text, key)) {
		if (strcmp(key, "and") == 0)
			continue;
		if (!next_word(&text, value))
			return refuse(err, err_len, "\"%s\" at the end of the filter has no value",
				      key);
		if (!add_part(f, key, value, err, err_len))
			return false;
	}
	return capture_filter_valid(f) ||
	       refuse(err, err_len, "the filter names no flow: give at least one of %s",
		      FILTER_WORD);
}

/* --- messages --- */

bool capture_filter_valid(const struct capture_filter *f)
{
	if (f->n_macs > 2 || f->n_hosts > 2)
		return false;
	if (f->vlan > VLAN_LAST && f->vlan != CAPTURE_NO_VLAN)
		return false;
	for (unsigned i = 0; i < f->n_hosts; i++)
		if ((f->host[i].family != 4 && f->host[i].family != 6) ||
		    f->host[i].family != f->host[0].family)
			return false;
	return f->n_macs || f->n_hosts || f->vlan != CAPTURE_NO_VLAN || f->protocol || f->port;
}

void capture_filter_code(struct codec *b, struct capture_filter *f)
{
	uint8_t n = (uint8_t)(f->n_macs << 4 | f->n_hosts), family = f->host[0].family;

	code_u8(b, &n);
	code_u16(b, &f->vlan);
	code_u8(b, &f->protocol);
	code_u16(b, &f->port);
	for (unsigned i = 0; i < 2; i++)
		code_bytes(b, f->mac[i].b, MAC_LEN);
	code_u8(b, &family);
	for (unsigned i = 0; i < 2; i++)
		code_bytes(b, f->host[i].b, sizeof(f->host[i].b));
	if (!b->in)
		return;
	f->n_macs = n >> 4;
	f->n_hosts = n & 15;
	for (unsigned i = 0; i < 2; i++)
		f->host[i].family = i < f->n_hosts ? family : 0;
}

/* --- frames --- */

static bool has_both_macs(const struct capture_filter *f, const struct eth_view *v)
{
	uint64_t src = mac_to_u64(v->src), dst = mac_to_u64(v->dst);
	uint64_t a = mac_to_u64(f->mac[0]), b = mac_to_u64(f->mac[1]);

	if (f->n_macs == 1)
		return src == a || dst == a;
	return (src == a && dst == b) || (src == b && dst == a);
}

/* Reads the addresses of IPv4, IPv6 or ARP. */
static bool hosts_of(const uint8_t *frame, size_t len, const struct eth_view *v,
		     struct ip_addr at[2])
{
	const uint8_t *ip = frame + v->l3_offset;
	size_t n = v->ip_version == 4 ? V4_LEN : V6_LEN;
	size_t hdr = n == V4_LEN ? V4_HDR_LEN : V6_HDR_LEN;
	struct arp_view arp;

	if (v->ethertype == ETHERTYPE_ARP_ && arp_parse(frame, len, v, &arp) == 0) {
		at[0] = arp.sender_ip;
		at[1] = arp.target_ip;
		return true;
	}
	if (!v->ip_version || len < v->l3_offset + hdr)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		at[i] = (struct ip_addr){ .family = v->ip_version };
		memcpy(at[i].b, ip + (n == V4_LEN ? V4_SRC : V6_SRC) + i * n, n);
	}
	return true;
}

static bool has_both_hosts(const struct capture_filter *f, const uint8_t *frame, size_t len,
			   const struct eth_view *v)
{
	const struct ip_addr *a = &f->host[0], *b = &f->host[1];
	struct ip_addr at[2];

	if (!hosts_of(frame, len, v, at))
		return false;
	if (f->n_hosts == 1)
		return ip_equal(&at[0], a) || ip_equal(&at[1], a);
	return (ip_equal(&at[0], a) && ip_equal(&at[1], b)) ||
	       (ip_equal(&at[0], b) && ip_equal(&at[1], a));
}

static bool has_port(uint16_t port, const uint8_t *frame, size_t len, const struct eth_view *v)
{
	const uint8_t *l4 = frame + v->l4_offset;

	return ip_has_ports(v->ip_proto) && v->l4_offset &&
	       len >= v->l4_offset + (size_t)PORTS_LEN &&
	       (get_u16(l4) == port || get_u16(l4 + 2) == port);
}

bool capture_filter_match(const struct capture_filter *f, const void *frame, size_t len)
{
	struct eth_view v;

	if (eth_parse(frame, len, &v) < 0)
		return false;
	return (f->vlan == CAPTURE_NO_VLAN || v.vlan == f->vlan) &&
	       (!f->n_macs || has_both_macs(f, &v)) &&
	       (!f->protocol || (v.ip_version && v.ip_proto == f->protocol)) &&
	       (!f->n_hosts || has_both_hosts(f, frame, len, &v)) &&
	       (!f->port || has_port(f->port, frame, len, &v));
}

/* --- records --- */

const char *capture_place_name(uint8_t place)
{
	static const char *const name[CAPTURE_PLACES] = { [CAPTURE_FROM_TAP] = "from-tap",
							  [CAPTURE_SENT] = "sent",
							  [CAPTURE_RELAYED] = "relayed",
							  [CAPTURE_TO_TAP] = "to-tap" };

	return place < CAPTURE_PLACES && name[place] ? name[place] : "unknown";
}

size_t capture_record_write(const struct capture_record *r, const uint8_t *bytes, uint8_t *out,
			    size_t out_len)
{
	struct wbuf b = wbuf_of(out, out_len);

	wbuf_u32(&b, r->at_us);
	wbuf_u8(&b, r->place);
	wbuf_u8(&b, r->flags);
	wbuf_u8(&b, r->n_hops);
	wbuf_u32(&b, r->source);
	for (unsigned i = 0; i < r->n_hops; i++)
		wbuf_u32(&b, r->hop[i]);
	if (r->flags & CAPTURE_SEALED)
		wbuf_u64(&b, r->nonce);
	wbuf_u32(&b, r->len);
	wbuf_u16(&b, r->n);
	wbuf_bytes(&b, bytes, r->n);
	return b.ok ? wbuf_len(&b) : 0;
}

int capture_record_read(const uint8_t *stream, size_t len, struct capture_record *r,
			const uint8_t **bytes)
{
	struct rbuf b = rbuf_of(stream, len);

	*r = (struct capture_record){ .at_us = rbuf_u32(&b) };
	r->place = rbuf_u8(&b);
	r->flags = rbuf_u8(&b);
	r->n_hops = rbuf_u8(&b);
	if (!b.ok)
		return 0;
	if (!r->place || r->place >= CAPTURE_PLACES || r->n_hops > LEON_HOPS_MAX)
		return -EBADMSG;
	r->source = rbuf_u32(&b);
	for (unsigned i = 0; i < r->n_hops; i++)
		r->hop[i] = rbuf_u32(&b);
	if (r->flags & CAPTURE_SEALED)
		r->nonce = rbuf_u64(&b);
	r->len = rbuf_u32(&b);
	r->n = rbuf_u16(&b);
	if (b.ok && (r->n > CAPTURE_SNAP_MAX || r->n > r->len))
		return -EBADMSG;
	*bytes = rbuf_take(&b, r->n);
	return b.ok ? (int)(len - rbuf_left(&b)) : 0;
}
