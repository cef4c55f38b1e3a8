// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which addresses are reached inside IPsec, as the IPsec manager (vyos-1x-leon/ipsec) reports it.
 * A report is believed for a while and then forgotten, so that what is shown is never older than
 * that. Nothing here decides about a datagram: that is the kernel's firewall table. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/mono.h"

#define IPSEC_REPORT_S 30 /* a report is believed for so long */

struct ipsec_report {
	size_t n;
	struct ip_addr *ip; /* sorted */
	mono_t at;	    /* MONO_NEVER: none yet */
};

/* Takes the array, which was allocated; sorts it. */
void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now);
bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
void ipsec_report_free(struct ipsec_report *r);
