// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of received data: reassembly of fragments, duplicate elimination, order of distributed
 * datagrams, restoration of lost frames. Each section belongs to the file of its name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/datagram/leon.h"
#include "wire/datagram/parity.h"
#include "wire/frame/ecn.h"

/* --- reasm.c ---
 * Reassembly of LEON fragments: a fixed pool of frame buffers, found by {source, identification}. A
 * frame is dropped after REASM_TIMEOUT_NS, or as the oldest one if the pool is exhausted. Fragments
 * may arrive in any order and duplicated; a partial overlap discards the frame (RFC 5722).
 *
 * One table per worker suffices. All fragments of a frame have the same addresses and ports on the
 * last link, so SO_REUSEPORT delivers them to one socket and worker. If addresses or ports change
 * within a frame, the frame times out. Worker-owned; time is a parameter; never allocates after
 * reasm_new().
 */

#define REASM_TIMEOUT_NS NS_PER_S
/* Limit of gaps per frame; more gaps indicate an attack with tiny fragments. */
#define REASM_RANGES_MAX 16

struct reasm;
struct reasm *reasm_new(size_t bytes);
void reasm_free(struct reasm *r); /* NULL ok */

/* Metadata of a fragment. */
struct reasm_around {
	uint8_t flags; /* flags of the LEON header, equal in all fragments of a frame */
	enum ecn ecn;  /* ECN of the outer header; CE of one fragment marks the frame */
};

enum reasm_verdict {
	REASM_WAITING,
	REASM_COMPLETE,
	REASM_DUPLICATE, /* all bytes of the fragment were received before */
	REASM_BAD,	 /* contradicts earlier fragments: the frame is discarded */
};
struct reasm_result {
	enum reasm_verdict verdict;
	bool evicted; /* another frame was dropped for lack of memory */
	/* Valid with REASM_COMPLETE, until reasm_reap(). */
	uint8_t *data;
	size_t len;
	struct reasm_around around;
};
/* data: the bytes behind the header `h`, which fragment_decode() has checked. */
struct reasm_result reasm_add(struct reasm *r, node_id_t source, const struct fragment_hdr *h,
			      const uint8_t *data, size_t len, struct reasm_around around,
			      mono_t now);
/* Discards the fragments of a frame with a complete copy. */
void reasm_forget(struct reasm *r, node_id_t source, uint32_t id);
/* Frees the buffers of complete frames, except the one that contains `keep` (NULL: none). */
void reasm_reap(struct reasm *r, const uint8_t *keep);
/* Drops frames after the timeout; returns the number. */
unsigned reasm_expire(struct reasm *r, mono_t now);
/* Number of incomplete frames, and the sum of their lengths. */
unsigned reasm_waiting(const struct reasm *r);
size_t reasm_bytes(const struct reasm *r);

/* --- copies.c ---
 * Duplicate elimination for duplicated frames (wire/datagram/leon.h): a window of counters for each
 * worker of each source. Shared by all workers without locks, because the two copies arrive from
 * two addresses and therefore at two sockets. Memory of unused sources is never touched.
 *
 * The window resembles the replay window of crypto/seal.c, which provides replay protection before.
 * Here a counter far behind means that the source restarted with a clock set back, and is accepted.
 * The window also records the second copy, to count frames with a lost copy.
 */

/* Minimum number of counters of one worker that may arrive out of order: 100,000 frames/s on two
 * paths that differ by 160 ms. */
#define COPIES_WINDOW 16368

enum copy_verdict {
	COPY_FIRST,  /* first copy: deliver */
	COPY_SECOND, /* second copy: drop */
	COPY_AGAIN,  /* both copies arrived before: drop */
	COPY_OLD,    /* outside the window: drop */
};

struct copies;

/* --- control thread --- */
struct copies *copies_new(uint16_t slots_maximum);
void copies_free(struct copies *c); /* NULL ok */
/* The slot was assigned to another node. */
void copies_forget(struct copies *c, uint16_t slot);

/* --- workers --- */
/* Returns the result of copies_take() without recording the copy. */
enum copy_verdict copies_look(struct copies *c, uint16_t slot, const struct copy_hdr *h);
/* Records the copy. *lost_one: number of earlier frames of which one copy is now known to be
 * lost. */
enum copy_verdict copies_take(struct copies *c, uint16_t slot, const struct copy_hdr *h,
			      unsigned *lost_one);

/* --- hold.c ---
 * Puts datagrams that a node distributed over two lines into the order of their counters
 * (protocol 2.11). A datagram behind a gap waits until the missing ones arrive, both lines carried
 * later ones (RFC 1990 section 4.1), or its time is over. Memory is fixed, each source has a share,
 * and pages are used on demand.
 *
 * All workers share the streams, because the two lines arrive at two sockets. A worker that takes
 * datagrams out of a stream owns the stream until their delivery. Other workers only add to it. An
 * owner that does not run loses the stream after the maximum wait of a datagram. The lock protects
 * a copy of one datagram at most. No clock; pure except for the lock.
 */

