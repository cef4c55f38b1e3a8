// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contradicting measurements. Both ends of a link measure the same round trip. If their rows differ
 * by more than measurement errors explain, and for longer than an update needs, one of them is
 * wrong or lies. Paths use the worse of the two values (state/path.c); this module detects and
 * reports the contradiction. Control thread. doc/decisions/020.
 */
#include "proto/measure/doubt.h"

#include "proto/core.h"
#include "proto/measure/rtt.h"
#include "proto/service.h"

#define LOOK_MS	 5000
#define HOLDS_MS 30000 /* duration before a report */

/* Finds or allocates an entry for the link; NULL if all are in use. */
static struct doubt *entry_of(struct overlay *o, uint16_t a, uint16_t b)
{
	struct doubt *unused = NULL;

	for (unsigned i = 0; i < DOUBTS_MAX; i++) {
		struct doubt *d = &o->doubt.link[i];

		if (mono_is_never(d->since))
			unused = unused ? unused : d;
		else if (d->a == a && d->b == b)
			return d;
	}
	if (unused)
		*unused = (struct doubt){ .a = a, .b = b, .since = overlay_now(o) };
	return unused;
}

static bool is_contradicted(const struct overlay *o, uint16_t a, uint16_t b)
{
	struct lat_entry there = latdb_get(o->lat, a, b), back = latdb_get(o->lat, b, a);

	return lat_contradicts(&there, &back);
}

static void report_contradiction(struct overlay *o, uint16_t a, uint16_t b, mono_t now)
{
	const struct node *na = nodedb_at(o->nodes, a), *nb = nodedb_at(o->nodes, b);
	struct doubt *d = entry_of(o, a, b);
	struct lat_entry there = latdb_get(o->lat, a, b), back = latdb_get(o->lat, b, a);

	if (!d || d->reported || mono_sub_ms(now, d->since) < HOLDS_MS || !na || !nb)
		return;
	d->reported = true;
	if (bucket_pass(&o->doubt.event, now, 6 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_CONTRADICTION, na->id, nb->id,
			     (uint64_t)there.rtt_us << 32 | back.rtt_us, NULL);
}

void doubt_upkeep(struct overlay *o, mono_t now)
{
	uint16_t n = nodedb_slots(o->nodes);

	/* Checks all pairs: the square of the members. */
	if (mono_before(now, o->doubt.at))
		return;
	o->doubt.at = overlay_in(o, LOOK_MS / 2, overlay_stretch(o, LOOK_MS));
	for (unsigned i = 0; i < DOUBTS_MAX; i++) {
		struct doubt *d = &o->doubt.link[i];

		if (!mono_is_never(d->since) && !is_contradicted(o, d->a, d->b))
			*d = (struct doubt){ 0 };
	}
	for (uint16_t a = 0; a < n; a++)
		for (uint16_t b = 0; b < a; b++)
			if (is_contradicted(o, a, b))
				report_contradiction(o, a, b, now);
}

bool overlay_is_suspect(const struct overlay *o, uint16_t from, uint16_t to)
{
	uint16_t a = from > to ? from : to, b = from > to ? to : from;

	for (unsigned i = 0; i < DOUBTS_MAX; i++)
		if (o->doubt.link[i].reported && o->doubt.link[i].a == a && o->doubt.link[i].b == b)
			return true;
	return false;
}
