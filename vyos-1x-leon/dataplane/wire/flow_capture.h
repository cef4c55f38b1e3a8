// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Captures of a flow (doc/decisions/084): the filter, and the records. Pure; workers match and have
 * struct capture_record, the control thread does the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/datagram/leon.h"

struct codec;

#define CAPTURE_FILTER_LEN 51 /* bytes in a message */
#define CAPTURE_NO_VLAN	   0xffff

/* Addresses, VLAN, protocol and port. All given parts must match, and both directions of the flow
 * match. An operator writes it as text, messages carry it in a fixed form. */
struct capture_filter {
	uint8_t n_macs, n_hosts; /* 0 to 2; at least one part of the filter is given */
	uint16_t vlan;		 /* 0: untagged; CAPTURE_NO_VLAN: any */
	uint8_t protocol;	 /* of IP; 0: any */
	uint16_t port;		 /* of TCP, UDP, UDP-Lite, SCTP or DCCP; 0: any */
	struct mac mac[2];
	struct ip_addr host[2]; /* both of one family */
};

/* Reads words such as "host 10.0.0.1 host 10.0.0.2 proto tcp port 80". Returns false with a
 * sentence in err. */
bool capture_filter_parse(const char *text, struct capture_filter *f, char *err, size_t err_len);
bool capture_filter_valid(const struct capture_filter *f);
void capture_filter_code(struct codec *b, struct capture_filter *f);
/* The frame is at least as long as its Ethernet header. Headers beyond `len` match no given
 * part. */
bool capture_filter_match(const struct capture_filter *f, const void *frame, size_t len);

/* --- records: one frame at one place of a node --- */
/* The records of a node form a stream of bytes, which the collector reads in pieces (CAPTURE-DATA).
 * doc/protocol.md section 4.17. */

/* Limits on every captured node. */
#define CAPTURE_SECONDS_MAX 60
#define CAPTURE_BYTES_MIN   4096
#define CAPTURE_BYTES_MAX   (4u << 20) /* of the stream of a node */
#define CAPTURE_SNAP_MIN    14
#define CAPTURE_SNAP_MAX    2048

/* Places of a frame in a node, in the order of its way. */
enum capture_place {
	CAPTURE_FROM_TAP = 1, /* read from the segment */
	CAPTURE_SENT = 2,     /* sent into the overlay by its source, behind the queues */
	CAPTURE_RELAYED = 3,
	CAPTURE_TO_TAP = 4, /* written to the segment */
};
#define CAPTURE_PLACES 5
const char *capture_place_name(uint8_t place); /* "from-tap", ... or "unknown" */

#define CAPTURE_SEALED 0x01 /* the nonce is present */

struct capture_record {
	uint32_t at_us; /* monotonic clock of the node, modulo 2^32, as in PONG */
	uint8_t place, flags;
	uint8_t n_hops; /* 0 unless SENT or RELAYED */
	node_id_t source;
	node_id_t hop[LEON_HOPS_MAX]; /* relays in order, then the destination */
	uint64_t nonce;		      /* nonce field of the sealed datagram */
	uint32_t len;		      /* of the frame, bytes; of a super-frame as a whole */
	uint16_t n;		      /* captured bytes, at most CAPTURE_SNAP_MAX and len */
};
/* Longest record without the bytes of the frame. */
#define CAPTURE_RECORD_MAX (4 + 3 + 4 + 4 * LEON_HOPS_MAX + 8 + 4 + 2)

/* Returns the length, or 0 if `out` is too small. */
size_t capture_record_write(const struct capture_record *r, const uint8_t *bytes, uint8_t *out,
			    size_t out_len);
/* Returns the length of the record, 0 if the stream ends before its end, or -EBADMSG. *bytes points
 * into the stream. */
int capture_record_read(const uint8_t *stream, size_t len, struct capture_record *r,
			const uint8_t **bytes);
