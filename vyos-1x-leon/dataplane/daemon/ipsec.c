// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of the IPsec manager: see ipsec.h. Control thread.
 */
#include "daemon/ipsec.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return ip_compare(a, b);
}

void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now)
{
	free(r->ip);
	if (n)
		qsort(ip, n, sizeof(*ip), compare);
	*r = (struct ipsec_report){ .n = n, .ip = ip, .at = now };
}

bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now)
{
	if (r->n == 0 || ip->family == 0 || mono_is_never(r->at) ||
	    mono_sub_ms(now, r->at) > IPSEC_REPORT_S * 1000)
		return false;
	return bsearch(ip, r->ip, r->n, sizeof(*ip), compare) != NULL;
}

void ipsec_report_free(struct ipsec_report *r)
{
	free(r->ip);
	*r = (struct ipsec_report){ .n = 0 };
}
