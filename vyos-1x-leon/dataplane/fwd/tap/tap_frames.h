// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames and super-frames of the TAP: reading, segmentation, coalescing, delivery. Each section
 * belongs to the file of its name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "fwd/frame.h"
#include "ipc/accel_queue.h"
#include "wire/frame/eth.h"

struct frame;
struct virtio_net_hdr;
struct worker;

/* --- tap_rx.c ---
 * Reads a batch of frames from a TAP queue into one arena, contiguously, each with room for a LEON
 * header in front. Small frames therefore share cache lines and pages. Worker-owned.
 */

#define TAP_RX_FRAMES 64
#define TAP_RX_ARENA  (320u << 10)
/* Byte limit of a batch with super-frames, so that following frames do not wait behind more of
 * them. */
#define TAP_RX_SUPER (32u << 10)
/* A 64 KiB IP packet with Ethernet header, two VLAN tags and reserve. */
#define TAP_RX_FRAME_MAX (65536u + 128)

/* Reserved space before each read. Holds the longest LEON header together with the vnet header, and
 * aligns the IP header of an untagged frame to 4 bytes. */
#define TAP_RX_HEADROOM 32

struct tap_rx {
	uint8_t *arena; /* of TAP_RX_ARENA bytes */
	unsigned n;
	struct frame frame[TAP_RX_FRAMES];
};

/* Result of one read: vnet header and frame. Returns false if it is too short. */
bool tap_rx_decode(uint8_t *data, size_t len, struct frame *f);

struct tap_rx_result {
	bool more; /* the batch is full: more may be pending */
	unsigned bad;
	uint64_t bytes, super;
};
/* Reads until nothing is pending or the batch is full. Frames are parsed, and their checksums
 * are complete, or partial with LEON_F_CSUM_PARTIAL (checksums at other positions are completed
 * here). */
struct tap_rx_result tap_rx_read(struct tap_rx *rx, int fd);

/* --- tso.c ---
 * Step: segmentation of a super-frame into independent frames, each with all headers, so that the
 * loss of one does not affect the others. Writes headers only; payload is referenced. IP lengths,
 * identifications, header checksums, TCP sequence numbers and flags are final; the transport
 * checksum stays partial, so no code here sums payload. Pure; workers.
 */

/* Longest Ethernet, IP and transport headers of a super-frame. */
#define TSO_HDR_MAX 192

struct tso {
	const uint8_t *frame;
	size_t hdr_len;	    /* header length of each segment, also in the super-frame */
	size_t payload_len; /* total payload length */
	size_t size;	    /* payload of each segment but the last */
	unsigned n;	    /* number of segments */
	uint16_t l3, l4;
	uint8_t ip_version, ip_proto;
	uint16_t ip_id;
	uint32_t seq;
};

/*
 * Parses a super-frame. A TCP segment has at most max_frame bytes with headers, because TCP may be
 * segmented anywhere. UDP datagrams keep their size, independent of max_frame. Returns 0; -EBADMSG:
 * unexpected headers; -EMSGSIZE: max_frame leaves no room for payload.
 */
int tso_open(struct tso *t, const struct frame *f, size_t max_frame);
/* Number of frames on the wire. A super-frame that can be segmented counts as its segments, any
 * other frame counts as one. */
unsigned tso_frames(const struct frame *f);
/* Writes the headers of segment i to out (t->hdr_len bytes) and describes the segment. */
struct pieces tso_segment(const struct tso *t, unsigned i, uint8_t *out);

/* --- coalesce.c ---
 * Coalescing of frames for the TAP: consecutive frames of a TCP connection or UDP flow become one
 * super-frame. A super-frame costs the kernel about as much as one frame. Payload stays in its
 * receive buffer; only the headers of the first frame are rewritten, in place. Hosts receive the
 * same frames as without it: frames that the kernel could not restore by segmentation are written
 * unchanged (coalesce.c has the rules).
 *
 * The order within a flow is kept; frames of different flows may overtake each other within a
 * batch. Pure; worker-owned; never allocates.
 */

