// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/conn/migrated, vnet: frames that another accelerator forwards through this node. */
#include <linux/virtio_net.h>

#include "conn/conn_state.h"
#include "conns_lab.h"
#include "frames/tun.h"

#define PAYLOAD 4000

/* Makes a connection with its far host at another node, so that a FORWARD goes there. */
static struct conn *moved(struct conns_lab *l)
{
	struct tcp_segment near = from_near_host(1000, 5000), far = from_far_host(5000, 1000);
	node_id_t node;
	struct conn *c;

	assert_true(conns_lab_frame(l, ACCEL_LAN, FAR_NODE, &near));
	assert_true(conns_lab_frame(l, ACCEL_NODE, FAR_NODE, &far));
	c = conns_lab_conn(l, &far);
	assert_non_null(c);
	c->flow.state = FLOW_INTERCEPTED;
	c->flow.stream = 1;
	c->away.far_at = OTHER_NODE;
	conns_lab_sent(l, &node);
	return c;
}

/* Makes a FORWARD of the segment with this header and payload. Returns the number of messages to
 * leond. */
static unsigned forward(struct conns_lab *l, struct conn *c, const struct virtio_net_hdr *h,
			const struct tcp_segment *s)
{
	static uint8_t body[ACCEL_VNET_LEN + TCP_FRAME_MAX + PAYLOAD];
	size_t len = tcp_make(s, body + ACCEL_VNET_LEN) + PAYLOAD;
	struct accel_frame m = { .type = ACCEL_FORWARD,
				 .stream = 1,
				 .data = { body, ACCEL_VNET_LEN + len } };
	node_id_t node = NODE_ID_NONE;
	unsigned n;

	memcpy(body, h, sizeof(*h));
	put_u16(body + ACCEL_VNET_LEN + ETH_HDR_LEN + 2, (uint16_t)(len - ETH_HDR_LEN));
	migrated_forwarded(c, &m, l->now);
	n = conns_lab_sent(l, &node);
	assert_int_equal(node, n ? OTHER_NODE : NODE_ID_NONE);
	return n;
}

static struct virtio_net_hdr super(uint16_t gso_size)
{
	return (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
					.gso_size = gso_size,
					.csum_start = 34,
					.csum_offset = 16 };
}

static void a_bad_header_yields_no_frame(void **state)
{
	struct tcp_segment s = from_near_host(1000, 5000), other = s;
	struct virtio_net_hdr h;
	struct conns_lab l;
	struct conn *c;

	(void)state;
	conns_lab_open(&l);
	c = moved(&l);
	h = super(1000);
	assert_int_equal(forward(&l, c, &h, &s), 1);
	h = super(1);
	assert_int_equal(forward(&l, c, &h, &s), 0);
	h = super(0);
	assert_int_equal(forward(&l, c, &h, &s), 0);
	h = super(PAYLOAD / VNET_SEGMENTS_MAX);
	assert_int_equal(forward(&l, c, &h, &s), 0);
	/* Small coalesced packets, and a single segment. */
	h = super(PAYLOAD / VNET_SEGMENTS_MAX + 1);
	assert_int_equal(forward(&l, c, &h, &s), 1);
	h = super(PAYLOAD + 1);
	assert_int_equal(forward(&l, c, &h, &s), 1);
	h = super(1000);
	h.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
	assert_int_equal(forward(&l, c, &h, &s), 0);
	h.gso_type = VIRTIO_NET_HDR_GSO_UDP;
	assert_int_equal(forward(&l, c, &h, &s), 0);
	h = super(1000);
	h.flags = 0;
	assert_int_equal(forward(&l, c, &h, &s), 0);
	h.flags = 0x80;
	assert_int_equal(forward(&l, c, &h, &s), 0);
	/* A frame of another connection. */
	h = super(1000);
	other.src_port++;
	assert_int_equal(forward(&l, c, &h, &other), 0);
	assert_int_equal(l.e.counters.misuse[ACCEL_BAD_FRAME], 8);
	assert_int_equal(c->peer->counted.misuse[ACCEL_BAD_FRAME], 8);
	conns_lab_close(&l);
}

static void offsets_follow_from_the_frame(void **state)
{
	const struct eth_view v = { .ip_version = 6, .l4_offset = 58 };
	const struct tcp_view t = { .hdr_len = 32, .payload_len = PAYLOAD };
	uint8_t vnet[ACCEL_VNET_LEN];
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM |
					     VIRTIO_NET_HDR_F_DATA_VALID,
				    .gso_type = VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN,
				    .hdr_len = 9,
				    .gso_size = 1208,
				    .csum_start = 60000,
				    .csum_offset = 5 };

	(void)state;
	memcpy(vnet, &h, sizeof(h));
	assert_true(vnet_renew(vnet, &v, &t));
	memcpy(&h, vnet, sizeof(h));
	assert_int_equal(h.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
	assert_int_equal(h.gso_type, VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN);
	assert_int_equal(h.gso_size, 1208);
	assert_int_equal(h.hdr_len, 58 + 32);
	assert_int_equal(h.csum_start, 58);
	assert_int_equal(h.csum_offset, 16);
	/* A frame that needs no segmentation and no checksum. */
	h = (struct virtio_net_hdr){ .hdr_len = 9, .gso_size = 1, .csum_start = 3 };
	memcpy(vnet, &h, sizeof(h));
	assert_true(vnet_renew(vnet, &v, &t));
	memset(&h, 0, sizeof(h));
	assert_memory_equal(vnet, &h, sizeof(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_header_yields_no_frame),
		cmocka_unit_test(offsets_follow_from_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
