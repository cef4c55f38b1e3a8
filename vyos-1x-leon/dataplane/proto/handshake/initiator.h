// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transmission of HELLOs. Control thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

struct initiation {
	uint64_t mine, yours;
	const uint8_t *public; /* public key of `mine`; NULL: already paired */
	const struct endpoint *observed;
	uint32_t secret; /* name of the sealing secret; 0: our own */
};

bool initiator_send(struct overlay *o, const struct via *v, const struct initiation *g);
/* Sends a HELLO with the value on offer to the peer. */
void initiator_handshake(struct overlay *o, const struct via *v, struct handshake *f,
			 const struct initiation *g);
/* Sends a HELLO to an address with an unknown node; returns false if it cannot be sent. */
bool initiator_address(struct overlay *o, const struct endpoint *ep, uint64_t value,
		       const struct ephemeral *key);
void initiator_tick(struct overlay *o, struct peer *p, mono_t now);
/* Requests new keys from the peer; tries: number of earlier requests. */
void initiator_rekey(struct overlay *o, struct peer *p, uint32_t tries);
/* Repeats the HELLO of a session that has no message of the peer yet. */
void initiator_confirm(struct overlay *o, struct peer *p);
/* Reports to the peer the endpoint that this node sees. Returns false if the rate limit delays the
 * report. */
bool initiator_observed(struct overlay *o, struct peer *p);
