// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCLP, the Segment-oriented Connection-less Protocol (Kawashima and Matsuo, IEICE Trans. Commun.
 * E98-B 11, 2015), as published: header, segmentation of a payload, and the first of two levels of
 * reassembly. The first level merges segments of one received batch (GRO in the paper). The
 * second level is below. Used by leon-sclp, not by the daemon. doc/sclp.md. Pure.
 *
 *   source port (16) | dest port (16) | identification (31) F (1) | remaining (16) | checksum (16)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "base/siphash.h"

#define SCLP_PROTOCOL	 234 /* IP protocol number */
#define SCLP_HDR_LEN	 12
#define SCLP_ID_MASK	 0xfffffffeu /* F is the lowest bit */
#define SCLP_PAYLOAD_MAX 65535
#define SCLP_MERGE_MAX	 16 /* segments per merge, the limit of the kernel's GRO */

struct sclp_hdr {
	uint16_t source, dest;
	uint32_t id;	    /* lowest bit 0 */
	bool first;	    /* F */
	uint16_t remaining; /* payload bytes behind this segment */
};

/* Returns 0, or -EBADMSG: empty payload, wrong checksum, or too many bytes. `len` is the length of
 * the IP header field, without padding. */
int sclp_decode(const void *segment, size_t len, struct sclp_hdr *h);
/* Writes the header of a segment with this payload, including the checksum. */
void sclp_encode(const struct sclp_hdr *h, const void *payload, size_t len, void *out);

/* Returns the segment of an IPv4 packet without Ethernet padding. NULL: not SCLP, malformed, or a
 * fragment. */
const uint8_t *sclp_in_ipv4(const uint8_t *packet, size_t len, size_t *segment_len);

/* Iterates the segments of at most mss bytes of a payload; `at` starts at 0. */
struct sclp_cut {
	size_t len, mss, at;
};
struct sclp_piece {
	size_t offset, len;
	bool first;
	uint16_t remaining;
};
bool sclp_cut_next(struct sclp_cut *c, struct sclp_piece *out);

/* --- received segments --- */

/* Key of a payload of one peer: identification and ports. */
static inline uint64_t sclp_key(const struct sclp_hdr *h)
{
	return (uint64_t)h->id << 32 | (uint32_t)h->source << 16 | h->dest;
}

struct sclp_segment {
	struct sclp_hdr h;
	const uint8_t *data; /* payload */
	size_t len;
	unsigned next; /* next segment of the run, set by sclp_merge */
};

/* Run: consecutive segments without a gap. */
struct sclp_run {
	unsigned head, tail, n; /* indexes into the batch */
	uint32_t len;
	bool first;
	uint16_t remaining; /* payload bytes behind the last segment */
};

/* First level of reassembly: fills `run`, which has room for n, in the order of first segments.
 * Returns the number of runs. */
unsigned sclp_merge(struct sclp_segment *seg, unsigned n, struct sclp_run *run);

/* --- incomplete payloads ---
 * Second level of SCLP reassembly: builds the payloads of one peer from runs of segments (sclp.h)
 * in any order. The paper has an offset of each payload and a list of out-of-order runs; here one
 * sorted list has all runs.
 *
 * Additions to the paper: an incomplete payload times out after a second, and memory is bounded; at
 * the bound the oldest payload is evicted. One thread; never reads a clock.
 */

#define SCLP_JOIN_MAX	   65536     /* incomplete payloads */
#define SCLP_JOIN_BYTES	   (8 << 20) /* bytes of segments; 24 MiB with lists and allocator */
#define SCLP_JOIN_LIFE_NS  NS_PER_S
#define SCLP_JOIN_SEGMENTS 2048 /* segments of one payload */

struct sclp_join_counts {
	uint64_t whole, expired, evicted, duplicate, contradictory, out_of_order;
};

struct sclp_join;
/* The hash key is random, because strangers choose the hashed values. */
struct sclp_join *sclp_join_new(struct hash_key key);
void sclp_join_free(struct sclp_join *j); /* NULL ok */

/* Adds a run of the batch `seg`. Returns the completed payload, valid until the next call, or
 * NULL. */
const uint8_t *sclp_join_add(struct sclp_join *j, const struct sclp_segment *seg,
			     const struct sclp_run *run, mono_t now, size_t *len);
/* Drops payloads that have timed out. */
void sclp_join_age(struct sclp_join *j, mono_t now);
unsigned sclp_join_waiting(const struct sclp_join *j);
const struct sclp_join_counts *sclp_join_counts(const struct sclp_join *j);
