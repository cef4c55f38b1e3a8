// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The segment id of a frame on the wire. A segment has one id of 24 bits in the overlay and a VLAN
 * at each site; the VLANs may differ. An id below 4096 is sent as the VLAN of an 802.1Q tag, so
 * nodes without a mapping need no other format. A larger id replaces the tag and sets
 * LEON_F_SEGMENT:
 *
 *   priority, drop eligible (4) | S (1) | zero (3) | segment id (24)
 *
 * S: the tag was an 802.1ad tag. Frame length and the offsets behind the tag do not change.
 * state/tables/segments.h maps VLANs to ids. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_ID_MAX	0xffffffu
#define SEGMENT_TAG_LEN 4

/* Reads the segment id of a frame, 0 without a tag. replaced: LEON_F_SEGMENT is set. Returns 0 or
 * -EBADMSG. */
int segment_get(const void *frame, size_t len, bool replaced, uint32_t *id);
/* Replaces the 802.1Q or 802.1ad tag of a frame by this id. Returns true if the frame needs
 * LEON_F_SEGMENT. */
bool segment_put(void *frame, uint32_t id);
/* Restores a tag with this VLAN in a frame that segment_get() accepted. */
void segment_restore(void *frame, bool replaced, uint16_t vlan);

/* Returns true if the frame, of at least 14 bytes, has a tag. */
bool segment_is_tagged(const void *frame);
/* Inserts an empty tag. The frame then begins SEGMENT_TAG_LEN bytes earlier; these bytes are
 * free. */
void *segment_add_tag(void *frame);
/* Removes the tag. The frame then begins SEGMENT_TAG_LEN bytes later. */
void *segment_remove_tag(void *frame);
