// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel buffers of the inter-proxy connections. The kernel charges the buffers to the unit, so all
 * share a budget. Called once a second by peers.c; buffers_of_one() is pure. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

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
