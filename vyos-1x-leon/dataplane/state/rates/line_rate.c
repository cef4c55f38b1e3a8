// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate and queue of a pair of lines, see line_rate.h. Control thread.
 */
#include "state/rates/line_rate.h"

#define BASE_MS	  60000 /* window of the minimum */
#define MARK_US	  80000 /* least interval of a delivery rate */
#define LOAD_PART 8	/* less own data behind a queue shows no rate */
#define SMOOTH	  4	/* weight of the present estimate: 3 of 4 */
/* A line that never had a queue carries an eighth more, any other line a thirty-second. A line that
 * delivers less by a thirty-second of its rate was not tested. */
#define HEADROOM  8
#define USED_PART 32
#define BITS	  8
/* Loss beyond that of a full queue: more than this part of the bytes. The interval is long, because
 * the difference has the bytes on the way. */
#define LOSS_MS	   8000
#define LOSS_PART  32
#define LOSS_BYTES 1000000
#define JUMP_US	   (10 * 1000 * 1000) /* a clock jumped; drift in BASE_MS is less */
#define SILENCE_MS (1000 * 1000)      /* the clock of the peer has 32 bits: 35 min */

void line_rate_reset(struct line_rate *r)
{
	*r = (struct line_rate){ 0 };
}

static void begin(struct line_rate *r, const struct line_rate_sample *s, mono_t now)
{
	*r = (struct line_rate){ .known = true,
				 .epoch = s->epoch,
				 .at = now,
				 .zero_us = s->arrived_us - s->sent_us,
				 .marked_us = s->arrived_us,
				 .marked = s->received };
	minmax_running_min(&r->least, 0, BASE_MS, now);
}

/* The rate between two PINGs. An interval that began and ended with a queue shows a full line. */
static void enter(struct line_rate *r, uint32_t delivered_kbits, bool full, mono_t now)
{
	if (!r->kbits && !full)
		return;
	if (full && delivered_kbits >= r->kbits / LOAD_PART) {
		r->full_at = now;
		if (!r->kbits)
			r->kbits = delivered_kbits;
		else if (r->was_full)
			r->kbits = (r->kbits * (SMOOTH - 1) + delivered_kbits) / SMOOTH;
	} else if (!full && delivered_kbits > r->kbits - r->kbits / USED_PART) {
		r->kbits = delivered_kbits +
			   delivered_kbits / (mono_is_never(r->full_at) ? HEADROOM : USED_PART);
	}
	r->was_full = full;
}

static void compare(struct line_rate *r, const struct line_rate_sample *s, mono_t now)
{
	uint64_t sent = s->sent - r->loss_sent, received = s->received - r->loss_received;

	if (mono_is_recent(r->loss_since, LOSS_MS, now))
		return;
	r->loses = !mono_is_never(r->loss_since) && sent > LOSS_BYTES &&
		   received + sent / LOSS_PART < sent;
	r->loss_since = now;
	r->loss_sent = s->sent;
	r->loss_received = s->received;
}

void line_rate_outage(struct line_rate *r)
{
	r->loses = false;
	r->loss_since = MONO_NEVER;
}

bool line_rate_was_full(const struct line_rate *r, int64_t ms, mono_t now)
{
	return mono_is_recent(r->full_at, ms, now);
}

void line_rate_note(struct line_rate *r, const struct line_rate_sample *s, mono_t now)
{
	int64_t us = (int32_t)(s->arrived_us - s->sent_us - r->zero_us), elapsed_us;
	int64_t moved_us = us - minmax_min(&r->least);
	uint64_t bytes = s->received - r->marked;

	if (!r->known || s->epoch != r->epoch || moved_us > JUMP_US || moved_us < -JUMP_US ||
	    s->received < r->marked || !mono_is_recent(r->at, SILENCE_MS, now)) {
		begin(r, s, now);
		return;
	}
	r->at = now;
	compare(r, s, now);
	/* A clock that drifts or is slewed looks like a queue, but not in the round-trip time. */
	r->queue_us = min_of(us - minmax_running_min(&r->least, us, BASE_MS, now), s->rise_us);
	elapsed_us = (int32_t)(s->arrived_us - r->marked_us);
	if (elapsed_us < MARK_US)
		return;
	enter(r, (uint32_t)(bytes * BITS * 1000 / (uint64_t)elapsed_us),
	      r->queue_us > LINE_RATE_QUEUE_US, now);
	r->marked_us = s->arrived_us;
	r->marked = s->received;
}

uint32_t line_rate_base_us(const struct line_rate *r)
{
	return r->zero_us + (uint32_t)minmax_min(&r->least);
}
