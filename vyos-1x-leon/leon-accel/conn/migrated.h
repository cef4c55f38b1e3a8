// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A moved host of an intercepted connection. The frames of the host then arrive at the node of the
 * other host. The other node passes them to the accelerator with the proxy socket (FOUND), and
 * forwards the frames of the proxy socket to the host (FORWARD). So the connection can be released
 * wherever the host is. Called by conns.c and peer_frames.c. Single-threaded.
 */
#pragma once

#include <stdbool.h>

#include "conn/conn.h"
#include "ipc/accel_queue.h"

/* A frame of an intercepted connection, from or for a node without the proxy socket of that host.
 * Returns true if the frame needs no further handling. */
bool migrated_frame(struct conn *c, const struct conn_frame *cf, mono_t now);
/* A frame between two hosts that are both on the local LAN. */
void migrated_both_local(struct conn *c, bool from_near, const struct flow_frame *f, mono_t now);
/* leond reports the move of a host to the node. */
void migrated_update(struct conn *c, struct mac mac, node_id_t node, mono_t now);
/* A message FOUND or FORWARD of the other accelerator. */
void migrated_forwarded(struct conn *c, const struct accel_frame *f, mono_t now);
/* Reports whether the connection cannot be released. Causes: too few frames of the moved host are
 * seen here for too long, or the peer has ended the connection. */
bool migrated_is_lost(const struct conn *c, mono_t now);
