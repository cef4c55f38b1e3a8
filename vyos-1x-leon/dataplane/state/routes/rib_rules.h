// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules for announced addresses and prefixes: import rules, own addresses, addresses of the
 * underlay. Called by rib.c. Pure; control thread.
 */
#pragma once

#include "state/routes/rib.h"

/* Checks an address of a node as next-hop: with a route of its own, or as gateway. Sets *why on a
 * refusal, as the other functions do. */
bool rib_address_is_safe(const struct rib_input *in, const struct ip_addr *ip,
			 const struct rib_node *n, enum rib_refusal *why);
/* Checks the import rules. A configured list is used as it is. Without a list only private networks
 * are accepted, and none that this host is connected to. */
bool rib_address_is_accepted(const struct rib_input *in, const struct ip_addr *ip,
			     const struct rib_node *n, enum rib_refusal *why);
bool rib_prefix_is_usable(const struct rib_input *in, const struct prefix *p,
			  const struct rib_node *n, enum rib_refusal *why);
