// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The receive step: every datagram ends at exactly one correct place. Places are the local segment,
 * the next hop, the control thread, and the drop counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <linux/virtio_net.h>

#include "fwd_one.h"

#include "state/tables/mac_damping.h"
#include "wire/datagram/leon.h"
#include "wire/frame/guard.h"

/* --- one table: datagrams and their expected ends --- */

enum end { END_DROP, END_LOCAL, END_RELAY, END_CONTROL };

struct row {
	const char *what;
	unsigned from; /* node that sends the datagram (underlay) */
	uint8_t kind, flags, at, n_hops;
	node_id_t source, hop[LEON_HOPS_MAX];
	enum end end;
	enum drop_reason reason;
};

#define STRANGER 0x0b0b0b0bu

static const struct row rows[] = {
	{ "direct frame", 1, LEON_FRAME, 0, 0, 1, N(1), { N(0) }, END_LOCAL, 0 },
	{ "through a relay", 1, LEON_FRAME, 0, 1, 2, N(2), { N(1), N(0) }, END_LOCAL, 0 },
	{ "relayed for others", 1, LEON_FRAME, 0, 0, 2, N(1), { N(0), N(2) }, END_RELAY, 0 },
	{ "relayed, third of four",
	  1,
	  LEON_FRAGMENT,
	  0,
	  2,
	  4,
	  N(3),
	  { 0x0c0c0c0c, N(1), N(0), N(2) },
	  END_RELAY,
	  0 },
	{ "control", 1, LEON_CONTROL, 0, 0, 1, N(1), { N(0) }, END_CONTROL, 0 },
	{ "control of a stranger", 3, LEON_CONTROL, 0, 0, 1, STRANGER, { N(0) }, END_CONTROL, 0 },
	{ "control to whoever is there",
	  3,
	  LEON_CONTROL,
	  LEON_F_SEALED,
	  0,
	  1,
	  STRANGER,
	  { NODE_ID_ANY },
	  END_CONTROL,
	  0 },
	{ "control relayed",
	  1,
	  LEON_CONTROL,
	  LEON_F_SEALED,
	  0,
	  2,
	  N(1),
	  { N(0), N(2) },
	  END_RELAY,
	  0 },
	{ "data to whoever is there",
	  1,
	  LEON_FRAME,
	  0,
	  0,
	  1,
	  N(1),
	  { NODE_ID_ANY },
	  END_DROP,
	  DROP_not_next_hop },
	{ "not for us", 1, LEON_FRAME, 0, 0, 1, N(1), { N(2) }, END_DROP, DROP_not_next_hop },
	{ "our turn is later",
	  1,
	  LEON_FRAME,
	  0,
	  0,
	  2,
	  N(1),
	  { N(2), N(0) },
	  END_DROP,
	  DROP_not_next_hop },
	{ "our own", 1, LEON_FRAME, 0, 1, 2, N(0), { N(1), N(2) }, END_DROP, DROP_own_frame },
	/* A second node may use this node-id. The control thread handles that case, not the
	 * worker. */
	{ "our own control", 1, LEON_CONTROL, 0, 0, 1, N(0), { NODE_ID_ANY }, END_CONTROL, 0 },
	{ "unknown source",
	  1,
	  LEON_FRAME,
	  0,
	  0,
	  1,
	  STRANGER,
	  { N(0) },
	  END_DROP,
	  DROP_unknown_source },
	{ "unknown source, relayed",
	  1,
	  LEON_FRAME,
	  0,
	  1,
	  2,
	  STRANGER,
	  { N(1), N(0) },
	  END_DROP,
	  DROP_unknown_source },
	{ "from another address",
	  2,
	  LEON_FRAME,
	  0,
	  0,
	  1,
	  N(1),
	  { N(0) },
	  END_DROP,
	  DROP_unknown_sender },
	{ "not from the relay named",
	  2,
	  LEON_FRAME,
	  0,
	  1,
	  2,
	  N(2),
	  { N(1), N(0) },
	  END_DROP,
	  DROP_unknown_sender },
	{ "relay named is no member",
	  1,
	  LEON_FRAME,
	  0,
	  1,
	  2,
	  N(2),
	  { STRANGER, N(0) },
	  END_DROP,
	  DROP_unknown_sender },
	{ "to relay, from another address",
	  2,
	  LEON_FRAME,
	  0,
	  0,
	  2,
	  N(1),
	  { N(0), N(2) },
	  END_DROP,
	  DROP_unknown_sender },
	{ "control to relay, of a stranger",
	  3,
	  LEON_CONTROL,
	  0,
	  0,
	  2,
	  STRANGER,
	  { N(0), N(2) },
	  END_DROP,
	  DROP_unknown_source },
	{ "to relay, next unknown",
	  1,
	  LEON_FRAME,
	  0,
	  0,
	  2,
	  N(1),
	  { N(0), STRANGER },
	  END_DROP,
	  DROP_relay_unknown_next },
	{ "to relay, next down",
	  1,
	  LEON_FRAME,
	  0,
	  0,
	  2,
	  N(1),
	  { N(0), N(3) },
	  END_DROP,
	  DROP_relay_next_down },
	{ "a node twice",
	  1,
	  LEON_FRAME,
	  0,
	  1,
	  3,
	  N(1),
	  { N(2), N(0), N(2) },
	  END_DROP,
	  DROP_path_loop },
	{ "sealed, without a secret",
	  1,
	  LEON_FRAME,
	  LEON_F_SEALED,
	  0,
	  1,
	  N(1),
	  { N(0) },
	  END_DROP,
	  DROP_seal_unknown_key },
	{ "link value, without a secret",
	  1,
	  LEON_FRAME,
	  LEON_F_LINK_VALUE,
	  0,
	  1,
	  N(1),
	  { N(0) },
	  END_DROP,
	  DROP_bad_link_value },
	/* build_row() puts an Ethernet header in place of the first length. */
	{ "no bundle", 1, LEON_BUNDLE, 0, 0, 1, N(1), { N(0) }, END_DROP, DROP_bundle_bad },
	{ "bundle relayed", 1, LEON_BUNDLE, 0, 0, 2, N(1), { N(0), N(2) }, END_RELAY, 0 },
	/* The worker number is out of range. */
	{ "no copy", 1, LEON_COPY, 0, 0, 1, N(1), { N(0) }, END_DROP, DROP_copy_bad },
	{ "copy relayed", 1, LEON_COPY, 0, 0, 2, N(1), { N(0), N(2) }, END_RELAY, 0 },
	{ "unknown kind", 1, LEON_KINDS, 0, 0, 1, N(1), { N(0) }, END_DROP, DROP_bad_header },
	{ "unknown flag", 1, LEON_FRAME, 0x80, 0, 1, N(1), { N(0) }, END_DROP, DROP_bad_header },
	{ "node-id 0", 1, LEON_FRAME, 0, 0, 1, 0, { N(0) }, END_DROP, DROP_bad_header },
};

