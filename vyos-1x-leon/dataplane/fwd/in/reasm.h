// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reassembly of LEON fragments: a fixed pool of frame buffers, found by {source, identification}. A
 * frame is dropped after REASM_TIMEOUT_NS, or as the oldest one if the pool is exhausted. Fragments
 * may arrive in any order and duplicated; a partial overlap discards the frame (RFC 5722).
 *
 * One table per worker suffices. All fragments of a frame have the same addresses and ports on the
 * last link, so SO_REUSEPORT delivers them to one socket and worker. If addresses or ports change
 * within a frame, the frame times out. Worker-owned; time is a parameter; never allocates after
 * reasm_new().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/frame/ecn.h"
#include "wire/datagram/fragment.h"

#define REASM_TIMEOUT_NS NS_PER_S
/* Limit of gaps per frame; more gaps indicate an attack with tiny fragments. */
#define REASM_RANGES_MAX 16

struct reasm;
struct reasm *reasm_new(size_t bytes);
void reasm_free(struct reasm *r); /* NULL ok */

/* Metadata of a fragment. */
struct reasm_around {
	uint8_t flags; /* flags of the LEON header, equal in all fragments of a frame */
	enum ecn ecn;  /* ECN of the outer header; CE of one fragment marks the frame */
};

enum reasm_verdict {
	REASM_WAITING,
	REASM_COMPLETE,
	REASM_DUPLICATE, /* all bytes of the fragment were received before */
	REASM_BAD,	 /* contradicts earlier fragments: the frame is discarded */
};
struct reasm_result {
	enum reasm_verdict verdict;
	bool evicted; /* another frame was dropped for lack of memory */
	/* Valid with REASM_COMPLETE, until reasm_reap(). */
	uint8_t *data;
	size_t len;
	struct reasm_around around;
};
/* data: the bytes behind the header `h`, which fragment_decode() has checked. */
struct reasm_result reasm_add(struct reasm *r, node_id_t source, const struct fragment_hdr *h,
			      const uint8_t *data, size_t len, struct reasm_around around,
			      mono_t now);
/* Discards the fragments of a frame with a complete copy. */
void reasm_forget(struct reasm *r, node_id_t source, uint32_t id);
/* Frees the buffers of complete frames, except the one that contains `keep` (NULL: none). */
void reasm_reap(struct reasm *r, const uint8_t *keep);
/* Drops frames after the timeout; returns the number. */
unsigned reasm_expire(struct reasm *r, mono_t now);
/* Number of incomplete frames, and the sum of their lengths. */
unsigned reasm_waiting(const struct reasm *r);
size_t reasm_bytes(const struct reasm *r);
