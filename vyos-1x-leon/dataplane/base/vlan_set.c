// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges of ids, and VLAN ids as text, see vlan_set.h. Control thread.
 */
#include "base/vlan_set.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

unsigned vlan_set_ranges(const struct vlan_set *s, struct id_range out[VLAN_RANGES_MAX])
{
	unsigned n = 0, at = 0;

	while (vlan_set_next(s, &at, &out[n]))
		n++;
	return n;
}

void vlan_set_format(const struct vlan_set *s, char *buf, size_t len)
{
	struct id_range r;
	size_t at = 0;
	unsigned from = 0;

	buf[0] = '\0';
	while (at + 1 < len && vlan_set_next(s, &from, &r)) {
		at += (size_t)snprintf(buf + at, len - at, "%s%u", at ? ", " : "VLAN ", r.first);
		if (r.last > r.first && at + 1 < len)
			at += (size_t)snprintf(buf + at, len - at, " to %u", r.last);
	}
}

/* --- ranges --- */

unsigned id_ranges_add(struct id_range *out, unsigned n, uint32_t first, uint32_t last)
{
	if (n && out[n - 1].last + 1 == first) {
		out[n - 1].last = last;
		return n;
	}
	out[n] = (struct id_range){ first, last };
	return n + 1;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint32_t gap_before(const struct id_range *r)
{
	return r->first - r[-1].last - 1;
}

/* Closes every gap below a width, and the first `*equal` gaps of exactly this width. */
static uint32_t narrowest_kept(const struct id_range *r, unsigned n, unsigned max, unsigned *equal)
{
	uint32_t *gap = x_calloc(n, sizeof(*gap)), limit;
	unsigned below = 0;

	for (unsigned i = 1; i < n; i++)
		gap[i - 1] = gap_before(&r[i]);
	qsort(gap, n - 1, sizeof(*gap), compare_numbers);
	limit = gap[n - max - 1];
	while (gap[below] < limit)
		below++;
	*equal = n - max - below;
	free(gap);
	return limit;
}

unsigned id_ranges_close(struct id_range *r, unsigned n, unsigned max)
{
	unsigned equal, kept = 0;
	uint32_t limit;

	if (n <= max)
		return n;
	limit = narrowest_kept(r, n, max, &equal);
	for (unsigned i = 1; i < n; i++) {
		uint32_t gap = gap_before(&r[i]);

		/* The write index never overtakes the read index. */
		if (gap < limit || (gap == limit && equal)) {
			equal -= gap == limit;
			r[kept].last = r[i].last;
			continue;
		}
		r[++kept] = r[i];
	}
	return kept + 1;
}
