// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fwd/accel/divert and fwd/tap/handover: frames for leon-accel, and those that it returns. The
 * segments that gso_reference.h cuts from a message equal the original in all bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fwd/accel/divert.h"
#include "fwd_fixture.h"
#include "gso_reference.h"
#include "ipc/accel_queue.h"
#include "state/tables/mac_damping.h"
#include "wire/accel.h"
#include "wire/datagram/leon.h"
#include "wire/frame/csum.h"
#include "wire/frame/ip.h"

#define MSS	 1200
#define SEGMENTS 20
#define AT	 (ACCEL_QUEUE_HDR + ACCEL_VNET_LEN)

static struct fixture fx;
static struct gr g;
static int pair[2]; /* the ends of leon-accel and of the worker */
static uint8_t message[ACCEL_QUEUE_MAX];
static size_t message_len;
/* Received frames, which stay in the receive buffers until the batch ends. */
static uint8_t arrived[1 << 20];
static size_t used;
static mono_t frozen; /* the time of leon-accel's frames; never: now */
/* Index of the frame of a message that is damaged in transit. -1: none. */
static int damaged;

static void with_accelerators(struct snap *s)
{
	s->accelerator = true;
	s->node[1].accelerated = s->node[2].accelerated = true;
}

static int setup(void **state)
{
	(void)state;
	gr_reset(&g);
	used = 0;
	damaged = -1;
	frozen = MONO_NEVER;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0 ||
	    !fx_open_with(&fx, true, pair[1]))
		return -1;
	fx.w->tap_tso = true;
	fx_publish(&fx, with_accelerators);
	fdb_learn(fx.fdb, 0, fx_mac(1), 1, 1);
	fdb_learn(fx.fdb, 100, fx_mac(1), 1, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fx_close(&fx);
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static struct gr_spec tcp(int version)
{
	return (struct gr_spec){ .version = version, .payload = MSS, .seq = 0xfffff000, .id = 7 };
}

/* Sets the addresses of the accelerators of two nodes. */
static void between(struct gr_spec *s, node_id_t from, node_id_t to)
{
	static struct ip_addr src, dst; /* as long-lived as the spec */

	src = accel_address(from);
	dst = accel_address(to);
	s->v6_src = src.b;
	s->v6_dst = dst.b;
	s->src_port = ACCEL_PORT;
}

/* Builds a datagram of the node in slot 1 or 2 with the next frame of the flow. Returns its
 * length. */
static size_t datagram(uint8_t *out, unsigned slot, uint8_t kind, struct gr_spec *s, bool damage)
{
	const node_id_t hop[] = { fx_id(1), FX_SELF };
	unsigned relays = slot - 1;
	uint8_t flags = s->whole ? 0 : LEON_F_CSUM_PARTIAL;
	size_t n = fx_header(out, kind, flags, fx_id(slot), (uint8_t)relays, (uint8_t)(relays + 1),
			     hop + 1 - relays);
	struct gr_frame *f;

	if (kind == LEON_ACCEL && !s->v6_src)
		between(s, fx_id(slot), FX_SELF);
	f = gr_add(&g, s);
	if (damage)
		f->kept[f->csum_start + f->csum_offset] ^= 1;
	memcpy(out + n, f->kept, f->len);
	s->seq += (uint32_t)s->payload;
	s->id++;
	s->v6_src = s->v6_dst = NULL;
	return n + f->len;
}

/* Receives `n` frames of one flow in one message, within a batch. */
static void receive(unsigned slot, uint8_t kind, struct gr_spec *s, unsigned n)
{
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .data = arrived + used, .from = &ss };

	for (unsigned i = 0; i < n; i++) {
		m.segment = datagram(arrived + used, slot, kind, s, (int)i == damaged);
		used += m.segment;
		m.len += m.segment;
	}
	endpoint_to_sockaddr(&fx.ep[1], &ss);
	from_net_message(fx.w, &m);
}

