// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths and their consequences: runs, path errors of relays, reachable nodes, unheard nodes. Called
 * by overlay.c, dispatch.c, periodic.c, session/ and the loop; control thread. Protocol 4.9, 6.
 */
#pragma once

#include "proto/core.h"

void paths_init(struct overlay *o);
/* Executes a run, and requests a snapshot, scheduled by schedule.h or at once. */
void paths_run(void *arg, mono_t now);
void paths_snapshot(void *arg, mono_t now);
void paths_notice(struct overlay *o, struct peer *p, const struct msg_notice *m);
/* Marks nodes without recent messages (their rows do not count), and ends the exclusion of relays.
 * */
void paths_periodic(struct overlay *o, mono_t now);
void paths_forget(struct overlay *o, uint16_t slot);
void paths_free(struct overlay *o);
