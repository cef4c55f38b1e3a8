// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates rate and queue of one pair of lines, in the direction of the data of this node. The
 * inputs are the times and counters of PING and PONG on this pair, and no additional packet is
 * sent. A queue shows that the line is full, so its delivery rate is its rate. A line without a
 * queue carries more than it delivered. Owned by proto/measure; pure; control thread. See
 * doc/decisions/080.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/minmax.h"

/* A shorter delay above the minimum is no queue. */
#define LINE_RATE_QUEUE_US 5000

/* Values of a PONG. Clocks of the two nodes differ; the differences are exact. */
struct line_rate_sample {
	uint32_t epoch;	     /* of the counter */
	uint32_t arrived_us; /* arrival of the PING, by the clock of the peer */
	uint32_t sent_us;    /* its transmission, by the clock of this node */
	uint64_t received;   /* bytes */
	uint64_t sent;	     /* bytes until the PONG */
	int64_t rise_us;     /* round-trip time above the minimum of one to two minutes */
};

struct line_rate {
	bool known;
	uint32_t epoch;
	mono_t at;	     /* time of the last sample */
	uint32_t zero_us;    /* one-way time of the first sample: the difference of the clocks */
	struct minmax least; /* one-way time without a queue, relative to zero_us */
	int64_t queue_us;
	bool was_full;
	uint32_t marked_us; /* start of the interval of the delivery rate */
	uint64_t marked;
	mono_t loss_since; /* start of the interval of the loss */
	uint64_t loss_sent, loss_received;
	bool loses;
	uint32_t kbits; /* 0: unknown */
	mono_t full_at;
};

void line_rate_reset(struct line_rate *r);
void line_rate_note(struct line_rate *r, const struct line_rate_sample *s, mono_t now);
/* Restarts the comparison of sent and received data, because an outage is no loss. */
void line_rate_outage(struct line_rate *r);
/* Returns true if own data filled the line in the last `ms` milliseconds. */
bool line_rate_was_full(const struct line_rate *r, int64_t ms, mono_t now);
/* One-way time without a queue. Only differences of two lines of the same nodes have a meaning. */
uint32_t line_rate_base_us(const struct line_rate *r);
