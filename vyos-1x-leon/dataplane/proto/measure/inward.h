// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of a receiver's line in PONGs: what this node asks each sender to keep below, and what it
 * is asked itself. overlay_set_share(), overlay_share() and overlay_asked() belong
 * here. Control thread.
 * Protocol 4.7; doc/decisions/052.
 */
#pragma once

#include "proto/core.h"

void inward_fill(const struct peer *p, struct msg_pong *m);
/* A PONG of the direct link came. */
void inward_answer(struct overlay *o, struct peer *p, const struct msg_pong *m);
/* Ends what was not said again for too long; each second. */
void inward_expire(struct overlay *o, struct peer *p);
/* The peer goes away, and with it what it asked. */
void inward_end(struct overlay *o, struct peer *p);
