// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Announcements of multicast groups between nodes: the own announcement to all nodes with snooping,
 * until acknowledged; announcements of others to the host. Defines overlay_set_groups(). Called by
 * dispatch.c, periodic.c, hello.c and member.c; control thread. Protocol 4.12.
 */
#pragma once

#include "proto/core.h"

void multicast_init(struct overlay *o);
void multicast_free(struct overlay *o);
/* The configuration has changed from `old`. */
void multicast_configure(struct overlay *o, const struct conf *old);
void multicast_take(struct overlay *o, struct peer *p, const struct msg_groups *m);
void multicast_acked(struct overlay *o, struct peer *p, const struct msg_groups_ack *m);
/* Sends the announcement to the peer if it accepts and lacks it. */
void multicast_offer(struct overlay *o, struct peer *p);
/* New keys: the peer may have lost the announcement. */
void multicast_session_up(struct overlay *o, struct peer *p);
/* The announcement of the peer is void: it receives all groups. */
void multicast_forget(struct overlay *o, struct peer *p);
void multicast_tick(struct overlay *o, struct peer *p, mono_t now);
void multicast_peer_free(struct peer *p);
