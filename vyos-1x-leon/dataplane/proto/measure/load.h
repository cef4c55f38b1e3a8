// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which part of a link's round-trip time our own traffic makes. Control thread.
 * doc/decisions/041.
 */
#pragma once

#include "proto/core.h"

/* Before the answer to a PING of this peer's direct link counts as a sample. */
void load_note(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t sent, mono_t rx,
	       uint32_t rtt_us);
/* Does our own traffic keep a queue on the link? Then what is lost overflowed. */
bool load_is_ours(const struct overlay *o, const struct peer *p);
