// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A host that moves on while its connection is taken. Its frames come in at the node of the other
 * host then, which hands them to the accelerator that has the stand-in, and sends on for it what
 * that has to say to the host: so the connection can be given back, wherever the host is. Called by
 * conn.c and conns.c. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn.h"
#include "wire/accel_queue.h"

/* A frame of a connection that is taken, from or for another node than that of its stand-in. True
 * where that is done with. */
bool away_frame(struct conn *c, const struct conn_frame *cf, mono_t now);
/* One between the two hosts, which are both on the LAN here. */
void away_here(struct conn *c, bool from_near, const struct flow_frame *f, mono_t now);
/* leond saw a host move to that node. */
void away_moved(struct conn *c, struct mac mac, node_id_t node, mono_t now);
/* FOUND or FORWARD of the other accelerator. */
void away_lent(struct conn *c, const struct accel_frame *f, mono_t now);
/* One of its hosts is not where its stand-in is. */
bool away_is(const struct conn *c);
/* Both are on the LAN here. */
bool away_is_here(const struct conn *c);
/* Nothing of the host is seen here where it is now, or not enough for too long: it cannot be given
 * back. */
bool away_is_lost(const struct conn *c, mono_t now);
/* A frame for a host, wherever it is. */
void away_send(struct conn *c, enum accel_where where, const uint8_t *vnet, const uint8_t *frame,
	       size_t len);