static size_t build_row(const struct row *r, uint8_t *out)
{
	size_t n = fx_header(out, r->kind, r->flags, r->source, r->at, r->n_hops, r->hop);

	n += fx_eth(out + n, 0x10, 0x20, ETHERTYPE_TEST);
	memset(out + n, 0xab, 50);
	return n + 50;
}

static ssize_t read_all(int fd, uint8_t *out, size_t size)
{
	return recv(fd, out, size, MSG_DONTWAIT);
}

static void check_row(const struct row *r)
{
	uint8_t sent[256], got[256];
	uint64_t drops = fx_all_drops(&fx), of_reason = fx_drops(&fx, r->reason);
	size_t len = build_row(r, sent), hdr = LEON_HDR_LEN(r->n_hops);
	struct fwd_report ev;
	ssize_t local, relayed;
	bool control = false;

	memcpy(got, sent, len);
	fx_receive(&fx, &fx.ep[r->from], got, len, 0);
	while (fwd_next_report(fx.f, &ev))
		if (ev.type == FWD_CONTROL) {
			control = true;
			assert_int_equal(ev.control.len, len);
			assert_memory_equal(ev.control.data, sent, len);
			assert_true(endpoint_equal(&ev.control.from, &fx.ep[r->from]));
		}
	local = read_all(fx.tap, got, sizeof(got));
	if (local >= 0) {
		assert_int_equal(local, TAP_VNET_LEN + len - hdr);
		assert_memory_equal(got + TAP_VNET_LEN, sent + hdr, len - hdr);
	}
	relayed = read_all(fx.node_fd[2], got, sizeof(got));
	if (relayed >= 0) {
		/* One byte is larger by one. */
		sent[LEON_HOPS_OFFSET]++;
		assert_int_equal(relayed, len);
		assert_memory_equal(got, sent, len);
	}
	assert_int_equal(local >= 0, r->end == END_LOCAL);
	assert_int_equal(relayed >= 0, r->end == END_RELAY);
	assert_int_equal(control, r->end == END_CONTROL);
	assert_int_equal(fx_all_drops(&fx) - drops, r->end == END_DROP);
	if (r->end == END_DROP)
		assert_int_equal(fx_drops(&fx, r->reason) - of_reason, 1);
}

