// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which nodes critical frames are sent to along two paths (state/pair.h): chosen slowly, left at
 * once when one of the two breaks. Nothing is done where there is no policy. Called by paths.c with
 * each run; control thread.
 */
#pragma once

#include "proto/core.h"

/* True where a snapshot is due. */
bool pairs_run(struct overlay *o, const struct path_params *pp, uint16_t n_slots, mono_t now);
/* When it is to run again although nothing changes; never where there is no policy. */
mono_t pairs_next(const struct overlay *o);
/* The policy is another: the next run looks at all. */
void pairs_apply_conf(struct overlay *o);
void pairs_free(struct overlay *o);
