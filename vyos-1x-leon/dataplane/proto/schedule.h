// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler: a module requests work of another module without knowing it. Sets times and arms
 * timers; periodic.c and overlay.c connect the timers with the modules that do the work. Called by
 * all floors above; control thread.
 */
#pragma once

#include "proto/core.h"

/* Arms the peer's timer for the earliest of p->due. Called once after changes of these times, at
 * the entry point from the loop or a datagram. */
void schedule_arm(struct peer *p);
/* Returns true if the work is due, and removes it from the schedule. */
bool schedule_take(struct peer *p, enum due what, mono_t now);
/* Requests a HELLO to the peer within this number of milliseconds. */
void schedule_hello(struct overlay *o, struct peer *p, int64_t within_ms);
/* Requests a PING of the direct link as soon as the minimum interval permits. */
void schedule_probe(struct overlay *o, struct peer *p);

/* Requests an announcement of the own row to all members. */
enum row_urgency { ROW_LATER, ROW_SOON, ROW_NOW };
void schedule_row(struct overlay *o, enum row_urgency urgency);
/* Records the time of an announcement. */
void schedule_row_done(struct overlay *o, mono_t at);

/* Requests a path run: because traffic is being lost, after another failure, or after another
 * change. */
void schedule_paths_urgent(struct overlay *o);
void schedule_paths_now(struct overlay *o);
void schedule_paths_later(struct overlay *o);
/* Records the time of a run. */
void schedule_paths_done(struct overlay *o, mono_t at);

/* Requests a new snapshot from the host: after a change, or after a failure. */
void schedule_snapshot(struct overlay *o);
void schedule_snapshot_now(struct overlay *o);
