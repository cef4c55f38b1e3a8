// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sealed data in both directions: datagrams open at their destination only, link values are
 * written, checked and replaced, and every drop reason is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/virtio_net.h>

#include "fwd_one.h"

#include "wire/datagram/leon.h"

#define HOST   0x20
#define REMOTE 0x31 /* behind slot 1 */
#define FAR    0x32 /* behind slot 2, through slot 1 */
#define BODY   100  /* length of a frame with its headers */

static uint8_t out[70000];
static uint8_t *const frame = out + TAP_VNET_LEN;

/* The sessions with each node, at both ends: the present and the previous one. */
static struct seal *ours[FX_NODES][2], *theirs[FX_NODES][2];
static enum seal_cipher cipher;
static uint8_t epoch[2];
static bool has_before;

static void make_sessions(void)
{
	for (unsigned i = 1; i < FX_NODES; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct seal_secrets a = { .tx_link = 0xaaaa000000000000 | i << 8 | k,
						  .rx_link = 0xbbbb000000000000 | i << 8 | k };
			struct seal_secrets b = { .tx_link = a.rx_link, .rx_link = a.tx_link };

			memset(a.tx_key, (int)(16 * i + 2 * k), sizeof(a.tx_key));
			memset(a.rx_key, (int)(16 * i + 2 * k + 1), sizeof(a.rx_key));
			memcpy(b.tx_key, a.rx_key, sizeof(b.tx_key));
			memcpy(b.rx_key, a.tx_key, sizeof(b.rx_key));
			ours[i][k] = seal_new(&a, cipher, epoch[k], 1);
			theirs[i][k] = seal_new(&b, cipher, epoch[k], 1);
		}
}

static void free_sessions(void)
{
	for (unsigned i = 1; i < FX_NODES; i++)
		for (unsigned k = 0; k < 2; k++) {
			seal_unref(ours[i][k]);
			seal_unref(theirs[i][k]);
		}
}

static void set_keys(struct snap *s)
{
	s->secret = true;
	for (uint16_t i = 1; i < FX_NODES; i++)
		snap_set_keys(s, i, ours[i][0], ours[i][0], has_before ? ours[i][1] : NULL);
}

static int open_with(enum seal_cipher c)
{
	if (!fx_open(&fx, true))
		return -1;
	cipher = c;
	epoch[0] = 3;
	epoch[1] = 9;
	has_before = true;
	make_sessions();
	fdb_learn(fx.fdb, 0, fx_mac(HOST), SLOT_SELF, 1);
	fdb_learn(fx.fdb, 0, fx_mac(REMOTE), 1, 1);
	fdb_learn(fx.fdb, 0, fx_mac(FAR), 2, 1);
	memset(out, 0, sizeof(out));
	fx_publish(&fx, set_keys);
	return 0;
}
static int setup(void **state)
{
	(void)state;
	return open_with(SEAL_AES_256_GCM);
}
static int setup_chacha(void **state)
{
	(void)state;
	return open_with(SEAL_CHACHA20_POLY1305);
}
static int setup_disabled(void **state)
{
	(void)state;
	return open_with(SEAL_NONE);
}
static int teardown(void **state)
{
	(void)state;
	fx_close(&fx);
	free_sessions();
	return 0;
}

static void host_sends(uint8_t dst, size_t len)
{
	fx_eth(frame, dst, HOST, ETHERTYPE_TEST);
	memset(frame + ETH_HDR_LEN, 0x5a, len - ETH_HDR_LEN);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + len));
}

/* Opens the datagram as node `slot`. Returns the position of the plain text. */
static uint8_t *opened(struct datagram *d, unsigned slot, size_t *len)
{
	uint8_t aad[LEON_HDR_LEN_MAX], *payload = d->b + d->hdr_len;
	size_t aad_len = leon_sealed_header(d->b, d->h.n_hops, aad);
	int n = seal_open(theirs[slot][0], 0, aad, aad_len, payload, d->len - d->hdr_len);

	assert_true(n >= 0);
	*len = (size_t)n;
	return payload + SEAL_NONCE_LEN;
}

