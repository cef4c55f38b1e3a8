// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segment ids in frames, see segment.h. The workers call it for frames to the overlay and for
 * frames to the local segment. Pure.
 */
#include "wire/datagram/segment.h"

#include <errno.h>
#include <string.h>

#include "base/addr.h"
#include "base/vlan_set.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

#define AT_TAG	     (2 * MAC_LEN)
#define VLAN_MASK    (VLAN_IDS - 1)
#define SERVICE	     0x08 /* S */
#define PRIORITY     0xf0
#define RESERVED     0x07
#define TCI_PRIORITY 0xf000
#define TCI_TO_BYTE  8 /* shift between the priority of a tag and of its replacement */

bool segment_is_tagged(const void *frame)
{
	return eth_is_tag(get_u16((const uint8_t *)frame + AT_TAG));
}

int segment_get(const void *frame, size_t len, bool replaced, uint32_t *id)
{
	const uint8_t *tag = (const uint8_t *)frame + AT_TAG;

	*id = 0;
	if (len < ETH_HDR_LEN)
		return -EBADMSG;
	if (!replaced && !segment_is_tagged(frame))
		return 0;
	if (len < ETH_HDR_LEN + SEGMENT_TAG_LEN)
		return -EBADMSG;
	if (!replaced) {
		*id = get_u16(tag + 2) & VLAN_MASK;
		return 0;
	}
	*id = get_u24(tag + 1);
	/* Each id has one encoding. */
	return tag[0] & RESERVED || *id < VLAN_IDS ? -EBADMSG : 0;
}

bool segment_put(void *frame, uint32_t id)
{
	uint8_t *tag = (uint8_t *)frame + AT_TAG;
	uint16_t type = get_u16(tag), tci = get_u16(tag + 2);

	if (id < VLAN_IDS) {
		put_u16(tag + 2, (uint16_t)((tci & TCI_PRIORITY) | id));
		return false;
	}
	tag[0] = (uint8_t)((tci & TCI_PRIORITY) >> TCI_TO_BYTE);
	if (type == ETHERTYPE_DOT1AD)
		tag[0] |= SERVICE;
	put_u24(tag + 1, id);
	return true;
}

void segment_restore(void *frame, bool replaced, uint16_t vlan)
{
	uint8_t *tag = (uint8_t *)frame + AT_TAG, first = tag[0];
	uint16_t tci = get_u16(tag + 2);

	if (replaced) {
		tci = (uint16_t)((first & PRIORITY) << TCI_TO_BYTE);
		put_u16(tag, first & SERVICE ? ETHERTYPE_DOT1AD : ETHERTYPE_DOT1Q);
	}
	put_u16(tag + 2, (uint16_t)((tci & TCI_PRIORITY) | (vlan & VLAN_MASK)));
}

void *segment_add_tag(void *frame)
{
	uint8_t *begin = (uint8_t *)frame - SEGMENT_TAG_LEN;

	memmove(begin, frame, AT_TAG);
	put_u16(begin + AT_TAG, ETHERTYPE_DOT1Q);
	put_u16(begin + AT_TAG + 2, 0);
	return begin;
}

void *segment_remove_tag(void *frame)
{
	uint8_t *begin = (uint8_t *)frame + SEGMENT_TAG_LEN;

	memmove(begin, frame, AT_TAG);
	return begin;
}
