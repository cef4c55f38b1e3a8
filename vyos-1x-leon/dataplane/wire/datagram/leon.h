// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LEON header of every datagram on the port, data and control. Pure encoding and decoding;
 * workers and control thread. doc/protocol.md section 2 has the picture and the test vectors.
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
 *   |  link value (64), present with LEON_F_LINK_VALUE              |
 *
 * `hops` is the number of node-ids, 1 for a direct path. `at` is the index of the next hop. A relay
 * increments `at` and writes the link value of the next link. It changes nothing else. The payload
 * follows the header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define LEON_VERSION	  1
#define LEON_HOPS_MAX	  4   /* three relays and the destination (design.md section 4) */
#define LEON_MTU_MIN	  548 /* smallest link MTU (UDP payload): 576-byte IPv4 packets */
#define LEON_HDR_FIXED	  10
#define LEON_HDR_LEN(n)	  (LEON_HDR_FIXED + 4 * (size_t)(n))
#define LEON_HDR_LEN_MAX  LEON_HDR_LEN(LEON_HOPS_MAX)
#define LEON_LINK_LEN	  8 /* length of the link value, not part of LEON_HDR_LEN */
#define LEON_FLAGS_OFFSET 1
#define LEON_HOPS_OFFSET  2    /* offset of the byte with `hops` and `at`, which a relay rewrites */
#define LEON_HOPS_MASK	  0xf0 /* bits of this byte without `at` */
#define LEON_PORT	  5366

/* Wildcard: the only hop of a control datagram or an invitation to an address with an unknown
 * node-id (the first HELLO to a configured peer). Every receiver accepts it. Never a node's own
 * id. */
#define NODE_ID_ANY 0xffffffffu

enum leon_kind {
	LEON_FRAME = 1,	     /* one Ethernet frame */
	LEON_FRAGMENT = 2,   /* a fragment of one Ethernet frame */
	LEON_BUNDLE = 3,     /* several Ethernet frames, each behind a 16-bit length */
	LEON_CONTROL = 4,    /* a control message, see wire/message/msg.h */
	LEON_COPY = 5,	     /* a duplicated frame or a fragment of one */
	LEON_ACCEL = 6,	     /* a frame from one accelerator to another, see ipc/accel_queue.h */
	LEON_INVITATION = 7, /* request of a machine with a one-time token, or the answer */
	LEON_KINDS,	     /* number of kinds; 0 is invalid */
};

enum leon_flags {
	/* The transport checksum of the inner frame is the pseudo-header sum, as the sending kernel
	 * left it. The receiving TAP completes it. */
	LEON_F_CSUM_PARTIAL = 0x01,
	/* The payload is sealed. Control: see crypto/keys.h. Data: see crypto/seal.h. */
	LEON_F_SEALED = 0x02,
	/* The link value follows the hops. Only the two nodes of the link know it. */
	LEON_F_LINK_VALUE = 0x04,
	/* A segment id replaces the VLAN tag of the frame, see wire/datagram/segment.h. */
	LEON_F_SEGMENT = 0x08,
	/* The sender distributes such datagrams over two lines; the receiver restores their order,
	 * see fwd/in/hold.c. With LEON_F_SEALED only. */
	LEON_F_SPREAD = 0x10,
};
#define LEON_FLAGS_KNOWN                                                                           \
	(LEON_F_CSUM_PARTIAL | LEON_F_SEALED | LEON_F_LINK_VALUE | LEON_F_SEGMENT | LEON_F_SPREAD)
/* Flags of the inner frame. The other flags describe the datagram. */
#define LEON_FLAGS_FRAME (LEON_F_CSUM_PARTIAL | LEON_F_SEGMENT)

/* Returns the wire version of a datagram with another one, or 0 for another program or overlay.
 * Version, kind and VNI have their place in every wire version. */
uint8_t leon_other_wire(const void *data, size_t len, uint32_t vni);

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
	LEON_TRUNCATED,	  /* shorter than its header fields require */
	LEON_BAD_VERSION, /* version other than 1, or not LEON */
	LEON_BAD_HEADER,  /* unknown kind or flag, hops 0 or too many, at >= hops, or node-id 0 */
	LEON_PATH_LOOP,	  /* a node appears twice among source and hops */
};

/* Decodes and validates the header. With LEON_OK, *hdr_len is the offset of the payload. */
enum leon_parse leon_decode(const void *data, size_t len, struct leon_hdr *h, size_t *hdr_len);

/* Offset of the link value, if present. */
static inline size_t leon_link_at(const struct leon_hdr *h)
{
	return LEON_HDR_LEN(h->n_hops);
}

/* Inserts a link value behind the hops. The datagram has LEON_LINK_LEN free bytes at its end.
 * Returns the new length. */
