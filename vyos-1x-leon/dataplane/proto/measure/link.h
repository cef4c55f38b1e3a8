// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common parts of the measurements of a direct link. Called by the other files of measure/ and by
 * senders of PINGs; control thread. Protocol 4.7.
 */
#pragma once

#include "proto/core.h"

/* Sends a PING along v. size: datagram length with padding; 0: no padding. */
void link_ping(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size);
/* Registers a PING of the link as unanswered; size 0: a plain one. */
void link_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size);
/* Time after which a PING counts as unanswered. */
int64_t link_timeout_us(const struct link_filter *f);
/* More probes in a row are unanswered than chance explains. */
bool link_misses_many(const struct overlay *o, const struct peer *p);
/* Sets the number of PINGs unanswered in a row. */
void link_set_misses(struct overlay *o, struct peer *p, uint32_t n);
/* The set of unanswered PINGs changed. */
void link_expect(struct peer *p);
/* Stages the link's entry in the latency database and schedules the consequences. */
void link_store(struct overlay *o, struct peer *p);
