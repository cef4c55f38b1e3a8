// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configured peers, asked for ever; here and in the code below proto/ is called a seed what an
 * operator configures as a peer, while a peer is any node that this one speaks with. Owns struct
 * seed. Control thread. Protocol 5.2.
 */
#pragma once

#include "proto/core.h"

void seed_configure(struct overlay *o, const struct conf *old);
void seed_start(struct overlay *o);
void seed_free(struct overlay *o);
/* Nothing is on offer to anybody any more. */
void seed_withdraw(struct overlay *o);
/* The seed and endpoint that a value was offered to; NULL: none. */
struct seed *seed_of_value(struct overlay *o, uint64_t value, unsigned *index);
struct seed *seed_of_address(struct overlay *o, const struct ip_addr *ip);
