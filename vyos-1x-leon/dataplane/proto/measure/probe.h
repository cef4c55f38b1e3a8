// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of direct links: probe intervals, evaluation of answers and misses. Control thread.
 * Protocol 4.7, 6.
 */
#pragma once

#include "proto/core.h"

/* Initialises the state of measure/ for a new peer. */
void probe_init(struct overlay *o, struct peer *p);
void probe_session_up(struct overlay *o, struct peer *p);
void probe_periodic(struct overlay *o, mono_t now);
void probe_tick(struct overlay *o, struct peer *p, mono_t now);
uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now);
void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx);
/* Returns true if the answer belongs to a PING of the direct link. */
bool probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct,
		mono_t rx);
/* Data flows over the link. */
void probe_used(struct overlay *o, struct peer *p);
