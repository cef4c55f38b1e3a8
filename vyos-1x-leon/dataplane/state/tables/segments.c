// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The map of segments.h. Built on the control thread; workers call segments_find().
 */
#include "state/tables/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "wire/message/msg.h"

int segment_compare(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static uint32_t place_of(const struct segments *m, uint32_t id)
{
	return (uint32_t)hash_mix64(id) & m->mask;
}

uint16_t segments_find(const struct segments *m, uint32_t id)
{
	uint32_t i = place_of(m, id);

	while (m->place[i].id && m->place[i].id != id)
		i = (i + 1) & m->mask;
	return m->place[i].id ? m->place[i].vlan : VLAN_NONE;
}

static void add_high(struct segments *m, const struct segment *s)
{
	uint32_t i = place_of(m, s->id);

	while (m->place[i].id)
		i = (i + 1) & m->mask;
	m->place[i] = (struct segment_place){ s->id, s->vlan };
}

static void map_one(struct segments *m, const struct segment *s)
{
	m->id[s->vlan] = s->id;
	if (s->id < VLAN_IDS)
		m->low[s->id] = s->vlan;
	else
		add_high(m, s);
}

struct segments *segments_new(const struct segment *mapped, unsigned n)
{
	struct segments *m;
	uint32_t size = 16;

	if (!n)
		return NULL;
	m = x_new(struct segments);
	while (size < 2 * n)
		size *= 2;
	m->mask = size - 1;
	m->place = x_calloc(size, sizeof(*m->place));
	m->n = n;
	m->mapped = x_calloc(n, sizeof(*m->mapped));
	memcpy(m->mapped, mapped, n * sizeof(*m->mapped));
	qsort(m->mapped, n, sizeof(*m->mapped), segment_compare);
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++) {
		m->id[vlan] = vlan;
		m->low[vlan] = vlan;
	}
	/* A mapped VLAN first loses the default id, as does the VLAN with the new segment id as
	 * default id. */
	for (unsigned i = 0; i < n; i++) {
		m->low[mapped[i].vlan] = VLAN_NONE;
		if (mapped[i].id < VLAN_IDS)
			m->id[mapped[i].id] = SEGMENT_ID_NONE;
	}
	for (unsigned i = 0; i < n; i++)
		map_one(m, &mapped[i]);
	return m;
}

void segments_free(void *p)
{
	struct segments *m = p;

	if (!m)
		return;
	free(m->mapped);
	free(m->place);
	free(m);
}

const struct segment *segments_of(const struct segments *m, uint16_t vlan)
{
	struct segment key = { .id = segments_id(m, vlan) };
	const struct segment *s =
		m ? bsearch(&key, m->mapped, m->n, sizeof(key), segment_compare) : NULL;

	return s && s->vlan == vlan ? s : NULL;
}

unsigned segments_ranges(const struct segments *m, const struct vlan_set *vlans,
			 struct id_range *out, unsigned max)
{
	struct id_range *all = x_calloc(VLAN_IDS, sizeof(*all));
	unsigned n = 0;

	for (uint32_t id = 0; id < VLAN_IDS; id++) {
		uint16_t vlan = segments_vlan(m, id);

		if (vlan != VLAN_NONE && (!vlans || vlan_set_has(vlans, vlan)))
			n = id_ranges_add(all, n, id, id);
	}
	for (uint32_t i = 0; m && i < m->n; i++) {
		const struct segment *s = &m->mapped[i];

		if (s->id >= VLAN_IDS && (!vlans || vlan_set_has(vlans, s->vlan)))
			n = id_ranges_add(all, n, s->id, s->id);
	}
	n = id_ranges_close(all, n, max);
	memcpy(out, all, n * sizeof(*out));
	free(all);
	return n;
}

static void in_range(const struct segments *m, const struct id_range *r, struct vlan_set *out)
{
	const struct segment key = { .id = r->first };
	size_t i = m ? lower_bound(&key, m->mapped, m->n, sizeof(key), segment_compare) : 0;

	for (uint32_t id = r->first; id <= r->last && id < VLAN_IDS; id++) {
		uint16_t vlan = segments_vlan(m, id);

		if (vlan != VLAN_NONE)
			vlan_set_add(out, vlan);
	}
	for (; m && i < m->n && m->mapped[i].id <= r->last; i++)
		vlan_set_add(out, m->mapped[i].vlan);
}

void segments_in(const struct segments *m, const struct id_range *range, unsigned n,
		 struct vlan_set *out)
{
	for (unsigned i = 0; i < n; i++)
		in_range(m, &range[i], out);
}

void segments_of_classes(const struct segments *m, uint64_t classes, struct vlan_set *out)
{
	*out = (struct vlan_set){ 0 };
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++) {
		uint32_t id = segments_id(m, vlan);

		if (id != SEGMENT_ID_NONE && classes & lan_class(id))
			vlan_set_add(out, vlan);
	}
}

uint64_t segments_classes(const struct segments *m, const struct vlan_set *vlans)
{
	uint64_t classes = 0;
	struct id_range r;
	unsigned at = 0;

	while (vlan_set_next(vlans, &at, &r))
		for (uint32_t vlan = r.first; vlan <= r.last; vlan++)
			classes |= lan_class(segments_id(m, (uint16_t)vlan));
	return classes;
}

void segments_limit(const struct segments *m, struct vlan_set *vlans)
{
	for (uint16_t vlan = 0; m && vlan < VLAN_IDS; vlan++)
		if (m->id[vlan] == SEGMENT_ID_NONE)
			vlan_set_remove(vlans, vlan);
}
