// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_COPY: a frame, or a piece of one, that its source sends along two paths at
 * a time. Pure; workers.
 *
 *   worker (8) | counter (56) | kind (8) | payload of that kind ...
 *
 * worker and counter are the same in all datagrams with this frame, on either path, and in
 * no datagram with another: each worker of the source counts for itself. The destination
 * takes the frame once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COPY_HDR_LEN	 9
#define COPY_WORKERS_MAX 8
/* The counter begins anew behind this one. */
#define COPY_COUNTER_MASK ((1ULL << 56) - 1)

struct copy_hdr {
	uint8_t worker;	  /* of the source, below COPY_WORKERS_MAX */
	uint64_t counter; /* 56 bits */
	uint8_t kind;	  /* LEON_FRAME or LEON_FRAGMENT */
};

/* 0, or -EBADMSG where nothing is behind the header, the worker is too high, or the
 * kind is another. */
int copy_decode(const void *data, size_t len, struct copy_hdr *h);
/* Writes COPY_HDR_LEN bytes. */
void copy_encode(const struct copy_hdr *h, void *out);