static bool contains(const uint8_t *hay, size_t len, const void *needle, size_t n)
{
	return memmem(hay, len, needle, n) != NULL;
}

/* --- outgoing --- */

static void direct_is_sealed(void **state)
{
	struct datagram d;
	uint8_t *text;
	size_t len;

	(void)state;
	host_sends(REMOTE, BODY);
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_int_equal(d.h.flags, LEON_F_SEALED);
	assert_int_equal(d.len, d.hdr_len + BODY + SEAL_OVERHEAD);
	assert_false(contains(d.b, d.len, frame, 6));
	assert_false(contains(d.b, d.len, frame + 6, 6));
	assert_false(contains(d.b, d.len, "\x5a\x5a\x5a\x5a", 4));
	text = opened(&d, 1, &len);
	assert_int_equal(len, BODY);
	assert_memory_equal(text, frame, BODY);
	assert_int_equal(fx_count(&fx, CNT_sealed_tx), 1);
}

/* A bundle has one seal. */
static void bundle_is_sealed_once(void **state)
{
	struct bundle_frame f;
	struct datagram d;
	size_t len, at = 0;
	uint8_t *text;

	(void)state;
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	assert_int_equal(write(fx.tap, out, TAP_VNET_LEN + BODY), TAP_VNET_LEN + BODY);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 60));
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_int_equal(d.h.kind, LEON_BUNDLE);
	assert_int_equal(d.h.flags, LEON_F_SEALED);
	text = opened(&d, 1, &len);
	assert_int_equal(len, BODY + 60 + 2 * BUNDLE_HDR_LEN);
	assert_int_equal(bundle_next(text, len, &at, &f), 1);
	assert_int_equal(f.len, BODY);
	assert_memory_equal(text + f.at, frame, BODY);
	assert_int_equal(bundle_next(text, len, &at, &f), 1);
	assert_int_equal(f.len, 60);
	assert_memory_equal(text + f.at, frame, 60);
	assert_int_equal(bundle_next(text, len, &at, &f), 0);
	assert_int_equal(fx_count(&fx, CNT_sealed_tx), 1);
	assert_false(fx_node_gets(&fx, 1, &d));
}

static void relayed_is_sealed_for_its_end(void **state)
{
	struct datagram d;
	uint8_t *text;
	size_t len;

	(void)state;
	host_sends(FAR, BODY);
	/* The datagram goes to the relay with the link value of the relay, and opens with the key
	 * of the destination. */
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_int_equal(d.h.flags, LEON_F_SEALED | LEON_F_LINK_VALUE);
	assert_true(get_u64(d.b + leon_link_at(&d.h)) == seal_rx_link(theirs[1][0]));
	assert_int_equal(d.len, d.hdr_len + BODY + SEAL_OVERHEAD);
	assert_false(contains(d.b, d.len, "\x5a\x5a\x5a\x5a", 4));
	/* The seal does not cover the bytes that relays change. */
	put_u64(d.b + leon_link_at(&d.h), 1);
	d.b[LEON_HOPS_OFFSET]++;
	text = opened(&d, 2, &len);
	assert_memory_equal(text, frame, BODY);
}

static void each_copy_of_a_flood_is_sealed(void **state)
{
	struct datagram d;
	uint8_t *text;
	size_t len;

	(void)state;
	host_sends(0x77, BODY);
	for (unsigned slot = 1; slot <= 2; slot++) {
		assert_true(fx_node_gets(&fx, 1, &d));
		assert_int_equal(leon_destination(&d.h), fx_id(slot));
		text = opened(&d, slot, &len);
		assert_memory_equal(text, frame, BODY);
	}
	assert_int_equal(fx_count(&fx, CNT_sealed_tx), 2);
}

