// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts frames to segments and back, see tunnel.h. A frame may be a super-frame of up to 64 KiB,
 * which the TAP delivers for TCP. SCLP carries a super-frame as one payload.
 */
#include "tunnel.h"

#include <errno.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/json/jsonw.h"
#include "base/mem.h"
#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/eth.h"
#include "format/sclp.h"
#include "wire/frame/ip.h"

/* --- checksums and super-frames of the TAP --- */

#define FIRST_FLOW_PORT 49152
#define FLOW_PORTS	16384

bool offload_complete(const struct virtio_net_hdr *h, uint8_t *frame, size_t len)
{
	/* The checksum field holds the sum of the pseudo-header, which the checksum must
	 * include. */
	return !(h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	       checksum_complete(frame, len, h->csum_start, h->csum_offset);
}

/* Returns the end of the IP packet in the frame, 0 if the packet does not fit into the frame. */
static size_t ip_end(const uint8_t *ip, const struct eth_view *v, size_t len)
{
	size_t n = v->ip_version == 4 ? get_u16(ip + V4_LENGTH)
				      : V6_HDR_LEN + (size_t)get_u16(ip + V6_LENGTH);

	return v->l3_offset + n <= len ? v->l3_offset + n : 0;
}

void offload_describe(struct virtio_net_hdr *h, uint8_t *frame, size_t len, uint32_t mtu)
{
	struct eth_view v;
	uint8_t *tcp;
	size_t end, hdr_len;

	*h = (struct virtio_net_hdr){ 0 };
	if (eth_parse(frame, len, &v) < 0 || len - v.l3_offset <= mtu || v.ip_proto != PROTO_TCP ||
	    !v.l4_offset || v.ip_fragment)
		return;
	tcp = frame + v.l4_offset;
	end = ip_end(frame + v.l3_offset, &v, len);
	if (end < v.l4_offset + (size_t)TCP_HDR_MIN)
		return;
	hdr_len = v.l4_offset + (size_t)(tcp[TCP_DOFF] >> 4) * 4;
	if (hdr_len >= end || hdr_len - v.l3_offset >= mtu)
		return;
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->gso_type = v.ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
	h->hdr_len = (uint16_t)hdr_len;
	h->gso_size = (uint16_t)(mtu - (hdr_len - v.l3_offset));
	h->csum_start = v.l4_offset;
	h->csum_offset = TCP_CHECKSUM;
	put_u16(tcp + TCP_CHECKSUM,
		checksum_pseudo(frame + v.l3_offset, v.ip_version, PROTO_TCP, end - v.l4_offset));
}

uint16_t offload_flow_port(const uint8_t *frame, size_t len)
{
	uint64_t hash = 0;
	struct eth_view v;

	if (eth_parse(frame, len, &v) < 0)
		return FIRST_FLOW_PORT;
	hash = hash_mix64(mac_to_u64(v.dst)) ^ hash_mix64(mac_to_u64(v.src) + v.vlan);
	for (size_t i = 0; v.ip_version && i < (v.ip_version == 4 ? 2u * V4_LEN : 2u * V6_LEN);
	     i += 4)
		hash = hash_mix64(hash ^ get_u32(frame + v.l3_offset +
						 (v.ip_version == 4 ? V4_SRC : V6_SRC) + i));
	if (v.l4_offset && (v.ip_proto == PROTO_TCP || v.ip_proto == PROTO_UDP) &&
	    len >= v.l4_offset + 4u)
		hash = hash_mix64(hash ^ get_u32(frame + v.l4_offset));
	return (uint16_t)(FIRST_FLOW_PORT + hash % FLOW_PORTS);
}

#define VXLAN_LEN     8
#define VXLAN_HAS_VNI 0x08000000u
#define TAP_BATCH     16
#define FRAME_ROOM    (SCLP_PAYLOAD_MAX + 1)

struct tunnel {
	struct tunnel_conf conf;
	struct raw *raw;
	struct sclp_join *join;
	int tap;
	uint32_t tap_mtu;
	struct tunnel_counts n;
	uint8_t out[VXLAN_LEN + FRAME_ROOM];
};

int tunnel_open(struct tunnel **out, const struct tunnel_conf *conf, int tap_fd)
{
	struct hash_key key;
	struct raw *raw;
	int fd;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -errno;
	fd = raw_open(&raw, &conf->local, &conf->peer, conf->mtu);
	if (fd < 0)
		return fd;
	*out = x_new(struct tunnel);
	(*out)->conf = *conf;
	(*out)->raw = raw;
	(*out)->join = sclp_join_new(key);
	(*out)->tap = tap_fd;
	(*out)->tap_mtu = 1500;
	return fd;
}

void tunnel_close(struct tunnel *t)
{
	if (!t)
		return;
	raw_close(t->raw);
	sclp_join_free(t->join);
	free(t);
}

void tunnel_set_tap_mtu(struct tunnel *t, uint32_t mtu)
{
	t->tap_mtu = mtu;
}

/* --- from the TAP --- */

static uint32_t next_id(void)
{
	uint32_t id = 0;

	/* The kernel returns fewer bytes only before it has initialized. */
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return 0;
	return id & SCLP_ID_MASK;
}

static void flush(struct tunnel *t, const struct raw_out *seg, unsigned n)
{
	unsigned sent = raw_send(t->raw, seg, n);

	t->n.tx_segments += sent;
	t->n.tx_failed += n - sent;
}

/* Sends the VXLAN header and the frame in t->out. */
static void send_payload(struct tunnel *t, size_t len)
{
	struct sclp_hdr h = { .source = offload_flow_port(t->out + VXLAN_LEN, len - VXLAN_LEN),
			      .dest = t->conf.port,
			      .id = next_id() };
	struct sclp_cut cut = { .len = len, .mss = raw_mss(t->raw) };
	struct raw_out seg[RAW_BATCH];
	struct sclp_piece p;
	unsigned n = 0;

	while (sclp_cut_next(&cut, &p)) {
		h.first = p.first;
		h.remaining = p.remaining;
		seg[n].data = t->out + p.offset;
		seg[n].len = p.len;
		sclp_encode(&h, seg[n].data, p.len, seg[n].hdr);
		if (++n == RAW_BATCH) {
			flush(t, seg, n);
			n = 0;
		}
	}
	flush(t, seg, n);
	t->n.tx_payloads++;
	t->n.tx_bytes += len;
}

void tunnel_from_tap(struct tunnel *t)
{
	struct virtio_net_hdr h;
	struct iovec iov[2] = { { &h, sizeof(h) }, { t->out + VXLAN_LEN, FRAME_ROOM } };

	for (unsigned i = 0; i < TAP_BATCH; i++) {
		ssize_t n = readv(t->tap, iov, array_size(iov));
		size_t len;

		if (n < (ssize_t)(sizeof(h) + ETH_HDR_LEN))
			return;
		len = VXLAN_LEN + (size_t)n - sizeof(h);
		if (len > SCLP_PAYLOAD_MAX ||
		    !offload_complete(&h, t->out + VXLAN_LEN, len - VXLAN_LEN)) {
			t->n.tx_too_big++;
			continue;
		}
		put_u32(t->out, VXLAN_HAS_VNI);
		put_u32(t->out + 4, t->conf.vni << 8);
		send_payload(t, len);
	}
}

/* --- from the peer --- */

static void deliver(struct tunnel *t, const uint8_t *payload, size_t len)
{
	/* The buffer of the reassembly may be modified until the next run. */
	uint8_t *frame = (uint8_t *)(uintptr_t)payload + VXLAN_LEN;
	struct virtio_net_hdr h;
	struct iovec iov[2] = { { &h, sizeof(h) }, { frame, len - VXLAN_LEN } };

	t->n.rx_payloads++;
	if (len < VXLAN_LEN + ETH_HDR_LEN || !(get_u32(payload) & VXLAN_HAS_VNI) ||
	    get_u24(payload + 4) != t->conf.vni) {
		t->n.rx_other_vni++;
		return;
	}
	offload_describe(&h, frame, len - VXLAN_LEN, t->tap_mtu);
	if (writev(t->tap, iov, array_size(iov)) > 0)
		t->n.rx_frames++;
	else
		t->n.rx_refused++;
}

/* Decodes the segments in place and keeps the ones for this port. Returns their number. */
static unsigned decode_segments(struct tunnel *t, struct sclp_segment *seg, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		struct sclp_segment s = seg[i];

		if (sclp_decode(s.data, s.len, &s.h) < 0) {
			t->n.rx_bad++;
		} else if (s.h.dest != t->conf.port) {
			t->n.rx_other_port++;
		} else {
			s.data += SCLP_HDR_LEN;
			s.len -= SCLP_HDR_LEN;
			seg[kept++] = s;
		}
	}
	return kept;
}

