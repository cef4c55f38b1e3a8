// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Putting LEON fragments together: a fixed pool of frame buffers, found by {source,
 * identification}, given up after REASM_TIMEOUT_NS or, the oldest first, where the pool is empty.
 * Pieces may come in any order and twice; pieces that overlap otherwise condemn the frame (the
 * lesson of RFC 5722).
 *
 * One table a worker suffices: all pieces of a frame go from one socket to another, so they carry
 * the same addresses and ports on the last link, and SO_REUSEPORT hands them to one socket, that
 * is, to one worker. Where that changes in the middle of a frame, the frame is lost and times out.
 * Worker-owned; takes the time as a parameter; never allocates after reasm_new().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/ecn.h"
#include "wire/fragment.h"

#define REASM_TIMEOUT_NS NS_PER_S
/* Gaps a frame may have at a time; more means tiny pieces, that is, somebody's ill will. */
#define REASM_RANGES_MAX 16

struct reasm;
struct reasm *reasm_new(size_t bytes);
void reasm_free(struct reasm *r); /* NULL ok */

/* What came around a piece. */
struct reasm_around {
	uint8_t flags; /* of the LEON header, equal in all pieces of a frame */
	enum ecn ecn;  /* of the IP header: the frame has a mark where one of them has */
};

enum reasm_verdict {
	REASM_WAITING,
	REASM_COMPLETE,
	REASM_DUPLICATE, /* all of the piece was there */
	REASM_BAD,	 /* contradicts the pieces before it: the whole frame is given up */
};
struct reasm_result {
	enum reasm_verdict verdict;
	bool evicted; /* another frame was given up for want of memory */
	/* REASM_COMPLETE: valid until reasm_reap(). */
	uint8_t *data;
	size_t len;
	struct reasm_around around;
};
/* data: the piece behind its header `h`, which fragment_decode() has checked. */
struct reasm_result reasm_add(struct reasm *r, node_id_t source, const struct fragment_hdr *h,
			      const uint8_t *data, size_t len, struct reasm_around around,
			      mono_t now);
/* Gives up what there is of this frame, which came in another way. */
void reasm_forget(struct reasm *r, node_id_t source, uint32_t id);
/* Takes back the buffers of complete frames. */
void reasm_reap(struct reasm *r);
/* Gives up what is too old; returns how many frames. */
unsigned reasm_expire(struct reasm *r, mono_t now);
/* Frames that are not complete, and the sum of their lengths. */
unsigned reasm_waiting(const struct reasm *r);
size_t reasm_bytes(const struct reasm *r);
