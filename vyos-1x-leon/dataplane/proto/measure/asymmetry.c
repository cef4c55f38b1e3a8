// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contradicting measurements. Both ends of a link measure the same round trip. If the rows differ
 * by more than measurement errors explain, and for longer than an update needs, one end is wrong or
 * lies. Paths use the worse of the two values (state/latency/path.c); this module detects and
 * reports the contradiction. Control thread. doc/decisions/020.
 */
#include "proto/measure/measure.h"

#include "base/mem.h"
#include "proto/core.h"
#include "proto/view.h"

#define LOOK_MS		5000
#define HOLDS_MS	30000 /* duration before a report */
#define ASYMMETRIES_MAX 64

/* A link with contradicting measurements. */
struct asymmetry {
	uint16_t a, b; /* slots, a > b */
	bool reported;
	mono_t since; /* never: unused */
};

struct asymmetries {
	struct asymmetry link[ASYMMETRIES_MAX];
	struct bucket event;
	mono_t at; /* time of the next check */
};

void asymmetry_init(struct overlay *o)
{
	o->asymmetry = x_new(struct asymmetries);
}

/* Finds or allocates an entry for the link; NULL if all are in use. */
static struct asymmetry *entry_of(struct overlay *o, uint16_t a, uint16_t b)
{
	struct asymmetry *unused = NULL;

	for (unsigned i = 0; i < ASYMMETRIES_MAX; i++) {
		struct asymmetry *d = &o->asymmetry->link[i];

		if (mono_is_never(d->since))
			unused = unused ? unused : d;
		else if (d->a == a && d->b == b)
			return d;
	}
	if (unused)
		*unused = (struct asymmetry){ .a = a, .b = b, .since = overlay_now(o) };
	return unused;
}

static bool is_asymmetric(const struct overlay *o, uint16_t a, uint16_t b)
{
	struct lat_entry there = latdb_get(o->lat, a, b), back = latdb_get(o->lat, b, a);

	return lat_is_asymmetric(&there, &back);
}

static void report_asymmetry(struct overlay *o, uint16_t a, uint16_t b, mono_t now)
{
	const struct node *na = nodedb_at(o->nodes, a), *nb = nodedb_at(o->nodes, b);
	struct asymmetry *d = entry_of(o, a, b);
	struct lat_entry there = latdb_get(o->lat, a, b), back = latdb_get(o->lat, b, a);

	if (!d || d->reported || mono_sub_ms(now, d->since) < HOLDS_MS || !na || !nb)
		return;
	d->reported = true;
	if (bucket_pass(&o->asymmetry->event, now, 6 * NS_PER_S, 60 * NS_PER_S))
		overlay_emit(o, EV_ASYMMETRY, na->id, nb->id,
			     (uint64_t)there.rtt_us << 32 | back.rtt_us, NULL);
}

void asymmetry_periodic(struct overlay *o, mono_t now)
{
	uint16_t n = nodedb_slots(o->nodes);

	/* Checks all pairs: the square of the members. */
	if (mono_before(now, o->asymmetry->at))
		return;
	o->asymmetry->at = overlay_in(o, LOOK_MS / 2, overlay_stretch(o, LOOK_MS));
	for (unsigned i = 0; i < ASYMMETRIES_MAX; i++) {
		struct asymmetry *d = &o->asymmetry->link[i];

		if (!mono_is_never(d->since) && !is_asymmetric(o, d->a, d->b))
			*d = (struct asymmetry){ 0 };
	}
	for (uint16_t a = 0; a < n; a++)
		for (uint16_t b = 0; b < a; b++)
			if (is_asymmetric(o, a, b))
				report_asymmetry(o, a, b, now);
}

bool overlay_is_asymmetric(const struct overlay *o, uint16_t from, uint16_t to)
{
	uint16_t a = from > to ? from : to, b = from > to ? to : from;

	for (unsigned i = 0; i < ASYMMETRIES_MAX; i++)
		if (o->asymmetry->link[i].reported && o->asymmetry->link[i].a == a &&
		    o->asymmetry->link[i].b == b)
			return true;
	return false;
}
