// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IPsec state of addresses as reported by the IPsec manager (vyos-1x-leon/ipsec), with problems. A
 * report expires, so that displayed state is never older. This module decides nothing about
 * datagrams: the kernel's firewall table does. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/mono.h"

#define IPSEC_REPORT_S 30 /* lifetime of a report */

#define IPSEC_TEXT_LEN 200

/* Reason why an address is not protected, as one sentence. */
struct ipsec_problem {
	struct ip_addr ip; /* family 0: concerns all addresses */
	char text[IPSEC_TEXT_LEN];
};

struct ipsec_report {
	size_t n, n_problems;
	struct ip_addr *ip; /* sorted */
	struct ipsec_problem *problem;
	mono_t at; /* MONO_NEVER: no report yet */
};

/* Takes the allocated array and sorts it. Clears the problems of the previous report. */
void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now);
/* Sets the problems of the last report; takes the allocated array. */
void ipsec_report_problems(struct ipsec_report *r, struct ipsec_problem *problem, size_t n);
/* Returns the recent problem of an address; NULL: none. ip of family 0: the first problem of all
 * addresses. */
const char *ipsec_problem(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
void ipsec_report_free(struct ipsec_report *r);
