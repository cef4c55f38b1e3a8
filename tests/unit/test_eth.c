// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/eth: the view of a frame, ARP and neighbor discovery, MSS clamping. An independent
 * checksum verifies every frame that the code builds or changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "wire/frame/eth.h"

#define FRAME_MAX 2048

static const struct mac host = { { 0x02, 0, 0, 0, 0, 0x0a } };
static const struct mac remote = { { 0x02, 0, 0, 0, 0, 0x0b } };

/* A frame under construction. */
struct frame {
	uint8_t b[FRAME_MAX];
	size_t len;
};

static void add(struct frame *f, const void *data, size_t len)
{
	memcpy(f->b + f->len, data, len);
	f->len += len;
}

static void add_u8(struct frame *f, unsigned v)
{
	f->b[f->len++] = (uint8_t)v;
}

static void add_u16(struct frame *f, unsigned v)
{
	add_u8(f, v >> 8);
	add_u8(f, v & 0xff);
}

static void add_zero(struct frame *f, size_t n)
{
	memset(f->b + f->len, 0, n);
	f->len += n;
}

/* Builds an Ethernet header with n_tags VLAN tags: 802.1ad 100 outside, 802.1Q 200 inside. */
static struct frame eth(unsigned ethertype, unsigned n_tags)
{
	struct frame f = { .len = 0 };

	add(&f, remote.b, MAC_LEN);
	add(&f, host.b, MAC_LEN);
	if (n_tags == 2) {
		add_u16(&f, ETHERTYPE_DOT1AD);
		add_u16(&f, 0x6000 | 100);
	}
	if (n_tags) {
		add_u16(&f, ETHERTYPE_DOT1Q);
		add_u16(&f, 0xa000 | 200);
	}
	add_u16(&f, ethertype);
	return f;
}

/* Returns the bytes as one big number modulo 0xffff, which equals their ones' complement sum. */
static unsigned sum_mod(unsigned sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum + (i & 1 ? p[i] : p[i] * 256u)) % 0xffff;
	return sum;
}

/* Returns the sum over pseudo-header and transport (no IPv6 extension headers). The sum is 0 modulo
 * 0xffff if the checksum is correct. */
static unsigned transport_sum(const struct frame *f, size_t l3, size_t l4)
{
	const uint8_t *ip = f->b + l3;
	bool v4 = ip[0] >> 4 == 4;
	size_t len = v4 ? ip[2] * 256u + ip[3] - (l4 - l3) : ip[4] * 256u + ip[5];
	uint8_t tail[8] = {
		[2] = (uint8_t)(len >> 8), [3] = (uint8_t)len, [7] = v4 ? ip[9] : ip[6]
	};
	unsigned sum;

	sum = v4 ? sum_mod(0, ip + 12, 8) : sum_mod(0, ip + 8, 32);
	sum = sum_mod(sum, tail, 8);
	return sum_mod(sum, f->b + l4, len);
}

static struct eth_view view(const struct frame *f)
{
	struct eth_view v;

	assert_int_equal(eth_parse(f->b, f->len, &v), 0);
	return v;
}

/* Parses every prefix of a frame in a buffer of exact size, so that ASan detects a read beyond its
 * end. */
static void parse_every_cut(const struct frame *f)
{
	for (size_t len = 0; len <= f->len; len++) {
		uint8_t *copy = test_malloc(len ? len : 1);
		struct eth_view v;
		struct arp_view a;
		struct nd_view n;

		memcpy(copy, f->b, len);
		if (eth_parse(copy, len, &v) == 0) {
			assert_true(v.l3_offset <= len);
			assert_true(v.l4_offset < len);
			arp_parse(copy, len, &v, &a);
			nd_parse(copy, len, &v, &n);
			tcp_clamp_mss(copy, len, &v, 100, false);
		}
		test_free(copy);
	}
}

