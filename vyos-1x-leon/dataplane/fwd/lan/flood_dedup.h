// SPDX-License-Identifier: GPL-2.0-or-later
/*
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
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "wire/frame/eth.h"

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