/* Builds TCP over IPv4 with a counting payload. */
static size_t build_super(size_t payload)
{
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				    .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
				    .gso_size = 1000,
				    .csum_start = 34,
				    .csum_offset = 16 };
	size_t n = fx_eth(frame, REMOTE, HOST, 0x0800);

	memcpy(out, &h, sizeof(h));
	memset(frame + n, 0, 40);
	frame[n] = 0x45;
	put_u16(frame + n + 2, (uint16_t)(40 + payload));
	frame[n + 8] = 64;
	frame[n + 9] = 6;
	memcpy(frame + n + 12, "\x0a\x01\x00\x01\x0a\x01\x00\x02", 8);
	frame[n + 32] = 0x50;
	n += 40;
	for (size_t i = 0; i < payload; i++)
		frame[n + i] = (uint8_t)(i * 7 + i / 256);
	return n + payload;
}

static void segments_are_sealed(void **state)
{
	size_t total = build_super(10500), at = 0;
	struct datagram d;

	(void)state;
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + total));
	for (unsigned i = 0; i < 11; i++) {
		size_t len, payload = i < 10 ? 1000 : 500;
		uint8_t *text;

		assert_true(fx_node_gets(&fx, 1, &d));
		assert_int_equal(d.h.flags, LEON_F_SEALED | LEON_F_CSUM_PARTIAL);
		assert_false(contains(d.b, d.len, frame + 54 + at, 16));
		text = opened(&d, 1, &len);
		assert_int_equal(len, 54 + payload);
		assert_int_equal(get_u32(text + 38), at);
		assert_memory_equal(text + 54, frame + 54 + at, payload);
		at += payload;
	}
	/* One message of equal segments. */
	assert_int_equal(fx_count(&fx, CNT_net_tx_batches), 1);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void fragments_are_sealed(void **state)
{
	uint8_t whole[4000];
	struct datagram d;
	size_t got = 0;

	(void)state;
	host_sends(FAR, sizeof(whole));
	while (fx_node_gets(&fx, 1, &d)) {
		struct fragment_hdr h;
		uint8_t *text;
		size_t len;

		assert_true(d.len <= FX_MTU);
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
		text = opened(&d, 2, &len);
		assert_int_equal(fragment_decode(text, len, &h), 0);
		memcpy(whole + h.offset, text + FRAGMENT_HDR_LEN, len - FRAGMENT_HDR_LEN);
		got += len - FRAGMENT_HDR_LEN;
	}
	assert_int_equal(got, sizeof(whole));
	assert_memory_equal(whole, frame, sizeof(whole));
}

/* The largest frame without fragments, and one byte more. */
static void overhead_is_accounted_for(void **state)
{
	static const struct {
		uint8_t dst;
		size_t around;
	} way[] = { { REMOTE, LEON_HDR_LEN(1) + SEAL_OVERHEAD },
		    { FAR, LEON_HDR_LEN(2) + SEAL_OVERHEAD + LEON_LINK_LEN } };
	struct datagram d;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		host_sends(way[i].dst, FX_MTU - way[i].around);
		assert_true(fx_node_gets(&fx, 1, &d));
		assert_int_equal(d.len, FX_MTU);
		assert_int_equal(d.h.kind, LEON_FRAME);
		host_sends(way[i].dst, FX_MTU - way[i].around + 1);
		assert_true(fx_node_gets(&fx, 1, &d));
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
		assert_true(fx_node_gets(&fx, 1, &d));
		assert_int_equal(d.h.kind, LEON_FRAGMENT);
	}
	assert_int_equal(snap_overhead(true, true, 1), SEAL_OVERHEAD);
	assert_int_equal(snap_overhead(true, true, 2), SEAL_OVERHEAD + LEON_LINK_LEN);
	assert_int_equal(snap_overhead(true, false, 1), LEON_LINK_LEN);
	assert_int_equal(snap_overhead(false, true, 3), 0);
}

static void set_secret_only(struct snap *s)
{
	s->secret = true;
	snap_set_keys(s, 2, ours[2][0], ours[2][0], NULL);
}