static void classification(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_size(rows); i++) {
		print_message("# %s\n", rows[i].what);
		check_row(&rows[i]);
	}
}

/* --- no valid header --- */

static void malformed(void **state)
{
	static const node_id_t us[] = { N(0) };
	uint8_t buf[64] = { 0 };
	size_t n = fx_header(buf, LEON_FRAME, 0, N(1), 0, 1, us);

	(void)state;
	fx_receive(&fx, &fx.ep[1], buf, 0, 0);
	fx_receive(&fx, &fx.ep[1], buf, 5, 0);
	fx_receive(&fx, &fx.ep[1], buf, n - 1, 0);
	assert_int_equal(fx_drops(&fx, DROP_truncated), 3);
	/* Too short for an Ethernet header. */
	fx_receive(&fx, &fx.ep[1], buf, n + 13, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 1);
	/* A multicast source address. */
	fx_eth(buf + n, 1, 2, ETHERTYPE_TEST);
	buf[n + 6] |= 1;
	fx_receive(&fx, &fx.ep[1], buf, n + 30, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 2);
	buf[0] = 0x21;
	fx_receive(&fx, &fx.ep[1], buf, n + 30, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_version), 1);
	assert_int_equal(leon_other_wire(buf, n, FX_VNI), 2);
	assert_int_equal(leon_other_wire(buf, 3, FX_VNI), 0);
	assert_int_equal(leon_other_wire(buf, n, FX_VNI ^ 1), 0);
	buf[0] = 0x11;
	buf[3] ^= 1;
	fx_receive(&fx, &fx.ep[1], buf, n + 30, 0);
	assert_int_equal(fx_drops(&fx, DROP_wrong_vni), 1);
	assert_int_equal(fx_all_drops(&fx), 7);
	assert_int_equal(fx_count(&fx, CNT_net_rx_datagrams), 7);
}

static void never_local(void **state)
{
	static const node_id_t us[] = { N(0) };
	struct guard_frame g = { .node = N(1), .vni = FX_VNI, .src = fx_mac(9) };
	uint8_t buf[128] = { 0 };
	size_t n = fx_header(buf, LEON_FRAME, 0, N(1), 0, 1, us);

	(void)state;
	fx_eth(buf + n, 0, 7, ETHERTYPE_TEST);
	memcpy(buf + n, "\x01\x80\xc2\x00\x00\x0e", 6);
	fx_receive(&fx, &fx.ep[1], buf, n + 60, 0);
	assert_int_equal(fx_drops(&fx, DROP_link_local_control), 1);
	guard_encode(&g, buf + n);
	fx_receive(&fx, &fx.ep[1], buf, n + GUARD_FRAME_LEN, 0);
	assert_int_equal(fx_drops(&fx, DROP_link_local_control), 2);
	/* The flag claims a partial checksum, but the protocol has no checksum. */
	fx_eth(buf + n, 1, 7, ETHERTYPE_TEST);
	buf[1] = LEON_F_CSUM_PARTIAL;
	fx_receive(&fx, &fx.ep[1], buf, n + 60, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 1);
	assert_int_equal(read_all(fx.tap, buf, sizeof(buf)), -1);
}

