// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: VLANs and segments. Workers. */
#include "fwd/lan/lan_steps.h"

#include "base/defs.h"
#include "wire/datagram/segment.h"

static void add_tag(struct frame *f)
{
	f->data = segment_add_tag(f->data);
	f->len += SEGMENT_TAG_LEN;
	f->v.l3_offset += SEGMENT_TAG_LEN;
	if (f->v.l4_offset)
		f->v.l4_offset += SEGMENT_TAG_LEN;
}

bool translate_to_segment(struct worker *w, struct frame *f)
{
	uint32_t id = segments_id(w->snap->segments, f->v.vlan);

	if (id == f->v.vlan)
		return true;
	if (unlikely(id == SEGMENT_ID_NONE))
		return drop(w, DROP_segment_unknown);
	if (!segment_is_tagged(f->data))
		add_tag(f);
	f->segment = segment_put(f->data, id);
	return true;
}

bool translate_to_vlan(struct worker *w, struct delivery *d, uint8_t flags)
{
	bool replaced = flags & LEON_F_SEGMENT;
	uint16_t vlan;
	uint32_t id;

	if (unlikely(segment_get(d->data, d->len, replaced, &id) < 0))
		return drop(w, DROP_bad_frame);
	vlan = segments_vlan(w->snap->segments, id);
	if (unlikely(vlan == VLAN_NONE))
		return drop(w, DROP_segment_unknown);
	if (vlan == id)
		return true;
	/* Untagged here; the segment has an id, so the frame needs a tag. */
	if (!vlan) {
		d->data = segment_remove_tag(d->data);
		d->len -= SEGMENT_TAG_LEN;
		return likely(!segment_is_tagged(d->data)) || drop(w, DROP_second_tag);
	}
	segment_restore(d->data, replaced, vlan);
	return true;
}
