// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is to be done, and when: every module can have work of another one done soon without knowing
 * it. Sets times and arms timers and does none of the work itself (upkeep.c and overlay.c connect
 * the timers to those who do). Called by all floors above; control thread.
 */
#pragma once

#include "proto/core.h"

/* Arms the peer's timer for the first of p->due. To be called after a change of those times,
 * once, by whoever the loop or a datagram has called. */
void agenda_arm(struct peer *p);
/* Is it time for that? It is taken off the agenda then. */
bool agenda_take(struct peer *p, enum due what, mono_t now);
/* HELLO to the peer, as something about it changed: within so many milliseconds. */
void agenda_hello(struct overlay *o, struct peer *p, int64_t within_ms);
/* A PING of the direct link, as soon as the least distance between two allows. */
void agenda_probe(struct overlay *o, struct peer *p);

/* The own row goes to all members. */
enum row_urgency { ROW_LATER, ROW_SOON, ROW_NOW };
void agenda_row(struct overlay *o, enum row_urgency urgency);

/* Paths are computed anew: after a failure, and after any other change. */
void agenda_paths_now(struct overlay *o);
void agenda_paths_later(struct overlay *o);

/* The host makes a new snapshot: what is in one changed, and where a failure is what changed. */
void agenda_snapshot(struct overlay *o);
void agenda_snapshot_now(struct overlay *o);
