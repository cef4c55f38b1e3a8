// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which addresses are reached inside IPsec, as the IPsec manager (vyos-1x-leon/ipsec) reports it,
 * and why others are not. A report is believed for a while and then forgotten, so that what is
 * shown is never older than that. Nothing here decides about a datagram: that is the kernel's
 * firewall table. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/mono.h"

#define IPSEC_REPORT_S 30 /* a report is believed for so long */

#define IPSEC_TEXT_LEN 200

/* Why an address is not protected, in one sentence. */
struct ipsec_problem {
	struct ip_addr ip; /* family 0: about all of them */
	char text[IPSEC_TEXT_LEN];
};

struct ipsec_report {
	size_t n, n_problems;
	struct ip_addr *ip; /* sorted */
	struct ipsec_problem *problem;
	mono_t at; /* MONO_NEVER: none yet */
};

/* Takes the array, which was allocated; sorts it. Forgets the problems of the report before. */
void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now);
/* Problems of the report that was set last; takes the array, which was allocated. */
void ipsec_report_problems(struct ipsec_report *r, struct ipsec_problem *problem, size_t n);
/* NULL where none was reported, or not lately. ip of family 0: the first that is about all. */
const char *ipsec_problem(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
void ipsec_report_free(struct ipsec_report *r);
