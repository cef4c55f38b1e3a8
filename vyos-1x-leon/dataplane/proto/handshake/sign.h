// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signing and verification of messages. Control thread. Protocol 3.4.
 */
#pragma once

#include "proto/core.h"

/* The identity of this node. */
void sign_set_key(struct overlay *o, const uint8_t secret[DH_KEY_LEN]);
void sign_hello(const struct overlay *o, struct msg_hello *h, node_id_t to);
void sign_conflict(const struct overlay *o, struct msg_conflict *c, node_id_t to);
void sign_own(struct overlay *o); /* called after each change of the own record */
/* Verifies with the key that the message names; does not check whether that key is permitted. */
bool sign_holds_hello(const struct overlay *o, node_id_t from, const struct rx_hello *h);
bool sign_holds_conflict(const struct overlay *o, const struct msg_conflict *c, node_id_t from,
			 node_id_t to);
bool sign_holds_record(const struct overlay *o, const struct msg_record *r);
