// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configured peers, tried for ever. proto/ calls a configured peer "seed"; a "peer" is any node
 * with which this node exchanges messages. Owns struct seed. Control thread. Protocol 5.2.
 */
#pragma once

#include "proto/core.h"

void seed_configure(struct overlay *o, const struct conf *old);
void seed_start(struct overlay *o);
void seed_free(struct overlay *o);
/* Withdraws all offered values. */
void seed_withdraw(struct overlay *o);
/* Returns the seed and endpoint to which a value was offered; NULL: none. */
struct seed *seed_of_value(struct overlay *o, uint64_t value, unsigned *index);
struct seed *seed_of_address(struct overlay *o, const struct ip_addr *ip);
/* Returns true for addresses of the host and the mapped address. */
bool seed_is_own(const struct overlay *o, const struct endpoint *ep);