static void nothing_leaves_without_key(void **state)
{
	struct datagram d;

	(void)state;
	fx_publish(&fx, set_secret_only);
	host_sends(REMOTE, BODY);
	/* The key of the destination is present, but the link value of the first hop is missing. */
	host_sends(FAR, BODY);
	host_sends(REMOTE, 4000);
	assert_false(fx_node_gets(&fx, 1, &d));
	assert_int_equal(fx_drops(&fx, DROP_no_key), 3);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 0);
}

static void a_bundle_without_key_is_as_many_drops(void **state)
{
	uint8_t data[TAP_VNET_LEN + 60] = { 0 };

	(void)state;
	fx_publish(&fx, set_secret_only);
	fx_eth(data + TAP_VNET_LEN, REMOTE, HOST, 0x88b5);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(write(fx.tap, data, sizeof(data)), sizeof(data));
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
	assert_int_equal(fx_drops(&fx, DROP_no_key), 7);
	assert_int_equal(fx_count(&fx, CNT_bundles_tx), 0);
	assert_int_equal(fx_count(&fx, CNT_bundled_frames_tx), 0);
	assert_int_equal(fx_count(&fx, CNT_unicast_tx), 0);
}

static void copies_without_key_are_not_sent(void **state)
{
	(void)state;
	fx_publish(&fx, set_secret_only);
	host_sends(0x99, BODY);
	assert_int_equal(fx_count(&fx, CNT_unknown_tx), 1);
	assert_int_equal(fx_count(&fx, CNT_flood_tx), 0);
	assert_int_equal(fx_drops(&fx, DROP_no_key), 2);
}

static void disabled_carries_link_values(void **state)
{
	struct datagram d;

	(void)state;
	host_sends(REMOTE, BODY);
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_int_equal(d.h.flags, LEON_F_LINK_VALUE);
	assert_true(get_u64(d.b + leon_link_at(&d.h)) == seal_rx_link(theirs[1][0]));
	assert_memory_equal(d.b + d.hdr_len, frame, BODY);
	host_sends(FAR, BODY);
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_true(get_u64(d.b + leon_link_at(&d.h)) == seal_rx_link(theirs[1][0]));
	host_sends(0x77, BODY);
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_memory_equal(d.b + d.hdr_len, frame, BODY);
	assert_true(fx_node_gets(&fx, 1, &d));
	assert_memory_equal(d.b + d.hdr_len, frame, BODY);
	assert_int_equal(fx_count(&fx, CNT_sealed_tx), 0);
}

/* --- incoming --- */

/* Parameters of a datagram to this node. */
struct in {
	unsigned source, from; /* slots of the first sender, and of the previous hop */
	uint8_t n_hops;
	struct seal *seal; /* NULL: in clear */
	uint64_t link;	   /* 0: none */
};

static uint8_t sent[BODY + 100];

static size_t build(const struct in *in)
{
	const node_id_t direct[] = { fx_id(0) }, via[] = { fx_id(in->from), fx_id(0) };
	uint8_t flags = (in->seal ? LEON_F_SEALED : 0) | (in->link ? LEON_F_LINK_VALUE : 0);
	uint8_t aad[LEON_HDR_LEN_MAX], text[BODY];
	const struct aead_piece piece = { text, sizeof(text) };
	size_t n = fx_header(sent, LEON_FRAME, flags, fx_id(in->source), (uint8_t)(in->n_hops - 1),
			     in->n_hops, in->n_hops > 1 ? via : direct);

	fx_eth(text, HOST, REMOTE, ETHERTYPE_TEST);
	memset(text + ETH_HDR_LEN, 0xc3, sizeof(text) - ETH_HDR_LEN);
	if (in->link) {
		put_u64(sent + n, in->link);
		n += LEON_LINK_LEN;
	}
	if (!in->seal) {
		memcpy(sent + n, text, sizeof(text));
		return n + sizeof(text);
	}
	assert_int_equal(seal_data(in->seal, 0, aad, leon_sealed_header(sent, in->n_hops, aad),
				   &piece, 1, sent + n),
			 BODY + SEAL_OVERHEAD);
	return n + BODY + SEAL_OVERHEAD;
}

