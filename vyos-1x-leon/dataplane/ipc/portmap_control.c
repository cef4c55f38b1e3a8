// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between leond and leon-portmap, see portmap_control.h. Pure.
 */
#include "ipc/portmap_control.h"

#include <stdio.h>
#include <string.h>

#include "base/defs.h"

static void make_printable(char reason[PORTMAP_REASON_LEN])
{
	reason[PORTMAP_REASON_LEN - 1] = '\0';
	for (char *c = reason; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (!reason[0])
		snprintf(reason, PORTMAP_REASON_LEN, "no reason");
}

bool portmap_report_check(struct portmap_report *r)
{
	if (r->protocol != PORTMAP_PROTOCOL || r->news > PORTMAP_GONE)
		return false;
	if (r->news != PORTMAP_MAPPED) {
		make_printable(r->reason);
		return true;
	}
	r->reason[0] = '\0';
	if (r->external.ip.family != 4 || !endpoint_is_usable(&r->external) ||
	    !portmap_method_name(r->method) || r->lifetime_s == 0)
		return false;
	memset(r->external.ip.b + 4, 0, sizeof(r->external.ip.b) - 4);
	r->external.line = 0;
	r->lifetime_s = min_of(r->lifetime_s, PORTMAP_LIFETIME_MAX);
	return true;
}

const char *portmap_method_name(uint32_t method)
{
	return method == PORTMAP_NATPMP ? "nat-pmp" : method == PORTMAP_UPNP ? "upnp" : NULL;
}
