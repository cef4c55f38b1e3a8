// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel buffers of the inter-proxy connections. The kernel charges them to the unit, so they share
 * one budget. peer.c calls it once a second; buffers_of_one() is pure. One thread.
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
/* A connection drains what exceeds a smaller share in this time, or it ends. */
#define BUFFERS_MS 10000

struct buffers {
	uint32_t each; /* bytes that the socket was given for one buffer; 0: the kernel's default */
	mono_t fitted; /* when both were last within the share; not used while each is 0 */
};

/* The largest size of one of the two buffers while there are n connections. */
uint32_t buffers_of_one(unsigned n);
/* Gives the socket its share. Returns false if the socket has exceeded it for too long. */
bool buffers_fit(struct buffers *b, int fd, unsigned n, mono_t now);
