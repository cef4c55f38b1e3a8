// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cache of recent report keys, so a thousand frames with the same information cause a single
 * report. Of two keys in a slot the older is forgotten. A key is a keyed hash of the report, so no
 * host can suppress reports about another. Worker-owned; pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

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