static bool hosts_get(void)
{
	uint8_t got[300];
	ssize_t n = recv(fx.tap, got, sizeof(got), MSG_DONTWAIT);

	if (n < 0)
		return false;
	assert_int_equal(n, TAP_VNET_LEN + BODY);
	assert_memory_equal(got + TAP_VNET_LEN, fx_mac(HOST).b, 6);
	assert_int_equal(got[TAP_VNET_LEN + 50], 0xc3);
	return true;
}

/* Receives a copy, so that `sent` stays unchanged. */
static void receive(const struct in *in, size_t len)
{
	uint8_t copy[sizeof(sent)];

	memcpy(copy, sent, len);
	fx_receive(&fx, &fx.ep[in->from], copy, len, 0);
}

#define NO_DROP N_DROPS

static void expect_in(const struct in *in, enum drop_reason reason)
{
	uint64_t drops = fx_all_drops(&fx);
	uint64_t of_reason = reason == NO_DROP ? 0 : fx_drops(&fx, reason);

	receive(in, build(in));
	assert_int_equal(hosts_get(), reason == NO_DROP);
	assert_int_equal(fx_all_drops(&fx) - drops, reason != NO_DROP);
	if (reason != NO_DROP)
		assert_int_equal(fx_drops(&fx, reason) - of_reason, 1);
}

static void sealed_is_delivered(void **state)
{
	const struct in direct = { 1, 1, 1, theirs[1][0], 0 };
	const struct in with_link = { 1, 1, 1, theirs[1][0], seal_tx_link(theirs[1][0]) };
	const struct in relayed = { 2, 1, 2, theirs[2][0], seal_tx_link(theirs[1][0]) };
	const struct in old_link = { 2, 1, 2, theirs[2][0], seal_tx_link(theirs[1][1]) };

	(void)state;
	expect_in(&direct, NO_DROP);
	expect_in(&with_link, NO_DROP);
	expect_in(&relayed, NO_DROP);
	expect_in(&old_link, NO_DROP);
	assert_int_equal(fx_count(&fx, CNT_sealed_rx), 4);
}

static void policy_is_demanded(void **state)
{
	const uint64_t good = seal_tx_link(theirs[1][0]);
	const struct in clear = { 1, 1, 1, NULL, 0 }, clear_link = { 1, 1, 1, NULL, good };
	const struct in relayed = { 2, 1, 2, theirs[2][0], 0 };
	const struct in wrong = { 2, 1, 2, theirs[2][0], good ^ 4 };
	const struct in of_end = { 2, 1, 2, theirs[2][0], seal_tx_link(theirs[2][0]) };
	const struct in other_way = { 2, 1, 2, theirs[2][0], seal_rx_link(theirs[1][0]) };
	const struct in direct_wrong = { 1, 1, 1, theirs[1][0], good ^ 4 };

	(void)state;
	expect_in(&clear, DROP_bad_link_value);
	expect_in(&clear_link, DROP_not_sealed);
	expect_in(&relayed, DROP_bad_link_value);
	expect_in(&wrong, DROP_bad_link_value);
	expect_in(&of_end, DROP_bad_link_value);
	expect_in(&other_way, DROP_bad_link_value);
	expect_in(&direct_wrong, DROP_bad_link_value);
}

static void disabled_demands_link_values(void **state)
{
	const uint64_t good = seal_tx_link(theirs[1][0]), before = seal_tx_link(theirs[1][1]);
	const struct in clear = { 1, 1, 1, NULL, 0 }, clear_link = { 1, 1, 1, NULL, good };
	const struct in old_link = { 1, 1, 1, NULL, before }, wrong = { 1, 1, 1, NULL, good ^ 4 };
	const struct in relayed = { 2, 1, 2, NULL, good };
	const struct in relayed_wrong = { 2, 1, 2, NULL, seal_tx_link(theirs[2][0]) };

	(void)state;
	expect_in(&clear, DROP_bad_link_value);
	expect_in(&clear_link, NO_DROP);
	expect_in(&old_link, NO_DROP);
	expect_in(&wrong, DROP_bad_link_value);
	expect_in(&relayed, NO_DROP);
	expect_in(&relayed_wrong, DROP_bad_link_value);
}

