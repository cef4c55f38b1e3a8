// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * New keys for sessions in use, by age and volume, and the end of old sessions. Control thread.
 * Protocol 3.3.
 */
#pragma once

#include "proto/core.h"

void rekey_established(struct overlay *o, struct peer *p);
/* The first message arrived in the current session: the peer has it too. */
void rekey_confirmed(struct overlay *o, struct peer *p);
/* Sends a PING in the current session; the answer shows that the peer has this session too. */
void rekey_speak_up(struct overlay *o, struct peer *p);
/* A message arrived in the previous session. */
void rekey_prev_used(struct overlay *o, struct peer *p);
/* Ends the session with a peer. */
void rekey_expire(struct overlay *o, struct peer *p);
void rekey_periodic(struct overlay *o, mono_t now);
/* Enters the names of the peer's current secrets. */
void rekey_secrets(struct overlay *o, struct peer *p, const struct msg_secrets *m);
/* The configured secrets or data ciphers may have changed. */
void rekey_configure(struct overlay *o, const struct conf *old);
struct keyring *rekey_keyring(const struct overlay *o);
uint8_t rekey_offer(const struct conf *c); /* seal_offer() */
