// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The own record; defines overlay_set_prefixes() and overlay_set_lan(). Control thread. Protocol
 * 5.1, 5.2.
 */
#pragma once

#include "proto/core.h"

void own_start(struct overlay *o);
/* Rebuilds the record from configuration and addresses; announces it after a change or with
 * `force`. Does nothing before the start and after leaving. */
void own_refresh(struct overlay *o, bool force);
void own_periodic(struct overlay *o, mono_t now);
/* Sends the record to one peer, repeatedly until the digest of the peer confirms the record. */
void own_send(struct overlay *o, struct peer *p);
void own_tick(struct overlay *o, struct peer *p, mono_t now);
/* Sends a leave to all nodes in session; each call repeats it. */
void own_leave(struct overlay *o);
/* Another node has {incarnation, seq} as the own record of this node. */
void own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq);