static void set_blocked(struct snap *s)
{
	vlan_set_add(&snap_add_lan(s)->blocked, 0);
}
static void set_no_transit(struct snap *s)
{
	s->transit_disable = true;
}

static void settings(void **state)
{
	uint8_t buf[256];

	(void)state;
	fx_publish(&fx, set_blocked);
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[0], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_loop_blocked), 1);
	/* A blocked node still relays, because relaying does not touch its LAN. */
	check_row(&rows[2]);
	fx_publish(&fx, set_no_transit);
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[2], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_relay_disabled), 1);
	check_row(&rows[0]);
}

/* --- events --- */

static void cannot_forward_once_a_second(void **state)
{
	const struct row *down = NULL;
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	for (size_t i = 0; i < array_size(rows); i++)
		if (rows[i].end == END_DROP && rows[i].reason == DROP_relay_next_down)
			down = &rows[i];
	assert_non_null(down);
	for (unsigned i = 0; i < 5; i++)
		fx_receive(&fx, &fx.ep[1], buf, build_row(down, buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_relay_next_down), 5);
	assert_int_equal(fx_reports(FWD_CANNOT_FORWARD, &ev), 1);
	assert_int_equal(ev.cannot_forward.source, N(1));
	assert_int_equal(ev.cannot_forward.next, N(3));
	assert_int_equal(ev.cannot_forward.destination, N(3));
	/* One second later. */
	fx.w->cannot_forward_at[1] = mono_add_ns(fx.w->cannot_forward_at[1], -NS_PER_S);
	fx_receive(&fx, &fx.ep[1], buf, build_row(down, buf), 0);
	assert_int_equal(fx_reports(FWD_CANNOT_FORWARD, &ev), 1);
}

static void sources_are_learned(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[1], buf), 0);
	/* Three frames within the hold time cause one report. */
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 1);
	assert_int_equal(ev.learn.slot, 2);
	assert_int_equal(ev.learn.vlan, 0);
	assert_int_equal(mac_to_u64(ev.learn.mac), mac_to_u64(fx_mac(0x20)));
	fdb_learn(fx.fdb, 0, ev.learn.mac, ev.learn.slot, fx.w->now_s);
	fx.w->recent = (struct recent){ 0 };
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[1], buf), 0);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 0);
	/* The host is reported again behind another node. */
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[0], buf), 0);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 1);
	assert_int_equal(ev.learn.slot, 1);
}

/* Moves the MAC of the long-time `owner` away and back, until it is frozen there. */
static void freeze_at(uint16_t owner, uint16_t other, struct mac m)
{
	uint32_t now_s = fx.w->now_s;

	fdb_learn(fx.fdb, 0, m, owner, now_s - MAC_OWNER_S);
	for (unsigned i = 0; i < MAC_FLAP_MOVES; i++)
		fdb_learn(fx.fdb, 0, m, i % 2 ? owner : other, now_s);
	assert_int_equal(fdb_learn(fx.fdb, 0, m, owner, now_s), FDB_FLAP_BEGINS);
}

/* The bridge of the owner's site would learn the host on the wrong port from such a frame. */
static void nobody_speaks_for_a_frozen_host(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256], got[256];

	(void)state;
	worker_begin(fx.w);
	freeze_at(SLOT_SELF, 2, fx_mac(0x20));
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[1], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_source_frozen), 1);
	assert_true(recv(fx.tap, got, sizeof(got), MSG_DONTWAIT) < 0);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 0);
	/* If the MAC is frozen at no node, frames from all nodes are accepted. */
	fdb_forget_slot(fx.fdb, SLOT_SELF, NULL, fx.w->now_s);
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[1], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_source_frozen), 1);
	assert_true(recv(fx.tap, got, sizeof(got), MSG_DONTWAIT) > 0);
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 0);
}

