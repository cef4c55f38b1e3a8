// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of single parts on one core: lookups, headers, encryption by both libraries, path
 * computation by nodes, memory by MAC addresses and by segments. Each figure is the best CPU time
 * of several runs, because other load of the machine affects all other times. Prints a table, or
 * JSON with --json.
 *
 *   bench_micro [--json]
 */
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/fwd_fixture.h"
#include "base/defs.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "daemon/guard/loop_guard.h"
#include "state/latency/latdb.h"
#include "state/latency/path.h"
#include "state/tables/fdb.h"
#include "state/tables/listeners.h"
#include "state/tables/segments.h"
#include "wire/datagram/leon.h"
#include "wire/frame/eth.h"

#define RUNS	 7
#define NODE_ID0 0x0a000000u

static bool json;
static const char *separator = "";
/* CPU time of this thread, or of all threads. */
static clockid_t processor = CLOCK_THREAD_CPUTIME_ID;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(processor, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void report(const char *what, double value, const char *unit)
{
	if (json)
		printf("%s{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"%s\"}", separator, what,
		       value, unit);
	else
		printf("%-44s %12.1f %s\n", what, value, unit);
	separator = ",\n";
}

/* Returns the best time of one call in ns, with `n` calls per run. The results are added, because
 * the compiler could omit unused calls. */
static double best_ns(uint64_t (*call)(void *arg, unsigned i), void *arg, unsigned n)
{
	static volatile uint64_t sink;
	int64_t best = INT64_MAX;

	for (unsigned run = 0; run < RUNS; run++) {
		int64_t start = now_ns();
		uint64_t sum = 0;

		for (unsigned i = 0; i < n; i++)
			sum += call(arg, i);
		best = min_of(best, now_ns() - start);
		sink = sum;
	}
	(void)sink;
	return (double)best / n;
}

/* --- the packet path --- */

static struct mac mac_of(unsigned i)
{
	return (struct mac){ { 2, 0, (uint8_t)(i >> 24), (uint8_t)(i >> 16), (uint8_t)(i >> 8),
			       (uint8_t)i } };
}

struct fdb_case {
	struct fdb *fdb;
	unsigned n;
};

/* An order without a pattern for caches. */
static unsigned scattered(unsigned i, unsigned n)
{
	return (unsigned)((uint64_t)i * 2654435761u % n);
}

static uint64_t look_up(void *arg, unsigned i)
{
	const struct fdb_case *c = arg;

	return fdb_lookup(c->fdb, 0, mac_of(scattered(i, c->n)));
}

static uint64_t see(void *arg, unsigned i)
{
	const struct fdb_case *c = arg;

	return fdb_seen(c->fdb, 0, mac_of(scattered(i, c->n)), 1, 1);
}

/* 1000 nodes become unreachable together, and no entry is behind one of them. */
static uint64_t forget(void *arg, unsigned i)
{
	const struct fdb_case *c = arg;
	struct slot_set gone = { 0 };

	slot_set_add_range(&gone, 2, 1002);
	return fdb_forget_slots(c->fdb, &gone, NULL, 1 + i);
}

static uint64_t copy(void *arg, unsigned i)
{
	const struct fdb_case *c = arg;
	struct fdb *f = fdb_copy(c->fdb, c->n);
	uint64_t count = fdb_count(f) + i;

	fdb_free(f);
	return count;
}

static void measure_fdb(unsigned n)
{
	struct fdb_case c = { .n = n };
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	char what[80];

	c.fdb = fdb_new(n);
	snprintf(what, sizeof(what), "FDB memory, room for %u addresses", n);
	report(what, (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1024, "KiB");
	for (unsigned i = 0; i < n; i++)
		fdb_learn(c.fdb, 0, mac_of(i), 1, 1);
	snprintf(what, sizeof(what), "FDB lookup, %u addresses", n);
	report(what, best_ns(look_up, &c, 200000), "ns");
	snprintf(what, sizeof(what), "FDB source check, %u addresses", n);
	report(what, best_ns(see, &c, 200000), "ns");
	snprintf(what, sizeof(what), "FDB without 1000 nodes, %u addresses", n);
	report(what, best_ns(forget, &c, 1) / 1e3, "us");
	snprintf(what, sizeof(what), "FDB copy, %u addresses", n);
	report(what, best_ns(copy, &c, 1) / 1e3, "us");
	fdb_free(c.fdb);
}

static struct leon_hdr header(uint8_t n_hops)
{
	struct leon_hdr h = { .kind = LEON_FRAME, .n_hops = n_hops, .vni = 1, .source = NODE_ID0 };

	for (uint8_t i = 0; i < n_hops; i++)
		h.hop[i] = NODE_ID0 + 1 + i;
	return h;
}

static uint64_t encode(void *arg, unsigned i)
{
	struct leon_hdr *h = arg;
	uint8_t out[LEON_HDR_LEN_MAX];

	h->vni = i & 0xffffff;
	return leon_encode(h, out) + out[5];
}

static uint64_t decode(void *arg, unsigned i)
{
	uint8_t *data = arg;
	struct leon_hdr h;
	size_t len;

	data[5] = (uint8_t)i;
	return (uint64_t)leon_decode(data, LEON_HDR_LEN_MAX, &h, &len) + h.vni;
}

static uint64_t parse(void *arg, unsigned i)
{
	uint8_t *frame = arg;
	struct eth_view v;

	frame[5] = (uint8_t)i;
	return (uint64_t)eth_parse(frame, 60, &v) + v.l4_offset;
}

static uint64_t unbundle(void *arg, unsigned i)
{
	struct bundle_frame f;
	uint64_t sum = i;
	size_t at = 0;

	while (bundle_next(arg, 20 * (BUNDLE_HDR_LEN + 60), &at, &f) > 0)
		sum += f.at;
	return sum;
}

static void measure_headers(void)
{
	uint8_t data[20 * (BUNDLE_HDR_LEN + 60)] = { 0 }, frame[60] = { 2, 0, 0, 0, 0, 1, 2 };

	for (uint8_t n = 1; n <= LEON_HOPS_MAX; n = (uint8_t)(n + 3)) {
		struct leon_hdr h = header(n);
		char what[80];

		snprintf(what, sizeof(what), "LEON header encoded, %u hops", n);
		report(what, best_ns(encode, &h, 1000000), "ns");
		leon_encode(&h, data);
		snprintf(what, sizeof(what), "LEON header decoded and checked, %u hops", n);
		report(what, best_ns(decode, data, 1000000), "ns");
	}
	memcpy(frame + 12, "\x08\x00\x45\x00\x00\x2e\x00\x00\x40\x00\x40\x11", 12);
	report("Ethernet frame parsed (UDP)", best_ns(parse, frame, 1000000), "ns");
	for (unsigned i = 0; i < 20; i++)
		bundle_encode(60, false, data + i * (BUNDLE_HDR_LEN + 60));
	report("bundle of 20 frames taken apart", best_ns(unbundle, data, 100000), "ns");
}

/* --- workers --- */

#define PER_BATCH 32
#define FRAME_LEN 60

struct worker_case {
	struct fixture fx;
	struct sockaddr_storage from;
	uint8_t data[1500];
	size_t len;
};

/* Receives a batch of datagrams and writes their frames to the TAP. The TAP has no reader, so the
 * call fails at once. */
static uint64_t receive(void *arg, unsigned i)
{
	struct worker_case *c = arg;
	struct udp_rx_msg m = {
		.data = c->data, .len = c->len, .segment = c->len, .from = &c->from
	};

	(void)i;
	worker_begin(c->fx.w);
	for (unsigned n = 0; n < PER_BATCH; n++)
		from_net_message(c->fx.w, &m);
	worker_end(c->fx.w);
	return fx_count(&c->fx, CNT_net_rx_datagrams);
}

/* Sends one frame from the TAP to a node's socket through the thread, which sleeps before. */
static uint64_t wake(void *arg, unsigned i)
{
	struct worker_case *c = arg;
	uint8_t frame[12 + FRAME_LEN] = { 0 };
	struct pollfd pfd = { .fd = c->fx.node_fd[1], .events = POLLIN };
	struct datagram d;

	fx_eth(frame + 12, 0x31, 0x21, 0x88b5);
	if (write(c->fx.tap, frame, sizeof(frame)) < 0 || poll(&pfd, 1, 5000) != 1)
		abort();
	return fx_node_gets(&c->fx, 1, &d) + i;
}

static void datagram_of(struct worker_case *c, uint8_t kind, unsigned n)
{
	size_t at = fx_header(c->data, kind, 0, fx_id(1), 0, 1, (node_id_t[]){ FX_SELF });

	for (unsigned i = 0; i < n; i++) {
		if (kind == LEON_BUNDLE) {
			bundle_encode(FRAME_LEN, false, c->data + at);
			at += BUNDLE_HDR_LEN;
		}
		fx_eth(c->data + at, 0x21, 0x31, 0x88b5);
		at += FRAME_LEN;
	}
	c->len = at;
}

static void measure_workers(void)
{
	static struct worker_case c;

	if (!fx_open(&c.fx, true))
		abort();
	fdb_learn(c.fx.fdb, 0, fx_mac(0x21), SLOT_SELF, 1);
	fdb_learn(c.fx.fdb, 0, fx_mac(0x31), 1, 1);
	endpoint_to_sockaddr(&c.fx.ep[1], &c.from);
	shutdown(c.fx.near_tap, SHUT_WR);
	datagram_of(&c, LEON_FRAME, 1);
	report("datagram of 1 frame received", best_ns(receive, &c, 3000) / PER_BATCH, "ns");
	datagram_of(&c, LEON_BUNDLE, 20);
	report("datagram of 20 frames received", best_ns(receive, &c, 300) / PER_BATCH, "ns");
	if (fwd_start(c.fx.f) < 0)
		abort();
	processor = CLOCK_PROCESS_CPUTIME_ID;
	report("frame through a worker that slept, both ends", best_ns(wake, &c, 3000), "ns");
	processor = CLOCK_THREAD_CPUTIME_ID;
	fx_close(&c.fx);
}

/* --- multicast --- */

#define LISTENING_NODES 50
#define NODE_GROUPS	100

/* One frame to a group without a listener: the lookup at each node. */
static uint64_t look_up_listeners(void *arg, unsigned i)
{
	const struct listeners *l = arg;
	uint64_t wanted = 0;

	for (uint16_t slot = 0; slot < LISTENING_NODES; slot++)
		wanted += listeners_want(l, slot, listener_entry(10, 4, NODE_GROUPS + 1 + i % 999));
	return wanted;
}

static void measure_listeners(void)
{
	struct listeners *l = listeners_new(LISTENING_NODES);
	uint64_t entry[NODE_GROUPS + 1];

	for (unsigned i = 0; i <= NODE_GROUPS; i++)
		entry[i] = listener_entry(10, 4, i);
	for (uint16_t slot = 0; slot < LISTENING_NODES; slot++)
		listeners_replace(l, slot, listener_set_new(entry, NODE_GROUPS + 1));
	report("listeners of a group at 50 nodes", best_ns(look_up_listeners, l, 10000), "ns");
	listeners_free(l);
}

/* --- paths --- */

struct path_case {
	struct latdb *db;
	struct path_params pp;
	struct path *out;
	uint16_t n;
};

static uint64_t compute(void *arg, unsigned i)
{
	struct path_case *c = arg;

	path_compute(c->db, &c->pp, (uint16_t)(i % c->n), c->n, c->out);
	return c->out[c->n - 1].cost_us;
}

static uint16_t slot_of(void *arg, node_id_t id)
{
	(void)arg;
	return (uint16_t)(id - NODE_ID0);
}

/* Returns the RTT of two nodes, equal at both ends. On a plane, each pair has a random detour of up
 * to a half, so relays are useful. Otherwise the distance is random, and nearly every pair has a
 * useful relay. */
static uint32_t rtt_of(unsigned a, unsigned b, bool on_plane)
{
	uint64_t pair = hash_mix64((uint64_t)max_of(a, b) << 32 | min_of(a, b));
	uint64_t at = hash_mix64(a), bt = hash_mix64(b);
	int32_t dx = (int32_t)(at & 0xffff) - (int32_t)(bt & 0xffff);
	int32_t dy = (int32_t)(at >> 16 & 0xffff) - (int32_t)(bt >> 16 & 0xffff);
	uint32_t x = (uint32_t)abs(dx), y = (uint32_t)abs(dy);

	if (!on_plane)
		return 5000 + (uint32_t)(pair % 200000);
	return 1000 + (uint32_t)((max_of(x, y) + min_of(x, y) / 2) * (1000 + pair % 500) / 1000);
}

/* Every node measures every other node. */
static void load_row(struct latdb *db, uint16_t from, uint16_t n, bool on_plane)
{
	static struct msg_row m;
	uint16_t parts = (uint16_t)((n + MSG_ROW_MAX - 1) / MSG_ROW_MAX);

	for (uint16_t part = 0; part < parts; part++) {
		m = (struct msg_row){ .origin = NODE_ID0 + from,
				      .incarnation = 1,
				      .seq = 1,
				      .part = part,
				      .parts = parts };
		for (uint16_t to = (uint16_t)(part * MSG_ROW_MAX); to < n && m.n < MSG_ROW_MAX;
		     to++)
			if (to != from)
				m.entry[m.n++] =
					(struct row_entry){ NODE_ID0 + to,
							    { .up = true,
							      .rtt_us = rtt_of(from, to, on_plane),
							      .long_term_us =
								      rtt_of(from, to, on_plane),
							      .var_us = 500,
							      .mtu = 1472 } };
		latdb_merge(db, from, &m, slot_of, NULL);
	}
}

static void measure_paths(uint16_t n, bool on_plane)
{
	struct path_case c = { .db = latdb_new(), .n = n, .pp = { .maximum_relays = 3 } };
	char what[80];

	c.out = x_calloc(n, sizeof(c.out[0]));
	for (uint16_t from = 1; from < n; from++)
		load_row(c.db, from, n, on_plane);
	for (uint16_t to = 1; to < n; to++) {
		struct lat_entry e = { .rtt_us = rtt_of(0, to, on_plane),
				       .long_term_us = rtt_of(0, to, on_plane),
				       .mtu = 1472,
				       .up = true };

		latdb_set(c.db, to, &e);
	}
	snprintf(what, sizeof(what), "all paths of one node, %u nodes, %s", n,
		 on_plane ? "on a plane" : "anywhere");
	report(what, best_ns(compute, &c, n > 200 ? 3 : 30) / 1e3, "us");
	latdb_free(c.db);
	free(c.out);
}

/* --- encryption --- */

#define NET_HDR_LEN 24 /* associated data */
#define HEAD_LEN    66 /* Ethernet, IPv4 and TCP with timestamps, of a segment of a super-frame */
#define SEALED_MAX  8900

struct seal_case {
	struct aead *aead;
	size_t len, head_len;
	uint8_t nonce[AEAD_NONCE_LEN], header[NET_HDR_LEN];
	uint8_t text[SEALED_MAX], sealed[SEALED_MAX + AEAD_TAG_LEN];
};

/* Seals as the packet path does: a head in place, if any, and a body from another buffer. */
static uint64_t seal_packet(void *arg, unsigned i)
{
	struct seal_case *c = arg;
	const struct aead_piece in[] = { { c->sealed, c->head_len },
					 { c->text + c->head_len, c->len - c->head_len } };

	memcpy(c->nonce, &i, sizeof(i));
	if (aead_seal_pieces(c->aead, c->nonce, c->header, sizeof(c->header), in, 2, c->sealed))
		abort();
	return c->sealed[0];
}

/* Opens one packet to another buffer, so that it can be opened again. */
static uint64_t open_packet(void *arg, unsigned i)
{
	struct seal_case *c = arg;

	(void)i;
	if (aead_open(c->aead, c->nonce, c->header, sizeof(c->header), c->sealed,
		      c->len + AEAD_TAG_LEN, c->text))
		abort();
	return c->text[0];
}

static void report_packet(struct seal_case *c, const char *action,
			  uint64_t (*call)(void *arg, unsigned i))
{
	char what[80];

	snprintf(what, sizeof(what), "%s, %s of %zu bytes %s", aead_library(),
		 c->head_len ? "segment" : "packet", c->len, action);
	report(what, best_ns(call, c, 10000), "ns");
}

static void measure_library(void)
{
	static const size_t lengths[] = { 64, 256, 1400, SEALED_MAX };
	static const uint8_t key[AEAD_KEY_LEN] = { 1 };
	static struct seal_case c;

	c.aead = aead_new(key);
	for (size_t i = 0; i < array_size(lengths); i++) {
		c.len = lengths[i];
		c.head_len = 0;
		report_packet(&c, "sealed", seal_packet);
		report_packet(&c, "opened", open_packet);
	}
	c.len = 1400;
	c.head_len = HEAD_LEN;
	report_packet(&c, "sealed", seal_packet);
	aead_free(c.aead);
}

static void measure_encryption(void)
{
	char why_not[200];

	measure_library();
	if (!aead_may_use_ipsec_mb(why_not, sizeof(why_not))) {
		fprintf(stderr, "ipsec-mb cannot be used: %s\n", why_not);
		return;
	}
	aead_use_ipsec_mb(true);
	measure_library();
}

/* --- segments --- */

#define SEGMENTS      1000
#define SEGMENT_ID0   70000u
#define SEGMENT_NODES 12

/* Each node serves all segments, and announces them in the largest number of ranges. */
static struct snap *snapshot_of(const struct segments *map, uint16_t n_nodes)
{
	struct id_range range[MSG_SEGMENTS_MAX];
	struct snap *s = snap_new(n_nodes);
	uint32_t each = SEGMENTS / MSG_SEGMENTS_MAX;

	for (uint32_t i = 0; i < MSG_SEGMENTS_MAX; i++)
		range[i] = (struct id_range){ SEGMENT_ID0 + i * each,
					      SEGMENT_ID0 + (i + 1) * each - 1 };
	range[MSG_SEGMENTS_MAX - 1].last = SEGMENT_ID0 + SEGMENTS - 1;
	s->segments = map;
	for (uint16_t i = 0; i < n_nodes; i++) {
		s->node[i].id = NODE_ID0 + i;
		if (map && i)
			snap_limit_segments(s, i, range, MSG_SEGMENTS_MAX);
	}
	if (map)
		snap_add_lan(s);
	/* Another router of this LAN shares all VLANs. */
	for (uint16_t vlan = 1; map && vlan <= SEGMENTS; vlan++) {
		vlan_set_add(&s->lan->open, vlan);
		snap_add_same_lan(s, 1, segments_vlan(map, SEGMENT_ID0 + vlan - 1));
	}
	snap_finish(s);
	return s;
}

static uint64_t make_snapshot(void *arg, unsigned i)
{
	struct snap *s = snapshot_of(arg, SEGMENT_NODES);
	uint64_t sum = s->n_flood + i;

	snap_free(s);
	return sum;
}

static uint64_t make_large_snapshot(void *arg, unsigned i)
{
	struct snap *s = snapshot_of(arg, 1000);
	uint64_t sum = s->n_flood + i;

	snap_free(s);
	return sum;
}

static size_t allocated(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void measure_segments(void)
{
	struct segment *all = x_calloc(SEGMENTS, sizeof(*all));
	size_t before = allocated(), plain;
	struct segments *map;
	struct snap *s;

	s = snapshot_of(NULL, SEGMENT_NODES);
	plain = allocated() - before;
	snap_free(s);
	for (uint16_t i = 0; i < SEGMENTS; i++)
		all[i] = (struct segment){ .vlan = (uint16_t)(i + 1), .id = SEGMENT_ID0 + i };
	before = allocated();
	map = segments_new(all, SEGMENTS);
	report("map of 1000 segments", (double)(allocated() - before) / 1024, "KiB");
	before = allocated();
	s = snapshot_of(map, SEGMENT_NODES);
	report("1000 segments in a snapshot of 12 nodes",
	       (double)(allocated() - before - plain) / 1024, "KiB");
	snap_free(s);
	report("loop guard of 1000 VLANs", SEGMENTS * sizeof(struct guard_vlan) / 1024.0, "KiB");
	report("snapshot of 12 nodes", best_ns(make_snapshot, NULL, 100) / 1e3, "us");
	report("snapshot of 12 nodes, 1000 segments", best_ns(make_snapshot, map, 100) / 1e3, "us");
	report("snapshot of 1000 nodes", best_ns(make_large_snapshot, NULL, 10) / 1e3, "us");
	report("snapshot of 1000 nodes, 1000 segments", best_ns(make_large_snapshot, map, 10) / 1e3,
	       "us");
	segments_free(map);
	free(all);
}

int main(int argc, char **argv)
{
	static const uint16_t nodes[] = { 12, 50, 100, 200, 490, 1000 };

	json = argc == 2 && strcmp(argv[1], "--json") == 0;
	if (argc > 2 || (argc == 2 && !json)) {
		fprintf(stderr, "usage: bench_micro [--json]\n");
		return 2;
	}
	printf("%s", json ? "[" : "");
	measure_fdb(1000);
	measure_fdb(10000);
	measure_fdb(100000);
	measure_fdb(1000000);
	measure_headers();
	measure_encryption();
	measure_workers();
	measure_listeners();
	measure_segments();
	for (size_t i = 0; i < array_size(nodes); i++)
		measure_paths(nodes[i], true);
	for (size_t i = 0; i < array_size(nodes); i++)
		measure_paths(nodes[i], false);
	printf("%s", json ? "]\n" : "");
	return 0;
}