/* Receives one message as a batch. */
static void batch(unsigned slot, uint8_t kind, struct gr_spec *s, unsigned n)
{
	worker_begin(fx.w);
	receive(slot, kind, s, n);
	worker_end(fx.w);
}

/* Reads the next message and segments a super-frame. Returns the number of segments, or 0 without a
 * message. */
static unsigned taken(enum accel_where where, unsigned slot)
{
	ssize_t len = recv(pair[0], message, sizeof(message), 0);
	struct virtio_net_hdr h;
	unsigned before = g.n_out;

	if (len < 0)
		return 0;
	message_len = (size_t)len;
	assert_true(len > AT);
	assert_int_equal(get_u32(message), (uint32_t)where << 24);
	assert_int_equal(get_u32(message + 4), fx_id(slot));
	memcpy(&h, message + ACCEL_QUEUE_HDR, sizeof(h));
	if (!h.gso_type) {
		gr_seen(&g, message + AT, (size_t)len - AT);
	} else {
		size_t payload = (size_t)len - AT - h.hdr_len;

		assert_int_equal(h.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
		assert_true(h.gso_size > 0);
		gr_cut(&g, &h, message + AT, (size_t)len - AT,
		       (unsigned)((payload + h.gso_size - 1) / h.gso_size));
	}
	if (g.wrong)
		fail_msg("%s", g.wrong);
	return g.n_out - before;
}

static void segments_are_one_again(void **state)
{
	(void)state;
	for (int version = 4; version <= 6; version += 2)
		for (unsigned tags = 0; tags <= 1; tags++) {
			struct gr_spec s = tcp(version);

			s.n_tags = tags;
			s.tcp_options = 12;
			batch(1, LEON_FRAME, &s, SEGMENTS);
			assert_int_equal(taken(ACCEL_NODE, 1), SEGMENTS);
			assert_int_equal(taken(ACCEL_NODE, 1), 0);
		}
	assert_int_equal(fx_count(&fx, CNT_accel_in), 4 * SEGMENTS);
	assert_int_equal(fx_count(&fx, CNT_accel_in_super), 4);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void so_are_those_of_a_carrier(void **state)
{
	struct gr_spec s = tcp(6);

	(void)state;
	batch(1, LEON_ACCEL, &s, SEGMENTS);
	assert_int_equal(taken(ACCEL_PEER, 1), SEGMENTS);
	assert_int_equal(taken(ACCEL_PEER, 1), 0);
	/* More segments than one IP packet can hold. */
	batch(1, LEON_ACCEL, &s, 60);
	assert_int_equal(taken(ACCEL_PEER, 1), 54);
	assert_int_equal(taken(ACCEL_PEER, 1), 6);
}

/* A complete checksum stays unchanged, so that the receiving kernel detects errors. */
static void whole_and_wrong_checksums_are_as_they_came(void **state)
{
	struct gr_spec s = tcp(6);
	struct virtio_net_hdr h;

	(void)state;
	s.whole = true;
	batch(1, LEON_ACCEL, &s, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(taken(ACCEL_PEER, 1), 1);
		memcpy(&h, message + ACCEL_QUEUE_HDR, sizeof(h));
		assert_int_equal(h.flags, 0);
	}
	/* Of three frames with partial checksums, one is damaged. The damaged frame joins no
	 * super-frame and stays damaged. */
	s.whole = false;
	damaged = 1;
	batch(1, LEON_ACCEL, &s, 3);
	assert_int_equal(taken(ACCEL_PEER, 1), 1);
	assert_int_equal(taken(ACCEL_PEER, 1), 1);
	assert_int_equal(taken(ACCEL_PEER, 1), 1);
	assert_int_equal(taken(ACCEL_PEER, 1), 0);
}

static void nodes_and_ways_are_not_mixed(void **state)
{
	struct gr_spec s = tcp(6);

	(void)state;
	worker_begin(fx.w);
	receive(1, LEON_FRAME, &s, 2);
	receive(1, LEON_ACCEL, &s, 2);
	receive(2, LEON_ACCEL, &s, 2);
	receive(1, LEON_FRAME, &s, 2);
	worker_end(fx.w);
	assert_int_equal(taken(ACCEL_NODE, 1), 2);
	assert_int_equal(taken(ACCEL_PEER, 1), 2);
	assert_int_equal(taken(ACCEL_PEER, 2), 2);
	assert_int_equal(taken(ACCEL_NODE, 1), 2);
	assert_int_equal(taken(ACCEL_NODE, 1), 0);
}

/* The memory of a reassembled frame is reused only after the frame is sent. */
static void reassembled_frames_live_until_they_are_sent(void **state)
{
	struct gr_spec s = tcp(4);
	const node_id_t us = FX_SELF;
	struct sockaddr_storage ss = { 0 };

	(void)state;
	endpoint_to_sockaddr(&fx.ep[1], &ss);
	worker_begin(fx.w);
	for (uint32_t id = 1; id <= 3; id++, s.seq += MSS, s.id++) {
		const struct gr_frame *f = gr_add(&g, &s);
		size_t half = f->len / 2;

		for (unsigned i = 0; i < 2; i++) {
			uint8_t *out = arrived + used;
			struct fragment_hdr h = { id, (uint16_t)(i * half), (uint16_t)f->len };
			struct udp_rx_msg m = { .data = out, .from = &ss };

			m.len = fx_header(out, LEON_FRAGMENT, LEON_F_CSUM_PARTIAL, fx_id(1), 0, 1,
					  &us);
			fragment_encode(&h, out + m.len);
			m.len += FRAGMENT_HDR_LEN;
			memcpy(out + m.len, f->kept + i * half, i ? f->len - half : half);
			m.len += i ? f->len - half : half;
			m.segment = m.len;
			used += m.len;
			from_net_message(fx.w, &m);
		}
		/* Other frames of the batch go to the TAP in between. */
		deliver_flush(fx.w);
	}
	worker_end(fx.w);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(taken(ACCEL_NODE, 1), 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static unsigned foreign_reports(void)
{
	struct fwd_report r;
	unsigned n = 0;

	while (fwd_next_report(fx.f, &r)) {
		if (r.type != FWD_ACCEL_FOREIGN)
			continue;
		assert_int_equal(r.slot, 1);
		n++;
	}
	return n;
}

/* Expects that the next frame of kind 6 from slot 1 is dropped and counted. */
static void assert_foreign(struct gr_spec *s)
{
	uint64_t before = fx_drops(&fx, DROP_accel_foreign);

	batch(1, LEON_ACCEL, s, 1);
	assert_int_equal(taken(ACCEL_PEER, 1), 0);
	assert_int_equal(fx_drops(&fx, DROP_accel_foreign), before + 1);
}

/* A member may send TCP only from its own accelerator to the local one, with the port at one
 * end. */
static void accelerators_speak_for_themselves(void **state)
{
	struct gr_spec s = tcp(6), v4 = tcp(4);

	(void)state;
	batch(1, LEON_ACCEL, &s, 1);
	assert_int_equal(taken(ACCEL_PEER, 1), 1);
	between(&s, fx_id(2), FX_SELF);
	assert_foreign(&s);
	between(&s, fx_id(1), fx_id(2));
	assert_foreign(&s);
	between(&s, fx_id(1), FX_SELF);
	s.src_port = 5367;
	assert_foreign(&s);
	between(&s, fx_id(1), FX_SELF);
	s.n_tags = 1;
	assert_foreign(&s);
	s.n_tags = 0;
	between(&s, fx_id(1), FX_SELF);
	s.udp = true;
	assert_foreign(&s);
	v4.src_port = ACCEL_PORT;
	assert_foreign(&v4);
	/* The report names the sender, at most once in REPORT_HOLD_NS. */
	assert_int_equal(foreign_reports(), 1);
	/* A node without an accelerator drops these frames silently. */
	fx.w->io.accel = -1;
	between(&s, fx_id(2), FX_SELF);
	s.udp = false;
	assert_foreign(&s);
	assert_int_equal(fx_drops(&fx, DROP_accel_absent), 0);
}

/* The host table has the source at another node or nowhere, so the message is a claim. */
static void a_host_that_is_not_there_is_a_claim(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	fdb_forget_slot(fx.fdb, 1, NULL, 1);
	fdb_learn(fx.fdb, 0, fx_mac(1), 2, 1);
	batch(1, LEON_FRAME, &s, SEGMENTS);
	assert_int_equal(taken(ACCEL_CLAIM, 1), SEGMENTS);
	fdb_forget_slot(fx.fdb, 2, NULL, 1);
	batch(1, LEON_FRAME, &s, 2);
	assert_int_equal(taken(ACCEL_CLAIM, 1), 2);
	fdb_learn(fx.fdb, 0, fx_mac(1), 1, 100);
	batch(1, LEON_FRAME, &s, 2);
	assert_int_equal(taken(ACCEL_NODE, 1), 2);
}

/* The address moved too often and is frozen at no node. No other place contradicts the frame. */
static void a_host_frozen_at_no_node_is_followed(void **state)
{
	struct gr_spec s = tcp(4);
	uint32_t now_s;

	(void)state;
	worker_begin(fx.w);
	now_s = fx.w->now_s;
	fdb_forget_slot(fx.fdb, 1, NULL, now_s);
	for (unsigned i = 0; i <= MAC_FLAP_MOVES + 1; i++)
		fdb_learn(fx.fdb, 0, fx_mac(1), (uint16_t)(1 + i % 2), now_s);
	assert_int_equal(fdb_lookup(fx.fdb, 0, fx_mac(1)), SLOT_NONE);
	batch(1, LEON_FRAME, &s, 2);
	assert_int_equal(taken(ACCEL_NODE, 1), 2);
}

/* leon-accel returns the last message, for `where` and the node of `slot`. */
static void give_back(enum accel_where where, unsigned slot)
{
	accel_queue_put(message, where, fx_id(slot));
	assert_int_equal(send(pair[0], message, message_len, 0), message_len);
	worker_begin(fx.w);
	fx.w->now = mono_is_never(frozen) ? fx.w->now : frozen;
	from_accel(fx.w, pair[1]);
	worker_end(fx.w);
}

/* A super-frame of a tracked connection reaches the segment, and the counters count its
 * segments. */
static void a_super_frame_for_the_segment_counts_its_segments(void **state)
{
	struct gr_spec s = tcp(4);
	size_t len;

	(void)state;
	worker_begin(fx.w);
	receive(1, LEON_FRAME, &s, SEGMENTS);
	s.payload = 100;
	receive(1, LEON_FRAME, &s, 1);
	worker_end(fx.w);
	assert_int_equal(taken(ACCEL_NODE, 1), SEGMENTS + 1);
	len = message_len - ACCEL_QUEUE_HDR;
	give_back(ACCEL_LAN, 1);
	assert_int_equal(recv(fx.tap, message, sizeof(message), MSG_DONTWAIT), len);
	assert_int_equal(fx_count(&fx, CNT_accel_in), SEGMENTS + 1);
	assert_int_equal(fx_count(&fx, CNT_accel_out), SEGMENTS + 1);
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), SEGMENTS + 1);
	assert_int_equal(fx_count(&fx, CNT_tap_tx_frames), 1);
	assert_int_equal(fx_count(&fx, CNT_tap_tx_super), 1);
	assert_int_equal(fx_count(&fx, CNT_tap_tx_bytes), len - ACCEL_VNET_LEN);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void a_plain_frame_for_the_segment_counts_one(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	batch(1, LEON_FRAME, &s, 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 1);
	give_back(ACCEL_LAN, 1);
	assert_int_equal(fx_count(&fx, CNT_accel_out), 1);
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 1);
	assert_int_equal(fx_count(&fx, CNT_tap_tx_super), 0);
	assert_true(recv(fx.tap, message, sizeof(message), MSG_DONTWAIT) > 0);
	s.n_tags = 2; /* leon-accel writes one tag only, of 802.1Q */
	batch(1, LEON_FRAME, &s, 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 0);
	assert_true(recv(fx.tap, message, sizeof(message), MSG_DONTWAIT) > 0);
	s.n_tags = 1;
	s.tag = ETHERTYPE_DOT1AD; /* without a bridge of such VLANs */
	batch(1, LEON_FRAME, &s, 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 0);
	assert_true(recv(fx.tap, message, sizeof(message), MSG_DONTWAIT) > 0);
	s.tag = 0;
	batch(1, LEON_FRAME, &s, 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 1);
	snap_add_lan(fx.snap)->tag = ETHERTYPE_DOT1AD;
	give_back(ACCEL_LAN, 1);
	assert_true(recv(fx.tap, message, sizeof(message), MSG_DONTWAIT) > 0);
	assert_int_equal(get_u16(message + ACCEL_VNET_LEN + 2 * MAC_LEN), ETHERTYPE_DOT1AD);
}

static void without_tap_tso(struct snap *s)
{
	with_accelerators(s);
	s->no_offload.tap_tso = true;
}

static void without_tap_checksum(struct snap *s)
{
	without_tap_tso(s);
	s->no_offload.tap_checksum = true;
}

/* Expects the next frame of the model at the segment. Returns the flags of its vnet header. */
static uint8_t segment_gets(bool whole)
{
	ssize_t len = recv(fx.tap, message, sizeof(message), MSG_DONTWAIT);
	struct virtio_net_hdr h;
	struct eth_view v;
	uint8_t *frame = message + ACCEL_VNET_LEN;
	size_t n = (size_t)len - ACCEL_VNET_LEN, at;

	assert_true(len > (ssize_t)ACCEL_VNET_LEN);
	memcpy(&h, message, sizeof(h));
	assert_int_equal(h.gso_type, 0);
	assert_int_equal(eth_parse(frame, n, &v), 0);
	at = checksum_place(&v, n);
	if (whole) {
		unsigned pseudo = gr_pseudo(frame + v.l3_offset, PROTO_TCP, n - v.l4_offset);

		assert_int_equal(ones_sum(pseudo, frame + v.l4_offset, n - v.l4_offset), 0xffff);
		put_u16(frame + at, (uint16_t)pseudo);
	} else {
		assert_int_equal(h.csum_start, v.l4_offset);
		assert_int_equal(h.csum_start + h.csum_offset, at);
	}
	gr_seen(&g, frame, n);
	if (g.wrong)
		fail_msg("%s", g.wrong);
	return h.flags;
}

/* The kernel or a driver fails with super-frames, or with partial checksums too. */
static void disabled_offloads_of_the_tap(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool whole = i & 1;
		struct gr_spec s = tcp(i & 2 ? 4 : 6);
		ssize_t len;

		s.tcp_options = 12;
		fx_publish(&fx, with_accelerators);
		batch(1, LEON_FRAME, &s, SEGMENTS);
		len = recv(pair[0], message, sizeof(message), 0);
		message_len = (size_t)len;
		assert_true(len > SEGMENTS * MSS);
		fx_publish(&fx, whole ? without_tap_checksum : without_tap_tso);
		give_back(ACCEL_LAN, 1);
		for (unsigned k = 0; k < SEGMENTS; k++)
			assert_int_equal(segment_gets(whole),
					 whole ? 0 : VIRTIO_NET_HDR_F_NEEDS_CSUM);
		/* A single frame is no super-frame. */
		batch(1, LEON_FRAME, &s, 1);
		message_len = (size_t)recv(pair[0], message, sizeof(message), 0);
		give_back(ACCEL_LAN, 1);
		assert_int_equal(segment_gets(whole), whole ? 0 : VIRTIO_NET_HDR_F_NEEDS_CSUM);
	}
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 4 * (SEGMENTS + 1));
	assert_int_equal(fx_count(&fx, CNT_tap_tx_super), 0);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void lost_super_frames_count_their_segments(void **state)
{
	struct gr_spec s = tcp(6);

	(void)state;
	batch(1, LEON_FRAME, &s, SEGMENTS);
	assert_int_equal(taken(ACCEL_NODE, 1), SEGMENTS);
	give_back(ACCEL_NODE, 3);
	assert_int_equal(fx_drops(&fx, DROP_accel_no_path), SEGMENTS);
	/* The other end of the TAP is closed. */
	shutdown(fx.tap, SHUT_RD);
	give_back(ACCEL_LAN, 1);
	assert_int_equal(fx_drops(&fx, DROP_tap_write_failed), SEGMENTS);
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 0);
	assert_int_equal(fx_count(&fx, CNT_accel_out), 2 * SEGMENTS);
}

