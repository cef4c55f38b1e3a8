// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Endpoint mobility of a peer. Control thread. Protocol 3.6.
 */
#pragma once

#include "proto/core.h"

/* A session started with this HELLO. */
void move_session_up(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* An authentic message that is no replay arrived directly from this address. Follows the peer
 * there, unless the message is older than the current endpoint. */
void move_received(struct overlay *o, struct peer *p, const struct endpoint *from,
		   uint64_t counter);
/* Returns true if the PONG with this id answers a PING sent only to the claimed address, which
 * proves the address. */
bool move_proved(struct overlay *o, struct peer *p, uint32_t id);
/* Further endpoint of the peer from which data counts: of its other transport, verified before, or
 * claimed just now. Data therefore arrives while the two ends change the transport. */
struct endpoint move_backup(const struct peer *p);
/* Repeats PINGs to claimed addresses without an answer. */
void move_periodic(struct overlay *o);
