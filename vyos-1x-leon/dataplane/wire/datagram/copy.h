// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Payload of LEON_COPY: a frame, or a fragment of one, that its source sends along two paths. Pure;
 * workers.
 *
 *   worker (8) | counter (56) | kind (8) | payload of that kind ...
 *
 * All datagrams with this frame have equal worker and counter on both paths, and no datagram with
 * another frame has them. Each worker of the source has its own counter. The destination delivers
 * the frame once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COPY_HDR_LEN	 9
#define COPY_WORKERS_MAX 8
/* The counter restarts beyond this value. */
#define COPY_COUNTER_MASK ((1ULL << 56) - 1)

struct copy_hdr {
	uint8_t worker;	  /* worker of the source, below COPY_WORKERS_MAX */
	uint64_t counter; /* 56 bits */
	uint8_t kind;	  /* LEON_FRAME or LEON_FRAGMENT; with PARITY_MARK in a block (parity.h) */
};

/* Returns 0, or -EBADMSG if the payload is empty, the worker is out of range, or the kind is
 * unknown. */
int copy_decode(const void *data, size_t len, struct copy_hdr *h);
/* Writes COPY_HDR_LEN bytes. */
void copy_encode(const struct copy_hdr *h, void *out);
