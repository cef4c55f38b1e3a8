// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This node's own record; overlay_set_prefixes() and overlay_set_lan() belong here. Control thread.
 * Protocol 5.1, 5.2.
 */
#pragma once

#include "proto/core.h"

void own_start(struct overlay *o);
/* Makes it anew from configuration and locators; announces it where it differs or `force`. */
void own_refresh(struct overlay *o, bool force);
void own_upkeep(struct overlay *o, mono_t now);
/* To one peer, and again until its digest shows that it has it. */
void own_send(struct overlay *o, struct peer *p);
void own_tick(struct overlay *o, struct peer *p, mono_t now);
/* Says to all in session that this node has left, once more with each call. */
void own_leave(struct overlay *o);
/* Somebody has {incarnation, seq} as this node's own record. */
void own_seen(struct overlay *o, uint64_t incarnation, uint32_t seq);
