// SPDX-License-Identifier: GPL-2.0-or-later
/* The forwarding snapshot: encoded headers and addresses, the id table, the flood list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>

#include "../length.h"
#include "state/tables/snap.h"

/* Node-id 100 + slot, reachable at 192.0.2.<slot>:5366. */
static struct snap *snap_of(uint16_t n)
{
	struct snap *s = snap_new(n);

	s->self = 100;
	s->vni = 0x123456;
	for (uint16_t i = 0; i < n; i++) {
		s->node[i].id = 100u + i;
		s->node[i].link_up = i > 0;
		if (i > 0)
			s->node[i].ep = (struct endpoint){ .ip = { 4, { 192, 0, 2, (uint8_t)i } },
							   .port = 5366 };
	}
	return s;
}

static void route(struct snap *s, uint16_t slot, uint16_t a, uint16_t b)
{
	uint16_t hop[2] = { a, b };

	snap_set_path(s, slot, hop, b ? 2 : 1, 1400);
}

static void headers_are_ready_to_send(void **state)
{
	struct snap *s = snap_of(4);
	struct leon_hdr h;
	size_t len;

	(void)state;
	route(s, 1, 1, 0);
	route(s, 2, 3, 2);
	snap_finish(s);
	assert_true(s->node[1].has_path);
	assert_true(s->node[2].has_path);
	assert_false(s->node[3].has_path);
	assert_int_equal(s->node[2].first, 3);
	assert_int_equal(s->node[2].hdr_len, LEON_HDR_LEN(2));
	assert_int_equal(s->node[2].path_mtu, 1400);
	assert_int_equal(leon_decode(s->node[2].hdr, s->node[2].hdr_len, &h, &len), LEON_OK);
	assert_int_equal(len, s->node[2].hdr_len);
	assert_int_equal(h.kind, LEON_FRAME);
	assert_int_equal(h.flags, 0);
	assert_int_equal(h.at, 0);
	assert_int_equal(h.vni, 0x123456);
	assert_int_equal(h.source, 100);
	assert_int_equal(h.n_hops, 2);
	assert_int_equal(h.hop[0], 103);
	assert_int_equal(h.hop[1], 102);
	snap_free(s);
	snap_free(NULL);
}

static void addresses_are_ready_to_send(void **state)
{
	struct snap *s = snap_of(3);
	struct sockaddr_in in;

	(void)state;
	s->node[2].ep.ip = (struct ip_addr){ 6, { 0x20, 0x01, 0x0d, 0xb8, [15] = 7 } };
	snap_finish(s);
	assert_int_equal(s->node[0].sa_len, 0);
	assert_int_equal(s->node[1].sa_len, sizeof(in));
	memcpy(&in, s->node[1].sa, sizeof(in));
	assert_int_equal(in.sin_family, AF_INET);
	assert_int_equal(ntohs(in.sin_port), 5366);
	assert_int_equal(ntohl(in.sin_addr.s_addr), 0xc0000201);
	assert_int_equal(s->node[2].sa_len, sizeof(struct sockaddr_in6));
	snap_free(s);
}

static void impossible_routes_are_none(void **state)
{
	uint16_t longest[LEON_HOPS_MAX + 1] = { 1, 2, 3, 4, 5 };
	struct snap *s = snap_of(8);

	(void)state;
	s->node[2].id = NODE_ID_NONE; /* a relay in a free slot */
	route(s, 3, 2, 3);
	s->node[4].ep.ip.family = 0; /* first hop without an address */
	route(s, 4, 4, 0);
	route(s, 5, 77, 5); /* no such slot */
	snap_set_path(s, 6, longest, LEON_HOPS_MAX + 1, 1400);
	snap_set_path(s, 7, longest, 0, 1400);
	snap_finish(s);
	for (uint16_t i = 0; i < 8; i++)
		assert_false(s->node[i].has_path);
	assert_int_equal(s->n_flood, 0);
	snap_free(s);
}

static void flood_names_every_routed_node_once(void **state)
{
	struct snap *s = snap_of(6);

	(void)state;
	route(s, 1, 1, 0);
	route(s, 4, 1, 4);
	route(s, 5, 5, 0);
	snap_finish(s);
	assert_int_equal(s->n_flood, 3);
	assert_int_equal(s->flood[0], 1);
	assert_int_equal(s->flood[1], 4);
	assert_int_equal(s->flood[2], 5);
	snap_free(s);
}

/* Returns the flooded slots of a VLAN as a bitmap. */
static unsigned flooded(const struct snap *s, uint16_t vlan)
{
	unsigned bits = 0;

	for (uint16_t slot = snap_flood_next(s->members, vlan, 0); slot != SLOT_NONE;
	     slot = snap_flood_next(s->members, vlan, slot + 1u))
		bits |= 1u << slot;
	return bits;
}

static void frames_go_to_those_who_serve_the_vlan(void **state)
{
	static const struct id_range some[] = { { 0, 0 }, { 10, 19 } }, other[] = { { 19, 4095 } };
	struct snap *s = snap_of(7);

	(void)state;
	for (uint16_t slot = 1; slot < 6; slot++)
		route(s, slot, slot, 0);
	snap_limit_segments(s, 1, some, 2);
	snap_limit_segments(s, 2, other, 1);
	snap_limit_segments(s, 3, NULL, 0);
	snap_limit_segments(s, 6, some, 2); /* a node without a path */
	snap_finish(s);
	/* Nodes 4 and 5 have announced no segments, and get all frames. */
	assert_int_equal(flooded(s, 0), 1u << 1 | 1u << 4 | 1u << 5);
	assert_int_equal(flooded(s, 10), 1u << 1 | 1u << 4 | 1u << 5);
	assert_int_equal(flooded(s, 19), 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5);
	assert_int_equal(flooded(s, 20), 1u << 2 | 1u << 4 | 1u << 5);
	assert_int_equal(flooded(s, 4095), 1u << 2 | 1u << 4 | 1u << 5);
	snap_free(s);
	/* If no node has announced segments, there is no table. */
	s = snap_of(2);
	snap_finish(s);
	assert_null(s->members);
	snap_free(s);
}

