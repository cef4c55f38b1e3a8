// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who else uses a node-id, and telling all whom it concerns. Control thread. Protocol 4.11.
 */
#pragma once

#include "proto/core.h"

/* Another node with the id of a peer in session asks to be it, or a recording does: is somebody
 * there? */
void rival_knocks(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* The same, and it has echoed a value of ours: both are told. */
void rival_proved(struct overlay *o, struct peer *p, const struct rx_hello *h);
/* A HELLO with our own node-id. */
void rival_own_hello(struct overlay *o, const struct rx_hello *h);
/* A CONFLICT outside a session, and in the session with a peer. */
void rival_refused(struct overlay *o, node_id_t source, const struct msg_conflict *c,
		   const struct rx_hello *h);
void rival_conflict(struct overlay *o, const struct peer *p, const struct msg_conflict *c);
/* Our own record keeps coming back newer than we make it. */
void rival_suspected(struct overlay *o);
