// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A set of VLAN ids, 0 for untagged frames. A value: owns nothing, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VLAN_IDS 4096

struct vlan_set {
	uint64_t word[VLAN_IDS / 64];
};

static inline bool vlan_set_has(const struct vlan_set *s, uint16_t vlan)
{
	return s->word[(vlan & (VLAN_IDS - 1)) / 64] >> (vlan % 64) & 1;
}

static inline void vlan_set_add(struct vlan_set *s, uint16_t vlan)
{
	s->word[(vlan & (VLAN_IDS - 1)) / 64] |= 1ULL << (vlan % 64);
}
