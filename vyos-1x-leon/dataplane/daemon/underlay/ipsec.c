// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of the IPsec manager, see underlay.h. Control thread.
 */
#include "daemon/underlay/underlay.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return ip_compare(a, b);
}

static bool is_recent(const struct ipsec_report *r, mono_t now)
{
	return !mono_is_never(r->at) && mono_sub_ms(now, r->at) <= IPSEC_REPORT_S * 1000;
}

void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now)
{
	ipsec_report_free(r);
	if (n)
		qsort(ip, n, sizeof(*ip), compare);
	*r = (struct ipsec_report){ .n = n, .ip = ip, .at = now };
}

bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now)
{
	if (r->n == 0 || ip->family == 0 || !is_recent(r, now))
		return false;
	return bsearch(ip, r->ip, r->n, sizeof(*ip), compare) != NULL;
}

void ipsec_report_problems(struct ipsec_report *r, struct ipsec_problem *problem, size_t n)
{
	free(r->problem);
	r->problem = problem;
	r->n_problems = n;
}

const char *ipsec_problem(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now)
{
	for (size_t i = 0; i < r->n_problems && is_recent(r, now); i++)
		if (ip_equal(&r->problem[i].ip, ip))
			return r->problem[i].text;
	return NULL;
}

void ipsec_report_free(struct ipsec_report *r)
{
	free(r->ip);
	free(r->problem);
	*r = (struct ipsec_report){ .n = 0 };
}
