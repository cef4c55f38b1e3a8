// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which VLAN of this node's LAN is which segment of the overlay (wire/segment.h). One to one: a
 * VLAN that nothing is said of is the segment of the same number; where that number is another
 * VLAN's segment, it is none, and is not carried. Inside the node everything goes by VLAN.
 *
 * Immutable once made: made by the control thread, read by workers through the snapshot, replaced
 * through base/rcu. NULL stands for a map in which nothing is mapped.
 */
#pragma once

#include <stdint.h>

#include "base/id_range.h"
#include "base/vlan_set.h"

#define SEGMENT_NAME_MAX 32
#define SEGMENT_ID_NONE	 0xffffffffu
#define VLAN_NONE	 0xffff

struct segment {
	char name[SEGMENT_NAME_MAX + 1];
	uint16_t vlan;
	uint32_t id;
};

struct segments {
	uint32_t n;
	struct segment *mapped; /* by id, ascending */
	uint32_t id[VLAN_IDS];	/* by VLAN; SEGMENT_ID_NONE: not carried */
	uint16_t low[VLAN_IDS]; /* VLAN of each id below VLAN_IDS; VLAN_NONE: not here */
	/* Of the ids above: open addressing, at most half full; id 0 is an empty place. */
	uint32_t mask;
	struct segment_place {
		uint32_t id;
		uint16_t vlan;
	} * place;
};

/* VLANs and ids are each named once. NULL where n is 0. */
struct segments *segments_new(const struct segment *mapped, unsigned n);
void segments_free(void *m); /* struct segments *; NULL ok */

/* The VLAN of an id that is VLAN_IDS or more. */
uint16_t segments_find(const struct segments *m, uint32_t id);

static inline uint32_t segments_id(const struct segments *m, uint16_t vlan)
{
	return m ? m->id[vlan % VLAN_IDS] : vlan;
}
/* VLAN_NONE: it is no segment of this node. */
static inline uint16_t segments_vlan(const struct segments *m, uint32_t id)
{
	if (id >= VLAN_IDS)
		return m ? segments_find(m, id) : VLAN_NONE;
	return m ? m->low[id] : (uint16_t)id;
}
/* What the configuration says of the VLAN; NULL: nothing. */
const struct segment *segments_of(const struct segments *m, uint16_t vlan);

/* The ids of these VLANs (NULL: of all), as at most `max` ranges; where there are more, these hold
 * others, too. Returns how many. */
unsigned segments_ranges(const struct segments *m, const struct vlan_set *vlans,
			 struct id_range *out, unsigned max);
/* VLANs whose ids are in the ranges are added. */
void segments_in(const struct segments *m, const struct id_range *range, unsigned n,
		 struct vlan_set *out);
/* VLANs whose ids are of these classes (wire/msg.h, lan_class()). */
void segments_of_classes(const struct segments *m, uint64_t classes, struct vlan_set *out);
/* And the classes of their ids. */
uint64_t segments_classes(const struct segments *m, const struct vlan_set *vlans);
/* VLANs that are no segment are taken out. */
void segments_limit(const struct segments *m, struct vlan_set *vlans);
