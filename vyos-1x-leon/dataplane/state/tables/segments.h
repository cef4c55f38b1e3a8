// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mapping of the VLANs of this node's LAN to segments of the overlay (wire/datagram/segment.h), one
 * to one. An unmapped VLAN is the segment of the same number. If another VLAN is mapped to that
 * number, the VLAN has no segment and is not carried. All code inside the node uses the VLAN.
 *
 * Immutable: the control thread builds it, workers read it through the snapshot, and base/rcu
 * replaces it. NULL is the identity map.
 */
#pragma once

#include <stdint.h>

#include "base/vlan_set.h"

#define SEGMENT_NAME_MAX 32
#define SEGMENT_ID_NONE	 0xffffffffu
#define VLAN_NONE	 0xffff

struct segment {
	char name[SEGMENT_NAME_MAX + 1];
	uint16_t vlan;
	uint32_t id;
};

int segment_compare(const void *a, const void *b); /* by id */

struct segments {
	uint32_t n;
	struct segment *mapped; /* by id, ascending */
	uint32_t id[VLAN_IDS];	/* by VLAN; SEGMENT_ID_NONE: not carried */
	uint16_t low[VLAN_IDS]; /* VLAN of each id below VLAN_IDS; VLAN_NONE: not served here */
	/* Hash table of the larger ids: open addressing, at most half full; id 0 is an empty
	 * slot. */
	uint32_t mask;
	struct segment_place {
		uint32_t id;
		uint16_t vlan;
	} * place;
};

/* Builds a map. VLANs and ids are unique. Returns NULL if n is 0. */
struct segments *segments_new(const struct segment *mapped, unsigned n);
void segments_free(void *m); /* struct segments *; NULL ok */

/* Returns the VLAN of an id of at least VLAN_IDS. */
uint16_t segments_find(const struct segments *m, uint32_t id);

static inline uint32_t segments_id(const struct segments *m, uint16_t vlan)
{
	return m ? m->id[vlan % VLAN_IDS] : vlan;
}
/* VLAN_NONE: no segment of this node. */
static inline uint16_t segments_vlan(const struct segments *m, uint32_t id)
{
	if (id >= VLAN_IDS)
		return m ? segments_find(m, id) : VLAN_NONE;
	return m ? m->low[id] : (uint16_t)id;
}
/* Returns the configured mapping of the VLAN, or NULL. */
const struct segment *segments_of(const struct segments *m, uint16_t vlan);

/* Writes the ids of these VLANs (NULL: all) as at most `max` ranges. If more ranges are needed,
 * these also contain other ids. Returns the number. */
unsigned segments_ranges(const struct segments *m, const struct vlan_set *vlans,
			 struct id_range *out, unsigned max);
/* Adds the VLANs with ids in the ranges. */
void segments_in(const struct segments *m, const struct id_range *range, unsigned n,
		 struct vlan_set *out);
/* Adds the VLANs with ids in the classes (wire/message/msg.h, lan_class()). */
void segments_of_classes(const struct segments *m, uint64_t classes, struct vlan_set *out);
/* Returns the classes of the ids of these VLANs. */
uint64_t segments_classes(const struct segments *m, const struct vlan_set *vlans);
/* Removes the VLANs without a segment. */
void segments_limit(const struct segments *m, struct vlan_set *vlans);
