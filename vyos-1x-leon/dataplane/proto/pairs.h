// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nodes to which critical frames use two paths (state/latency/pair.h): selected slowly, abandoned
 * at once when one of the two paths breaks. Idle without a policy. Called by paths.c with each run;
 * control thread.
 */
#pragma once

#include "proto/core.h"

void pairs_init(struct overlay *o);
/* Returns true if a snapshot is due. */
bool pairs_run(struct overlay *o, const struct path_params *pp, uint16_t n_slots, mono_t now);
/* Returns the time of the next periodic run; never without a policy. */
mono_t pairs_next(const struct overlay *o);
/* The policy changed: the next run evaluates all nodes. */
void pairs_apply_conf(struct overlay *o);
void pairs_free(struct overlay *o);