/* Super-frames of hosts from the TAP are counted by their segments too. */
static void a_super_frame_of_the_segment_counts_its_segments(void **state)
{
	struct gr_spec s = tcp(4);

	(void)state;
	batch(1, LEON_FRAME, &s, SEGMENTS);
	assert_int_equal(taken(ACCEL_NODE, 1), SEGMENTS);
	fdb_learn(fx.fdb, 0, fx_mac(2), 1, 1);
	assert_true(fx_host_sends(&fx, message + ACCEL_QUEUE_HDR, message_len - ACCEL_QUEUE_HDR));
	assert_true(recv(pair[0], message, sizeof(message), 0) > 0);
	assert_int_equal(message[0], ACCEL_LAN);
	assert_int_equal(fx_count(&fx, CNT_accel_in), 2 * SEGMENTS);
	assert_int_equal(fx_count(&fx, CNT_accel_in_super), 1);
	fdb_learn(fx.fdb, 0, fx_mac(1), SLOT_SELF, 1);
	give_back(ACCEL_NODE, 1);
	assert_int_equal(fx_count(&fx, CNT_accel_out), SEGMENTS);
	assert_int_equal(fx_all_drops(&fx), 0);
	/* The host has moved while its frame was in leon-accel. */
	fdb_learn(fx.fdb, 0, fx_mac(1), 2, 100);
	give_back(ACCEL_NODE, 1);
	assert_int_equal(fx_drops(&fx, DROP_accel_outdated), SEGMENTS);
}

