// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection with both hosts on the local LAN, after a host moved during the interception. The
 * proxy sockets deliver the missing data to both hosts through a single port. Called by migrated.c
 * and conns.c. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

struct conn;
struct local_pair_frame;
struct local_pair {
	bool turn;	   /* The turn belongs to the far host. */
	bool is_open;	   /* Frames may be sent to the host. */
	bool is_requested; /* Both hosts were probed for the turn. */
	mono_t turned;
	struct local_pair_frame *first[2]; /* Waiting frames, by host. */
	size_t kept;
};

/* Starts the turns, for a new connection or if the far host has moved to this LAN. */
void local_pair_begin(struct conn *c, mono_t now);
void local_pair_free(struct conn *c);
/* Sends a frame to a host with the address of the other host. */
void local_pair_send(struct conn *c, bool to_far, const uint8_t *vnet, const uint8_t *frame,
		     size_t len);
void local_pair_tick(struct conn *c, mono_t now);
/* Both hosts are on the local LAN. The switches may forward frames for both to this node, because
 * the proxy sockets used both addresses. Probes both hosts, so the answers correct the switches. */
void here_find_hosts(struct conn *c);
