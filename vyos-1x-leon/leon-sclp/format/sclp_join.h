// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Second level of SCLP reassembly: builds the payloads of one peer from runs of segments (sclp.h)
 * in any order. The paper has an offset of each payload and a list of out-of-order runs; here one
 * sorted list has all runs.
 *
 * Additions to the paper: an incomplete payload times out after a second, and memory is bounded; at
 * the bound the oldest payload is evicted. One thread; never reads a clock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "base/siphash.h"
#include "format/sclp.h"

#define SCLP_JOIN_MAX	   65536     /* incomplete payloads */
#define SCLP_JOIN_BYTES	   (8 << 20) /* bytes of segments; 24 MiB with lists and allocator */
#define SCLP_JOIN_LIFE_NS  NS_PER_S
#define SCLP_JOIN_SEGMENTS 2048 /* segments of one payload */

struct sclp_join_counts {
	uint64_t whole, expired, evicted, duplicate, contradictory, out_of_order;
};

struct sclp_join;
/* The hash key is random, because strangers choose the hashed values. */
struct sclp_join *sclp_join_new(struct hash_key key);
void sclp_join_free(struct sclp_join *j); /* NULL ok */

/* Adds a run of the batch `seg`. Returns the completed payload, valid until the next call, or
 * NULL. */
const uint8_t *sclp_join_add(struct sclp_join *j, const struct sclp_segment *seg,
			     const struct sclp_run *run, mono_t now, size_t *len);
/* Drops payloads that have timed out. */
void sclp_join_age(struct sclp_join *j, mono_t now);
unsigned sclp_join_waiting(const struct sclp_join *j);
const struct sclp_join_counts *sclp_join_counts(const struct sclp_join *j);
