// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers keys for a moment, so that what a thousand frames say alike is told to the control
 * thread once. A cache: of two keys in one place the older is forgotten. A key is a
 * keyed hash of what was said, so that no host can speak for another. Worker-owned; pure.
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

/* True where the key was noted less than hold_ns ago. */
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
