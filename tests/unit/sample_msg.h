// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Example control messages for test_msg, test_keys and the generator of the fuzz corpora. The small
 * messages are the examples of doc/protocol.md. The full messages fill every array.
 */
#pragma once

#include <string.h>

#include "wire/flow_capture.h"
#include "wire/message/msg.h"

#define NODE_A 0xc0000201u /* 192.0.2.1 */
#define NODE_B 0xc6336402u /* 198.51.100.2 */
#define NODE_C 0xcb007103u /* 203.0.113.3 */

static inline struct endpoint sample_v4(uint8_t last)
{
	return (struct endpoint){ .ip = { 4, { 192, 0, 2, last } }, .port = 5366 };
}

static inline struct endpoint sample_v6(uint8_t last)
{
	return (struct endpoint){ .ip = { 6, { 0x20, 0x01, 0x0d, 0xb8, [15] = last } },
				  .port = 5367 };
}

static inline void sample_small_record(struct msg_record *r)
{
	r->origin = NODE_A;
	r->incarnation = 0x0006123456789abcULL;
	r->seq = 3;
	r->flags = RECORD_TRANSIT_DISABLED | RECORD_SEGMENTS | RECORD_LAN;
	record_lan_count(&r->lan, lan_class(10) | lan_class(20));
	record_lan_count(&r->lan, lan_class(10));
	record_lan_count(&r->lan, lan_class(10));
	r->lan.n = 1;
	r->lan.node[0] = 0xc6336402;
	memcpy(r->name, "tokyo", 6);
	r->n_locators = 2;
	r->locator[0] = sample_v4(1);
	r->locator[1] = sample_v6(1);
	r->n_overlay = 1;
	r->overlay[0] = (struct ip_addr){ 4, { 10, 0, 0, 1 } };
	r->n_prefixes = 1;
	r->prefix[0] = (struct prefix){ { 4, { 10, 1, 128 } }, 17 };
	r->n_segments = 1;
	r->segment[0] = (struct id_range){ 20, 29 };
	memset(r->identity, 0x1d, MSG_KEY_LEN);
	memset(r->signature, 0x51, MSG_SIGNATURE_LEN);
}

/* The record of a SENT frame of 14 bytes, sealed, along one relay. */
static inline void sample_capture_data(struct msg_capture_data *a)
{
	const struct capture_record r = { .at_us = 0x00018a88,
					  .place = CAPTURE_SENT,
					  .flags = CAPTURE_SEALED,
					  .n_hops = 2,
					  .source = NODE_A,
					  .hop = { NODE_C, NODE_B },
					  .nonce = 0x3020000000000007ULL,
					  .len = 98,
					  .n = 14 };
	static const uint8_t frame[14] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0 };

	*a = (struct msg_capture_data){ .id = 0xc0ffee01,
					.offset = 4096,
					.frames = 65,
					.n_clocks = 1,
					.clock = { { NODE_C, 0xfffffc18, 20000 } } };
	a->n = (uint16_t)capture_record_write(&r, frame, a->bytes, sizeof(a->bytes));
	a->total = a->offset + a->n;
}

static inline void sample_small_capture(uint8_t type, struct msg *m)
{
	switch (type) {
	case MSG_CAPTURE_START:
		m->capture_start = (struct msg_capture_start){
			.id = 0xc0ffee01,
			.seconds = 10,
			.bytes = 1 << 20,
			.snap = 128,
			.filter = { .n_hosts = 2,
				    .vlan = CAPTURE_NO_VLAN,
				    .protocol = 6,
				    .port = 80,
				    .host = { { 4, { 10, 0, 0, 1 } }, { 4, { 10, 0, 0, 2 } } } }
		};
		break;
	case MSG_CAPTURE_READ:
		m->capture_read = (struct msg_capture_read){ 0xc0ffee01, 4096 };
		break;
	case MSG_CAPTURE_DATA:
		sample_capture_data(&m->capture_data);
		break;
	case MSG_CAPTURE_LOOKUP:
		m->capture_lookup = (struct msg_capture_lookup){
			0xc0ffee01, NODE_A, NODE_B, 1, { 0x3020000000000007ULL }, { 0 }
		};
		break;
	case MSG_CAPTURE_SEEN:
		m->capture_seen = (struct msg_capture_lookup){
			0xc0ffee01, NODE_A, NODE_B, 1, { 0x3020000000000007ULL }, { 0x000186a0 }
		};
		break;
	default:
		break;
	}
}

