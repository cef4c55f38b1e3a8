// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames out of the overlay onto the local segment. They are collected over a batch and
 * written at its end, so that what belongs together is written together (coalesce.h). Workers. A
 * frame that came out of the overlay ends here; nothing leads from here back into it (split
 * horizon).
 */
#pragma once

#include "fwd/coalesce.h"

struct worker;

struct deliver {
	int fd; /* a TAP queue, -1 none */
	struct coalesce batch;
};

/* Takes a frame of which v is the view; flushes first where the batch is full. */
void deliver_add(struct worker *w, const struct delivery *d, const struct eth_view *v);
void deliver_flush(struct worker *w);
