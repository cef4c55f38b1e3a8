// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The value on offer to a peer. Control thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

/* It, a new one where there is none or it has been out for long. */
struct offer *offer_of(struct overlay *o, struct peer *p);
/* It answers this question of the peer from now on. */
void offer_answers(struct offer *f, const struct rx_hello *h);
/* It went there. */
void offer_sent(struct offer *f, const struct via *v);
/* Does who shows it from there receive there? */
bool offer_returned(const struct offer *f, const struct endpoint *direct);
void offer_withdraw(struct offer *f); /* wipes */
