// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session value on offer to a peer. Control thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

/* Returns the value; creates a new value if there is none or the value is old. */
struct handshake *handshake_of(struct overlay *o, struct peer *p);
/* The value answers this request of the peer from now on. */
void handshake_answers(struct overlay *o, struct handshake *f, const struct rx_hello *h);
/* The value was sent to this address. */
void handshake_sent(struct handshake *f, const struct via *v);
/* Returns true if a peer that shows the value from this address must receive there. */
bool handshake_returned(const struct handshake *f, const struct endpoint *direct);
void handshake_cancel(struct handshake *f); /* wipes */
/* Withdraws the values that were not paired in time. Pending peers end earlier. */
void handshake_expire(struct overlay *o, mono_t now);
