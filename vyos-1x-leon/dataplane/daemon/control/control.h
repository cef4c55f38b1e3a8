// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket. Control thread.
 */
#pragma once

struct leond;

/* Serves the commands. */
int cmds_start(struct leond *d);
/* Ends the traces and pings in progress. */
void probe_jobs_drop(struct leond *d);
