// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The segment of a frame on the wire. A segment has one id of 24 bits in the whole overlay, and at
 * each site a VLAN, which need not be the same one. Ids below 4096 are written as the VLAN of an
 * 802.1Q tag, so that nodes that map nothing know of nothing else. A larger one takes the place of
 * the tag, and LEON_F_SEGMENT says that it does:
 *
 *   priority, drop eligible (4) | S (1) | zero (3) | segment id (24)
 *
 * S: the tag was one of 802.1ad. A frame keeps its length, and what is behind the tag its place.
 * Which VLAN has which id is in state/segments.h. Pure; workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_ID_MAX	0xffffffu
#define SEGMENT_TAG_LEN 4

/* The id of a frame, 0 of one without a tag. replaced: LEON_F_SEGMENT. 0, or -EBADMSG. */
int segment_get(const void *frame, size_t len, bool replaced, uint32_t *id);
/* Gives a frame that has an 802.1Q or 802.1ad tag this id in its place. True: it is one for
 * LEON_F_SEGMENT. */
bool segment_put(void *frame, uint32_t id);
/* And back: a frame that segment_get() took gets a tag with this VLAN. */
void segment_restore(void *frame, bool replaced, uint16_t vlan);

/* Has the frame, of at least 14 bytes, a tag? */
bool segment_is_tagged(const void *frame);
/* The frame with an empty tag: begins SEGMENT_TAG_LEN bytes in front of where it began, which are
 * free. */
void *segment_add_tag(void *frame);
/* Without its tag: SEGMENT_TAG_LEN bytes behind where it began. */
void *segment_remove_tag(void *frame);
