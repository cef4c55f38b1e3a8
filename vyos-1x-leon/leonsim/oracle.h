// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The best paths there are, by what nobody can know in time: the true values of the slice, with as
 * many relays as the configuration allows and the same price for each. One thread.
 */
#pragma once

#include "net.h"

struct oracle;

struct oracle *oracle_new(const struct net *n);
void oracle_free(struct oracle *o);
/* Anew for a slice, or because something failed. */
void oracle_update(struct oracle *o, const struct net *n, unsigned slice);
/* Hosts of the best path a -> b, b last; 0 where there is none. */
unsigned oracle_hops(const struct oracle *o, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX]);
