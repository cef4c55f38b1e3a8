// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames that wait between the TAP and the overlay. The queue of the TAP is one line in which
 * a ping stands behind megabytes. So where bulk stands there, frames are taken out as they come and
 * wait in a queue that knows flows and classes (tiers.h), and next hops where these have rates
 * (hops.h), of which a little is sent at a time. While no bulk stands in the TAP, nothing passes
 * through here, unless the line or a next hop has a rate (shaper.h). Memory is made with the
 * worker: QUEUE_LARGE and QUEUE_SMALL places; where they or QUEUE_BYTES are used up, the flow with
 * the most loses. Worker.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "fwd/fq.h"
#include "fwd/frame.h"
#include "fwd/fwd.h"
#include "fwd/hops.h"

struct worker;

/* More only makes bulk slower: it falls out of the core's cache while it waits. */
#define QUEUE_BYTES (1u << 20)
#define QUEUE_LARGE 48	/* places, each for a super-frame */
#define QUEUE_SMALL 512 /* places, each for an ordinary frame */
/* How much is taken from the TAP, and sent, before others get their turn. */
#define QUEUE_INTAKE_FRAMES 128
#define QUEUE_TURN_BYTES    (32u << 10)
#define QUEUE_TURN_FRAMES   64

/* The class of a waiting time, see struct fwd_queue. */
static inline unsigned wait_class(int64_t us)
{
	unsigned bits = us > 0 ? 64 - (unsigned)__builtin_clzll((unsigned long long)us) : 0;

	return min_of(bits, FWD_WAITS - 1u);
}

/* Of one tier, of one next hop. Written here, read by the control thread (struct fwd_queue). */
struct queue_figures {
	_Atomic uint64_t backlog_bytes, backlog_frames;
	_Atomic uint64_t sent, marked, full, late;
	_Atomic uint64_t waits[FWD_WAITS], waits_us;
};

struct queue {
	struct hops hops;
	struct fq_chain large, small; /* free places */
	struct fq_chain sent;	      /* until the datagrams made of them have left */
	uint8_t *arena;
	struct place *place;
	bool in_use;		/* bulk stands in the TAP, or here */
	uint32_t bytes, frames; /* sent in this turn */
	size_t turn_bytes;	/* may be sent in it */
	uint32_t kbits;		/* the rate it is made for, 0: none */
	struct queue_figures tier[FWD_TIERS];
	struct queue_figures *hop;    /* by slot, while any has a rate; memory comes with use */
	_Atomic uint64_t held_frames; /* of the backlog, by the rate of their next hop */
};

void queue_init(struct queue *q, struct hop_account *account, uint16_t slots_maximum);
void queue_fini(struct queue *q);
/* The next turn takes from the queue: the TAP gave a whole batch, and super-frames in it. */
static inline void queue_begin(struct queue *q)
{
	q->in_use = true;
}
/* Does this turn take from the queue? Always where the line or a next hop has a rate. */
bool queue_in_use(const struct worker *w);
/* When the next turn is due though nothing new is in the TAP; MONO_NEVER: not. Between batches. */
mono_t queue_due(const struct worker *w);
/* Begins a turn: takes what stands in the TAP, so many at most. True where more may. */
bool queue_intake(struct worker *w, int fd);
/* The next frame of this turn, valid until the end of the batch; NULL: the turn is over. */
struct frame *queue_next(struct worker *w);
/* Ends the turn. True where frames wait here, or `more` do in the TAP; else the queue is out of
 * use. */
bool queue_goes_on(struct worker *w, bool more);
/* What was sent has left: its places are free. */
void queue_reap(struct queue *q);