#define HOLD_STREAMS 64	  /* bits of a word */
#define HOLD_WINDOW  2048 /* counters behind a gap */
#define HOLD_BUFFERS 1280 /* a source alone gets half */
#define HOLD_BYTES   1600 /* of a datagram; a larger one does not wait */
/* A stream without distributed datagrams ends. */
#define HOLD_IDLE_MS 1000
/* The line of a relayed datagram, which may be earlier or later than those of any line. */
#define HOLD_RELAYED LINE_PAIRS

struct hold;
struct hold *hold_new(void);
void hold_free(struct hold *h); /* NULL ok */

struct hold_datagram {
	struct leon_hdr h;
	uint64_t counter; /* with the worker of the sender and the epoch in the upper bits */
	uint16_t source;  /* slot */
	uint8_t line;	  /* pair of lines on which it arrived, or HOLD_RELAYED */
	uint8_t class;
	bool marked; /* distributed, so not relayed; others only close gaps */
	const uint8_t *payload;
	size_t len;
};

/* --- workers --- */
/* Returns true if there is a stream: the fast test for datagrams without the mark. */
bool hold_in_use(const struct hold *h);
enum hold_verdict {
	HOLD_NOW,  /* to be delivered now, in order */
	HOLD_LATE, /* to be delivered now, but later ones were delivered before */
	HOLD_FULL, /* to be delivered now, without order: no memory for it */
	HOLD_KEPT, /* a copy waits */
};
/* Enters a datagram that waits at most `wait_us` for earlier ones. The caller then calls
 * hold_next(). */
enum hold_verdict hold_take(struct hold *h, unsigned worker, const struct hold_datagram *d,
			    int64_t wait_us, mono_t now);
/* Returns the next datagram that the worker has to deliver, or NULL. It is valid until
 * hold_end(). */
const struct hold_datagram *hold_next(struct hold *h, unsigned worker, mono_t now);
/* The worker has delivered all of them. Returns false if more are ready. */
bool hold_end(struct hold *h, unsigned worker, mono_t now);
/* Time at which the wait of a datagram ends; MONO_NEVER: none waits. */
mono_t hold_due(const struct hold *h);

/* --- recovery.c ---
 * Restores lost frames of blocks with parity (wire/datagram/parity.h). The received symbols and
 * parities of recent blocks are kept until the block is complete, restored, or replaced by a newer
 * one. The memory is fixed: RECOVERY_BLOCKS blocks of all sources together, with pages used on
 * demand.
 *
 * All workers share the blocks, because frames and parities arrive from two addresses and therefore
 * at two sockets. A worker never waits for another worker. If another worker holds the block, the
 * symbol is delivered but not kept, as if lost for the code.
 */

#define RECOVERY_BLOCKS 64

struct recovery;
struct recovery_block;

struct recovery *recovery_new(void);
void recovery_free(struct recovery *r); /* NULL ok */

enum recovery_verdict {
	RECOVERY_KEPT,
	RECOVERY_UNNEEDED, /* a duplicate, or the block is complete, restored or replaced */
	RECOVERY_BUSY,	   /* another worker holds the block */
	RECOVERY_BAD,	   /* contradicts the block, or does not fit */
};
struct recovery_result {
	enum recovery_verdict verdict;
	/* Finally lost symbols of a replaced block. */
	unsigned unrecoverable;
	/* The block was restored, and the worker holds the block until recovery_end(). */
	struct recovery_block *restored;
};

/* --- workers --- */
/* Adds a frame or fragment of a block. flags: LEON_FLAGS_FRAME. */
struct recovery_result recovery_add(struct recovery *r, node_id_t source,
				    const struct parity_hdr *h, uint8_t flags,
				    const uint8_t *payload, size_t len);
/* Adds a parity. */
struct recovery_result recovery_add_parity(struct recovery *r, node_id_t source,
					   const struct parity_hdr *h, const uint8_t *parity,
					   size_t len);

struct recovery_symbol {
	struct parity_hdr h;
	bool restored; /* false: a received fragment of a frame with restored fragments */
	uint8_t flags;
	uint8_t *payload; /* until recovery_end() */
	size_t len;
};
/* Iterates over the symbols to deliver, *at from 0 on. Returns false at the end. A restored symbol
 * with impossible values has length 0. */
bool recovery_next(struct recovery_block *b, unsigned *at, struct recovery_symbol *out);
void recovery_end(struct recovery_block *b);
