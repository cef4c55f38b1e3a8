// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits of ingress shaping in PONGs: the limit requested from each sender, and the limit
 * received from it. Defines overlay_set_share(), overlay_share() and overlay_requested_kbits().
 * Control thread. Protocol 4.7; doc/decisions/039.
 */
#pragma once

#include "proto/core.h"

void ingress_fill(const struct peer *p, struct msg_pong *m);
/* Enters a PONG of the direct link. */
void ingress_answer(struct overlay *o, struct peer *p, const struct msg_pong *m);
/* Expires limits without a refresh; called each second. */
void ingress_expire(struct overlay *o, struct peer *p);
/* The peer ends: drops the limit. */
void ingress_end(struct overlay *o, struct peer *p);
