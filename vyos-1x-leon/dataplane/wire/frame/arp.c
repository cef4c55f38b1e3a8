// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ARP (RFC 826): reads a request or reply, and writes the reply for a host at another node. Writes
 * frames that announce a host or make it answer. Announcements are gratuitous ARP (RFC 5227 section
 * 3) and RARP (RFC 903), as hypervisors send after a move. The workers call it for frames with the
 * EtherType of ARP. Pure.
 */
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"
#include "wire/frame/mcast.h"

#define ARP_LEN	       28
#define ARP_ETHERNET   1
#define RARP_REQUEST   3
#define ETHERTYPE_RARP 0x8035

static const struct mac everybody = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

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

/* Pads the frame to the end of the buffer. */
static void put_message(struct wbuf *b, const struct arp_view *a)
{
	wbuf_u16(b, ARP_ETHERNET);
	wbuf_u16(b, ETHERTYPE_V4);
	wbuf_u8(b, MAC_LEN);
	wbuf_u8(b, V4_LEN);
	wbuf_u16(b, a->op);
	wbuf_bytes(b, a->sender_mac.b, MAC_LEN);
	wbuf_bytes(b, a->sender_ip.b, V4_LEN);
	wbuf_bytes(b, a->target_mac.b, MAC_LEN);
	wbuf_bytes(b, a->target_ip.b, V4_LEN);
	memset(b->p, 0, wbuf_left(b));
}

size_t arp_build_reply(const void *request, const struct eth_view *v, const struct arp_view *a,
		       struct mac mac, void *out, size_t out_len)
{
	const struct arp_view reply = { .op = ARP_REPLY,
					.sender_mac = mac,
					.sender_ip = a->target_ip,
					.target_mac = a->sender_mac,
					.target_ip = a->sender_ip };
	struct wbuf b = wbuf_of(out, ETH_MIN_LEN);

	if (a->op != ARP_REQUEST || out_len < ETH_MIN_LEN)
		return 0;
	eth_put_answer(&b, request, v, a->sender_mac, mac);
	put_message(&b, &reply);
	return ETH_MIN_LEN;
}

static size_t broadcast(uint16_t vlan, struct mac src, uint16_t ethertype, const struct arp_view *a,
			void *out)
{
	size_t len = ETH_MIN_LEN + (vlan ? ETH_TAG_LEN : 0u);
	struct wbuf b = wbuf_of(out, len);

	eth_put_header(&b, everybody, src, vlan, ethertype);
	put_message(&b, a);
	return len;
}

size_t rarp_build_announcement(uint16_t vlan, struct mac mac, void *out)
{
	const struct arp_view a = { .op = RARP_REQUEST, .sender_mac = mac, .target_mac = mac };

	return broadcast(vlan, mac, ETHERTYPE_RARP, &a, out);
}

size_t arp_build_announcement(uint16_t vlan, struct mac mac, const struct ip_addr *ip, void *out)
{
	const struct arp_view a = {
		.op = ARP_REQUEST, .sender_mac = mac, .sender_ip = *ip, .target_ip = *ip
	};

	return broadcast(vlan, mac, ETHERTYPE_ARP_, &a, out);
}

/* A query from address 0 would be a probe of a host that is about to claim the address. */
size_t arp_build_question(uint16_t vlan, struct mac src, const struct ip_addr *ip, void *out)
{
	const struct arp_view a = { .op = ARP_REQUEST,
				    .sender_mac = eth_nobody(),
				    .sender_ip = *mcast_querier(4),
				    .target_ip = *ip };

	return broadcast(vlan, src, ETHERTYPE_ARP_, &a, out);
}
