// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the socket of a carrier is told, so that it fills a long line soon and does not flood it:
 * with how much it begins, how much waits in it, and when its start ends. Called by peer.c; but for
 * carrier_prepare(), carrier_use() and carrier_tune() pure. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "buffers.h"

struct carrier {
	mono_t looked;	       /* at the socket */
	uint64_t sent, resent; /* bytes, until loss was reckoned last */
	uint64_t limit;	       /* bytes a second that the socket was told; 0: none */
	bool is_known;	       /* a start has found the end of the line */
	uint32_t unsent;       /* bytes that may wait in it */
	uint64_t room;	       /* bytes a round trip that it is good for; 0: unknown */
	mono_t turned;	       /* when its rate was compared last; 0: it was not */
	uint64_t past_rate;    /* as it was then */
	unsigned grew;	       /* so many times, one after the other */
	uint64_t known; /* bytes a second that the line took when it was full last; 0: unknown */
	struct buffers buffers;
	mono_t used, dry; /* data was sent; nothing waited in the socket, or BBR began anew */
};

/* Of a socket with BBR. */
struct carrier_sample {
	bool starting;		 /* it still looks for the rate of the line */
	uint64_t rate;		 /* bytes a second that arrive */
	uint64_t pacing;	 /* that it sends at most; without BBR too */
	uint64_t sent, resent;	 /* bytes since the first */
	uint32_t rtt_us, min_us; /* now, and the shortest */
	uint32_t least_us;	 /* the shortest round trip of minutes */
	uint64_t window;	 /* bytes that may be under way */
	bool dry;		 /* nothing waits in it */
	bool probing;		 /* BBR looks for a shorter round trip */
	bool mending;		 /* what was lost is sent again */
};

/*
 * Segments of `mss` bytes under way in the first round trip. Ten of 1200 at 50 ms, as every
 * connection has, are 2 Mbit/s: that much everywhere, for a carrier stands for all connections
 * between two nodes, and the rounds in which it doubles are long where it begins with less. Never
 * less than ten.
 */
uint32_t carrier_first_segments(uint32_t rtt_us, uint32_t mss);

/* Bytes that may wait in the socket: what it sends in a moment. Less, and it runs dry whenever this
 * process comes late, and takes that for the rate of the line; more, and messages wait behind. */
uint32_t carrier_unsent(uint64_t pacing);

/*
 * Bytes a second that the socket may send, 0: no bound. BBR doubles what it sends until what
 * arrives has not grown for three rounds, and looks away from the queue and from all that is lost
 * meanwhile: several times what a short queue has room for, and seconds until that is mended. So it
 * gets half more than arrives while the round trip is long with what waits, which may be of others:
 * with a quarter more BBR would take its start for over. Less than arrives where a fifth of what
 * was sent lately is sent again: no line is that bad, so it is the queue.
 *
 * Where a start has flooded the line once, its rate is known: then it gets what arrives, and an
 * eighth more while nothing waits. BBR does not count rounds in which it ran dry, as it does
 * whenever a connection ends, and would go on doubling in each transfer, however warm.
 *
 * Behind its start BBR tries a quarter more for a round, now and then. On a line whose end is known
 * that is no more than 50 ms of its queue: a quarter of a round of 500 ms is more than many have,
 * and what is lost at the end of a transfer costs a round trip.
 *
 * Never less than what it begins with: a carrier that was idle has a rate of nothing, for
 * nothing was sent, and what is held to that does not come to more for a minute.
 */
uint64_t carrier_limit(const struct carrier *c, const struct carrier_sample *s);

/* Has a start found the end of the line? It has where it lost a fifth: what arrives meanwhile is
 * all that the line takes. */
bool carrier_knows(const struct carrier *c, const struct carrier_sample *s);

/* Bytes a round trip that it is good for: what may be under way as long as it doubles that, then
 * what arrives. */
uint64_t carrier_room(const struct carrier *c, const struct carrier_sample *s);

/*
 * Its start was over too soon? BBR believes the line full when three rounds bring no more than
 * those before, also where a process here or on the way stood still meanwhile, or others had the
 * line; from then on it tries a quarter more every eight rounds, and needs a minute to come from a
 * fiftieth of the line to all of it. Where two such tries, one after the other, have found half of
 * what they tried or more and no queue, the line has room: it is to start again from where it is.
 * Called now and then.
 */
bool carrier_starts_again(struct carrier *c, const struct carrier_sample *s, mono_t now);

/* What BBR says of the rate is that of the line where something waited to be sent for some rounds;
 * else it is what there was to send. */
void carrier_learn(struct carrier *c, const struct carrier_sample *s, mono_t now);
/* A start goes on from the rate that is known where BBR has not measured it. Not where the line is
 * flooded. */
uint64_t carrier_rate(const struct carrier *c, const struct carrier_sample *s, mono_t now);

/*
 * Data behind a pause: may BBR begin anew? Every ten seconds it looks for a shorter round trip, and
 * sends nothing for two of them, in the middle of a transfer where these ten seconds began
 * somewhere in the pause before. Begun anew it does so ten seconds from now. It begins with the
 * rate that is known, the window that there is, and the shortest round trip of minutes: so not
 * where the path has become longer, or the window is small for a while, nor in the middle of a
 * start.
 */
bool carrier_wakes(struct carrier *c, const struct carrier_sample *s, mono_t now);

/* For a new socket. */
void carrier_prepare(struct carrier *c, int fd, int timeout_ms);
/* Data is sent. */
void carrier_use(struct carrier *c, int fd, uint32_t rtt_us, mono_t now);
/* Now and then, while it sends. */
void carrier_tune(struct carrier *c, int fd, uint32_t rtt_us, mono_t now);