/* More than 64 slots need several words. */
static void many_nodes_and_their_vlans(void **state)
{
	struct snap *s = snap_of(200);
	unsigned n = 0;

	(void)state;
	for (uint16_t slot = 1; slot < 200; slot++) {
		struct id_range r = { slot, (uint16_t)(slot + 9) };

		route(s, slot, slot, 0);
		snap_limit_segments(s, slot, &r, 1);
	}
	snap_finish(s);
	for (uint16_t slot = snap_flood_next(s->members, 130, 0); slot != SLOT_NONE;
	     slot = snap_flood_next(s->members, 130, slot + 1u), n++)
		assert_in_range(slot, 121, 130);
	assert_int_equal(n, 10);
	snap_free(s);
}

/* Nodes with equal segments are entered together, in each order of lists and slots. */
static void equal_lists_are_entered_together(void **state)
{
	static const struct id_range list[3][2] = { { { 1, 3 }, { 100, 100 } }, { { 2, 2 } } };
	static const unsigned n[3] = { 2, 1, 0 };
	struct snap *s;

	(void)state;
	for (unsigned turn = 0; turn < 4; turn++) {
		s = snap_of(200);
		for (uint16_t i = 0; i < 200; i++) {
			uint16_t slot = turn % 2 ? i : (uint16_t)(199 - i);
			unsigned k = turn < 2 ? slot % 3 : slot / 50 % 3;

			route(s, slot, slot, 0);
			if (slot % 7)
				snap_limit_segments(s, slot, list[k], n[k]);
		}
		snap_finish(s);
		for (uint16_t slot = 1; slot < 200; slot++)
			for (uint16_t vlan = 0; vlan < 101; vlan++) {
				unsigned k = turn < 2 ? slot % 3 : slot / 50 % 3;
				bool serves = !(slot % 7) || (k < 2 && vlan == 2) ||
					      (!k && (vlan == 1 || vlan == 3 || vlan == 100));

				assert_int_equal(snap_flood_next(s->members, vlan, slot) == slot,
						 serves);
			}
		snap_free(s);
	}
}

/* 1000 VLANs and 12 nodes: the additional time of a snapshot. */
static void a_thousand_vlans_are_cheap(void **state)
{
	struct id_range r[MSG_SEGMENTS_MAX];
	struct snap *s = NULL;
	struct timespec t[2];
	double ms;

	(void)state;
	for (uint16_t i = 0; i < MSG_SEGMENTS_MAX; i++)
		r[i] = (struct id_range){ (uint16_t)(100 * i), (uint16_t)(100 * i + 24) };
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[0]);
	for (unsigned i = 0; i < 20; i++) {
		snap_free(s);
		s = snap_of(12);
		for (uint16_t slot = 1; slot < 12; slot++) {
			route(s, slot, slot, 0);
			snap_limit_segments(s, slot, r, MSG_SEGMENTS_MAX);
		}
		snap_finish(s);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[1]);
	ms = ((double)(t[1].tv_sec - t[0].tv_sec) * 1e3 +
	      (double)(t[1].tv_nsec - t[0].tv_nsec) / 1e6) /
	     20;
	print_message("snapshot of 1000 VLANs x 12 nodes: %.3f ms, %zu KiB\n", ms,
		      VLAN_IDS * s->members->n_words * sizeof(uint64_t) / 1024);
	assert_true(ms < LENGTH(5, 50));
	assert_true(VLAN_IDS * s->members->n_words * sizeof(uint64_t) < 4 << 20);
	snap_free(s);
}

static void members_are_found_by_id(void **state)
{
	struct snap *s = snap_of(1000);

	(void)state;
	s->node[500].id = NODE_ID_NONE;
	snap_finish(s);
	for (uint16_t i = 0; i < 1000; i++)
		assert_int_equal(snap_find(s, 100u + i), i == 500 ? SLOT_NONE : i);
	assert_int_equal(snap_find(s, 99), SLOT_NONE);
	assert_int_equal(snap_find(s, 1100), SLOT_NONE);
	assert_int_equal(snap_find(s, NODE_ID_NONE), SLOT_NONE);
	snap_free(s);
}

static void empty_snapshot_is_harmless(void **state)
{
	struct snap *s = snap_new(0);

	(void)state;
	snap_finish(s);
	assert_int_equal(s->n_flood, 0);
	assert_int_equal(snap_find(s, 1), SLOT_NONE);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_ready_to_send),
		cmocka_unit_test(addresses_are_ready_to_send),
		cmocka_unit_test(impossible_routes_are_none),
		cmocka_unit_test(flood_names_every_routed_node_once),
		cmocka_unit_test(frames_go_to_those_who_serve_the_vlan),
		cmocka_unit_test(many_nodes_and_their_vlans),
		cmocka_unit_test(equal_lists_are_entered_together),
		cmocka_unit_test(a_thousand_vlans_are_cheap),
		cmocka_unit_test(members_are_found_by_id),
		cmocka_unit_test(empty_snapshot_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