static int64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static mono_t receive_stamped(int64_t age_ns)
{
	struct sockaddr_storage ss = { 0 };
	struct fwd_report ev;
	uint8_t buf[256];
	struct udp_rx_msg m = { .data = buf, .from = &ss };

	m.len = m.segment = build_row(&rows[4], buf);
	endpoint_to_sockaddr(&fx.ep[1], &ss);
	m.rx_real_ns = real_ns() - age_ns;
	worker_begin(fx.w);
	from_net_message(fx.w, &m);
	worker_end(fx.w);
	assert_true(fwd_next_report(fx.f, &ev));
	assert_int_equal(ev.type, FWD_CONTROL);
	return ev.control.rx;
}

static void arrival_times(void **state)
{
	int64_t start = real_ns();
	mono_t rx;

	(void)state;
	rx = receive_stamped(200 * NS_PER_MS);
	assert_true(mono_sub_ms(fx.w->now, rx) >= 190);
	/* A busy machine may delay the reading of the clock, and the limit includes that delay. */
	assert_true(mono_sub_ms(fx.w->now, rx) <= 200 + (real_ns() - start) / NS_PER_MS);
	/* After a change of the wall clock the time stamp is not used. */
	rx = receive_stamped(-5 * NS_PER_S);
	assert_int_equal(rx.ns, fx.w->now.ns);
	rx = receive_stamped(5 * NS_PER_S);
	assert_int_equal(rx.ns, fx.w->now.ns);
}

static void full_rings_count(void **state)
{
	uint8_t buf[1400];
	static const node_id_t us[] = { N(0) };
	size_t n;
	unsigned sent = 0;
	struct fwd_report ev;

	(void)state;
	while (!fx_drops(&fx, DROP_control_ring_full) && sent < 5000) {
		n = fx_header(buf, LEON_CONTROL, 0, N(1), 0, 1, us);
		memset(buf + n, 0, sizeof(buf) - n);
		fx_receive(&fx, &fx.ep[1], buf, sizeof(buf), 0);
		sent++;
	}
	assert_int_equal(fx_drops(&fx, DROP_control_ring_full), 1);
	assert_int_equal(fx_reports(FWD_CONTROL, &ev), sent - 1);
	assert_int_equal(fx_count(&fx, CNT_control_rx), sent - 1);
	for (sent = 0; !fx_drops(&fx, DROP_event_ring_full) && sent < 50000; sent++) {
		build_row(&rows[0], buf);
		put_u16(buf + LEON_HDR_LEN(1) + 9, (uint16_t)sent); /* of the source MAC */
		fx_receive(&fx, &fx.ep[1], buf, LEON_HDR_LEN(1) + 64, 0);
		read_all(fx.tap, buf, sizeof(buf));
	}
	assert_int_equal(fx_drops(&fx, DROP_event_ring_full), 1);
}

/* --- batches --- */

