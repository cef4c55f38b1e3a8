// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: the queue between TAP and overlay. The queue of the TAP is a FIFO in which a ping waits
 * behind megabytes. With bulk traffic, frames are therefore moved to a queue with flows and traffic
 * classes (fq.h), and sent in small portions. Next hops with rates have queues of their own
 * (hops.h). Without bulk traffic this queue is bypassed, unless the access link or a next hop has a
 * rate (fwd/send/send_state.h). With a rate, frames of leon-accel wait here too.
 *
 * Memory is allocated with the worker: QUEUE_LARGE and QUEUE_SMALL buffers. Above QUEUE_BYTES the
 * flow with most bytes gets a congestion signal. Without a free large buffer the same flow loses
 * frames, without a free small one the flow with most small frames. Worker.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "fwd/frame.h"
#include "fwd/fwd.h"
#include "fwd/queue/fq.h"
#include "fwd/queue/hops.h"

struct worker;

/* TCP streams of some Gbit/s fit with their windows. */
#define QUEUE_BYTES (4u << 20)
#define QUEUE_LARGE 80	/* buffers for super-frames */
#define QUEUE_SMALL 512 /* buffers for ordinary frames */
/* Frames read from the TAP in a turn; bytes and frames sent in a turn. */
#define QUEUE_INTAKE_FRAMES 128
#define QUEUE_TURN_BYTES    (32u << 10)
#define QUEUE_TURN_FRAMES   64

/* Class of a sojourn time, see struct fwd_queue. */
static inline unsigned wait_class(int64_t us)
{
	unsigned bits = us > 0 ? 64 - (unsigned)__builtin_clzll((unsigned long long)us) : 0;

	return min_of(bits, FWD_WAITS - 1u);
}

/* Statistics of a tier or next hop. Written here, read by the control thread (struct fwd_queue). */
struct queue_figures {
	_Atomic uint64_t backlog_bytes, backlog_frames;
	_Atomic uint64_t sent, marked, full, late;
	_Atomic uint64_t waits[FWD_WAITS], waits_us;
};

struct queue {
	struct hops hops;
	struct fq_chain large, small; /* free buffers */
	struct fq_chain sent;	      /* buffers referenced until the datagrams have left */
	uint8_t *arena;
	struct place *place;
	bool in_use;		/* bulk traffic is in the TAP or queued here */
	uint32_t bytes, frames; /* sent in this turn */
	size_t copied;		/* bytes of further copies of flooded frames of this turn */
	size_t turn_bytes;	/* limit of this turn */
	uint32_t kbits;		/* configured for this rate, or 0 */
	struct queue_figures tier[FWD_TIERS];
	struct queue_figures *hop;    /* by slot, while any hop has a rate; allocated on use */
	_Atomic uint64_t held_frames; /* part of the backlog limited by the rate of its next hop */
};

void queue_init(struct queue *q, struct hop_account *account, uint16_t slots_maximum);
void queue_fini(struct queue *q);
/* The next turn uses the queue, because the TAP supplied a full batch with super-frames. */
static inline void queue_begin(struct queue *q)
{
	q->in_use = true;
}
/* Notes that a frame of this turn was flooded to n nodes. */
static inline void queue_flooded(struct queue *q, size_t len, unsigned n)
{
	q->copied += n > 1 ? (n - 1) * len : 0;
}
/* Returns true if this turn uses the queue; always if the line or a next hop has a rate. */
bool queue_in_use(const struct worker *w);
/* Time of the next turn without new frames in the TAP; MONO_NEVER: none. Called between batches. */
mono_t queue_due(const struct worker *w);
/* Begins a turn: moves up to a limit of frames from the TAP. Returns true if more may be
 * pending. */
bool queue_intake(struct worker *w, int fd);
/* Queues a copy of a frame that leon-accel returned for the node of the slot. Returns false if the
 * caller sends the frame directly: no line and no hop has a rate, or the worker has no TAP
 * queue. */
bool queue_returned(struct worker *w, const struct frame *f, uint16_t slot);
/* Returns the next frame of this turn, valid until the end of the batch; NULL: the turn is over. */
struct frame *queue_next(struct worker *w);
/* Ends the turn. Returns true if frames are queued here or `more` are in the TAP; else the queue
 * goes out of use. */
bool queue_goes_on(struct worker *w, bool more);
/* The sent frames have left: frees the buffers. */
void queue_reap(struct queue *q);