/* --- rate limits --- */

#define KBITS 10000

static unsigned smaller; /* 1: full segments do not fit the path any more */

static void with_egress(struct snap *s)
{
	with_accelerators(s);
	s->shape_kbits = KBITS;
	if (smaller == 1)
		s->node[1].path_mtu = MSS;
}

/* One turn of the queue at this time. */
static void turn_at(mono_t now)
{
	worker_begin(fx.w);
	fx.w->now = now;
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
}

/* Receives all datagrams to the node of slot 1, with the kind and the port of their frames. */
static unsigned node_received(uint8_t kind, uint16_t *port)
{
	struct datagram d;
	unsigned n = 0;

	for (; fx_node_gets(&fx, 1, &d); n++) {
		struct eth_view v;

		assert_int_equal(d.h.kind, kind);
		assert_int_equal(eth_parse(d.b + d.hdr_len, d.len - d.hdr_len, &v), 0);
		*port = get_u16(d.b + d.hdr_len + v.l4_offset + 2);
	}
	return n;
}

/* Makes a frame of this TCP flow the last message. The port is 80 and the number of the flow. */
static void frame_of(uint8_t kind, enum accel_where where, uint8_t flow)
{
	struct gr_spec s = tcp(kind == LEON_ACCEL ? 6 : 4);

	s.flow = flow;
	fdb_learn(fx.fdb, 0, fx_mac(1), 1, 1);
	batch(1, kind, &s, 1);
	assert_int_equal(taken(where, 1), 1);
	fdb_learn(fx.fdb, 0, fx_mac(1), SLOT_SELF, 100);
}

