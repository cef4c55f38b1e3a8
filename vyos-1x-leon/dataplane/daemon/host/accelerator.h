// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as leond sees it: the socket at which it asks for its ends of the queues, and what it
 * is told of nodes. While it is connected, TCP is diverted. Control thread.
 */
#pragma once

struct leond;

/* The socket, when the workers run. 0 or -errno. */
int accelerator_start(struct leond *d);
void accelerator_free(struct leond *d);
/* Once a second: nodes and their latencies. */
void accelerator_second(struct leond *d);
