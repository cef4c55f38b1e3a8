// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Part of a link's round-trip time caused by own traffic. Control thread. doc/decisions/041.
 */
#pragma once

#include "proto/core.h"

/* Called before the answer to a PING of this peer's direct link is used as a sample. */
void load_note(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t sent, mono_t rx,
	       uint32_t rtt_us);
/* Returns true if own traffic keeps a queue on the link; lost packets then overflowed this
 * queue. */
bool load_is_ours(const struct overlay *o, const struct peer *p);
