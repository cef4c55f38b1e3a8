// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the seeds of the fuzz corpora with the encoders: make_corpus DIRECTORY writes
 * DIRECTORY/<target>/<name>. A person runs this program after a change of the wire format and
 * commits the result. The salt of the sealed HELLO is random, so that file differs each time.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/sample_msg.h"
#include "../unit/sample_session.h"
#include "base/gf256.h"
#include "crypto/keys.h"
#include "fuzz_open.h"
#include "fuzz_overlay.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/parity.h"
#include "wire/datagram/segment.h"
#include "wire/frame/eth.h"
#include "wire/frame/guard.h"

#define SEED_MAX 1500

static const char *directory;

static void fail(const char *what)
{
	fprintf(stderr, "make_corpus: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void seed(const char *target, const char *name, const void *data, size_t len)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, target);
	if (mkdir(path, 0755) && errno != EEXIST)
		fail(path);
	snprintf(path, sizeof(path), "%s/%s/%s", directory, target, name);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		fail(path);
}

/* One header for each number of hops, with a small payload. The header with four hops has a link
 * value. */
static void seed_leon(void)
{
	for (uint8_t n = 1; n <= LEON_HOPS_MAX; n++) {
		struct leon_hdr h = { .kind = n,
				      .n_hops = n,
				      .at = (uint8_t)(n / 2),
				      .vni = OPEN_VNI,
				      .source = NODE_A };
		uint8_t buf[LEON_HDR_LEN_MAX + LEON_LINK_LEN + 4] = { 0 };
		size_t link_len = n & LEON_F_LINK_VALUE ? LEON_LINK_LEN : 0;
		char name[16];

		h.flags = n & LEON_FLAGS_KNOWN;
		for (uint8_t i = 0; i < n; i++)
			h.hop[i] = NODE_B + i;
		snprintf(name, sizeof(name), "hops-%u", n);
		seed("leon", name, buf, leon_encode(&h, buf) + link_len + n);
	}
}

static void seed_msg(void)
{
	uint8_t with_line[MSG_LEN_MAX];
	struct msg ping;

	sample_small(MSG_PING, &ping);
	ping.ping.line = 2;
	seed("msg", "ping-line", with_line,
	     (size_t)msg_encode(&ping, with_line, sizeof(with_line)));
	for (uint8_t type = MSG_HELLO; type < MSG_TYPES; type++) {
		uint8_t buf[MSG_LEN_MAX];
		char name[40];
		struct msg m;

		sample_small(type, &m);
		snprintf(name, sizeof(name), "%s", msg_type_name(type));
		seed("msg", name, buf, (size_t)msg_encode(&m, buf, sizeof(buf)));
		sample_full(type, &m);
		snprintf(name, sizeof(name), "%s-full", msg_type_name(type));
		seed("msg", name, buf, (size_t)msg_encode(&m, buf, sizeof(buf)));
	}
}

static void seed_capture(void)
{
	static const char text[] = "host 10.0.0.1 and host 10.0.0.2 proto tcp port 80 vlan 7";
	uint8_t buf[CAPTURE_FILTER_LEN + 60] = { 0 };
	struct wbuf b = wbuf_of(buf, sizeof(buf));
	struct msg m;

	seed("capture", "text", text, sizeof(text) - 1);
	sample_small(MSG_CAPTURE_DATA, &m);
	seed("capture", "record", m.capture_data.bytes, m.capture_data.n);
	sample_small(MSG_CAPTURE_START, &m);
	capture_filter_code(&(struct codec){ .out = &b }, &m.capture_start.filter);
	buf[CAPTURE_FILTER_LEN + 12] = 8; /* IPv4 */
	buf[CAPTURE_FILTER_LEN + 14] = 0x45;
	seed("capture", "filter", buf, sizeof(buf));
}

static void seed_fragment_and_guard(void)
{
	struct fragment_hdr first = { 1, 0, 40 }, last = { 1, 32, 40 };
	struct guard_frame g = { .src = { { 0x02, 0, 0, 0, 0, 1 } },
				 .vni = OPEN_VNI,
				 .node = NODE_A,
				 .incarnation = 7,
				 .sequence = 1,
				 .segment = 10,
				 .flags = GUARD_READY | GUARD_FORWARDS,
				 .received = { NODE_B },
				 .auth = { 1, 2, 3 } };
	uint8_t buf[1 + GUARD_FRAME_MAX] = { 0 };

	fragment_encode(&first, buf);
	seed("fragment", "first", buf, FRAGMENT_HDR_LEN + 32);
	fragment_encode(&last, buf);
	seed("fragment", "last", buf, FRAGMENT_HDR_LEN + 8);
	guard_encode(&g, buf + 1);
	seed("guard", "forged", buf, 1 + GUARD_FRAME_LEN);
	buf[0] = 1;
	seed("guard", "authentic", buf, 1 + GUARD_FRAME_LEN);
	g.tag = 10;
	guard_encode(&g, buf + 1);
	seed("guard", "tagged", buf, 1 + GUARD_FRAME_MAX);
}

static void seed_copy(void)
{
	struct copy_hdr h = { 1, 0x123456, LEON_FRAME };
	uint8_t buf[2 * (COPY_HDR_LEN + 1)] = { 0 };

	copy_encode(&h, buf);
	seed("copy", "frame", buf, COPY_HDR_LEN + 1);
	memcpy(buf + COPY_HDR_LEN + 1, buf, COPY_HDR_LEN + 1);
	seed("copy", "twice", buf, 2 * (COPY_HDR_LEN + 1));
	h.counter += COPY_COUNTER_MASK / 2;
	h.kind = LEON_FRAGMENT;
	copy_encode(&h, buf);
	seed("copy", "far", buf, 2 * (COPY_HDR_LEN + 1));
	seed("copy", "cut", buf, COPY_HDR_LEN);
}

/* A payload behind its length. */
static size_t put_parity(uint8_t *out, const struct parity_hdr *h, const uint8_t *payload, size_t n)
{
	size_t hdr = h->kind ? PARITY_FRAME_HDR_LEN : PARITY_HDR_LEN;

	out[0] = (uint8_t)(hdr + n);
	parity_encode(h, out + 1);
	memcpy(out + 1 + hdr, payload, n);
	return 1 + hdr + n;
}

#define SYMBOLS 6
#define SYMBOL	(PARITY_SYMBOL_HDR + 20u)

/* A block of frames and a split frame, of which one symbol and then two are lost. */
static void seed_parity(void)
{
	uint8_t symbol[SYMBOLS][SYMBOL], row[SYMBOL], buf[SEED_MAX];
	size_t len = 0;

	for (unsigned lost = 1; lost <= 2; lost++) {
		for (uint8_t i = 0; i < SYMBOLS; i++) {
			uint8_t kind = i < 3 ? LEON_FRAME : LEON_FRAGMENT, first = i < 3 ? i : 3;
			struct parity_hdr h = { 2, lost << PARITY_INDEX_BITS, kind, first, i, 0 };
			struct parity_symbol s = { kind, first, 0, 20 };

			memset(symbol[i], i, SYMBOL);
			parity_symbol_encode(&s, symbol[i]);
			if (i >= lost)
				len += put_parity(buf + len, &h, symbol[i] + PARITY_SYMBOL_HDR, 20);
		}
		for (uint8_t k = 0; k < 2; k++) {
			struct parity_hdr h = { 2, lost << PARITY_INDEX_BITS, 0, 0, k, SYMBOLS };

			memset(row, 0, SYMBOL);
			for (unsigned i = 0; i < SYMBOLS; i++)
				for (unsigned b = 0; b < SYMBOL; b++)
					row[b] ^= gf256_mul(parity_factor(k, i), symbol[i][b]);
			len += put_parity(buf + len, &h, row, SYMBOL);
		}
	}
	seed("parity", "restored", buf, len);
}

static void seed_bundle(void)
{
	uint8_t buf[128] = { 0 };

	bundle_encode(14, LEON_F_SEGMENT, buf);
	seed("bundle", "one", buf, 16);
	bundle_encode(60, LEON_F_CSUM_PARTIAL, buf + 16);
	seed("bundle", "two", buf, 78);
	seed("bundle", "cut", buf, 77);
	seed("bundle", "rest", buf, 79);
}

/* The first byte selects whether a segment replaces the tag. */
static void seed_segment(void)
{
	uint8_t buf[1 + 18] = { 0, [13] = 0x81, 0x00, 0xa0, 0x0a };

	seed("segment", "tagged", buf, sizeof(buf));
	seed("segment", "cut", buf, sizeof(buf) - 2);
	buf[0] = segment_put(buf + 1, 70010);
	seed("segment", "replaced", buf, sizeof(buf));
	memset(buf, 0, sizeof(buf));
	seed("segment", "untagged", buf, sizeof(buf));
}

/* Literal frames with correct checksums, because the code under test only builds answers. */
/* A frame in hexadecimal digits. */
struct hex_frame {
	const char *name, *hex;
};

static void seed_frames(const char *target, const struct hex_frame *frames, size_t n_frames)
{
	uint8_t buf[256];

	for (size_t i = 0; i < n_frames; i++) {
		size_t n = strlen(frames[i].hex) / 2;

		for (size_t at = 0; at < n; at++) {
			unsigned v;

			if (sscanf(frames[i].hex + 2 * at, "%2x", &v) != 1)
				fail(frames[i].name);
			buf[at] = (uint8_t)v;
		}
		seed(target, frames[i].name, buf, n);
	}
}

static void seed_eth(void)
{
	static const struct hex_frame frames[] = {
		{ "arp-request", "ffffffffffff02000000000a08060001080006040001"
				 "02000000000a0a00000a0000000000000a00000b" },
		{ "arp-reply-qinq", "02000000000a02000000000b88a80064810000c80806"
				    "000108000604000202000000000b0a00000b02000000000a0a00000a" },
		{ "nd-solicit",
		  "3333ff00000b02000000000a8100006486dd6000000000203aff20010db8000000000000000000"
		  "00000aff0200000000000000000001ff00000b87001c030000000020010db8000000000000000000"
		  "00000b010102000000000a" },
		{ "nd-advert",
		  "02000000000a02000000000b86dd6000000000203aff20010db800000000000000000000000b"
		  "20010db800000000000000000000000a88008a4d6000000020010db800000000000000000000000b"
		  "020102000000000b" },
		{ "syn-v4",
		  "02000000000b02000000000a08004500002c1111400040063d84c0000201c63364021234005000000001"
		  "000000006002faf09e790000020405b4" },
		{ "syn-v6-extension",
		  "02000000000b02000000000a86dd6000000000240040"
		  "20010db800000000000000000000000a20010db800000000000000000000000b"
		  "0600010400000000"
		  "1234005000000001000000007002100057c5000001020405b4010101" },
		{ "fragment-v6", "02000000000b02000000000a86dd6000000000102c40"
				 "20010db800000000000000000000000a20010db800000000000000000000000b"
				 "11000001000000010102030405060708" },
	};

	seed_frames("eth", frames, sizeof(frames) / sizeof(frames[0]));
}

static void seed_mcast(void)
{
	static const struct hex_frame frames[] = {
		{ "igmp-query-v2",
		  "01005e00000102000000000108004600002000000000010200000a000001e00000019404"
		  "00001164ee9b00000000" },
		{ "igmp-query-v3",
		  "01005e01010102000000000108004600002800000000010200000a000001ef0101019404"
		  "00001181f0e7ef010101039100010a000002" },
		{ "igmp-report-v2",
		  "01005e01010102000000000108004600002000000000010200000a000001ef0101019404"
		  "00001600f9fcef010101" },
		{ "igmp-report-v3",
		  "01005e00001602000000000108004600004000000000010200000a000001e00000169404"
		  "0000220006f90000000304000000ef01010101010001ef0101030a0000017a7a7a7a0300"
		  "0000ef010102" },
		{ "pim-hello",
		  "01005e00000d02000000000108004600002200000000016700000a000001e000000d9404"
		  "000020000000000100020069" },
		{ "mld-query-v2",
		  "33330000000102000000000186dd6000000000240001fe80000000000000000000000000"
		  "0001ff0200000000000000000000000000013a000502000001008200fd0e810000000000"
		  "000000000000000000000000000002140000" },
		{ "mld-report-v1",
		  "33330001000202000000000186dd6000000000200001fe80000000000000000000000000"
		  "0001ff1500000000000000000000000100023a0005020000010083007ff900000000ff15"
		  "0000000000000000000000010002" },
		{ "mld-report-v2",
		  "33330000001602000000000186dd6000000000380001fe80000000000000000000000000"
		  "0001ff0200000000000000000000000000163a000502000001008f006dc6000000020400"
		  "0000ff15000000000000000000000001000203000000ff15000000000000000000000001"
		  "0002" },
		{ "udp", "01005e01010102000000000108004600002000000000011100000a000001ef0101019404"
			 "00001388138800080000" },
	};

	seed_frames("mcast", frames, sizeof(frames) / sizeof(frames[0]));
}

static size_t control_header(uint8_t *buf, bool sealed)
{
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = sealed ? LEON_F_SEALED : 0,
			      .n_hops = 1,
			      .vni = OPEN_VNI,
			      .source = OPEN_NODE_A,
			      .hop = { OPEN_NODE_B } };

	return leon_encode(&h, buf);
}

