// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This node's own record; overlay_leave() belongs here. Control thread. Protocol 5.1, 5.2.
 */
#pragma once

#include "proto/core.h"

struct node *own_node(struct overlay *o);
void own_start(struct overlay *o);
/* Makes it anew from configuration and locators; announces it where it differs or `force`. */
void own_refresh(struct overlay *o, bool force);
void own_announce(struct overlay *o);
/* To one peer, and again until its digest shows that it has it. */
void own_send(struct overlay *o, struct peer *p);
void own_tick(struct overlay *o, struct peer *p, mono_t now);
/* Somebody has {incarnation, seq} as this node's own record. */
void own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq);
