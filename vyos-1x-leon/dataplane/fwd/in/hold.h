// SPDX-License-Identifier: GPL-2.0-or-later
/*
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
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/datagram/leon.h"

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