static void seed_open(const char *secret, const char *suffix)
{
	struct keyring *k = sample_keyring(secret, OPEN_VNI);
	struct session *s = sample_session(k, OPEN_NODE_A, OPEN_NODE_B, OPEN_VALUE_A, OPEN_VALUE_B);
	uint8_t buf[SEED_MAX];
	size_t hdr_len = control_header(buf, secret), len;
	char name[40];
	struct msg m;

	sample_small(MSG_HELLO, &m);
	len = (size_t)msg_encode(&m, buf + hdr_len + ENVELOPE_HELLO_LEN, MSG_LEN_MAX);
	snprintf(name, sizeof(name), "hello-%s", suffix);
	seed("open", name, buf, (size_t)hello_seal(k, 0, buf, hdr_len, len, sizeof(buf)));
	sample_small(MSG_RECORD, &m);
	len = (size_t)msg_encode(&m, buf + hdr_len + ENVELOPE_LEN, MSG_LEN_MAX);
	snprintf(name, sizeof(name), "record-%s", suffix);
	seed("open", name, buf, (size_t)session_seal(s, buf, hdr_len, len, sizeof(buf)));
	session_free(s);
	keyring_free(k);
}

static void put_step(struct wbuf *b, uint8_t what, const void *data, size_t len)
{
	wbuf_u8(b, what);
	wbuf_u16(b, (uint16_t)len);
	wbuf_bytes(b, data, len);
}

