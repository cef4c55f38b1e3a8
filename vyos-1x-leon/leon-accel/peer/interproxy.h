// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings of the socket of an inter-proxy connection: initial window, backlog limit and pacing
 * rate. The settings let the connection fill a path with a large bandwidth-delay product soon, and
 * do not flood its bottleneck link. Called by peer_link.c. Pure except for interproxy_prepare(),
 * interproxy_use() and interproxy_tune(). Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

/* --- kernel buffers ---
 * Kernel buffers of the inter-proxy connections. The kernel charges the buffers to the unit, so all
 * share a budget. Called once a second by peers.c; buffers_of_one() is pure. Single-threaded.
 */

/*
 * Bytes that the kernel charges: payload and its overhead, up to twice the payload.
 *   1 far node:   2 buffers of 64 MiB, 32 MiB of payload: 1 Gbit/s at a round trip of 250 ms
 *   16 far nodes: 32 buffers of 8 MiB, 4 MiB of payload: 134 Mbit/s at 250 ms each
 *   64 far nodes: 128 buffers of 2 MiB
 */
#define BUFFERS_ALL (256u << 20)
#define BUFFERS_MAX (64u << 20)
/* Time limit in which a connection drains its excess over a smaller share. Then it is closed. */
#define BUFFERS_MS 10000

struct buffers {
	/* Size of each buffer of the socket in bytes. 0: the default of the kernel. */
	uint32_t each;
	/* Last time at which both buffers were within the share. Unused while `each` is 0. */
	mono_t fitted;
};

/* The largest size of one of the two buffers while there are n connections. */
uint32_t buffers_of_one(unsigned n);
/* Sets the share of the socket. Returns false after a long excess over the share. */
bool buffers_fit(struct buffers *b, int fd, unsigned n, mono_t now);

struct interproxy {
	mono_t looked; /* Last time at which the socket was examined. */
	/* Bytes that were sent and retransmitted until the last computation of loss. */
	uint64_t sent, resent;
	uint64_t start;	    /* Rate of the first flight in bytes per second. */
	uint64_t limit;	    /* Pacing limit of the socket in bytes per second. 0: none. */
	bool is_known;	    /* A start phase has measured the rate of the bottleneck link. */
	uint32_t unsent;    /* Largest number of unsent bytes in the socket. */
	uint64_t room;	    /* Bytes per round trip that the connection can carry. 0: unknown. */
	uint64_t proven;    /* Twice the largest number of bytes delivered in a round trip. */
	mono_t turned;	    /* Time of the last comparison of the rate. 0: never. */
	uint64_t past_rate; /* Rate at the last comparison. */
	unsigned grew;	    /* Number of consecutive comparisons with a higher rate. */
	/* Rate of the bottleneck link in bytes per second, as last measured under load. 0:
	 * unknown. */
	uint64_t known;
	struct buffers buffers;
	/* Last time at which data was sent (used), and at which the socket had no backlog or BBR
	 * was restarted (dry). */
	mono_t used, app_limited;
};

/* State of a socket with BBR. */
struct interproxy_sample {
	bool starting;	   /* BBR is in its start phase. */
	uint64_t rate;	   /* Delivery rate that BBR found, in bytes per second. 0: none. */
	uint64_t delivery; /* Last delivery rate in bytes per second. Known without BBR, too. */
	/* Largest sending rate in bytes per second. Known without BBR, too. */
	uint64_t pacing;
	/* Bytes that were sent and retransmitted since the connection was made. */
	uint64_t sent, resent;
	uint32_t rtt_us, min_us; /* Present round-trip time, and the minimum. */
	uint32_t least_us;	 /* Minimum of the round-trip time over several minutes. */
	uint64_t window;	 /* Congestion window in bytes. */
	bool app_limited;	 /* The socket has no backlog. */
	bool probing;		 /* BBR probes for a shorter round-trip time. */
	bool recovering;	 /* TCP recovers from loss. */
};

/* Initial window in segments of `mss` bytes, at least ten (RFC 6928): a round trip of the largest
 * start rate. Pacing limits the first flight. */
uint32_t interproxy_first_segments(uint32_t rtt_us, uint32_t mss);

/*
 * Rate of the first flight in bytes per second, paced for a round trip as in Jump Start (2007).
 * The rate is half of the measured rate, as in Careful Resume (RFC 9959). Measurements are the last
 * train of acknowledgements and the former inter-proxy connection, if they exist (0: none). The
 * bound of 16 Mbit/s limits the damage of a wrong measurement to one round trip. One inter-proxy
 * connection carries all connections between two nodes, and a slow start costs many long round
 * trips.
 */
