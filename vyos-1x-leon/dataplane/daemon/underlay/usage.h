// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links with data traffic. Control thread.
 */
#pragma once

#include "fwd/fwd.h"

struct leond;

/* A link at the last look. */
struct link_use {
	uint64_t link_tx, directed;
	unsigned looks; /* successive ones that saw data */
};
enum use { USE_NONE, USE_FLOODS, USE_DATA };

void usage_start(struct leond *d);
void usage_free(struct leond *d);
/* Evaluates the counters of a look. A stream of flooded frames counts as data. */
enum use usage_look(struct link_use *u, const struct fwd_use *t);