static void wait_for_the_rate(uint8_t kind, enum accel_where where)
{
	unsigned n = 0;
	uint16_t port;

	frame_of(kind, where, 1);
	frozen = fx.w->now;
	for (unsigned i = 0; i < 100; i++)
		give_back(where, 1);
	assert_int_equal(node_received(kind, &port), 0);
	assert_int_equal(fx.w->queue.hops.n, 100);
	assert_false(mono_is_never(queue_due(fx.w)));
	for (unsigned ms = 1; ms < 50; ms++, n += node_received(kind, &port))
		turn_at(mono_add_ms(frozen, ms));
	assert_in_range(n, 40, 60); /* 50 ms carry 48 frames */
	/* Another connection passes. */
	frame_of(kind, where, 2);
	give_back(where, 1);
	turn_at(mono_add_ms(frozen, 51));
	assert_in_range(node_received(kind, &port), 1, 2);
	assert_int_equal(port, 80 + 2);
	for (unsigned ms = 52; ms < 150; ms++)
		turn_at(mono_add_ms(frozen, ms));
	node_received(kind, &port);
	assert_int_equal(fx_count(&fx, CNT_queue_frames), 101);
	assert_int_equal(fx_free_places(&fx), QUEUE_LARGE + QUEUE_SMALL);
	assert_true(mono_is_never(queue_due(fx.w)));
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void returned_frames_wait_for_the_line(void **state)
{
	fx_publish(&fx, with_egress);
	wait_for_the_rate(LEON_ACCEL, ACCEL_PEER);
	teardown(state);
	setup(state);
	fx_publish(&fx, with_egress);
	wait_for_the_rate(LEON_FRAME, ACCEL_NODE);
}

static void returned_frames_wait_for_the_hop(void **state)
{
	(void)state;
	fwd_set_hop(fx.f, 1, KBITS);
	wait_for_the_rate(LEON_ACCEL, ACCEL_PEER);
}

/* A super-frame would occupy the line for 20 ms. Its segments leave one by one. */
static void returned_super_frames_are_cut(void **state)
{
	(void)state;
	for (smaller = 0; smaller < 2; smaller++) {
		struct gr_spec s = tcp(6);
		unsigned n = 0;

		batch(1, LEON_ACCEL, &s, SEGMENTS);
		message_len = (size_t)recv(pair[0], message, sizeof(message), 0);
		fx_publish(&fx, with_egress);
		give_back(ACCEL_PEER, 1);
		for (mono_t now = fx.w->now; fx.w->queue.hops.n; now = mono_add_ms(now, 1)) {
			unsigned most = n + 5;

			turn_at(now);
			for (struct datagram d; fx_node_gets(&fx, 1, &d); n++)
				if (!smaller)
					gr_seen(&g, d.b + d.hdr_len, d.len - d.hdr_len);
			assert_in_range(n, 0, most);
		}
		assert_in_range(n, SEGMENTS + smaller, 2 * SEGMENTS);
	}
	assert_null(g.wrong);
	assert_int_equal(fx_free_places(&fx), QUEUE_LARGE + QUEUE_SMALL);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void without_path(struct snap *s)
{
	with_egress(s);
	s->node[1].n_hops = 0;
}

static void the_node_leaves_while_frames_wait(void **state)
{
	(void)state;
	fx_publish(&fx, with_egress);
	frame_of(LEON_ACCEL, ACCEL_PEER, 1);
	give_back(ACCEL_PEER, 1);
	assert_int_equal(fx.w->queue.hops.n, 1);
	fx_publish(&fx, without_path);
	turn_at(mono_add_ms(fx.w->now, 1));
	assert_int_equal(fx_drops(&fx, DROP_accel_no_path), 1);
	assert_int_equal(fx_free_places(&fx), QUEUE_LARGE + QUEUE_SMALL);
}

/* The queue holds some messages of 24 kB, but not all. Returns the number of sent frames. */
static unsigned fill_queue(void)
{
	struct gr_spec s = tcp(6);
	unsigned sent = 0;
	int some = 128 << 10;

	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &some, sizeof(some)), 0);
	while (!fx_drops(&fx, DROP_accel_queue_full)) {
		assert_true(sent < 100 * SEGMENTS);
		used = 0;
		gr_reset(&g);
		batch(1, LEON_ACCEL, &s, SEGMENTS);
		sent += SEGMENTS;
	}
	return sent;
}

