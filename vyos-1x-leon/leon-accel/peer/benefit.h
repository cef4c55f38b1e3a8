// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The benefit test: whether interception would make a connection faster, and whether it does.
 * Interception costs the round trip in which the connection is drained, and the round trips in
 * which the inter-proxy connection reaches the former rate. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A direction of a plain connection. */
struct benefit {
	uint64_t flow;	     /* Rate in bytes per round trip. */
	uint64_t window;     /* Receive window in bytes. 0: unknown. */
	uint64_t interproxy; /* Bytes per round trip that the inter-proxy connection can carry. */
	int64_t age_ms, rtt_ms;
};

/*
 * A connection is worth intercepting if one of these conditions holds.
 *
 * - Its rate is below the rate that the inter-proxy connection offers at once.
 * - Its rate is bounded by the receive window, and the inter-proxy connection reaches that rate
 *   within three round trips, each of which doubles its rate.
 * - Its age is 20 times the cost of interception or more. The benefit for other connections is
 *   unknown: some still double their rate, some already fill the link, some do neither.
 */
bool benefit_expected(const struct benefit *w);

/*
 * Reports whether an intercepted connection has a benefit. `flow` is its rate in bytes per round
 * trip. A host sends ten segments (RFC 6928), or half of the receive window (0: unknown), without
 * waiting for an acknowledgement. Interception makes no lower rate faster.
 */
bool benefit_present(uint64_t flow, uint64_t window);

/*
 * Reports request-response traffic: the hosts wait for each other, not for windows. Both directions
 * carry data, and none exceeds the amount of benefit_present(). Loss excludes it (`again` segments
 * of all were retransmitted), because loss also reduces the rate.
 */
struct benefit_exchange {
	struct {
		uint64_t flow, window;
	} direction[2];
	uint32_t segments, again;
};
bool benefit_is_request_response(const struct benefit_exchange *t);

/* Rate for an additional stream of an inter-proxy connection with a capacity of `room` bytes per
 * round trip. `streams` other streams use `used` bytes. The result is the free rate, or the share
 * of a stream. */
uint64_t benefit_stream_rate(uint64_t room, uint64_t used, unsigned streams);