/* Makes the example of doc/protocol.md of this type. */
static inline void sample_small(uint8_t type, struct msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
	switch (type) {
	case MSG_HELLO:
		m->hello = (struct msg_hello){ .incarnation = 0x0006123456789abcULL,
					       .session_mine = 0x1111111111111111ULL,
					       .session_yours = 0x2222222222222222ULL,
					       .observed = sample_v4(77),
					       .secret = { 0x01020304, 0, 0, 0 },
					       .data_offer = 0x05,
					       .port_hint = 5366 };
		memset(m->hello.public, 0xe1, MSG_KEY_LEN);
		memset(m->hello.identity, 0x1d, MSG_KEY_LEN);
		memset(m->hello.signature, 0x51, MSG_SIGNATURE_LEN);
		break;
	case MSG_SUMMARY:
		m->summary.parts = 1;
		m->summary.n = 1;
		m->summary.entry[0] =
			(struct msg_summary_entry){ NODE_A,
						    0x0006123456789abcULL,
						    3,
						    false,
						    { [0 ... MSG_KEY_NAME_LEN - 1] = 0x1d } };
		break;
	case MSG_FETCH:
		m->fetch.n = 2;
		m->fetch.origin[0] = NODE_A;
		m->fetch.origin[1] = NODE_C;
		break;
	case MSG_RECORD:
		sample_small_record(&m->record);
		break;
	case MSG_ROW:
		m->row.origin = NODE_A;
		m->row.incarnation = 0x0006123456789abcULL;
		m->row.seq = 41;
		m->row.base = 40;
		m->row.parts = 1;
		m->row.n = 2;
		m->row.entry[0] =
			(struct row_entry){ NODE_B, { 21700, 21000, 350, 5, 1472, true, true } };
		m->row.entry[1] =
			(struct row_entry){ NODE_C,
					    { 0xffffff, 0xffffff, 0, 1000, 1452, false, false } };
		break;
	case MSG_SHORT_ROW:
		sample_small(MSG_ROW, m);
		m->type = type;
		m->row.set = 0x5e7;
		m->row.mtu = 1472;
		break;
	case MSG_PING:
		m->ping = (struct msg_ping){ 7, 0x0123456789abcdefULL, 41, 73, 1000, 0 };
		break;
	case MSG_PONG:
		m->pong = (struct msg_pong){ 7,		 0x0123456789abcdefULL,
					     12,	 65,
					     15000,	 0xe90c0001,
					     1000000,	 999990,
					     0xfffffff6, 47500,
					     false,	 0 };
		break;
	case MSG_NOTICE:
		m->notice = (struct msg_notice){ NODE_C, NODE_B };
		break;
	case MSG_CONFLICT:
		m->conflict = (struct msg_conflict){ .mine = 0x1111111111111111ULL,
						     .yours = 0x2222222222222222ULL,
						     .incarnation = 0x0006123456789abcULL,
						     .same_identity = true,
						     .at = sample_v4(77) };
		memset(m->conflict.identity, 0x1d, MSG_KEY_LEN);
		memset(m->conflict.signature, 0x51, MSG_SIGNATURE_LEN);
		break;
	case MSG_SECRETS:
		m->secrets = (struct msg_secrets){ .name = { 0x01020304, 0x05060708 } };
		break;
	case MSG_GROUPS:
		m->groups = (struct msg_groups){ .seq = 3,
						 .parts = 1,
						 .n = 3,
						 .entry = { 0x00000a0400000000, 0x00000a04ef010101,
							    0x0111720600000000 } };
		break;
	case MSG_GROUPS_ACK:
		m->groups_ack.seq = 3;
		break;
	default:
		sample_small_capture(type, m);
		break;
	}
}

static inline void sample_full_capture(uint8_t type, struct msg *m)
{
	switch (type) {
	case MSG_CAPTURE_DATA:
		m->capture_data.total = CAPTURE_BYTES_MAX;
		m->capture_data.n_clocks = MSG_CLOCKS_MAX;
		m->capture_data.n = MSG_CAPTURE_MAX;
		for (uint8_t i = 0; i < MSG_CLOCKS_MAX; i++)
			m->capture_data.clock[i] = (struct msg_clock){ i + 1u, ~i, i * 1000u };
		for (size_t i = 0; i < MSG_CAPTURE_MAX; i++)
			m->capture_data.bytes[i] = (uint8_t)i;
		break;
	case MSG_CAPTURE_LOOKUP:
		m->capture_lookup.n = MSG_LOOKUP_MAX;
		for (uint64_t i = 0; i < MSG_LOOKUP_MAX; i++)
			m->capture_lookup.nonce[i] = i << 40 | i;
		break;
	case MSG_CAPTURE_SEEN:
		m->capture_seen.n = MSG_LOOKUP_MAX;
		for (uint32_t i = 0; i < MSG_LOOKUP_MAX; i++) {
			m->capture_seen.nonce[i] = (uint64_t)i << 40 | i;
			m->capture_seen.at_us[i] = ~i;
		}
		break;
	default:
		break;
	}
}

