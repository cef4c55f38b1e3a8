// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths and what follows from them: runs, notices of relays, which nodes are reachable, and whom
 * this node has not heard lately. Called by overlay.c, dispatch.c, upkeep.c, session/ and the loop;
 * control thread. Protocol 4.9, 6.
 */
#pragma once

#include "proto/core.h"

/* A run, and saying that a snapshot is due: as agenda.h has it done, or at once. */
void paths_run(void *arg, mono_t now);
void paths_snapshot(void *arg, mono_t now);
void paths_notice(struct overlay *o, struct peer *p, const struct msg_notice *m);
/* Marks those whose rows are not believed any longer, because they were not heard; takes relays
 * again that were avoided for long enough. */
void paths_upkeep(struct overlay *o, mono_t now);
void paths_forget(struct overlay *o, uint16_t slot);
void paths_free(struct overlay *o);
