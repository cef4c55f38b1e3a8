// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pings that people ask for; overlay_ping() belongs here. Control thread.
 */
#pragma once

#include "proto/core.h"

/* True where the answer was to one of these pings. */
bool ping_pong(struct overlay *o, const struct peer *p, const struct msg_pong *m, mono_t rx);
void ping_due(void *arg, mono_t now);
void ping_free(struct overlay *o);
