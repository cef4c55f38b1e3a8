// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose identity may be a member here, where the configuration lists them, and who was refused
 * lately. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Is this identity trusted? Where it is not, it is counted and said. */
bool trust_passes(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* Says that it is not. */
void trust_tell(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN]);
/* The list may be another one: who was refused is forgotten. */
void trust_forget(struct overlay *o);