static void put_message(struct wbuf *b, uint8_t what, const struct msg *m)
{
	uint8_t buf[MSG_LEN_MAX];

	put_step(b, what, buf, (size_t)msg_encode(m, buf, sizeof(buf)));
}

/* how: STEP_TIME or STEP_SILENCE. */
static void put_time(struct wbuf *b, uint8_t how, uint16_t ms)
{
	uint8_t buf[2];

	put_u16(buf, ms);
	put_step(b, how, buf, sizeof(buf));
}

/* A new node sends HELLO, and returns the value of the answer. */
static void put_newcomer(struct wbuf *b, uint8_t how)
{
	struct msg m;

	sample_small(MSG_HELLO, &m);
	m.hello.session_yours = 0;
	put_message(b, STEP_HELLO | STEP_SIGN | how, &m);
	put_message(b, STEP_HELLO | STEP_SIGN | STEP_ECHO | how, &m);
	put_time(b, STEP_TIME, 3000);
}

/* A node that requests new keys, restarts again and again, and has wrong signatures. */
static void put_restless(struct wbuf *b)
{
	struct msg m;

	put_newcomer(b, 0);
	sample_small(MSG_HELLO, &m);
	m.hello.session_mine++;
	put_message(b, STEP_HELLO | STEP_ECHO, &m);
	put_message(b, STEP_HELLO | STEP_ECHO, &m);
	put_message(b, STEP_HELLO | STEP_SIGN | STEP_ECHO, &m);
	for (unsigned i = 0; i < 5; i++) {
		m.hello.incarnation++;
		m.hello.session_mine++;
		m.hello.session_yours = 0;
		put_message(b, STEP_HELLO | STEP_SIGN, &m);
		put_message(b, STEP_HELLO | STEP_SIGN | STEP_ECHO, &m);
	}
	put_time(b, STEP_TIME, 1000);
}

