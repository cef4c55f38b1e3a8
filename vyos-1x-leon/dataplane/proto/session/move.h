// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a peer is, and following it when that changes. Control thread. Protocol 3.6.
 */
#pragma once

#include "proto/core.h"

/* A session began with this HELLO. */
void move_session_up(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* An authentic message that was not replayed came straight from there: follow the peer to that
 * address, unless the message is one that an older address had delayed. */
void move_heard(struct overlay *o, struct peer *p, const struct endpoint *from, uint64_t counter);
/* True where the PONG of this id is the one of a PING that went to where the peer says to be, and
 * nowhere else: it has shown to be there. */
bool move_shown(struct overlay *o, struct peer *p, uint32_t id);
/* Asks those again that did not answer from their new address. */
void move_upkeep(struct overlay *o);