size_t leon_insert_link(uint8_t *data, size_t len, uint8_t n_hops, uint64_t value);
/* Removes the link value. Returns the new start of the datagram, which is LEON_LINK_LEN bytes
 * shorter. */
uint8_t *leon_remove_link(uint8_t *data, uint8_t n_hops);

/* Writes the associated data of a data datagram: its header without the fields that relays change.
 * data: the header on the wire. Returns the length. */
size_t leon_sealed_header(const void *data, uint8_t n_hops, uint8_t out[LEON_HDR_LEN_MAX]);

/* Writes the header without link value: LEON_HDR_LEN(h->n_hops) bytes. Returns this length. */
size_t leon_encode(const struct leon_hdr *h, void *out);

/* Returns the next hop. */
static inline node_id_t leon_next(const struct leon_hdr *h)
{
	return h->hop[h->at];
}
/* Returns the previous hop. */
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
/* Returns true if node `self` may accept the datagram, as a relay or as the destination. */
static inline bool leon_is_for(const struct leon_hdr *h, node_id_t self)
{
	if (leon_next(h) == self)
		return true;
	return (h->kind == LEON_CONTROL || h->kind == LEON_INVITATION) && h->n_hops == 1 &&
	       h->hop[0] == NODE_ID_ANY;
}

/*
 * Payload of LEON_BUNDLE: several Ethernet frames for one node, each behind its length. Pure;
 * workers.
 *
 *   P (1) | S (1) | length (14) | frame ...
 *
 * P and S are LEON_F_CSUM_PARTIAL and LEON_F_SEGMENT of the frame. The flags of the datagram do not
 * apply to frames of a bundle.
 */
#define BUNDLE_HDR_LEN	 2 /* header of each frame */
#define BUNDLE_FRAME_MIN 14
#define BUNDLE_FRAME_MAX 0x3fff

struct bundle_frame {
	size_t at; /* offset of the frame in the payload */
	size_t len;
	uint8_t flags; /* subset of LEON_FLAGS_FRAME */
};

/*
 * Reads the frame at *at and advances *at. Returns 1; 0 at the end of the payload; -EBADMSG if the
 * length is impossible or exceeds the payload, or if the bundle is empty.
 */
int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f);
/* Writes BUNDLE_HDR_LEN bytes. */
void bundle_encode(size_t frame_len, uint8_t flags, void *out);

/*
 * Payload of LEON_COPY: a frame, or a fragment of one, that its source sends along two paths. Pure;
 * workers.
 *
 *   worker (8) | counter (56) | kind (8) | payload of that kind ...
 *
 * All datagrams with this frame have equal worker and counter on both paths, and no datagram with
 * another frame has them. Each worker of the source has its own counter. The destination delivers
 * the frame once.
 */
#define COPY_HDR_LEN	 9
#define COPY_WORKERS_MAX 8
/* The counter restarts beyond this value. */
#define COPY_COUNTER_MASK ((1ULL << 56) - 1)

struct copy_hdr {
	uint8_t worker;	  /* worker of the source, below COPY_WORKERS_MAX */
	uint64_t counter; /* 56 bits */
	uint8_t kind;	  /* LEON_FRAME or LEON_FRAGMENT; with PARITY_MARK in a block (parity.h) */
};

/* Returns 0, or -EBADMSG if the payload is empty, the worker is out of range, or the kind is
 * unknown. */
int copy_decode(const void *data, size_t len, struct copy_hdr *h);
/* Writes COPY_HDR_LEN bytes. */
void copy_encode(const struct copy_hdr *h, void *out);

/*
 * Payload of LEON_FRAGMENT: a fragment of an Ethernet frame that exceeds the path MTU. The idea is
 * the segment of the SCLP paper, section 3; an offset replaces its remaining-length field, so that
 * fragments may arrive in any order. Pure; workers.
 *
 *   identification (32) | offset (16) | frame length (16) | bytes ...
 *
 * identification is unique per source node and worker within the reassembly time-out. Offset and
 * length are in bytes. All fragments but the last are of equal size.
 */
#define FRAGMENT_HDR_LEN 8
/* Largest frame that LEON splits: an MTU of 9000 bytes with VLAN tags and reserve. */
#define FRAGMENT_FRAME_MAX 9216

struct fragment_hdr {
	uint32_t id;
	uint16_t offset; /* bytes from the start of the frame */
	uint16_t total;	 /* bytes of the whole frame, 1..FRAGMENT_FRAME_MAX */
};

/* Returns 0, or -EBADMSG: empty fragment, end beyond total, or total out of range. */
int fragment_decode(const void *data, size_t len, struct fragment_hdr *h);
/* Writes FRAGMENT_HDR_LEN bytes. */
void fragment_encode(const struct fragment_hdr *h, void *out);