static inline void sample_full_record(struct msg_record *r)
{
	memset(r->name, 'n', MSG_NAME_MAX);
	r->n_locators = MSG_LOCATORS_MAX;
	r->n_overlay = MSG_OVERLAY_MAX;
	r->n_prefixes = MSG_PREFIXES_MAX;
	for (uint8_t i = 0; i < MSG_LOCATORS_MAX; i++)
		r->locator[i] = sample_v6((uint8_t)(i + 1));
	for (uint8_t i = 0; i < MSG_OVERLAY_MAX; i++)
		r->overlay[i] = sample_v6((uint8_t)(i + 1)).ip;
	r->n_segments = MSG_SEGMENTS_MAX;
	for (uint16_t i = 0; i < MSG_SEGMENTS_MAX; i++)
		r->segment[i] = (struct id_range){ (uint16_t)(100 * i), (uint16_t)(100 * i + 98) };
	for (uint8_t i = 0; i < MSG_PREFIXES_MAX; i++)
		r->prefix[i] = (struct prefix){ sample_v6((uint8_t)(i + 1)).ip, 128 };
	r->lan.n = MSG_LAN_NODES_MAX;
	for (uint8_t i = 0; i < MSG_LAN_NODES_MAX; i++)
		r->lan.node[i] = NODE_A + i;
}

/* Makes the longest message of this type, with different elements. */
static inline void sample_full(uint8_t type, struct msg *m)
{
	sample_small(type, m);
	switch (type) {
	case MSG_HELLO:
		m->hello.observed = sample_v6(9);
		break;
	case MSG_CONFLICT:
		m->conflict.at = sample_v6(9);
		break;
	case MSG_SUMMARY:
		m->summary.part = MSG_PARTS_MAX - 1;
		m->summary.parts = MSG_PARTS_MAX;
		m->summary.n = MSG_SUMMARY_MAX;
		for (uint32_t i = 0; i < MSG_SUMMARY_MAX; i++)
			m->summary.entry[i] = (struct msg_summary_entry){
				i + 1, MSG_INCARNATION_MAX - i, ~i, i % 2, { (uint8_t)i }
			};
		break;
	case MSG_GROUPS:
		m->groups.part = MSG_PARTS_MAX - 1;
		m->groups.parts = MSG_PARTS_MAX;
		m->groups.n = MSG_GROUPS_MAX;
		for (uint32_t i = 0; i < MSG_GROUPS_MAX; i++)
			m->groups.entry[i] = (uint64_t)(i << 8 | (i % 2 ? 4 : 6)) << 32 | i;
		break;
	case MSG_FETCH:
		m->fetch.n = MSG_FETCH_MAX;
		for (uint32_t i = 0; i < MSG_FETCH_MAX; i++)
			m->fetch.origin[i] = ~i;
		break;
	case MSG_RECORD:
		sample_full_record(&m->record);
		break;
	case MSG_ROW:
		m->row.part = MSG_PARTS_MAX - 1;
		m->row.parts = MSG_PARTS_MAX;
		m->row.n = MSG_ROW_MAX;
		for (uint16_t i = 0; i < MSG_ROW_MAX; i++)
			m->row.entry[i] =
				(struct row_entry){ i + 1u,
						    { i * 1000u, i * 900u, 0xffffffu - i,
						      (uint16_t)(1000 - i), (uint16_t)(65535 - i),
						      i & 1, (i & 3) == 3 } };
		break;
	case MSG_SHORT_ROW:
		m->row.part = MSG_PARTS_MAX - 1;
		m->row.parts = MSG_PARTS_MAX;
		m->row.n = SHORT_ROW_ROOM / (SHORT_ENTRY_MAX - 1);
		for (uint16_t i = 0; i < m->row.n; i++)
			m->row.entry[i] =
				(struct row_entry){ (i + 1u) * 0x3000000u,
						    { i * 1000u, 0xffffffu - i, i * 900u,
						      (uint16_t)(1000 - i), (uint16_t)(65535 - i),
						      true, i & 1 } };
		break;
	default:
		sample_full_capture(type, m);
		break;
	}
}
