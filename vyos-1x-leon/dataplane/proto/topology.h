// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The network as far as this node believes it: who may relay, which links relays said are broken,
 * and the way to a node that no believed path leads to. Decides and sends nothing;
 * overlay_path_params() belongs here. Control thread.
 */
#pragma once

#include "proto/core.h"

/* A relay says so. False where that is known already, or there is no room for it. */
bool topology_link_broken(struct overlay *o, uint16_t from, uint16_t to);
/* Forgets the notices that are over; returns when the next one ends. */
mono_t topology_sweep(struct overlay *o, mono_t now);
/* The way to a node that no path leads to, as far as one of the ends of each link claims it: for
 * asking whether it is there. */
bool topology_claimed(struct overlay *o, const struct peer *p, struct path *best);
void topology_forget(struct overlay *o, uint16_t slot);
void topology_free(struct overlay *o);