uint64_t interproxy_start_rate(uint64_t train, uint64_t remembered);

/* Limit of the backlog of the socket: the bytes that the socket sends in a short time. With a lower
 * limit the socket runs empty if the process is late, and the rate of BBR is too low. With a higher
 * limit messages wait behind data. */
uint32_t interproxy_unsent(uint64_t pacing);

/*
 * Pacing limit of the socket in bytes per second. 0: none. In its start phase, BBR doubles its rate
 * until the delivery rate has not grown for three round trips. BBR ignores queueing delay and loss
 * in this phase. A short queue then overflows several times, and recovery takes seconds. The limit
 * is therefore 1.5 times the delivery rate while the queueing delay is high, also if other traffic
 * causes that delay. With a factor of 1.25, BBR would end its start phase. The limit is below the
 * delivery rate if a fifth of the recent bytes was retransmitted: no link loses that share without
 * an overflowing queue.
 *
 * After a start phase has flooded the bottleneck link once, its rate is known. The limit is then
 * the delivery rate, and an eighth more while the socket has no backlog. BBR ignores round trips in
 * which the socket ran empty, as it does at the end of each connection. Without the limit BBR would
 * double its rate in each transfer.
 *
 * After its start phase BBR now and then sends a quarter more for one round trip. On a link of
 * known rate, the limit permits 50 ms of additional queue. A quarter of a round trip of 500 ms
 * exceeds many queues, and loss at the end of a transfer costs one round trip.
 *
 * The limit is never below 2 Mbit/s. An idle connection has a delivery rate of 0, and such a limit
 * would slow it for a minute. In the start phase, the limit is at least the start rate and three
 * times the delivery rate. The initial window may exceed the first flight.
 */
uint64_t interproxy_limit(const struct interproxy *c, const struct interproxy_sample *s);

/* Reports whether a start phase has measured the rate of the bottleneck link. A loss of a fifth
 * proves it: the delivery rate is then the full rate of the link. */
bool interproxy_knows_rate(const struct interproxy *c, const struct interproxy_sample *s);

/* Bytes per round trip that an unmeasured connection is assumed to carry. */
uint64_t interproxy_least_room(uint32_t rtt_us);

/* Bytes per round trip that the connection can carry. After the start phase: the delivery rate.
 * Before: twice the delivered bytes, within the congestion window. The initial window proves
 * nothing. */
uint64_t interproxy_capacity(struct interproxy *c, const struct interproxy_sample *s);

/*
 * Reports whether the start phase ended too soon. BBR ends it if three round trips do not increase
 * the rate. A stalled process or other traffic on the link can cause that, too. BBR then adds a
 * quarter each eight round trips. It needs a minute to grow from a fiftieth of the link rate to the
 * full rate. The link has spare capacity if two consecutive probes of BBR gain half of the probed
 * rate or more and cause no queueing delay. BBR is then restarted from its present rate. Called now
 * and then.
 */
bool interproxy_restarts(struct interproxy *c, const struct interproxy_sample *s, mono_t now);

/* The rate of BBR is the rate of the bottleneck link if the socket had a backlog for some round
 * trips. Otherwise the senders limited it. */
void interproxy_learn(struct interproxy *c, const struct interproxy_sample *s, mono_t now);
/* A start phase continues from the known rate if BBR has not measured a rate. It does not if the
 * link is flooded. */
uint64_t interproxy_rate(const struct interproxy *c, const struct interproxy_sample *s, mono_t now);

/*
 * Reports whether BBR may be restarted for data that follows a pause. Each ten seconds, BBR probes
 * for a shorter round-trip time and sends nothing for two round trips. If the ten seconds began in
 * a pause, the probe interrupts a transfer. A restart delays the probe by ten seconds. BBR restarts
 * with the known rate, the present window and the minimum round-trip time of several minutes. So
 * BBR is not restarted if the path has become longer, if the window is temporarily small, or during
 * a start phase.
 */
bool interproxy_may_restart(struct interproxy *c, const struct interproxy_sample *s, mono_t now);

/* Configures a new socket. `start` is the start rate. */
void interproxy_prepare(struct interproxy *c, int fd, uint64_t start);
/* Called if data is sent. */
void interproxy_use(struct interproxy *c, int fd, uint32_t rtt_us, mono_t now);
/* Called now and then while data is sent. */
void interproxy_tune(struct interproxy *c, int fd, uint32_t rtt_us, mono_t now);
