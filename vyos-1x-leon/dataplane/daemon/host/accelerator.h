// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as leond sees it: the socket at which it asks for its ends of the queues, and what it
 * is told of nodes. While it is connected, TCP is diverted. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct leond;
struct node;

/* The socket, when the workers run. */
void accelerator_start(struct leond *d);
/* Is the program here? It is a package of its own. */
bool accelerator_is_installed(void);
/* Path of the control socket of leon-accel. False if it does not fit. */
bool accelerator_control_path(const struct leond *d, char *out, size_t room);
/* It is configured now, or not any more, or otherwise. */
void accelerator_apply_conf(struct leond *d);
/* leond is to end: what is taken is given back. True while that goes on; asked again and again. */
bool accelerator_stop(struct leond *d);
/* A host is behind another node, or this one, now. */
void accelerator_moved(struct leond *d, uint16_t vlan, struct mac mac, const struct node *n);
/* One that was unknown is behind that node now. */
/* The node of the slot sent a frame between accelerators that is not its own. */
void accelerator_foreign(struct leond *d, uint16_t slot);
void accelerator_appeared(struct leond *d, const struct node *n);
void accelerator_free(struct leond *d);
/* Once a second: nodes and their latencies. */
void accelerator_second(struct leond *d);