/* Messages of a member about itself, about US and about other nodes. */
static void put_member(struct wbuf *b, uint8_t type, node_id_t origin)
{
	struct msg m;

	sample_small(type, &m);
	if (type == MSG_RECORD)
		m.record.origin = origin;
	if (type == MSG_ROW) {
		m.row.origin = origin;
		m.row.base = 0;
		m.row.entry[0].node = OVERLAY_US;
		m.row.entry[1].node = OVERLAY_US + THEM;
	}
	if (type == MSG_FETCH)
		m.fetch.origin[0] = origin;
	if (type == MSG_SUMMARY)
		m.summary.entry[0].origin = origin;
	put_message(b, STEP_MEMBER | STEP_SIGN, &m);
}

/* Unsealed HELLOs from all addresses. `source` is the claimed node. */
static void put_unsealed(struct wbuf *b, node_id_t source, uint8_t flood)
{
	uint8_t buf[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN + MSG_HELLO_LEN] = { 0 };
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .n_hops = 1,
			      .vni = OVERLAY_VNI,
			      .source = source,
			      .hop = { OVERLAY_US } };
	size_t len = leon_encode(&h, buf) + ENVELOPE_HELLO_LEN;
	struct msg m;

	sample_small(MSG_HELLO, &m);
	msg_encode(&m, buf + len, MSG_HELLO_LEN);
	len += MSG_HELLO_LEN;
	put_step(b, STEP_FORGED | STEP_RELAYED, buf, len);
	put_step(b, STEP_FORGED, buf, len);
	put_step(b, STEP_STRANGER | flood, buf, len);
}

