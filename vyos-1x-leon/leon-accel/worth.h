// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Would a connection gain by being taken, and does it while it is? Taking it costs the round trip
 * in which it is drained, and the rounds in which the carrier comes to the rate that the connection
 * had. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One direction of a connection that is not taken. */
struct worth {
	uint64_t flow;	  /* bytes a round trip that it brings */
	uint64_t window;  /* bytes that its receiver permits; 0: unknown */
	uint64_t carrier; /* bytes a round trip that the carrier has room for */
	int64_t age_ms, rtt_ms;
};

/*
 * - What has less than the carrier would give it at once gains.
 * - What fills its receiver's window stays as slow as it is, and gains where the carrier is as fast
 *   within three rounds, in which it doubles.
 * - Of the others nobody knows: some double still, some fill the line already, some do neither.
 *   They are taken when they have lived so long that the cost is less than a twentieth of that.
 */
bool worth_taking(const struct worth *w);

/*
 * Is it worth the stand-ins that a connection has? `flow`: bytes a round trip that it brings. What
 * a host sends without waiting, whoever acknowledges it, is as fast without them: ten segments
 * (RFC 6928), or half of what its receiver permits (0: unknown).
 */
bool worth_keeping(uint64_t flow, uint64_t window);

/*
 * Two hosts that ask and answer wait for each other, not for windows: both directions bring
 * something, and none more than that. Not where segments are lost (`again` of all were sent twice):
 * there a host sends so little since it may not send more.
 */
struct worth_talk {
	struct {
		uint64_t flow, window;
	} direction[2];
	uint32_t segments, again;
};
bool worth_is_talk(const struct worth_talk *t);

/* What is left for one connection more of a carrier for `room` bytes a round trip, with `used` of
 * them in use by `streams` others: what is free, or its share. */
uint64_t worth_share(uint64_t room, uint64_t used, unsigned streams);