void tunnel_from_net(struct tunnel *t, mono_t now)
{
	struct sclp_segment seg[RAW_BATCH];
	struct sclp_run run[RAW_BATCH];
	unsigned n_bad, n = raw_receive(t->raw, seg, &n_bad), n_runs;

	t->n.rx_segments += n;
	t->n.rx_bad += n_bad;
	n = decode_segments(t, seg, n);
	n_runs = sclp_merge(seg, n, run);
	t->n.rx_runs += n_runs;
	for (unsigned i = 0; i < n_runs; i++) {
		size_t len;
		const uint8_t *payload = sclp_join_add(t->join, seg, &run[i], now, &len);

		if (payload)
			deliver(t, payload, len);
	}
}

void tunnel_tick(struct tunnel *t, mono_t now)
{
	sclp_join_age(t->join, now);
	raw_ask_mtu(t->raw);
}

void tunnel_print(const struct tunnel *t)
{
	const struct sclp_join_counts *c = sclp_join_counts(t->join);
	struct jsonw *w = jsonw_new();

	jsonw_object(w, NULL);
#define COUNT(id, text) jsonw_u64(w, #id, t->n.id);
#include "counters.def"
#undef COUNT
	jsonw_u64(w, "waiting", sclp_join_waiting(t->join));
	jsonw_u64(w, "expired", c->expired);
	jsonw_u64(w, "evicted", c->evicted);
	jsonw_u64(w, "duplicate", c->duplicate);
	jsonw_u64(w, "contradictory", c->contradictory);
	jsonw_u64(w, "out_of_order", c->out_of_order);
	jsonw_end(w);
	puts(jsonw_text(w, NULL));
	fflush(stdout);
	jsonw_free(w);
}