/* Twelve datagrams of three ends in one GRO message keep order and content. */
static void segments_of_a_message(void **state)
{
	const struct row *end[3] = { &rows[0], &rows[2], &rows[9] };
	uint8_t buf[12 * 256], one[256];
	struct fwd_traffic t;
	size_t segment = LEON_HDR_LEN(2) + 64, n;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		memset(buf + i * segment, 0, segment);
		n = build_row(end[i / 4], buf + i * segment);
		assert_true(n <= segment);
		buf[i * segment + segment - 1] = (uint8_t)i;
	}
	fx_receive(&fx, &fx.ep[1], buf, 12 * segment, segment);
	for (unsigned i = 0; i < 4; i++) {
		n = (size_t)read_all(fx.tap, one, sizeof(one));
		assert_int_equal(n, TAP_VNET_LEN + segment - LEON_HDR_LEN(1));
		assert_int_equal(one[n - 1], i);
	}
	for (unsigned i = 4; i < 8; i++) {
		n = (size_t)read_all(fx.node_fd[2], one, sizeof(one));
		assert_int_equal(n, segment);
		assert_int_equal(one[n - 1], i);
	}
	assert_int_equal(fx_drops(&fx, DROP_not_next_hop), 4);
	assert_int_equal(fx_count(&fx, CNT_net_rx_datagrams), 12);
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 4);
	assert_int_equal(fx_count(&fx, CNT_net_tx_batches), 1);
	assert_int_equal(fx_count(&fx, CNT_relayed_datagrams), 4);
	fwd_traffic(fx.f, 2, &t);
	assert_int_equal(t.link_tx, 4);
	assert_int_equal(t.directed, 4);
	fwd_traffic(fx.f, 1, &t);
	assert_int_equal(t.link_tx + t.directed, 0);
}

/* --- bundles --- */

/* Appends a frame of `len` bytes to a bundle, filled with `fill` after its Ethernet header. */
static size_t add_to_bundle(uint8_t *out, size_t at, size_t len, uint8_t src, uint8_t fill)
{
	bundle_encode(len, false, out + at);
	at += BUNDLE_HDR_LEN;
	memset(out + at, fill, len);
	fx_eth(out + at, 1, src, ETHERTYPE_TEST);
	return at + len;
}

static void expect_local(size_t len, uint8_t fill)
{
	uint8_t got[2048];

	assert_int_equal(read_all(fx.tap, got, sizeof(got)), TAP_VNET_LEN + len);
	assert_int_equal(got[TAP_VNET_LEN + len - 1], fill);
	assert_int_equal(got[0], 0);
}

static void bundle_is_delivered(void **state)
{
	static const node_id_t us[] = { N(0) }, through[] = { N(1), N(0) };
	uint8_t buf[1400];
	struct fwd_report ev;
	size_t n;

	(void)state;
	n = fx_header(buf, LEON_BUNDLE, 0, N(1), 0, 1, us);
	n = add_to_bundle(buf, n, 60, 2, 0x11);
	n = add_to_bundle(buf, n, 300, 3, 0x22);
	n = add_to_bundle(buf, n, 61, 4, 0x33);
	fx_receive(&fx, &fx.ep[1], buf, n, 0);
	expect_local(60, 0x11);
	expect_local(300, 0x22);
	expect_local(61, 0x33);
	assert_int_equal(fx_all_drops(&fx), 0);
	assert_int_equal(fx_count(&fx, CNT_bundles_rx), 1);
	assert_int_equal(fx_count(&fx, CNT_net_rx_datagrams), 1);
	assert_int_equal(fx_count(&fx, CNT_delivered_frames), 3);
	/* Each source address is learned. */
	assert_int_equal(fx_reports(FWD_LEARN, &ev), 3);
	assert_int_equal(ev.learn.mac.b[5], 4);
	assert_int_equal(ev.learn.slot, 1);
	/* A relayed bundle is delivered too. */
	n = fx_header(buf, LEON_BUNDLE, 0, N(2), 1, 2, through);
	n = add_to_bundle(buf, n, 60, 2, 0x44);
	fx_receive(&fx, &fx.ep[1], buf, n, 0);
	expect_local(60, 0x44);
}

static void disable_tap_checksum(struct snap *s)
{
	s->no_offload.tap_checksum = true;
}

