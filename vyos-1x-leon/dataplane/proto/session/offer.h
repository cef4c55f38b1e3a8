// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session value on offer to a peer. Control thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

/* Returns the value; creates a new value if there is none or the value is old. */
struct offer *offer_of(struct overlay *o, struct peer *p);
/* The value answers this request of the peer from now on. */
void offer_answers(struct offer *f, const struct rx_hello *h);
/* The value was sent to this address. */
void offer_sent(struct offer *f, const struct via *v);
/* Returns true if a peer that shows the value from this address must receive there. */
bool offer_returned(const struct offer *f, const struct endpoint *direct);
void offer_withdraw(struct offer *f); /* wipes */
