// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames from the overlay to the local segment. They are collected over a batch and written
 * at its end, so that related frames are coalesced (coalesce.h). Frames from the overlay end here;
 * no function leads back into the overlay (split horizon). Workers.
 */
#pragma once

#include "fwd/tap/coalesce.h"

struct worker;

struct deliver {
	int fd; /* a TAP queue, -1 none */
	struct coalesce batch;
};

/* Adds a frame with the view v; flushes first if the batch is full. */
void deliver_add(struct worker *w, const struct delivery *d, const struct eth_view *v);
void deliver_flush(struct worker *w);