static void a_full_queue_loses_and_counts_all(void **state)
{
	unsigned sent = fill_queue();

	(void)state;
	assert_true(fx_count(&fx, CNT_accel_in) > 0);
	assert_int_equal(fx_count(&fx, CNT_accel_in), sent - SEGMENTS);
	assert_int_equal(fx_drops(&fx, DROP_accel_queue_full), SEGMENTS);
}

/* A frame of a host that finds the queue full goes to its node as an ordinary frame, and is not
 * lost. */
static void a_full_queue_sheds_host_frames(void **state)
{
	struct gr_spec s = tcp(4);
	uint64_t before;
	struct datagram d;

	(void)state;
	batch(1, LEON_FRAME, &s, 1);
	assert_int_equal(taken(ACCEL_NODE, 1), 1);
	fdb_learn(fx.fdb, 0, fx_mac(2), 1, 1);
	fill_queue();
	before = fx_drops(&fx, DROP_accel_queue_full);
	assert_true(fx_host_sends(&fx, message + ACCEL_QUEUE_HDR, message_len - ACCEL_QUEUE_HDR));
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_int_equal(d.h.kind, LEON_FRAME);
	assert_int_equal(fx_count(&fx, CNT_accel_shed), 1);
	assert_int_equal(fx_drops(&fx, DROP_accel_queue_full), before);
}

