// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The connection of leond to leon-accel: the socket at which leon-accel requests its ends of the
 * queues, and the notifications about nodes. While leon-accel is connected, TCP frames are
 * diverted. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "base/addr.h"

struct leond;
struct node;

/* Opens the socket, once the workers run. */
void accelerator_start(struct leond *d);
/* Reports whether the program is installed. leon-accel has a separate package. */
bool accelerator_is_installed(void);
/* Requests the release of all connections. Returns false if leon-accel is not connected. */
bool accelerator_release(struct leond *d);
/* Applies a new configuration of acceleration. */
void accelerator_apply_conf(struct leond *d);
/* leond is about to end: connections are released. Returns true while the release is in progress.
 * Called repeatedly. */
bool accelerator_stop(struct leond *d);
/* A host has moved to another node, or to here. */
void accelerator_moved(struct leond *d, uint16_t vlan, struct mac mac, const struct node *n);
/* A formerly unknown host is behind the node now. */
/* The node of the slot sent a frame between accelerators with the source of another node. */
void accelerator_foreign(struct leond *d, uint16_t slot);
void accelerator_appeared(struct leond *d, const struct node *n);
void accelerator_free(struct leond *d);
/* Reports nodes and latencies, once a second. */
void accelerator_second(struct leond *d, mono_t now);
