// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HELLOs that this node sends. Control thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

struct greeting {
	uint64_t mine, yours;
	const uint8_t *public; /* the key that belongs to `mine`; NULL: it is paired already */
	const struct endpoint *observed;
	uint32_t secret; /* to seal it with; 0: our own */
};

bool greet_send(struct overlay *o, const struct via *v, const struct greeting *g);
/* The same with the value on offer to the peer. */
void greet_offer(struct overlay *o, const struct via *v, struct offer *f, const struct greeting *g);
/* HELLO to an address whose node is not known; returns false where it cannot be sent. */
bool greet_address(struct overlay *o, const struct endpoint *ep, uint64_t value,
		   const struct ephemeral *key);
void greet_tick(struct overlay *o, struct peer *p, mono_t now);
/* Asks the peer for new keys; tries: so often it was asked before. */
void greet_rekey(struct overlay *o, struct peer *p, uint32_t tries);
/* Tells it again of a session in which it was not heard yet. */
void greet_confirm(struct overlay *o, struct peer *p);
/* Tells the peer where we see it now, at a limited rate. */
void greet_observed(struct overlay *o, struct peer *p);
