// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all that is measured on a direct link has in common. Called by the other files of measure/,
 * and by whoever has a PING to send; control thread. Protocol 4.7.
 */
#pragma once

#include "proto/core.h"

/* A PING along v. size: of the datagram, padded; 0: as short as it is. */
void link_ping(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size);
/* Awaits the answer to a PING of the link; size 0: a plain one. */
void link_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size);
/* What is awaited changed. */
void link_expect(struct peer *p);
/* Stages the link's entry in the latency database and sees to what follows from it. */
void link_store(struct overlay *o, struct peer *p);
