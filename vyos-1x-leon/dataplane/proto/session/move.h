// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a peer is, and following it when that changes. Control thread. Protocol 3.6.
 */
#pragma once

#include "proto/core.h"

/* The peer says to be at `ep`: it is followed there once it has answered there. */
void move_claimed(struct overlay *o, struct peer *p, const struct endpoint *ep);
/* True where the PONG of this id is the one that shows it to be there. */
bool move_shown(struct overlay *o, struct peer *p, uint32_t id);
/* Makes `ep`, where it has shown to be, the peer's endpoint. */
void move_to(struct overlay *o, struct peer *p, const struct endpoint *ep);
void move_upkeep(struct overlay *o);