#define COALESCE_UNITS	  64   /* writes to the TAP per batch */
#define COALESCE_PIECES	  1024 /* appended frames per batch */
#define COALESCE_SEGMENTS 64   /* frames per super-frame; kernels accept at least as many for UDP */
#define COALESCE_BUCKETS  64
/* Memory pieces of a super-frame. */
#define COALESCE_IOV COALESCE_SEGMENTS

/* A frame for the local segment. */
struct delivery {
	uint8_t *data; /* unchanged until the flush; headers may be rewritten */
	size_t len;
	/* Partial transport checksum: start of the sum and offset of the field from there; 0 and 0:
	 * complete checksum. */
	uint16_t csum_start, csum_offset;
};

/* Payload of an appended frame. */
struct coalesce_piece {
	const uint8_t *data;
	uint16_t len;
	uint16_t next; /* index of the next piece of the super-frame */
};

/* One write to the TAP: a frame, or a super-frame that begins with this frame. */
struct coalesce_unit {
	struct delivery frame;
	unsigned n; /* number of frames */
	/* Valid for units that can be continued: */
	uint16_t l3, l4, hdr_len; /* header offsets, and the total header length */
	uint8_t ip_version, ip_proto;
	bool push;	      /* PSH flag of TCP in the last frame */
	uint16_t size;	      /* payload length of each frame but the last */
	size_t len;	      /* length of the super-frame */
	uint32_t next_seq;    /* next TCP sequence number */
	uint16_t next_id;     /* next IPv4 identification */
	uint16_t first, last; /* pieces, valid if n > 1 */
};

struct coalesce {
	bool tcp, udp; /* super-frames that the TAP accepts */
	unsigned n_units, n_pieces;
	/* Hash of the flow to the number of its open unit, counted from 1; 0 none. */
	uint8_t open[COALESCE_BUCKETS];
	struct coalesce_unit unit[COALESCE_UNITS];
	struct coalesce_piece piece[COALESCE_PIECES];
};

/* Adds a frame with the view v; returns false if a reset is needed first. */
bool coalesce_add(struct coalesce *c, const struct delivery *d, const struct eth_view *v);
/*
 * Completes unit i once: rewrites the headers of a super-frame and returns its vnet header and at
 * most COALESCE_IOV pieces. Returns their number.
 */
unsigned coalesce_gather(struct coalesce *c, unsigned i, struct virtio_net_hdr *h,
			 struct iovec *iov);
/* Forgets all units. */
void coalesce_reset(struct coalesce *c);

/* --- deliver.c ---
 * Step: frames from the overlay to the local segment. They are collected over a batch and written
 * at its end, so that related frames are coalesced (coalesce.c). Frames from the overlay end here;
 * no function leads back into the overlay (split horizon). Workers.
 */

struct deliver {
	int fd; /* a TAP queue, -1 none */
	struct coalesce batch;
};

/* Adds a frame with the view v; flushes first if the batch is full. */
void deliver_add(struct worker *w, const struct delivery *d, const struct eth_view *v);
void deliver_flush(struct worker *w);

/* --- deliver.c: frames for leon-accel ---
 * Step: frames from the overlay for leon-accel. The step collects the frames of a batch like frames
 * for the TAP and coalesces the segments of a super-frame (coalesce.c). leon-accel and the kernel
 * handle a super-frame at the cost of one frame. Workers.
 */

struct handover {
	/* Source of all collected frames: frames of two nodes are never coalesced. */
	enum accel_where where;
	node_id_t node;
	struct coalesce batch;
};
/* Allocated only if leon-accel is present. */
static inline bool handover_waits(const struct handover *h)
{
	return h->batch.n_units != 0;
}

/* Sends one message after the collected ones: a frame or super-frame with its vnet header. Returns
 * false if the queue is full. */
bool handover_now(struct worker *w, enum accel_where where, node_id_t node,
		  const struct virtio_net_hdr *vnet, const struct frame *f);
/* Adds a frame with the view v; flushes first if the batch is full or has another source. */
void handover_add(struct worker *w, enum accel_where where, node_id_t node,
		  const struct delivery *d, const struct eth_view *v);
void handover_flush(struct worker *w);