/* Each frame has a partial or a complete checksum. Only an impossible frame is dropped. */
static void bundle_with_checksums(void **state)
{
	static const node_id_t us[] = { N(0) };
	uint8_t buf[512] = { 0 }, got[512];
	uint8_t *ip;
	size_t n = fx_header(buf, LEON_BUNDLE, 0, N(1), 0, 1, us), first = n;
	struct virtio_net_hdr h;

	(void)state;
	n = add_to_bundle(buf, n, 60, 2, 0);
	bundle_encode(60, true, buf + first); /* not IP: no checksum to complete */
	bundle_encode(62, true, buf + n);
	n += BUNDLE_HDR_LEN;
	fx_eth(buf + n, 1, 2, 0x0800);
	ip = buf + n + ETH_HDR_LEN;
	ip[0] = 0x45;
	put_u16(ip + 2, 48);
	ip[8] = 64;
	ip[9] = 17;
	put_u16(ip + 20 + 4, 28);
	n += 62;
	fx_receive(&fx, &fx.ep[1], buf, n, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_frame), 1);
	assert_int_equal(read_all(fx.tap, got, sizeof(got)), TAP_VNET_LEN + 62);
	memcpy(&h, got, sizeof(h));
	assert_int_equal(h.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
	assert_int_equal(h.csum_start, 34);
	assert_int_equal(h.csum_offset, 6);
	assert_int_equal(read_all(fx.tap, got, sizeof(got)), -1);
	/* Without the offload, the checksum is completed. All bytes but the length, 28, are 0. */
	fx_publish(&fx, disable_tap_checksum);
	fx_receive(&fx, &fx.ep[1], buf, n, 0);
	assert_int_equal(read_all(fx.tap, got, sizeof(got)), TAP_VNET_LEN + 62);
	assert_int_equal(got[0], 0);
	assert_int_equal(get_u16(got + TAP_VNET_LEN + 34 + 6), 0xffff - 28);
}

static void bundle_that_is_broken(void **state)
{
	static const node_id_t us[] = { N(0) };
	uint8_t buf[512];
	size_t n = fx_header(buf, LEON_BUNDLE, 0, N(1), 0, 1, us), whole;

	(void)state;
	fx_receive(&fx, &fx.ep[1], buf, n, 0);
	assert_int_equal(fx_drops(&fx, DROP_bundle_bad), 1);
	whole = add_to_bundle(buf, n, 60, 2, 0x11);
	/* Frames before the invalid one are delivered. */
	add_to_bundle(buf, whole, 60, 2, 0x22);
	fx_receive(&fx, &fx.ep[1], buf, whole + 40, 0);
	expect_local(60, 0x11);
	assert_int_equal(fx_drops(&fx, DROP_bundle_bad), 2);
	bundle_encode(13, false, buf + whole);
	fx_receive(&fx, &fx.ep[1], buf, whole + 62, 0);
	expect_local(60, 0x11);
	assert_int_equal(fx_drops(&fx, DROP_bundle_bad), 3);
	assert_int_equal(read_all(fx.tap, buf, sizeof(buf)), -1);
	assert_int_equal(fx_all_drops(&fx), 3);
}

/* --- errors of the kernel --- */

static void refused_by_the_kernel(void **state)
{
	struct fwd_report ev;
	uint8_t buf[256];

	(void)state;
	/* The far end of the TAP is closed, as in a device that is down. */
	close(fx.tap);
	fx.tap = dup(fx.udp);
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[0], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_tap_write_failed), 1);
	/* Without a socket, sending fails. */
	fx.w->tx.family[0].fd = fx.near_tap;
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[2], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_tx_failed), 1);
	assert_int_equal(fx_reports(FWD_SEND_ERROR, &ev), 1);
	assert_true(endpoint_equal(&ev.suspect.ep, &fx.ep[2]));
	fx.w->tx.family[0].fd = -1;
	fx_receive(&fx, &fx.ep[1], buf, build_row(&rows[2], buf), 0);
	assert_int_equal(fx_drops(&fx, DROP_tx_failed), 2);
	assert_int_equal(fx_count(&fx, CNT_net_tx_datagrams), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(classification, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(malformed, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(never_local, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(settings, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(cannot_forward_once_a_second, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(sources_are_learned, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(nobody_speaks_for_a_frozen_host, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(arrival_times, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(full_rings_count, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(segments_of_a_message, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(bundle_is_delivered, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(bundle_with_checksums, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(bundle_that_is_broken, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(refused_by_the_kernel, fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
