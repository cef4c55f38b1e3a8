// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detection and notification of a duplicate node-id. Control thread. Protocol 4.11.
 */
#pragma once

#include "proto/core.h"

/* A HELLO with the node-id of a peer in session, from another node or a replay: requests a proof of
 * presence. */
void duplicate_attempt(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* The other node has echoed our value: notifies both. */
void duplicate_proved(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* A HELLO with our own node-id. */
void duplicate_own_hello(struct overlay *o, const struct rx_hello *h);
/* A CONFLICT outside a session, and one in the session with a peer. */
void duplicate_refused(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		       const struct rx_hello *h);
void duplicate_conflict(struct overlay *o, const struct peer *p, const struct msg_conflict *c);
/* Newer versions of our own record arrive repeatedly. */
void duplicate_suspected(struct overlay *o);