/* A flood of frames of hosts leaves room for the packets of inter-proxy connections. */
static void hosts_do_not_fill_the_queue(void **state)
{
	struct gr_spec s = tcp(4), carrier = tcp(6);
	int all = ACCEL_QUEUE_BYTES;
	uint64_t lost, passed;

	(void)state;
	if (setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &all, sizeof(all)) < 0)
		skip();
	for (unsigned i = 0; !fx_drops(&fx, DROP_accel_queue_full); i++) {
		assert_true(i < 10000);
		used = 0;
		gr_reset(&g);
		batch(1, LEON_FRAME, &s, SEGMENTS);
	}
	lost = fx_drops(&fx, DROP_accel_queue_full);
	passed = fx_count(&fx, CNT_accel_in);
	used = 0;
	gr_reset(&g);
	batch(1, LEON_ACCEL, &carrier, SEGMENTS);
	assert_int_equal(fx_drops(&fx, DROP_accel_queue_full), lost);
	assert_int_equal(fx_count(&fx, CNT_accel_in), passed + SEGMENTS);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(segments_are_one_again),
		TEST(so_are_those_of_a_carrier),
		TEST(whole_and_wrong_checksums_are_as_they_came),
		TEST(nodes_and_ways_are_not_mixed),
		TEST(reassembled_frames_live_until_they_are_sent),
		TEST(accelerators_speak_for_themselves),
		TEST(a_host_that_is_not_there_is_a_claim),
		TEST(a_host_frozen_at_no_node_is_followed),
		TEST(a_super_frame_for_the_segment_counts_its_segments),
		TEST(a_plain_frame_for_the_segment_counts_one),
		TEST(disabled_offloads_of_the_tap),
		TEST(lost_super_frames_count_their_segments),
		TEST(a_super_frame_of_the_segment_counts_its_segments),
		TEST(returned_frames_wait_for_the_line),
		TEST(returned_frames_wait_for_the_hop),
		TEST(returned_super_frames_are_cut),
		TEST(the_node_leaves_while_frames_wait),
		TEST(a_full_queue_loses_and_counts_all),
		TEST(hosts_do_not_fill_the_queue),
		TEST(a_full_queue_sheds_host_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
