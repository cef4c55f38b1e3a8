// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ARP (RFC 826) for local answers: reads a request or reply, and writes the reply for a host at
 * another node. Called by the workers for frames with the EtherType of ARP. Pure.
 */
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/eth.h"

#define ARP_LEN	     28
#define ARP_ETHERNET 1
#define ARP_REQUEST  1
#define ARP_REPLY    2
#define V4_LEN	     4

static struct ip_addr read_v4(struct rbuf *b)
{
	const uint8_t *p = rbuf_take(b, V4_LEN);
	struct ip_addr ip = { .family = 4 };

	if (p)
		memcpy(ip.b, p, V4_LEN);
	return ip;
}

static struct mac read_mac(struct rbuf *b)
{
	const uint8_t *p = rbuf_take(b, MAC_LEN);
	struct mac mac = { { 0 } };

	if (p)
		memcpy(mac.b, p, MAC_LEN);
	return mac;
}

int arp_parse(const void *frame, size_t len, const struct eth_view *v, struct arp_view *a)
{
	struct rbuf b;

	if (v->ethertype != ETHERTYPE_ARP_ || len < v->l3_offset + (size_t)ARP_LEN)
		return -EBADMSG;
	b = rbuf_of((const uint8_t *)frame + v->l3_offset, ARP_LEN);
	if (rbuf_u16(&b) != ARP_ETHERNET || rbuf_u16(&b) != ETHERTYPE_V4)
		return -EBADMSG;
	if (rbuf_u8(&b) != MAC_LEN || rbuf_u8(&b) != V4_LEN)
		return -EBADMSG;
	a->op = rbuf_u16(&b);
	a->sender_mac = read_mac(&b);
	a->sender_ip = read_v4(&b);
	a->target_mac = read_mac(&b);
	a->target_ip = read_v4(&b);
	if (a->op != ARP_REQUEST && a->op != ARP_REPLY)
		return -EBADMSG;
	/* A group address is no valid host address (RFC 1812 section 3.3.2). */
	return mac_is_multicast(a->sender_mac) ? -EBADMSG : 0;
}

size_t arp_build_reply(const void *request, const struct eth_view *v, const struct arp_view *a,
		       struct mac mac, void *out, size_t out_len)
{
	struct wbuf b = wbuf_of(out, ETH_MIN_LEN);

	if (a->op != ARP_REQUEST || out_len < ETH_MIN_LEN)
		return 0;
	wbuf_bytes(&b, a->sender_mac.b, MAC_LEN);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	/* Copies the VLAN tags, if present, and the EtherType. */
	wbuf_bytes(&b, (const uint8_t *)request + 2 * MAC_LEN, v->l3_offset - 2u * MAC_LEN);
	wbuf_u16(&b, ARP_ETHERNET);
	wbuf_u16(&b, ETHERTYPE_V4);
	wbuf_u8(&b, MAC_LEN);
	wbuf_u8(&b, V4_LEN);
	wbuf_u16(&b, ARP_REPLY);
	wbuf_bytes(&b, mac.b, MAC_LEN);
	wbuf_bytes(&b, a->target_ip.b, V4_LEN);
	wbuf_bytes(&b, a->sender_mac.b, MAC_LEN);
	wbuf_bytes(&b, a->sender_ip.b, V4_LEN);
	memset(b.p, 0, wbuf_left(&b));
	return ETH_MIN_LEN;
}
