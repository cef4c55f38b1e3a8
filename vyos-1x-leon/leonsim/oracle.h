// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The optimal paths by the true values of the slice, which no node can know in time. The number of
 * relays and the cost of a relay are those of the configuration. One thread.
 */
#pragma once

#include "net.h"
#include "wire/datagram/leon.h"

struct oracle;

struct oracle *oracle_new(const struct net *n);
void oracle_free(struct oracle *o);
/* Computes all paths again for a new slice or after a failure. */
void oracle_update(struct oracle *o, const struct net *n, unsigned slice);
/* Writes the hosts of the best path a -> b, with b last. Returns 0 if there is no path. */
unsigned oracle_hops(const struct oracle *o, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX]);
