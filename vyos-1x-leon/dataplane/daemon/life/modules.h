// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The modules that start, reload, and stop as one list. Control thread.
 */
#pragma once

#include "base/mono.h"

struct leond;

/* Starts the modules in the order of the table; called when device, overlay and workers exist. */
void modules_start(struct leond *d);
/* Applies the new `d->conf` to the modules with an interest in `changes` (enum conf_change). */
void modules_apply(struct leond *d, unsigned changes);
/* Called once a second. */
void modules_second(struct leond *d, mono_t now);
/* Frees the modules in reverse order, started or not; called when overlay and workers are gone. */
void modules_stop(struct leond *d);