/* Datagrams of strangers: noise, and a recorded datagram, unchanged and damaged. */
static void put_strangers(struct wbuf *b)
{
	static const uint8_t damage[] = { 2, 0, 40, 1 };
	uint8_t hdr[LEON_HDR_LEN_MAX + ENVELOPE_LEN] = { 0 };
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = LEON_F_SEALED,
			      .n_hops = 1,
			      .vni = OVERLAY_VNI,
			      .source = OVERLAY_US + THEM,
			      .hop = { OVERLAY_US } };

	leon_encode(&h, hdr);
	put_step(b, STEP_STRANGER, hdr, sizeof(hdr));
	put_step(b, STEP_FORGED, hdr, sizeof(hdr));
	for (uint8_t index = 0; index < 6; index++)
		put_step(b, STEP_REPLAY | (index & 1 ? STEP_RELAYED : 0), &index, 1);
	put_step(b, STEP_REPLAY, damage, sizeof(damage));
	put_unsealed(b, OVERLAY_US + STRANGER, 0);
	put_unsealed(b, OVERLAY_US + THEM, STEP_OTHER);
	put_time(b, STEP_TIME, 1000);
}

/* The life of a session: new keys, another run of the node, silence, leave, return. */
static void put_life(struct wbuf *b)
{
	struct msg m;

	sample_small(MSG_HELLO, &m);
	put_message(b, STEP_HELLO | STEP_SIGN | STEP_ECHO | STEP_AS_THEM, &m);
	put_time(b, STEP_TIME, 1000);
	sample_small(MSG_PING, &m);
	put_message(b, STEP_MEMBER | STEP_AS_THEM, &m);
	put_time(b, STEP_SILENCE, 5000);
	sample_small(MSG_HELLO, &m);
	put_message(b, STEP_HELLO | STEP_SIGN | STEP_AS_THEM | STEP_OTHER, &m);
	put_time(b, STEP_TIME, 5000);
	sample_small(MSG_RECORD, &m);
	m.record.origin = OVERLAY_US + THEM;
	m.record.flags = RECORD_LEFT;
	put_message(b, STEP_MEMBER | STEP_SIGN, &m);
	put_time(b, STEP_TIME, 1000);
	m.record.flags = RECORD_LAN_BLOCKED;
	m.record.seq++;
	put_message(b, STEP_MEMBER | STEP_SIGN, &m);
	put_time(b, STEP_SILENCE, 30000);
}

