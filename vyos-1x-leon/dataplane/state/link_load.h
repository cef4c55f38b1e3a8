// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much of a link's round-trip time is a queue that our own traffic keeps: frames of this node
 * on their way there, frames of the other end on their way back. What the link is without them is
 * its base; a metric that took the queue for the link would leave it for a worse one, fill that,
 * and come back. Made of the times and counters of PING and PONG; nothing is sent for it. Owned by
 * whoever probes (proto/); pure; control thread. doc/decisions/041.
 *
 * A queue is ours where we lately sent at half the rate or more that the link carries, and
 * where that makes several datagrams of what waits. A queue that others keep is no load: to leave
 * such a link is right. What it carries is the most that it did in minutes, or what arrived since
 * our own queue began: lines get slower. doc/decisions/041.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"
#include "state/extreme.h"
#include "state/longer_way.h"

/* One direction of a link. */
struct load_way {
	uint32_t zero;	       /* of the first sample; clocks do not agree, so all count from it */
	struct extreme least;  /* of its delay, lately */
	int64_t rise_us;       /* beyond that */
	uint64_t bytes;	       /* sent, as of the last look */
	struct extreme sent;   /* kbit/s, for a second */
	struct extreme usual;  /* the same for seconds, up to one or two ago */
	struct extreme best;   /* kbit/s that it carries: the most for minutes, or since it was
				      seen to carry less */
	struct extreme on_way; /* bytes of ours in the queue, for seconds */
	struct extreme gone;   /* the same with what was lost */
	int64_t carried_kbits; /* between the last two samples, */
	int64_t carried_us;    /* for so long; 0: this sample does not tell, */
	int64_t moved_us;      /* and how much longer the delay got meanwhile */
	int64_t delay_us;      /* of this sample, from `zero`, */
	int64_t before_us;     /* and of the one before */
	int64_t marked_kbits;  /* carried in some hundred milliseconds, */
	struct extreme full;   /* and the most of that for seconds */
	struct longer_way longer;
	bool stands; /* a queue worth the name, whoever keeps it */
	bool ours;   /* what waits there does so because of us */
};

/* A moment from which on delivery is reckoned. */
struct load_mark {
	uint32_t at_us, datagrams; /* by the clock and the counter of the other end */
};

struct link_load {
	bool known; /* there was a sample */
	uint32_t epoch;
	mono_t first_at, at; /* of the samples */
	mono_t asked;	     /* when the PING of the last one was sent */
	struct load_way there, back;
	struct extreme base;	  /* least round trip in us, without own load */
	int64_t longer_us;	  /* of what is beyond that: it is the way */
	int64_t rtt_us;		  /* the last round trip, */
	int64_t differs_us;	  /* by so much one differs from the next, for seconds, */
	int64_t answers;	  /* of so many, */
	struct extreme jitter;	  /* and the least of that for minutes */
	int64_t idle_us;	  /* smoothed round trip without own load */
	struct load_mark mark[2]; /* older, newer */
	mono_t back_at;		  /* the same of what we received, by our clock */
	uint64_t back_bytes;
	uint64_t size_bytes, size_datagrams; /* sent lately: the size of one */
	uint64_t seen_datagrams;
	uint32_t gone_datagrams;  /* sent and not counted there, modulo 2^32, */
	int64_t gone_bytes;	  /* and about how much that is, since the first sample */
	uint32_t delivered_kbits; /* to the other end, as IP packets */
	uint32_t latest_kbits;	  /* the same between the last two answers alone */
	struct load_mark latest;
	uint32_t queue_us; /* what waits on the way there, */
	uint32_t stood_us; /* of it, what may as well wait on the way back, */
	uint32_t way_us;   /* as much had stood while no queue was ours: the way, too */
	uint32_t long_us;  /* what waits there or on the way back by the least of minutes, whoever
			      keeps it, where what is back is not the other end's */
	uint32_t back_us;  /* and on the way back, where it is ours */
	uint32_t load_us;  /* of the last round trip, both ways */
};

/* One answered PING. */
struct load_sample {
	uint32_t rtt_us;
	/* By clocks that differ, modulo 2^32. */
	uint32_t there_us, back_us;
	/* The other end: our datagrams that it had, and when, by its clock; its run. */
	uint32_t counted_us, delivered, epoch;
	/* Ours, now: datagrams sent, and bytes of IP packets each way. */
	uint64_t tx_datagrams, tx_bytes, rx_bytes;
	/* Queues of ours on other links of this node: theirs may be the same line. */
	uint32_t site_there_us, site_back_us;
};

/* The most that was sent there in a second, in kbit/s of IP packets. */
static inline int64_t link_load_sent(const struct link_load *l)
{
	return extreme_most(&l->there.sent);
}

/* What has stood for long, perhaps on the way back, and did not while no queue was ours. */
static inline uint32_t link_load_stood(const struct link_load *l)
{
	return l->stood_us - min_of(l->stood_us, l->way_us);
}

/* What a queue there is reckoned from: it falls at once, and rises when a longer way is 10 to 20 s
 * old. Counts from the first sample. */
static inline int64_t link_load_base(const struct link_load *l)
{
	return extreme_least(&l->there.least);
}

/* How much round trips differ anyway: the least of minutes of what they did in a few seconds, since
 * bulk, ours and that of others, makes them differ more. */
static inline uint32_t link_load_jitter(const struct link_load *l)
{
	return (uint32_t)extreme_least(&l->jitter);
}

void link_load_reset(struct link_load *l);
/* Takes a sample; returns load_us: what to take off its round-trip time to have the link's. */
uint32_t link_load_note(struct link_load *l, const struct load_sample *s, mono_t now);
