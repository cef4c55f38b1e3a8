// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LEON header: what every datagram on the port begins with, data and control alike.
 * Pure encode and decode; workers and control thread. doc/protocol.md section 2 has the picture
 * and the test vectors.
 *
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-------+-------+---------------+-------+-------+---------------+
 *   |version| kind  |     flags     | hops  |  at   |   VNI ...     |
 *   +-------+-------+---------------+-------+-------+---------------+
 *   |        ... VNI (24)           |         source node-id ...    |
 *   +-------------------------------+-------------------------------+
 *   |        ... source (32)        |   hop 0 node-id (32) ...      |
 *   +-------------------------------+-------------------------------+
 *   |  ... up to LEON_HOPS_MAX hops, the destination last           |
 *   +---------------------------------------------------------------+
 *   |  link value (64), where LEON_F_LINK_VALUE says so             |
 *
 * `hops` is the number of node-ids listed, 1 for a direct path. `at` is the index of the hop that
 * this datagram is on its way to; a relay sends it on with `at` one higher, and with the link value
 * of the next link. Nothing else changes on the way. What follows is the payload of the kind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define LEON_VERSION	  1
#define LEON_HOPS_MAX	  4 /* three relays and the destination (design.md section 4) */
#define LEON_HDR_FIXED	  10
#define LEON_HDR_LEN(n)	  (LEON_HDR_FIXED + 4 * (size_t)(n))
#define LEON_HDR_LEN_MAX  LEON_HDR_LEN(LEON_HOPS_MAX)
#define LEON_LINK_LEN	  8 /* link value, not part of LEON_HDR_LEN */
#define LEON_FLAGS_OFFSET 1
#define LEON_HOPS_OFFSET  2    /* byte that holds `hops` and `at`: the one a relay rewrites */
#define LEON_HOPS_MASK	  0xf0 /* of it, without `at` */
#define LEON_PORT	  5366
#define LEON_VNI_MAX	  0xffffffu

/* The only hop of a control datagram sent to an address whose node-id is not known yet (the first
 * HELLO to a configured peer): whoever receives it is meant. Never a node's own id. */
#define NODE_ID_ANY 0xffffffffu

enum leon_kind {
	LEON_FRAME = 1,	   /* one Ethernet frame */
	LEON_FRAGMENT = 2, /* a piece of one Ethernet frame, see wire/fragment.h */
	LEON_BUNDLE = 3,   /* several Ethernet frames, each behind a 16-bit length */
	LEON_CONTROL = 4,  /* a control message, see wire/msg.h */
	LEON_COPY = 5,	   /* a frame that travels twice, or a piece of it, see wire/copy.h */
	LEON_ACCEL = 6,	   /* a frame from one accelerator to another, see wire/accel_queue.h */
	LEON_KINDS,	   /* end of them; 0 is none */
};

enum leon_flags {
	/* The transport checksum of the frame inside holds the pseudo-header sum only, as the
	 * sending kernel left it; the receiving TAP completes or trusts it. */
	LEON_F_CSUM_PARTIAL = 0x01,
	/* The payload is sealed. Control: see crypto/keys.h. Data: see crypto/seal.h. */
	LEON_F_SEALED = 0x02,
	/* The link value follows the hops, which the node before us and we have agreed on and
	 * nobody else can know. */
	LEON_F_LINK_VALUE = 0x04,
	/* In place of the frame's VLAN tag stands its segment, see wire/segment.h. */
	LEON_F_SEGMENT = 0x08,
};
#define LEON_FLAGS_KNOWN (LEON_F_CSUM_PARTIAL | LEON_F_SEALED | LEON_F_LINK_VALUE | LEON_F_SEGMENT)
/* Those that say something about the frame inside; the others are about the datagram. */
#define LEON_FLAGS_FRAME (LEON_F_CSUM_PARTIAL | LEON_F_SEGMENT)

struct leon_hdr {
	uint8_t kind;
	uint8_t flags;
	uint8_t n_hops; /* 1..LEON_HOPS_MAX */
	uint8_t at;	/* 0..n_hops-1 */
	uint32_t vni;	/* 24 bits */
	node_id_t source;
	node_id_t hop[LEON_HOPS_MAX];
};

enum leon_parse {
	LEON_OK = 0,
	LEON_TRUNCATED,	  /* shorter than the header says */
	LEON_BAD_VERSION, /* not version 1, or not LEON */
	LEON_BAD_HEADER,  /* unknown kind or flag, hops 0 or too many, at >= hops, node-id 0 */
	LEON_PATH_LOOP,	  /* a node twice among source and hops */
};

/* Decodes and validates all of the above; on LEON_OK *hdr_len is the offset of the payload. */
enum leon_parse leon_decode(const void *data, size_t len, struct leon_hdr *h, size_t *hdr_len);

/* Offset of the link value in a datagram that has one. */
static inline size_t leon_link_at(const struct leon_hdr *h)
{
	return LEON_HDR_LEN(h->n_hops);
}

/* Puts a link value behind the hops of a datagram without, for which LEON_LINK_LEN bytes are free
 * at its end; returns its new length. */
size_t leon_insert_link(uint8_t *data, size_t len, uint8_t n_hops, uint64_t value);
/* Takes it out again; returns where the datagram begins now, LEON_LINK_LEN bytes shorter. */
uint8_t *leon_remove_link(uint8_t *data, uint8_t n_hops);

/* The header of a data datagram as its seal covers it: without what relays change. data: the
 * header as it is on the wire. Returns its length. */
size_t leon_sealed_header(const void *data, uint8_t n_hops, uint8_t out[LEON_HDR_LEN_MAX]);

/* Without link value. Writes LEON_HDR_LEN(h->n_hops) bytes to out (of at least that size) and
 * returns that length. */
size_t leon_encode(const struct leon_hdr *h, void *out);

/* Node that is to receive the datagram now. */
static inline node_id_t leon_next(const struct leon_hdr *h)
{
	return h->hop[h->at];
}
/* Node that must have sent it to the one it is on its way to. */
static inline node_id_t leon_previous(const struct leon_hdr *h)
{
	return h->at ? h->hop[h->at - 1] : h->source;
}
static inline bool leon_is_last(const struct leon_hdr *h)
{
	return h->at == h->n_hops - 1;
}
static inline node_id_t leon_destination(const struct leon_hdr *h)
{
	return h->hop[h->n_hops - 1];
}
/* True where the datagram may be taken by node `self` at all: as a relay or as its end. */
static inline bool leon_is_for(const struct leon_hdr *h, node_id_t self)
{
	if (leon_next(h) == self)
		return true;
	return h->kind == LEON_CONTROL && h->n_hops == 1 && h->hop[0] == NODE_ID_ANY;
}
