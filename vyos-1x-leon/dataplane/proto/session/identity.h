// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key that a node-id is pinned to. Control thread. Protocol 3.4.
 */
#pragma once

#include "proto/core.h"

/* Returns true if the signature is from a key that this node may have. */
bool identity_of_hello(struct overlay *o, const struct peer *p, const struct rx_hello *h);
bool identity_of_record(struct overlay *o, struct peer *from, const struct msg_record *r);
/* Pins the node-id to this key. verified: in a session with this node, which is about to start. */
void identity_pin(struct overlay *o, struct node *n, const uint8_t key[MSG_KEY_LEN], bool verified);