/* More members than the table can hold, and one with the key of another. */
static void put_crowd(struct wbuf *b)
{
	struct msg m;

	sample_small(MSG_RECORD, &m);
	for (unsigned i = 0; i < 6; i++) {
		m.record.origin = NODE_C + i;
		put_message(b, STEP_MEMBER | STEP_SIGN, &m);
	}
	put_message(b, STEP_MEMBER, &m);
	m.record.origin = OVERLAY_US + THEM;
	put_message(b, STEP_MEMBER | STEP_SIGN | STEP_OTHER, &m);
	m.record.origin = OVERLAY_US;
	put_message(b, STEP_MEMBER | STEP_SIGN | STEP_RELAYED | STEP_OTHER, &m);
	put_time(b, STEP_TIME, 1000);
}

static void seed_overlay(uint8_t flags, const char *suffix)
{
	static const struct {
		const char *name;
		void (*put)(struct wbuf *b);
	} lives[] = { { "life", put_life }, { "crowd", put_crowd }, { "restless", put_restless } };
	static const node_id_t origins[] = { OVERLAY_US, OVERLAY_US + THEM, NODE_C };
	uint8_t buf[4096];
	char name[40];

	for (uint8_t type = MSG_HELLO; type <= MSG_CONFLICT; type++) {
		struct wbuf b = wbuf_of(buf, sizeof(buf));

		wbuf_u8(&b, flags);
		put_newcomer(&b, 0);
		for (unsigned i = 0; i < 3; i++)
			put_member(&b, type, origins[i]);
		put_time(&b, STEP_TIME, 2000);
		snprintf(name, sizeof(name), "%s-%s", msg_type_name(type), suffix);
		seed("overlay", name, buf, wbuf_len(&b));
	}
	for (unsigned i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		struct wbuf b = wbuf_of(buf, sizeof(buf));

		wbuf_u8(&b, flags);
		lives[i].put(&b);
		snprintf(name, sizeof(name), "%s-%s", lives[i].name, suffix);
		seed("overlay", name, buf, wbuf_len(&b));
	}
	for (unsigned relayed = 0; relayed < 2; relayed++) {
		struct wbuf b = wbuf_of(buf, sizeof(buf));

		wbuf_u8(&b, flags);
		put_strangers(&b);
		if (relayed)
			put_newcomer(&b, STEP_RELAYED);
		snprintf(name, sizeof(name), "strangers-%s%s", relayed ? "relayed-" : "", suffix);
		seed("overlay", name, buf, wbuf_len(&b));
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	directory = argv[1];
	seed_leon();
	seed_msg();
	seed_capture();
	seed_fragment_and_guard();
	seed_copy();
	seed_parity();
	seed_bundle();
	seed_segment();
	seed_eth();
	seed_mcast();
	seed_open(OPEN_SECRET, "sealed");
	seed_open(NULL, "clear");
	seed_overlay(0, "sealed");
	seed_overlay(OVERLAY_CLEAR, "clear");
	seed_overlay(OVERLAY_TRUST, "trusted");
	return 0;
}
