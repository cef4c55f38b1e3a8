// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start and stop of all parts of struct leond. Control thread.
 */
#pragma once

struct conf;
struct leond;

/* Returns 0, or -errno after logging; the caller calls leond_free() in both cases. */
int leond_start(struct leond *d, struct conf *conf);
/* Runs until a signal requests the stop and leave was sent (0), or the loop fails (-errno). Logs
 * either. */
int leond_run(struct leond *d);
void leond_free(struct leond *d); /* accepts a partly started object */
