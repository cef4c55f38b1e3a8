// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A set of slots of the node table. A value: owns nothing, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct slot_set {
	uint64_t word[(UINT16_MAX + 1) / 64];
};

static inline bool slot_set_has(const struct slot_set *s, uint16_t slot)
{
	return s->word[slot / 64] >> slot % 64 & 1;
}

static inline void slot_set_add(struct slot_set *s, uint16_t slot)
{
	s->word[slot / 64] |= 1ULL << slot % 64;
}

/* Adds the slots from `first` to `end` - 1. */
static inline void slot_set_add_range(struct slot_set *s, uint16_t first, uint16_t end)
{
	for (uint16_t slot = first; slot < end; slot++)
		slot_set_add(s, slot);
}

static inline bool slot_set_is_empty(const struct slot_set *s)
{
	static const struct slot_set none;

	return memcmp(s, &none, sizeof(none)) == 0;
}
