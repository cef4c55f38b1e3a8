// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLAN ids as people write them, see vlan_set.h. Pure.
 */
#include "base/vlan_set.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Gaps of this width and below are closed, and as many as `*equal` says of those one wider. */
static unsigned widest_closed(const struct vlan_set *s, unsigned max, unsigned *equal)
{
	uint16_t gap[VLAN_IDS / 2], want;
	struct vlan_range r, before = { 0 };
	unsigned n = 0, at = 0, below = 0;

	for (unsigned i = 0; vlan_set_next(s, &at, &r); i++, before = r)
		if (i)
			gap[n++] = (uint16_t)(r.first - before.last - 1);
	*equal = 0;
	if (n < max)
		return 0;
	qsort(gap, n, sizeof(gap[0]), compare_numbers);
	want = gap[n - max];
	while (gap[below] < want)
		below++;
	*equal = n - max + 1 - below;
	return want - 1u;
}

unsigned vlan_set_ranges(const struct vlan_set *s, struct vlan_range *out, unsigned max)
{
	struct vlan_range r;
	unsigned n = 0, at = 0, equal, closed = widest_closed(s, max, &equal);

	while (vlan_set_next(s, &at, &r)) {
		unsigned gap = n ? r.first - out[n - 1].last - 1u : VLAN_IDS;

		if (gap == closed + 1 && equal) {
			equal--;
			gap = closed;
		}
		if (gap <= closed)
			out[n - 1].last = r.last;
		else
			out[n++] = r;
	}
	return n;
}

void vlan_set_format(const struct vlan_set *s, char *buf, size_t len)
{
	struct vlan_range r;
	size_t at = 0;
	unsigned from = 0;

	buf[0] = '\0';
	while (at + 1 < len && vlan_set_next(s, &from, &r)) {
		at += (size_t)snprintf(buf + at, len - at, "%s%u", at ? ", " : "VLAN ", r.first);
		if (r.last > r.first && at + 1 < len)
			at += (size_t)snprintf(buf + at, len - at, " to %u", r.last);
	}
}
