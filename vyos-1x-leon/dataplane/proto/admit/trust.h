// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trusted identities and the recently refused identities. Control thread.
 */
#pragma once

#include "proto/core.h"

void trust_init(struct overlay *o);
/* Returns true if the identity is trusted; otherwise counts and reports the refusal. */
bool trust_passes(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* Reports a refused identity. */
void trust_notify(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* The list may have changed: forgets the refused identities. */
void trust_forget(struct overlay *o);
