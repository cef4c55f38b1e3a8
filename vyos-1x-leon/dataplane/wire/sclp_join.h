// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Second level of SCLP's reassembly: payloads from runs of segments (sclp.h), in any order. As the
 * paper has it, each payload has an id, a size and an offset; what is out of order waits in a list.
 * What the paper's implementation lacks: a payload that is not whole after a second is
 * given up, and all that waits has a bound, beyond which the oldest gives way. One thread;
 * never reads a clock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "base/siphash.h"
#include "wire/sclp.h"

#define SCLP_JOIN_MAX	   65536     /* payloads that wait */
#define SCLP_JOIN_BYTES	   (8 << 20) /* of their segments, in blocks; with the tables 14 MiB */
#define SCLP_JOIN_LIFE_NS  NS_PER_S
#define SCLP_JOIN_SEGMENTS 2048 /* of one payload */

struct sclp_join_counts {
	uint64_t whole, expired, evicted, duplicate, contradictory, out_of_order;
};

struct sclp_join;
/* The key is random: strangers choose what it is hashed with. */
struct sclp_join *sclp_join_new(struct hash_key key);
void sclp_join_free(struct sclp_join *j); /* NULL ok */

/* Adds a run of the batch `seg`. Returns the payload that it completed, valid until the next
 * call, or NULL. */
const uint8_t *sclp_join_add(struct sclp_join *j, const struct sclp_segment *seg,
			     const struct sclp_run *run, mono_t now, size_t *len);
/* Gives up what has waited for too long. */
void sclp_join_age(struct sclp_join *j, mono_t now);
unsigned sclp_join_waiting(const struct sclp_join *j);
const struct sclp_join_counts *sclp_join_counts(const struct sclp_join *j);
/* Bytes of all tables together. */
size_t sclp_join_memory(void);
