// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PINGs along a path in use with relays. Control thread. Protocol 6.
 */
#pragma once

#include "proto/core.h"

/* Called after a path was selected or the direct link failed: starts or stops PINGs along the
 * path. */
void path_probe_update(struct overlay *o, struct peer *p);
void path_probe_tick(struct overlay *o, struct peer *p, mono_t now);
/* Called at short intervals: starts PINGs to nodes to which data began to flow. */
void path_probe_look(struct overlay *o);
/* Returns true if the answer belongs to such a PING. */
bool path_probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t rx);
