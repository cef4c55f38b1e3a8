// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of lines to a peer: a line of this node and a line of the peer each. Measures the pairs
 * that are not in use, and changes to another pair if it is better or the one in use fails. Peers
 * without a second line at either end have no pairs. Control thread. Protocol 3.7;
 * doc/decisions/080.
 */
#pragma once

#include "proto/core.h"

/* --- line_pairs.c: the measurement of pairs --- */

/* Each second. */
void lines_periodic(struct overlay *o);
/* After probe_tick(): the pair in use may have missed answers. */
void lines_tick(struct overlay *o, struct peer *p, mono_t now);
void lines_session_up(struct overlay *o, struct peer *p);
void lines_peer_free(struct peer *p);
/* A PING came directly. Returns true if its source is no claim of a move. */
bool lines_ping(struct overlay *o, struct peer *p, const struct endpoint *from,
		const struct msg_ping *m, uint64_t counter);
/* Returns true if the PONG answers a PING of this module. */
bool lines_pong(struct overlay *o, struct peer *p, const struct endpoint *from,
		const struct msg_pong *m, mono_t rx);
/* Returns true if this is an endpoint of a pair, so that a message from there is no move. */
bool lines_has(const struct peer *p, const struct endpoint *ep);
/* Returns true if the endpoint is a pair of a link that is up. New keys do not change the pair in
 * use, because each end chooses the pair of its direction. */
bool lines_choose_for(const struct peer *p, const struct endpoint *ep);

/* --- line_choice.c: the choice of the pair in use and of the second pair, for line_pairs.c --- */

/* Changes the pair in use if it fails or another one is better, then the second pair. */
void line_choose(struct overlay *o, struct peer *p, mono_t now);

/* Conditions of the choice that PINGs of a pair test. */
bool line_works(const struct overlay *o, unsigned own);
/* Path MTU of the pair in use; a second pair needs as much. */
uint16_t line_mtu_in_use(const struct overlay *o, const struct peer *p);
