// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places of the hosts of a connection, and frames to a host at its present node. Called by conn.c,
 * conns.c and migrated.c. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "ipc/accel_queue.h"

struct conn;
struct flow_frame;

/* Reports whether a host of the connection is at another node than its proxy socket. */
bool place_is_migrated(const struct conn *c);
/* Reports whether the near host is at another node. */
bool place_near_is_migrated(const struct conn *c);
/* Reports whether both hosts are on the local LAN. */
bool place_is_here(const struct conn *c);
/* The peer proves that it has the connection, by a message about the stream. */
void place_received(struct conn *c, mono_t now);
/* Handles a frame of the near host, which states the MACs of both hosts. */
void place_from_near(struct conn *c, const struct flow_frame *f, mono_t now);
/* Sends a frame to a host, at its present node. */
void place_send(struct conn *c, enum accel_where where, const uint8_t *vnet, const uint8_t *frame,
		size_t len);