static void test_view_ethernet(void **state)
{
	struct frame f = eth(0x1234, 0);
	struct eth_view v = view(&f);

	(void)state;
	assert_memory_equal(v.dst.b, remote.b, MAC_LEN);
	assert_memory_equal(v.src.b, host.b, MAC_LEN);
	assert_int_equal(v.ethertype, 0x1234);
	assert_int_equal(v.vlan, 0);
	assert_int_equal(v.l3_offset, 14);
	assert_int_equal(v.ip_version, 0);
	assert_int_equal(v.l4_offset, 0);
	assert_int_equal(eth_parse(f.b, 13, &v), -EBADMSG);
	f.b[6] |= 1;
	assert_int_equal(eth_parse(f.b, f.len, &v), -EBADMSG);
}

static void test_view_vlan(void **state)
{
	struct frame f = eth(0x1234, 1);
	struct eth_view v = view(&f);

	(void)state;
	assert_int_equal(v.vlan, 200);
	assert_int_equal(v.ethertype, 0x1234);
	assert_int_equal(v.l3_offset, 18);
	for (size_t len = 14; len < 18; len++)
		assert_int_equal(eth_parse(f.b, len, &v), -EBADMSG);
	f = eth(0x1234, 2);
	v = view(&f);
	assert_int_equal(v.vlan, 100);
	assert_int_equal(v.ethertype, 0x1234);
	assert_int_equal(v.l3_offset, 22);
	/* A third tag belongs to the payload. */
	f = eth(ETHERTYPE_DOT1Q, 2);
	v = view(&f);
	assert_int_equal(v.ethertype, ETHERTYPE_DOT1Q);
	assert_int_equal(v.l3_offset, 22);
	/* A priority tag has no VLAN. */
	f = eth(0x1234, 1);
	f.b[14] = 0xa0;
	f.b[15] = 0;
	assert_int_equal(view(&f).vlan, 0);
}

static struct frame v4_frame(unsigned n_tags, unsigned proto, unsigned frag, size_t options,
			     size_t l4_len)
{
	struct frame f = eth(ETHERTYPE_V4, n_tags);

	add_u8(&f, 0x45 + (unsigned)options / 4);
	add_u8(&f, 0);
	add_u16(&f, 20 + (unsigned)(options + l4_len));
	add_u16(&f, 0x1111);
	add_u16(&f, frag);
	add_u8(&f, 64);
	add_u8(&f, proto);
	add_u16(&f, 0);
	add(&f, "\xc0\x00\x02\x01\xc6\x33\x64\x02", 8);
	add_zero(&f, options);
	return f;
}

static void test_view_v4(void **state)
{
	struct frame f = v4_frame(1, 17, 0, 0, 8);
	struct eth_view v;

	(void)state;
	add_zero(&f, 8);
	v = view(&f);
	assert_int_equal(v.ip_version, 4);
	assert_int_equal(v.ip_proto, 17);
	assert_int_equal(v.l4_offset, 38);
	assert_false(v.ip_fragment);
	parse_every_cut(&f);
	/* A packet without a transport byte has no transport header. */
	assert_int_equal(eth_parse(f.b, 38, &v), 0);
	assert_int_equal(v.l4_offset, 0);
	assert_int_equal(eth_parse(f.b, 37, &v), 0);
	assert_int_equal(v.ip_version, 0);

	f = v4_frame(0, 6, 0x4000, 8, 8); /* DF, options */
	add_zero(&f, 8);
	v = view(&f);
	assert_false(v.ip_fragment);
	assert_int_equal(v.l4_offset, 14 + 28);
	f = v4_frame(0, 6, 0x2000, 0, 8); /* first fragment, with transport header */
	add_zero(&f, 8);
	v = view(&f);
	assert_true(v.ip_fragment);
	assert_int_equal(v.l4_offset, 34);
	f = v4_frame(0, 6, 0x0001, 0, 8); /* last fragment, without transport header */
	add_zero(&f, 8);
	v = view(&f);
	assert_true(v.ip_fragment);
	assert_int_equal(v.l4_offset, 0);
	f.b[14] = 0x44; /* header length below its minimum */
	assert_int_equal(view(&f).ip_version, 0);
	f.b[14] = 0x65; /* version differs from EtherType */
	assert_int_equal(view(&f).ip_version, 0);
}

