// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as leond sees it: the queues that the workers use, the socket at which it asks for the
 * other ends, and what it is told of nodes. While it is connected, TCP is diverted. Control thread.
 */
#pragma once

#include <stdbool.h>

struct leond;
struct snap;

/* The queues, before the workers start. 0 or -errno. */
int accelerator_open(struct leond *d);
/* The socket, after. */
int accelerator_start(struct leond *d);
void accelerator_free(struct leond *d);
/* The worker's end of a queue; -1: none. */
int accelerator_queue(const struct leond *d, unsigned worker);
/* What the snapshot says of it. */
void accelerator_fill_snap(const struct leond *d, struct snap *s);
/* Once a second: nodes and their latencies. */
void accelerator_second(struct leond *d);
