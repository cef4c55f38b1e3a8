// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sequence numbers of loop-guard frames that PINGs state (protocol 4.7 and 7). Called by
 * dispatch.c; the daemon calls overlay_set_guard_number() and overlay_guard_bounds(). Control
 * thread.
 */
#pragma once

#include "proto/core.h"

/* A PING of the peer came in a session. */
void guard_stated_ping(struct overlay *o, struct peer *p, const struct msg_ping *m);
