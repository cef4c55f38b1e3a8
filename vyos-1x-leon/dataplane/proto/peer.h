// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of peers. A peer belongs to a node of nodedb by the slot. A peer that has sent a HELLO
 * but proved nothing is pending: few, short-lived, without a slot. A dropped peer stays allocated
 * until the end of the callback, so no caller holds a dangling pointer. Owns struct peer; called by
 * all floors above, on the control thread.
 */
#pragma once

#include "proto/core.h"

struct peer *peer_find(struct overlay *o, node_id_t id);
struct peer *peer_at(const struct overlay *o, uint16_t slot);
/* Finds or creates the peer of a node of nodedb. */
struct peer *peer_of_node(struct overlay *o, const struct node *n);
/* Creates a peer without a node; NULL if too many are pending. */
struct peer *peer_new_pending(struct overlay *o, node_id_t id);
void peer_drop(struct overlay *o, struct peer *p);
void peer_free_dropped(struct overlay *o);
void peer_free_all(struct overlay *o);
void peer_expire_pending(struct overlay *o);
bool peer_is_alive(const struct overlay *o, const struct peer *p);
int64_t peer_alive_ms(const struct overlay *o);
/* The same without the former time after a reload, for the next HELLO. */
int64_t peer_usual_alive_ms(const struct overlay *o);
struct node *peer_node(const struct overlay *o, const struct peer *p); /* NULL while pending */
/* Returns true if the record of the peer has this flag (RECORD_...). */
bool peer_announces(const struct overlay *o, const struct peer *p, uint16_t flag);
/* An authentic message of the peer arrived. */
void peer_received(struct overlay *o, struct peer *p);
