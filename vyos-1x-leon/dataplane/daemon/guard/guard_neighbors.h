// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of nodes received in a VLAN, in the order of their ranks. Part of the state machine of
 * the loop guard (loop_guard.h). Pure; control thread.
 */
#pragma once

#include "daemon/guard/loop_guard.h"

/* The peer of an entry; NULL if another node has its place. */
struct guard_peer *guard_neighbor_peer(struct guard *g, const struct guard_neighbor *h);
/* Returns the index of a node in the list, or n_received. */
unsigned guard_neighbor_find(const struct guard_vlan *v, node_id_t node);
/* Inserts a node in order. Returns false if the list is full. */
bool guard_neighbor_insert(struct guard_vlan *v, const struct guard_neighbor *h);
void guard_neighbor_remove(struct guard_vlan *v, unsigned i);
/* Reports whether a later frame of the node was accepted before. A frame farther back than the
 * window is a genuine frame after a forged frame: see guard_peer_takes(). */
bool guard_neighbor_is_overtaken(const struct guard_neighbor *h, const struct guard_frame *f);
/* Counts the shared VLANs of each peer. */
void guard_count_shared(struct guard *g);
/* A node with reception of the local guards sends a guard each GUARD_FAST_MS. */
void guard_find_silent(struct guard *g);
