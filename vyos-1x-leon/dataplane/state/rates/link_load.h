// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates the own load in the RTT of a link. Own load is the queueing delay of frames of this
 * node in forward direction, and of frames of the peer in return direction. The RTT without own
 * load is the base. A path metric that included own load would leave the link for a worse one, fill
 * the worse link, and return. The inputs are the times and counters of PING and PONG, and no
 * additional packet is sent. Owned by the prober (proto/); pure; control thread. See
 * doc/decisions/041.
 *
 * A queue of more than several datagrams is own load if this node recently sent at half of the best
 * delivery rate or more. A queue of others is no own load, because the path metric should avoid
 * such a link. The best rate is the windowed maximum of minutes, or the rate since the present
 * queue of own load began, because links become slower.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"
#include "state/minmax.h"

/* --- delay_step.c --- */

/* Sample of one direction. */
struct delay_sample {
	int64_t us;	       /* apparent queueing delay */
	int64_t moved_us;      /* growth since the previous sample */
	int64_t carried_us;    /* time between the two samples, at the receiver */
	int64_t carried_kbits; /* delivery rate between the two samples */
	int64_t marked_kbits;  /* delivery rate of the last 200 to 400 ms */
	int64_t full_kbits;    /* rate of the link */
	int64_t noise_us;      /* a shorter delay is no queue */
	bool ours;	       /* the apparent queue is own load */
};

struct delay_step {
	int64_t due_us, fell_us; /* reduction in dips: expected and measured */
	int64_t least_us;	 /* least delay since the sums started */
	unsigned steady;	 /* samples without a queue and without a dip */
	int64_t before_kbits;	 /* rate of the link at the last sample without a queue */
	int64_t step_us;	 /* delay of a step; 0: none */
	int64_t stays_us;	 /* least delay since the step */
	int64_t step_kbits;	 /* rate of the link before the step */
	mono_t step_at;
};

void delay_step_reset(struct delay_step *y);
/* Enters a sample. Returns the growth of the propagation delay in us if it is detected now, else
 * 0. */
int64_t delay_step_note(struct delay_step *y, const struct delay_sample *s, mono_t now);

/* --- link_load.c --- */

/* One direction of a link. */
struct load_direction {
	uint32_t zero;	     /* delay of the first sample; subtracted, because clocks differ */
	struct minmax least; /* windowed minimum of the delay */
	int64_t rise_us;     /* delay above the windowed minimum */
	uint64_t bytes;	     /* sent, at the last sample */
	struct minmax sent;  /* sending rate, kbit/s: maximum of 1 to 2 s */
	int64_t sent_before; /* maximum sending rate before these 1 to 2 s */
	/* best delivery rate, kbit/s: maximum of minutes, or since the rate fell */
	struct minmax best;
	struct minmax in_queue; /* maximum of the own bytes in the queue */
	struct minmax gone;	/* maximum of the own bytes in flight or lost */
	int64_t carried_kbits;	/* rate between the last two samples */
	int64_t carried_us;	/* time between the two samples; 0: no valid rate */
	int64_t moved_us;	/* growth of the delay between the two samples */
	int64_t delay_us;	/* delay of this sample, relative to `zero` */
	int64_t before_us;	/* delay of the previous sample */
	int64_t marked_kbits;	/* delivery rate since a mark, 200 to 400 ms */
	struct minmax full;	/* maximum of marked_kbits for seconds */
	struct delay_step step;
	bool is_standing; /* a standing queue of any sender */
	bool ours;	  /* the queue is own load */
};

/* Start of an interval in which the delivery rate is measured. */
struct load_mark {
	uint32_t at_us, datagrams; /* clock and counter of the peer */
};

struct link_load {
	bool known; /* a sample exists */
	uint32_t epoch;
	mono_t first_at, at; /* times of the first and the last sample */
	mono_t sent_at;	     /* send time of the PING of the last sample */
	struct load_direction forward, reverse;
	struct minmax base;	  /* windowed minimum of the RTT without own load, us */
	int64_t persistent_us;	  /* propagation delay above the base */
	int64_t rtt_us;		  /* last RTT */
	int64_t difference_us;	  /* mean difference of successive RTTs */
	int64_t answers;	  /* number of answers in difference_us */
	struct minmax jitter;	  /* windowed minimum of difference_us */
	int64_t idle_us;	  /* smoothed RTT without own load */
	struct load_mark mark[2]; /* older, newer */
	mono_t reverse_at;	  /* mark of the return direction, by the local clock */
	uint64_t reverse_bytes;
	/* sent recently: their quotient is the datagram size */
	uint64_t size_bytes, size_datagrams;
	uint64_t seen_datagrams;
	uint32_t gone_datagrams;  /* sent and not counted by the peer, modulo 2^32 */
	int64_t gone_bytes;	  /* estimated bytes of gone_datagrams, since the first sample */
	uint32_t delivered_kbits; /* delivery rate to the peer, IP packets */
	uint32_t latest_kbits;	  /* delivery rate between the last two answers */
	struct load_mark latest;
	uint32_t queue_us;    /* queueing delay in forward direction */
	uint32_t standing_us; /* part of queue_us that may be in return direction */
	/* part of standing_us that is propagation delay: it stood without own load */
	uint32_t propagation_us;
	/* queueing delay above the long-term base, of any sender, without load of the peer */
	uint32_t any_queue_us;
	uint32_t reverse_us; /* queueing delay in return direction */
	uint32_t load_us;    /* own load in the last RTT, both directions */
};

/* One answered PING. */
struct load_sample {
	uint32_t rtt_us;
	/* One-way delays by unsynchronized clocks, modulo 2^32. */
	uint32_t forward_us, reverse_us;
	/* Of the peer: time by its clock, number of received datagrams, and incarnation. */
	uint32_t counted_us, delivered, epoch;
	/* Of this node: sent datagrams, and bytes of IP packets in each direction. */
	uint64_t tx_datagrams, tx_bytes, rx_bytes;
	/* Own load on other links of this node, which may share the access link. */
	uint32_t site_forward_us, site_return_us;
};

/* Maximum sending rate of one to two seconds, in kbit/s of IP packets. */
static inline int64_t link_load_sent(const struct link_load *l)
{
	return minmax_max(&l->forward.sent);
}

/* Standing queue in either direction, without the delay that stood when there was no own load. */
static inline uint32_t link_load_standing(const struct link_load *l)
{
	return l->standing_us - min_of(l->standing_us, l->propagation_us);
}

/* Base of the queueing delay in forward direction, relative to the first sample. It falls at once,
 * and rises 10 to 20 s after the propagation delay has grown. */
static inline int64_t link_load_base(const struct link_load *l)
{
	return minmax_min(&l->forward.least);
}

/* RTT jitter: the windowed minimum of short means, because bulk flows of any node add variation. */
static inline uint32_t link_load_jitter(const struct link_load *l)
{
	return (uint32_t)minmax_min(&l->jitter);
}

void link_load_reset(struct link_load *l);
/* Enters a sample. Returns load_us, the own load to subtract from its RTT. */
uint32_t link_load_note(struct link_load *l, const struct load_sample *s, mono_t now);
