// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commands of leonctl itself, without a request to the daemon or with several. Each returns the
 * exit code. `unused` is NULL: the command has no argument.
 */
#pragma once

#include "client/target.h"

/* Checks answers of the daemon for problems. 0: all well; 1: no answer; 2: problems. */
int status_run(struct target *t, const char *unused);
/* Frames of a flow at all nodes on its path, as a pcapng file or a list. Reads the records until
 * the end of the capture or a signal. filter: words such as "host 10.0.0.1 port 80". */
int capture_run(struct target *t, const char *filter);
/* The overlay on a terminal, once a second, until q. */
int top_run(struct target *t, const char *unused);
/* Prints the overlay as one self-contained HTML page (live/map.html). */
int map_print(struct target *t, const char *unused);
/* Serves the metrics of one leond over HTTP, for Prometheus, until a signal ends the process. A
 * separate process (decisions/014), so that HTTP clients reach neither the daemon's thread nor its
 * keys. `where` is ADDRESS or ADDRESS:PORT. */
int serve_metrics(struct target *t, const char *where);
int init_run(struct target *t, const char *unused);
/* `from` is a token, the name of a file with one, or "-". */
int join_run(struct target *t, const char *from);
int leave_run(struct target *t, const char *unused);
/* Prints a random secret; needs no daemon. */
int secret_print(struct target *t, const char *unused);
