// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCLP, the Segment-oriented Connection-less Protocol (Kawashima and Matsuo, IEICE Trans. Commun.
 * E98-B 11, 2015), as published: the header, how a payload is cut into segments, and the first of
 * the two levels of reassembly, which joins segments of one received batch (the paper: GRO). The
 * second level is sclp_join.h. Used by leon-sclp, not by the daemon. doc/sclp.md. Pure.
 *
 *   source port (16) | dest port (16) | identification (31) F (1) | remaining (16) | checksum (16)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define SCLP_PROTOCOL	 234 /* of IP */
#define SCLP_HDR_LEN	 12
#define SCLP_ID_MASK	 0xfffffffeu /* F is the lowest bit */
#define SCLP_PAYLOAD_MAX 65535
#define SCLP_MERGE_MAX	 16 /* segments that the first level joins, as the kernel's GRO did */

struct sclp_hdr {
	uint16_t source, dest;
	uint32_t id;	    /* lowest bit 0 */
	bool first;	    /* F */
	uint16_t remaining; /* bytes of the payload behind this segment */
};

/* 0; -EBADMSG: no payload, a wrong checksum, or more than a payload can have. `len` is what the IP
 * header says, without padding. */
int sclp_decode(const void *segment, size_t len, struct sclp_hdr *h);
/* Writes the header of a segment with this payload, checksum included. */
void sclp_encode(const struct sclp_hdr *h, const void *payload, size_t len, void *out);

/* The segment in an IPv4 packet: trims what the Ethernet padded. NULL where it is no SCLP,
 * malformed or a fragment. */
const uint8_t *sclp_in_ipv4(const uint8_t *packet, size_t len, size_t *segment_len);

/* Cuts a payload of len bytes into segments of at most mss: `at` starts at 0. */
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

/* Identifies a payload: addresses, ports and identification. */
struct sclp_key {
	uint8_t b[40];
};
struct sclp_key sclp_key_of(const struct ip_addr *from, const struct ip_addr *to,
			    const struct sclp_hdr *h);

struct sclp_segment {
	struct sclp_key key;
	struct sclp_hdr h;
	const uint8_t *data; /* payload */
	size_t len;
	unsigned next; /* of its run; set by sclp_merge */
};

/* Segments that follow each other without a gap. */
struct sclp_run {
	unsigned head, tail, n; /* indexes into the batch */
	uint32_t len;
	bool first;
	uint16_t remaining; /* behind the last */
};

/* First level: fills `run`, which has room for n, with the batch in the order of their first
 * segments; returns how many. */
unsigned sclp_merge(struct sclp_segment *seg, unsigned n, struct sclp_run *run);
