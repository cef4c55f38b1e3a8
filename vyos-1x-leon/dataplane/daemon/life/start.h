// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start and stop of everything struct leond owns. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* 0, or -errno with the reason logged; leond_free() in both cases. */
int leond_start(struct leond *d, const char *config_path, struct conf *conf);
/* Until a signal asks it to stop and leave was said, or the loop fails: 0 or -errno.
 * Either is logged. */
int leond_run(struct leond *d);
void leond_free(struct leond *d); /* half-started too */
