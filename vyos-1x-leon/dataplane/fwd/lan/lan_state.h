// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the steps at the local segment: repeated floods, rate limits of floods, recent reports.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bucket.h"
#include "base/mono.h"
#include "wire/frame/eth.h"

/* --- flood_dedup.c ---
 * Flood de-duplication: recently flooded frames with their origin (the LAN or a node). Until the
 * loop guard detects that two LANs are joined, several routers forward a broadcast from one LAN to
 * the other and back. With three routers the copies multiply until the guards have met. The second
 * arrival of the frame from another origin at a node is the first sign of the loop, and ends the
 * frame here (decisions/053).
 *
 * All workers share one table without locks, because the two origins of a frame lead to two
 * sockets. The table is a cache of sets of four frames: a new frame replaces the oldest one of its
 * set. Frames that a host is known to repeat are replaced last.
 */

/* Lifetime of an entry: a frame returns through paths of intercontinental length. */
#define FLOOD_DEDUP_LIFE_MS 1000
/* Time for which repetitions are held while the loop guard probes; afterwards they are attributed
 * to the host. Repetitions after a longer time are not held. */
#define FLOOD_DEDUP_HOLD_MS 200

enum flood_dedup_verdict {
	FLOOD_DEDUP_FIRST, /* first arrival: forward */
	/* second arrival from the same origin: forward, and let the guard probe */
	FLOOD_DEDUP_AGAIN,
	/* third arrival from the LAN, or repeated from a node: drop, and let it probe */
	FLOOD_DEDUP_HELD,
	FLOOD_DEDUP_TWO_WAY, /* arrival from another origin: drop, and request a probe */
};

struct flood_dedup;
struct flood_dedup *flood_dedup_new(void);    /* control thread, as flood_dedup_free() */
void flood_dedup_free(struct flood_dedup *r); /* NULL ok */

/* --- workers --- */
/* Hash that ignores differences made by a LAN or a TAP: outer tag, padding, a transport checksum
 * that is completed later. */
uint64_t flood_dedup_hash(const struct flood_dedup *r, const uint8_t *data, size_t len,
			  const struct eth_view *v);
/* Records an arrival of a frame with this hash from the slot; SLOT_SELF: from the LAN. */
enum flood_dedup_verdict flood_dedup_check(struct flood_dedup *r, uint64_t sum, uint16_t slot,
					   mono_t now);

/* --- storm.c ---
 * Storm control: a rate limit for each kind of flooded frame. The configured rate is per node; each
 * of n workers has 1/n, because workers share nothing. Worker-owned; pure.
 */

enum storm_kind { STORM_BROADCAST, STORM_MULTICAST, STORM_UNKNOWN, N_STORM };

/* Depth of a bucket in time: the burst is this fraction of a second's frames. */
#define STORM_BURST_NS (NS_PER_S / 4)

/* Returns true if another frame may pass at `now`. rate: frames per second of the node; 0: no
 * limit. */
static inline bool storm_pass(struct bucket *b, uint32_t rate, unsigned n_workers, mono_t now)
{
	int64_t cost_ns;

	if (!rate)
		return true;
	cost_ns = NS_PER_S * n_workers / rate;
	/* At low rates a frame costs more than the burst; one frame must fit. */
	return bucket_pass(b, now, cost_ns, max_of(cost_ns, (int64_t)STORM_BURST_NS));
}

/* --- recent.c ---
 * A cache of recent report keys, so a thousand frames with the same information cause a single
 * report. Of two keys in a slot the older is forgotten. A key is a keyed hash of the report, so no
 * host can suppress reports about another. Worker-owned; pure.
 */

#define RECENT_PLACES 256

struct recent {
	struct {
		uint64_t key;
		mono_t at;
	} place[RECENT_PLACES];
};

/* Returns true if the key was recorded less than hold_ns ago. */
static inline bool recent_has(const struct recent *r, uint64_t key, mono_t now, int64_t hold_ns)
{
	unsigned i = key % RECENT_PLACES;

	return r->place[i].key == key && !mono_is_never(r->place[i].at) &&
	       mono_sub_ns(now, r->place[i].at) < hold_ns;
}
static inline void recent_note(struct recent *r, uint64_t key, mono_t now)
{
	unsigned i = key % RECENT_PLACES;

	r->place[i].key = key;
	r->place[i].at = now;
}