static void previous_key_is_accepted(void **state)
{
	const struct in before = { 1, 1, 1, theirs[1][1], 0 }, now = { 1, 1, 1, theirs[1][0], 0 };

	(void)state;
	expect_in(&before, NO_DROP);
	expect_in(&now, NO_DROP);
	expect_in(&before, NO_DROP);
	has_before = false;
	fx_publish(&fx, set_keys);
	expect_in(&before, DROP_seal_unknown_key);
	expect_in(&now, NO_DROP);
}

static void sessions_with_one_epoch(void **state)
{
	struct in before = { 1, 1, 1, NULL, 0 }, now = { 1, 1, 1, NULL, 0 };

	(void)state;
	free_sessions();
	epoch[1] = epoch[0];
	make_sessions();
	fx_publish(&fx, set_keys);
	before.seal = theirs[1][1];
	now.seal = theirs[1][0];
	for (unsigned i = 0; i < 3; i++) {
		expect_in(&before, NO_DROP);
		expect_in(&now, NO_DROP);
	}
	receive(&before, build(&before));
	assert_true(hosts_get());
	receive(&before, build(&now));
	assert_true(hosts_get());
	receive(&before, sizeof(sent));
	assert_false(hosts_get());
}

static void replays_and_damage(void **state)
{
	const struct in in = { 1, 1, 1, theirs[1][0], 0 };
	size_t len = build(&in);

	(void)state;
	/* A change of any byte after the flags may cause another drop reason, but never a
	 * delivery. */
	for (size_t at = 0; at < len; at++) {
		sent[at] ^= 0x10;
		receive(&in, len);
		assert_false(hosts_get());
		sent[at] ^= 0x10;
	}
	assert_true(fx_drops(&fx, DROP_seal_not_authentic) >= BODY);
	assert_true(fx_drops(&fx, DROP_seal_unknown_key) >= 1);
	for (size_t cut = 1; cut < len; cut++) {
		receive(&in, len - cut);
		assert_false(hosts_get());
	}
	receive(&in, len);
	assert_true(hosts_get());
	receive(&in, len);
	assert_false(hosts_get());
	assert_int_equal(fx_drops(&fx, DROP_seal_replayed), 1);
}

/* A forged path, or a flag that does not match the datagram. */
static void header_is_covered(void **state)
{
	const struct in in = { 2, 1, 2, theirs[2][0], seal_tx_link(theirs[1][0]) };
	size_t len = build(&in);

	(void)state;
	sent[1] |= LEON_F_CSUM_PARTIAL;
	receive(&in, len);
	sent[1] &= (uint8_t)~LEON_F_CSUM_PARTIAL;
	sent[0] = LEON_VERSION << 4 | LEON_FRAGMENT;
	receive(&in, len);
	assert_false(hosts_get());
	assert_int_equal(fx_drops(&fx, DROP_seal_not_authentic), 2);
}

