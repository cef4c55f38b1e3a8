// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `segment`, the mapping of local VLANs to segments of the overlay, and `vlan`, the VLANs
 * that this node serves. Pure; control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "state/conf/conf_section.h"

static void read_segment(struct jsonr_node *obj, const char *name, struct segment *s)
{
	uint32_t vlan = 0;

	conf_get_name(obj, "segment", name, s->name, sizeof(s->name));
	if (!conf_get_u32(obj, "vlan", CONF_SEGMENT_VLAN_MIN, CONF_SEGMENT_VLAN_MAX, &vlan))
		jsonr_fail_key(obj, "vlan",
			       "is missing; give the VLAN that the segment has here, 0 for "
			       "untagged frames");
	s->vlan = (uint16_t)vlan;
	if (!conf_get_u32(obj, "id", CONF_SEGMENT_ID_MIN, CONF_SEGMENT_ID_MAX, &s->id))
		jsonr_fail_key(obj, "id",
			       "is missing; give the number that the segment has at all nodes");
	if (s->id == VLAN_IDS - 1)
		jsonr_fail_key(obj, "id", "is 4095, which no VLAN tag can have; give another");
}

static void check_ids(struct jsonr_node *map, const struct conf *c)
{
	for (uint32_t i = 1; i < c->n_segments; i++)
		if (c->segment[i].id == c->segment[i - 1].id)
			jsonr_fail(map, "%s and %s have the same id %u; each segment has its own",
				   c->segment[i - 1].name, c->segment[i].name, c->segment[i].id);
}

/* A VLAN belongs to one segment, and a segment id must not equal another served VLAN. */
static void check_vlans(struct jsonr_node *map, const struct conf *c)
{
	struct vlan_set mapped = { 0 };

	for (uint32_t i = 0; i < c->n_segments; i++) {
		const struct segment *s = &c->segment[i];

		if (vlan_set_has(&mapped, s->vlan))
			jsonr_fail(map, "%s has VLAN %u as another segment has it; remove one",
				   s->name, s->vlan);
		vlan_set_add(&mapped, s->vlan);
	}
	for (uint32_t i = 0; c->has_vlans && i < c->n_segments; i++) {
		const struct segment *s = &c->segment[i];
		bool own = s->id < VLAN_IDS && vlan_set_has(&c->vlans, (uint16_t)s->id) &&
			   !vlan_set_has(&mapped, (uint16_t)s->id);

		if (own)
			jsonr_fail(
				map,
				"%s has the id %u, and so has VLAN %u, which \"vlan\" names and no "
				"segment: give it one, or take it out of \"vlan\"",
				s->name, s->id, s->id);
	}
}

void conf_read_segments(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *map = conf_map(root, "segment", CONF_SEGMENTS_MAX, "segments");
	struct jsonr_node *obj;
	const char *name;

	if (jsonr_len(map) && c->acceleration)
		jsonr_fail(map, "cannot be used together with acceleration, which does not know of "
				"other VLANs: remove one");
	c->segment = x_calloc(jsonr_len(map), sizeof(*c->segment));
	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++)
		read_segment(obj, name, &c->segment[c->n_segments++]);
	/* Sorted, because order in the document has no meaning. */
	qsort(c->segment, c->n_segments, sizeof(*c->segment), segment_compare);
	check_ids(map, c);
	check_vlans(map, c);
}

/* --- `vlan`: the VLANs of this node --- */

#define VLAN_TEXT_MAX 16

/* Parses "10" or "20-29". */
static bool parse_range(const char *s, struct id_range *r)
{
	char first[VLAN_TEXT_MAX];
	const char *dash = strchr(s, '-');
	unsigned long from, to;

	if (!dash)
		dash = s + strlen(s);
	if ((size_t)(dash - s) >= sizeof(first))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(dash - s), s);
	if (!conf_number(first, CONF_VLAN_MAX, &from) ||
	    !conf_number(*dash ? dash + 1 : first, CONF_VLAN_MAX, &to) || from > to)
		return false;
	*r = (struct id_range){ (uint32_t)from, (uint32_t)to };
	return true;
}

void conf_read_vlans(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *list =
		conf_list(root, "vlan", CONF_VLANS_MAX, "entries; write ranges such as 20-29");
	struct id_range r;
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		c->has_vlans = true;
		if (parse_range(s, &r))
			vlan_set_add_range(&c->vlans, (uint16_t)r.first, (uint16_t)r.last);
		else
			jsonr_fail(list,
				   "\"%.64s\" is no VLAN; write a number such as 10 or a range "
				   "such as 20-29, from 0 (untagged frames) to %d",
				   s, CONF_VLAN_MAX);
	}
}