static struct frame v6_frame(unsigned n_tags, unsigned next, size_t payload_len)
{
	struct frame f = eth(ETHERTYPE_V6, n_tags);

	add(&f, "\x60\x00\x00\x00", 4);
	add_u16(&f, (unsigned)payload_len);
	add_u8(&f, next);
	add_u8(&f, 255);
	add(&f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0a", 16);
	add(&f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0b", 16);
	return f;
}

static void test_view_v6(void **state)
{
	struct frame f = v6_frame(2, 17, 8);
	struct eth_view v;

	(void)state;
	add_zero(&f, 8);
	v = view(&f);
	assert_int_equal(v.ip_version, 6);
	assert_int_equal(v.ip_proto, 17);
	assert_int_equal(v.l4_offset, 62);
	assert_int_equal(eth_parse(f.b, 61, &v), 0);
	assert_int_equal(v.ip_version, 0);
	/* Hop-by-hop (8), destination options (16), routing (8), then TCP. */
	f = v6_frame(0, 0, 52);
	add(&f, "\x3c\0\0\0\0\0\0\0", 8);
	add(&f, "\x2b\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	add(&f, "\x06\0\0\0\0\0\0\0", 8);
	add_zero(&f, 20);
	v = view(&f);
	assert_int_equal(v.ip_proto, 6);
	assert_int_equal(v.l4_offset, 54 + 32);
	parse_every_cut(&f);
	for (size_t len = 54; len < 54 + 32; len++) {
		assert_int_equal(eth_parse(f.b, len, &v), 0);
		assert_int_equal(v.l4_offset, 0);
	}
}

static void test_view_v6_end_of_search(void **state)
{
	struct frame f = v6_frame(0, 44, 16);
	struct eth_view v;

	(void)state;
	add(&f, "\x06\0\0\x01\0\0\0\x01", 8); /* more fragments */
	add_zero(&f, 8);
	v = view(&f);
	assert_true(v.ip_fragment);
	assert_int_equal(v.ip_proto, 6);
	assert_int_equal(v.l4_offset, 0);
	f.b[54 + 3] = 0x06; /* reserved bits only: not a fragment */
	assert_false(view(&f).ip_fragment);
	assert_int_equal(view(&f).l4_offset, 0);
	f.b[54 + 2] = 0x01; /* an offset */
	assert_true(view(&f).ip_fragment);
	f.b[54] = 60; /* destination options hide the protocol */
	assert_int_equal(view(&f).ip_proto, 0);
	f.len = 54 + 7;
	assert_true(view(&f).ip_fragment);
	assert_int_equal(view(&f).ip_proto, 0);
	f.b[20] = 51; /* authentication header */
	v = view(&f);
	assert_int_equal(v.ip_version, 6);
	assert_false(v.ip_fragment);
	assert_int_equal(v.ip_proto, 51);
	/* The number of extension headers has a limit. */
	f = v6_frame(0, 60, 200);
	for (unsigned i = 0; i < 20; i++)
		add(&f, "\x3c\0\0\0\0\0\0\0", 8);
	v = view(&f);
	assert_int_equal(v.ip_proto, 0);
	assert_int_equal(v.l4_offset, 0);
}

static void test_link_local_control(void **state)
{
	struct mac m = { { 0x01, 0x80, 0xc2, 0, 0, 0 } };

	(void)state;
	assert_true(eth_is_link_local_control(m));
	m.b[5] = 0x0f;
	assert_true(eth_is_link_local_control(m));
	m.b[5] = 0x10;
	assert_false(eth_is_link_local_control(m));
	m.b[5] = 0;
	m.b[4] = 1;
	assert_false(eth_is_link_local_control(m));
}

static struct frame arp_request(unsigned n_tags)
{
	struct frame f = eth(ETHERTYPE_ARP_, n_tags);

	add(&f, "\0\1\x08\0\6\4\0\1", 8);
	add(&f, host.b, MAC_LEN);
	add(&f, "\x0a\0\0\x0a", 4);
	add_zero(&f, 6);
	add(&f, "\x0a\0\0\x0b", 4);
	return f;
}

static void answer_arp(unsigned n_tags)
{
	struct frame f = arp_request(n_tags), reply = { .len = 0 };
	struct eth_view v = view(&f), rv;
	struct arp_view a, ra;

	assert_int_equal(arp_parse(f.b, f.len, &v, &a), 0);
	assert_int_equal(a.op, 1);
	assert_memory_equal(a.sender_mac.b, host.b, MAC_LEN);
	assert_int_equal(a.sender_ip.family, 4);
	assert_memory_equal(a.sender_ip.b, "\x0a\0\0\x0a\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_memory_equal(a.target_ip.b, "\x0a\0\0\x0b", 4);
	assert_int_equal(arp_build_reply(f.b, &v, &a, remote, reply.b, 59), 0);
	reply.len = arp_build_reply(f.b, &v, &a, remote, reply.b, FRAME_MAX);
	assert_int_equal(reply.len, 60);
	rv = view(&reply);
	assert_int_equal(rv.vlan, v.vlan);
	assert_int_equal(rv.l3_offset, v.l3_offset);
	assert_memory_equal(reply.b + 12, f.b + 12, v.l3_offset - 12u);
	assert_memory_equal(rv.dst.b, host.b, MAC_LEN);
	assert_memory_equal(rv.src.b, remote.b, MAC_LEN);
	assert_int_equal(arp_parse(reply.b, reply.len, &rv, &ra), 0);
	assert_int_equal(ra.op, 2);
	assert_memory_equal(ra.sender_mac.b, remote.b, MAC_LEN);
	assert_memory_equal(ra.sender_ip.b, a.target_ip.b, 16);
	assert_memory_equal(ra.target_mac.b, host.b, MAC_LEN);
	assert_memory_equal(ra.target_ip.b, a.sender_ip.b, 16);
	/* A reply needs no reply. */
	assert_int_equal(arp_build_reply(reply.b, &rv, &ra, host, f.b, FRAME_MAX), 0);
}

static void test_arp(void **state)
{
	(void)state;
	for (unsigned n_tags = 0; n_tags <= 2; n_tags++)
		answer_arp(n_tags);
}

static void test_arp_malformed(void **state)
{
	/* Offset in the ARP body, and an invalid value. */
	static const uint8_t bad[][2] = { { 0, 1 }, { 1, 6 }, { 2, 9 }, { 3, 1 },   { 4, 8 },
					  { 5, 6 }, { 7, 0 }, { 7, 3 }, { 8, 0x03 } };
	struct frame f = arp_request(0);
	struct eth_view v = view(&f);
	struct arp_view a;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct frame g = f;

		g.b[14 + bad[i][0]] = bad[i][1];
		assert_int_equal(arp_parse(g.b, g.len, &v, &a), -EBADMSG);
	}
	for (size_t len = 14; len < f.len; len++)
		assert_int_equal(arp_parse(f.b, len, &v, &a), -EBADMSG);
	parse_every_cut(&f);
	f = eth(ETHERTYPE_V4, 0);
	add_zero(&f, 28);
	v = view(&f);
	assert_int_equal(arp_parse(f.b, f.len, &v, &a), -EBADMSG);
}

/* Writes the correct checksum of the present frame at `at`. */
static void set_checksum(struct frame *f, size_t l3, size_t l4, size_t at)
{
	unsigned sum;

	f->b[at] = f->b[at + 1] = 0;
	sum = 0xffff - transport_sum(f, l3, l4);
	f->b[at] = (uint8_t)(sum >> 8);
	f->b[at + 1] = (uint8_t)sum;
}

static const char lladdr_option[8] = { 1, 1, 0x02, 0, 0, 0, 0, 0x0a };

/* Builds a solicitation for ...:b. option: NULL or 8 bytes. */
static struct frame nd_solicit(unsigned n_tags, const char *option)
{
	struct frame f = v6_frame(n_tags, 58, option ? 32 : 24);
	size_t icmp = f.len;

	add(&f, "\x87\0\0\0\0\0\0\0", 8);
	add(&f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0b", 16);
	if (option)
		add(&f, option, 8);
	/* The destination is the solicited-node group of the target. */
	memcpy(f.b + icmp - 16, "\xff\x02\0\0\0\0\0\0\0\0\0\1\xff\0\0\x0b", 16);
	set_checksum(&f, icmp - 40, icmp, icmp + 2);
	return f;
}

static struct frame answer_nd(const struct frame *f, bool router, struct nd_view *answer)
{
	struct frame reply = { .len = 0 };
	struct eth_view v = view(f), rv;
	struct nd_view n;

	assert_int_equal(nd_parse(f->b, f->len, &v, &n), 0);
	assert_int_equal(n.type, 135);
	reply.len = nd_build_advert(f->b, &v, &n, remote, router, reply.b, FRAME_MAX);
	assert_int_equal(reply.len, v.l3_offset + 72u);
	assert_int_equal(nd_build_advert(f->b, &v, &n, remote, router, reply.b, reply.len - 1), 0);
	rv = view(&reply);
	assert_int_equal(rv.vlan, v.vlan);
	assert_memory_equal(reply.b + 12, f->b + 12, v.l3_offset - 12u);
	assert_memory_equal(rv.src.b, remote.b, MAC_LEN);
	assert_int_equal(transport_sum(&reply, rv.l3_offset, rv.l4_offset), 0);
	assert_int_equal(nd_parse(reply.b, reply.len, &rv, answer), 0);
	assert_int_equal(answer->type, 136);
	assert_true(answer->override);
	assert_int_equal(answer->router, router);
	assert_true(answer->has_lladdr);
	assert_memory_equal(answer->lladdr.b, remote.b, MAC_LEN);
	assert_memory_equal(answer->target.b, n.target.b, 16);
	assert_memory_equal(answer->source.b, n.target.b, 16);
	/* An advertisement needs no answer. */
	assert_int_equal(nd_build_advert(reply.b, &rv, answer, host, false, reply.b, FRAME_MAX), 0);
	return reply;
}

static void test_nd(void **state)
{
	struct nd_view n;

	(void)state;
	for (unsigned n_tags = 0; n_tags <= 2; n_tags++) {
		struct frame f = nd_solicit(n_tags, lladdr_option);
		struct frame reply = answer_nd(&f, n_tags == 1, &n);

		assert_true(n.solicited);
		assert_memory_equal(reply.b, host.b, MAC_LEN);
		assert_memory_equal(reply.b + view(&reply).l3_offset + 24,
				    f.b + view(&f).l3_offset + 8, 16);
	}
	/* Without the option, the answer goes to the source MAC of the frame. */
	struct frame f = nd_solicit(0, NULL);
	struct frame reply = answer_nd(&f, false, &n);

	assert_memory_equal(reply.b, host.b, MAC_LEN);
}

static void test_nd_duplicate_probe(void **state)
{
	struct frame f = nd_solicit(0, NULL), reply;
	struct eth_view v;
	struct nd_view n;

	(void)state;
	memset(f.b + 22, 0, 16); /* source: unspecified */
	set_checksum(&f, 14, 54, 56);
	reply = answer_nd(&f, false, &n);
	assert_false(n.solicited);
	assert_memory_equal(reply.b, "\x33\x33\0\0\0\1", 6);
	assert_memory_equal(reply.b + 38, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	/* A probe for duplicates must not contain a link-layer address. */
	f = nd_solicit(0, lladdr_option);
	memset(f.b + 22, 0, 16);
	set_checksum(&f, 14, 54, 56);
	v = view(&f);
	assert_int_equal(nd_parse(f.b, f.len, &v, &n), -EBADMSG);
}

/* Changes one byte and corrects the checksum, so that only the rule under test can refuse the
 * frame. */
static int nd_with(const struct frame *good, size_t at, uint8_t value)
{
	struct frame f = *good;
	struct eth_view v;
	struct nd_view n;

	f.b[at] = value;
	set_checksum(&f, 14, 54, 56);
	v = view(&f);
	return nd_parse(f.b, f.len, &v, &n);
}

static void test_nd_malformed(void **state)
{
	struct frame f = nd_solicit(0, lladdr_option);
	struct eth_view v = view(&f);
	struct nd_view n;

	(void)state;
	assert_int_equal(nd_with(&f, 56, 0), 0);
	assert_int_equal(nd_with(&f, 21, 254), -EBADMSG);  /* hop limit */
	assert_int_equal(nd_with(&f, 54, 134), -EBADMSG);  /* type */
	assert_int_equal(nd_with(&f, 55, 1), -EBADMSG);	   /* code */
	assert_int_equal(nd_with(&f, 62, 0xff), -EBADMSG); /* target is a group */
	assert_int_equal(nd_with(&f, 22, 0xff), -EBADMSG); /* source is a group */
	assert_int_equal(nd_with(&f, 79, 0), -EBADMSG);	   /* option of length 0 */
	assert_int_equal(nd_with(&f, 79, 2), -EBADMSG);	   /* option beyond the end */
	assert_int_equal(nd_with(&f, 80, 3), -EBADMSG);	   /* group link-layer address */
	assert_int_equal(nd_with(&f, 19, 23), -EBADMSG);   /* shorter than a solicitation */
	assert_int_equal(nd_with(&f, 78, 200), 0);	   /* unknown option */
	assert_int_equal(nd_with(&f, 19, 31), -EBADMSG);   /* options of odd length */
	f.b[70] ^= 1;
	assert_int_equal(nd_parse(f.b, f.len, &v, &n), -EBADMSG); /* checksum */
	f.b[70] ^= 1;
	for (size_t len = 55; len < f.len; len++)
		assert_int_equal(nd_parse(f.b, len, &v, &n), -EBADMSG);
	parse_every_cut(&f);
	memset(f.b + 62, 0, 16);
	assert_int_equal(nd_with(&f, 62, 0), -EBADMSG); /* target is unspecified */
}

static void test_nd_advert_rules(void **state)
{
	struct frame f = v6_frame(0, 58, 32);
	struct eth_view v;
	struct nd_view n;

	(void)state;
	add(&f, "\x88\0\0\0\xe0\0\0\0", 8);
	add(&f, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x0a", 16);
	add(&f, "\2\1\2\0\0\0\0\x0a", 8);
	set_checksum(&f, 14, 54, 56);
	v = view(&f);
	assert_int_equal(nd_parse(f.b, f.len, &v, &n), 0);
	assert_true(n.router && n.solicited && n.override && n.has_lladdr);
	assert_int_equal(nd_with(&f, 38, 0xff), -EBADMSG); /* solicited, but to a group */
	f.b[58] = 0xa0;
	assert_int_equal(nd_with(&f, 38, 0xff), 0);
	/* The source link-layer option of a solicitation has no meaning in an advertisement. */
	f.b[78] = 1;
	set_checksum(&f, 14, 54, 56);
	assert_int_equal(nd_parse(f.b, f.len, &v, &n), 0);
	assert_false(n.has_lladdr);
	assert_false(n.solicited);
}

/* Builds a TCP segment with these options (a multiple of 4 bytes) and a correct checksum. */
static struct frame tcp_frame(bool v6, unsigned flags, const void *options, size_t len)
{
	struct frame f = v6 ? v6_frame(1, 6, 20 + len) : v4_frame(1, 6, 0x4000, 0, 20 + len);
	size_t l4 = f.len;

	add(&f, "\x12\x34\x00\x50\0\0\0\x01\0\0\0\0", 12);
	add_u8(&f, (unsigned)(20 + len) / 4 << 4);
	add_u8(&f, flags);
	add(&f, "\xfa\xf0\0\0\0\0", 6);
	add(&f, options, len);
	set_checksum(&f, 18, l4, l4 + 16);
	return f;
}

static void clamp(bool v6, unsigned flags, const void *options, size_t len, size_t at,
		  bool expected)
{
	struct frame f = tcp_frame(v6, flags, options, len), before = f;
	struct eth_view v = view(&f);
	size_t mss = v.l4_offset + 20u + at;

	assert_int_equal(transport_sum(&f, 18, v.l4_offset), 0);
	assert_int_equal(tcp_clamp_mss(f.b, f.len, &v, 1300, false), expected);
	if (!expected) {
		assert_memory_equal(f.b, before.b, f.len);
		return;
	}
	assert_int_equal(f.b[mss] << 8 | f.b[mss + 1], 1300);
	assert_int_equal(transport_sum(&f, 18, v.l4_offset), 0);
	/* Nothing else changes, and a second clamp changes nothing. */
	memcpy(before.b + mss, f.b + mss, 2);
	memcpy(before.b + v.l4_offset + 16, f.b + v.l4_offset + 16, 2);
	assert_memory_equal(f.b, before.b, f.len);
	assert_false(tcp_clamp_mss(f.b, f.len, &v, 1300, false));
}

static void test_mss(void **state)
{
	(void)state;
	for (int v6 = 0; v6 <= 1; v6++) {
		clamp(v6, 0x02, "\2\4\5\xb4\1\1\4\2", 8, 2, true); /* SYN */
		clamp(v6, 0x12, "\2\4\5\xb4\1\1\4\2", 8, 2, true); /* SYN and ACK */
		clamp(v6, 0x02, "\1\2\4\5\xb4\1\1\1", 8, 3, true); /* odd offset */
		clamp(v6, 0x02, "\4\2\3\3\7\2\4\xff\xff\0\0\0", 12, 7, true);
		clamp(v6, 0x10, "\2\4\5\xb4", 4, 0, false); /* not a SYN */
		clamp(v6, 0x02, "\2\4\5\x14", 4, 0, false); /* 1300 already */
		clamp(v6, 0x02, "", 0, 0, false);	    /* no options */
		clamp(v6, 0x02, "\1\1\4\2", 4, 0, false);   /* no MSS option */
	}
}

static void test_mss_malformed(void **state)
{
	(void)state;
	clamp(false, 0x02, "\0\2\4\5\xb4\0\0\0", 8, 0, false);	 /* after the end of the list */
	clamp(false, 0x02, "\3\0\2\4\5\xb4\1\1", 8, 0, false);	 /* length 0 */
	clamp(false, 0x02, "\3\1\2\4\5\xb4\1\1", 8, 0, false);	 /* length 1 */
	clamp(false, 0x02, "\3\x20\2\4\5\xb4\1\1", 8, 0, false); /* beyond the header */
	clamp(false, 0x02, "\2\3\5\xb4", 4, 0, false);		 /* MSS of another length */
	clamp(false, 0x02, "\1\1\2\4", 4, 0, false);		 /* truncated value */
	clamp(false, 0x02, "\1\2\4\5", 4, 0, false);
}

static void test_mss_not_for_us(void **state)
{
	struct frame f = tcp_frame(false, 0x02, "\2\4\5\xb4", 4), g;
	struct eth_view v = view(&f);

	(void)state;
	g = f;
	g.b[18 + 6] = 0x20; /* a first fragment */
	v = view(&g);
	assert_false(tcp_clamp_mss(g.b, g.len, &v, 1300, false));
	g = f;
	g.b[18 + 9] = 17; /* UDP */
	v = view(&g);
	assert_false(tcp_clamp_mss(g.b, g.len, &v, 1300, false));
	g = f;
	g.b[38 + 12] = 0x40; /* data offset below its minimum */
	v = view(&g);
	assert_false(tcp_clamp_mss(g.b, g.len, &v, 1300, false));
	g.b[38 + 12] = 0x70; /* data offset beyond the frame */
	assert_false(tcp_clamp_mss(g.b, g.len, &v, 1300, false));
	parse_every_cut(&f);
}

/*
 * The checksum update is arithmetic without special cases. Every MSS in both alignments agrees with
 * the full computation, including checksums 0x0000 and 0xffff.
 */
static void test_mss_every_checksum(void **state)
{
	(void)state;
	for (unsigned port = 0; port < 65536; port += 7) {
		struct frame f = tcp_frame(
			port & 1, 0x02, port & 2 ? "\1\2\4\5\xb4\1\1\1" : "\2\4\5\xb4\1\1\1\1", 8);
		struct eth_view v = view(&f);

		f.b[v.l4_offset] = (uint8_t)(port >> 8);
		f.b[v.l4_offset + 1] = (uint8_t)port;
		set_checksum(&f, 18, v.l4_offset, v.l4_offset + 16u);
		assert_true(tcp_clamp_mss(f.b, f.len, &v, (uint16_t)(port % 1400), false));
		assert_int_equal(transport_sum(&f, 18, v.l4_offset), 0);
	}
}

/* A partial checksum is the sum of the pseudo-header. The checksum that is completed after the
 * clamp is correct. */
static void test_mss_partial(void **state)
{
	struct frame f = tcp_frame(false, 0x02, "\2\4\5\xb4", 4);
	struct eth_view v = view(&f);
	size_t at = v.l4_offset + 16u;
	uint8_t pseudo[12] = { 0xc0, 0, 2, 1, 0xc6, 0x33, 0x64, 2, 0, 6, 0, 24 };
	unsigned sum = sum_mod(0, pseudo, sizeof(pseudo));

	(void)state;
	f.b[at] = (uint8_t)(sum >> 8);
	f.b[at + 1] = (uint8_t)sum;
	assert_true(tcp_clamp_mss(f.b, f.len, &v, 1300, true));
	assert_int_equal(f.b[at] << 8 | f.b[at + 1], sum);
	/* The kernel completes VIRTIO_NET_HDR_F_NEEDS_CSUM in this way. */
	sum = 0xffff - sum_mod(0, f.b + v.l4_offset, f.len - v.l4_offset);
	f.b[at] = (uint8_t)(sum >> 8);
	f.b[at + 1] = (uint8_t)sum;
	assert_int_equal(transport_sum(&f, 18, v.l4_offset), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view_ethernet),
		cmocka_unit_test(test_view_vlan),
		cmocka_unit_test(test_view_v4),
		cmocka_unit_test(test_view_v6),
		cmocka_unit_test(test_view_v6_end_of_search),
		cmocka_unit_test(test_link_local_control),
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_arp_malformed),
		cmocka_unit_test(test_nd),
		cmocka_unit_test(test_nd_duplicate_probe),
		cmocka_unit_test(test_nd_malformed),
		cmocka_unit_test(test_nd_advert_rules),
		cmocka_unit_test(test_mss),
		cmocka_unit_test(test_mss_malformed),
		cmocka_unit_test(test_mss_not_for_us),
		cmocka_unit_test(test_mss_every_checksum),
		cmocka_unit_test(test_mss_partial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