static void sealed_fragments_are_reassembled(void **state)
{
	const node_id_t us[] = { fx_id(0) };
	uint8_t text[FRAGMENT_HDR_LEN + BODY / 2], whole[BODY], aad[LEON_HDR_LEN_MAX];
	const struct aead_piece piece = { text, sizeof(text) };

	(void)state;
	fx_eth(whole, HOST, REMOTE, ETHERTYPE_TEST);
	memset(whole + ETH_HDR_LEN, 0xc3, sizeof(whole) - ETH_HDR_LEN);
	for (unsigned i = 0; i < 2; i++) {
		struct fragment_hdr h = { .id = 7,
					  .offset = (uint16_t)(i * BODY / 2),
					  .total = BODY };
		/* The second run uses another session and a random link value. */
		uint8_t flags = LEON_F_SEALED | (i ? LEON_F_LINK_VALUE : 0);
		size_t n = fx_header(sent, LEON_FRAGMENT, flags, fx_id(1), 0, 1, us);

		fragment_encode(&h, text);
		memcpy(text + FRAGMENT_HDR_LEN, whole + h.offset, BODY / 2);
		if (i) {
			put_u64(sent + n, seal_tx_link(theirs[1][0]));
			n += LEON_LINK_LEN;
		}
		n += (size_t)seal_data(theirs[1][i], 0, aad, leon_sealed_header(sent, 1, aad),
				       &piece, 1, sent + n);
		assert_false(hosts_get());
		fx_receive(&fx, &fx.ep[1], sent, n, 0);
	}
	assert_true(hosts_get());
	assert_int_equal(fx_all_drops(&fx), 0);
}

/* --- relayed --- */

static void relay_checks_and_rewrites(void **state)
{
	const node_id_t via[] = { fx_id(0), fx_id(2) };
	uint8_t buf[200], got[300];
	size_t n =
		fx_header(buf, LEON_FRAME, LEON_F_SEALED | LEON_F_LINK_VALUE, fx_id(1), 0, 2, via);

	(void)state;
	memset(buf + n, 0x77, 100);
	put_u64(buf + n, seal_tx_link(theirs[1][0]));
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	assert_int_equal(recv(fx.node_fd[2], got, sizeof(got), MSG_DONTWAIT), n + 100);
	assert_int_equal(got[LEON_HOPS_OFFSET], 0x21);
	assert_true(get_u64(got + n) == seal_rx_link(theirs[2][0]));
	/* The rest is unchanged, and the relay has opened nothing. */
	assert_memory_equal(got + LEON_HOPS_OFFSET + 1, buf + LEON_HOPS_OFFSET + 1,
			    n - LEON_HOPS_OFFSET - 1);
	for (unsigned i = LEON_LINK_LEN; i < 100; i++)
		assert_int_equal(got[n + i], 0x77);
	assert_int_equal(fx_count(&fx, CNT_sealed_rx), 0);
	/* Another host uses the address of node 1. */
	fx_header(buf, LEON_FRAME, LEON_F_SEALED | LEON_F_LINK_VALUE, fx_id(1), 0, 2, via);
	put_u64(buf + n, seal_tx_link(theirs[1][0]) ^ 4);
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	fx_header(buf, LEON_FRAME, LEON_F_SEALED, fx_id(1), 0, 2, via);
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	fx_header(buf, LEON_FRAME, 0, fx_id(1), 0, 2, via);
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	put_u64(buf + n, 0);
	fx_header(buf, LEON_FRAME, LEON_F_LINK_VALUE, fx_id(1), 0, 2, via);
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_link_value), 4);
	/* A relay forwards no control datagrams for strangers either. */
	fx_header(buf, LEON_CONTROL, LEON_F_SEALED, fx_id(1), 0, 2, via);
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	assert_int_equal(fx_drops(&fx, DROP_bad_link_value), 5);
	assert_int_equal(fx_count(&fx, CNT_relayed_datagrams), 1);
	assert_int_equal(recv(fx.node_fd[2], got, sizeof(got), MSG_DONTWAIT), -1);
	fx_header(buf, LEON_CONTROL, LEON_F_SEALED | LEON_F_LINK_VALUE, fx_id(1), 0, 2, via);
	put_u64(buf + n, seal_tx_link(theirs[1][0]));
	fx_receive(&fx, &fx.ep[1], buf, n + 100, 0);
	assert_int_equal(recv(fx.node_fd[2], got, sizeof(got), MSG_DONTWAIT), n + 100);
	assert_true(get_u64(got + n) == seal_rx_link(theirs[2][0]));
}

/* --- two copies --- */

