// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New keys for sessions in use, by age and volume, and the end of old ones. Control thread.
 * Protocol 3.3.
 */
#pragma once

#include "proto/core.h"

void rekey_established(struct overlay *o, struct peer *p);
/* A message arrived in the session in use for the first time: the peer has it too. */
void rekey_confirmed(struct overlay *o, struct peer *p);
/* One arrived in the session before. */
void rekey_prev_used(struct overlay *o, struct peer *p);
/* Ends the session with a peer. */
void rekey_expire(struct overlay *o, struct peer *p);
void rekey_upkeep(struct overlay *o, mono_t now);
/* The peer says which secrets it has now. */
void rekey_secrets(struct overlay *o, struct peer *p, const struct msg_secrets *m);
/* The secrets in the configuration, or what it says of data, may have changed. */
void rekey_configure(struct overlay *o, const struct conf *old);
struct keyring *rekey_keyring(const struct overlay *o);
uint8_t rekey_offer(const struct conf *c); /* of data, seal_offer() */
