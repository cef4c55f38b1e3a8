// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PINGs along the path in use, where that has relays. Control thread. Protocol 6.
 */
#pragma once

#include "proto/core.h"

/* A path was chosen, or the direct link failed: is it to be pinged along the path? */
void along_look(struct overlay *o, struct peer *p);
void along_tick(struct overlay *o, struct peer *p, mono_t now);
/* True where the answer was to one of these pings. */
bool along_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t rx);
