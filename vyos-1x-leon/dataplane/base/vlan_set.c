// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLAN ids as text, see vlan_set.h. Pure.
 */
#include "base/vlan_set.h"

#include <stdio.h>

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