static void set_keys_and_policy(struct snap *s)
{
	static const uint16_t straight[] = { 2 }, relayed[] = { 1, 2 };
	struct policy p = { .duplicate = true,
			    .critical = { .n_ethertypes = 1, .ethertype = { ETHERTYPE_TEST } } };

	set_keys(s);
	snap_set_policy(s, &p);
	snap_set_pair(s, 2, (struct snap_route){ straight, 1, FX_MTU },
		      (struct snap_route){ relayed, 2, FX_MTU });
}

#define NONCES_MAX 4000

struct nonces {
	unsigned n;
	uint64_t value[NONCES_MAX];
};

/* Opens every datagram to this node and notes its nonce. A repeated nonce is refused. Returns the
 * number of datagrams. */
static unsigned note_nonces(struct nonces *seen, unsigned slot)
{
	struct copy_hdr h;
	struct datagram d;
	unsigned n = 0;
	size_t len;

	for (; fx_node_gets(&fx, slot, &d); n++) {
		uint64_t nonce = get_u64(d.b + d.hdr_len);
		const uint8_t *text;

		assert_int_equal(d.h.kind, LEON_COPY);
		assert_true(d.h.flags & LEON_F_SEALED);
		for (unsigned i = 0; i < seen->n; i++)
			assert_true(seen->value[i] != nonce);
		assert_true(seen->n < NONCES_MAX);
		seen->value[seen->n++] = nonce;
		text = opened(&d, 2, &len);
		assert_int_equal(copy_decode(text, len, &h), 0);
	}
	return n;
}

/* One nonce with two headers would reveal the authentication key to an observer of both paths. */
static void copies_have_nonces_of_their_own(void **state)
{
	static const size_t lengths[] = { 60, 1200, FX_MTU + 10, 5000 };
	static struct nonces seen;

	(void)state;
	seen.n = 0;
	fx_publish(&fx, set_keys_and_policy);
	for (unsigned i = 0; i < 400; i++) {
		unsigned straight, relayed;

		host_sends(FAR, lengths[i % array_size(lengths)]);
		straight = note_nonces(&seen, 2);
		relayed = note_nonces(&seen, 1);
		assert_true(straight > 0 && straight == relayed);
	}
	assert_int_equal(fx_count(&fx, CNT_critical_duplicated), 400);
	assert_int_equal(fx_count(&fx, CNT_sealed_tx), seen.n);
	assert_int_equal(fx_all_drops(&fx), 0);
}

int main(void)
{
#define WITH(test, open) cmocka_unit_test_setup_teardown(test, open, teardown)
	const struct CMUnitTest tests[] = {
		WITH(direct_is_sealed, setup),
		WITH(direct_is_sealed, setup_chacha),
		WITH(bundle_is_sealed_once, setup),
		WITH(relayed_is_sealed_for_its_end, setup),
		WITH(relayed_is_sealed_for_its_end, setup_chacha),
		WITH(each_copy_of_a_flood_is_sealed, setup),
		WITH(segments_are_sealed, setup),
		WITH(segments_are_sealed, setup_chacha),
		WITH(fragments_are_sealed, setup),
		WITH(overhead_is_accounted_for, setup),
		WITH(nothing_leaves_without_key, setup),
		WITH(a_bundle_without_key_is_as_many_drops, setup),
		WITH(copies_without_key_are_not_sent, setup),
		WITH(disabled_carries_link_values, setup_disabled),
		WITH(sealed_is_delivered, setup),
		WITH(sealed_is_delivered, setup_chacha),
		WITH(policy_is_demanded, setup),
		WITH(disabled_demands_link_values, setup_disabled),
		WITH(previous_key_is_accepted, setup),
		WITH(sessions_with_one_epoch, setup),
		WITH(replays_and_damage, setup),
		WITH(header_is_covered, setup),
		WITH(sealed_fragments_are_reassembled, setup),
		WITH(relay_checks_and_rewrites, setup),
		WITH(relay_checks_and_rewrites, setup_disabled),
		WITH(copies_have_nonces_of_their_own, setup),
		WITH(copies_have_nonces_of_their_own, setup_chacha),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
