// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pings by operator command; defines overlay_ping(). Control thread.
 */
#pragma once

#include "proto/core.h"

/* Returns true if the answer belongs to such a ping. */
bool ping_pong(struct overlay *o, const struct peer *p, const struct msg_pong *m, mono_t rx);
void ping_due(void *arg, mono_t now);
void ping_free(struct overlay *o);
