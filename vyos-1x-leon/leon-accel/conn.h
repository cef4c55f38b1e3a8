// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection that is followed: its flow, and while it is taken the stand-in and its stream on the
 * carrier. Made for the first frame of a connection, freed after a long silence. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"
#include "taken.h"
#include "wire/accel.h"
#include "wire/accel_report.h"

struct conn;
struct engine;
struct accel_peer;

/* One of the queue: where it came from, and what it is; pointers into the message. */
struct conn_frame {
	bool from_lan;
	bool is_claim; /* from a node behind which leond does not have its source address */
	struct accel_peer *peer;
	struct flow_frame frame;
};
/* False where the connection is not followed: the frame goes on as it came. */
bool conn_frame(struct engine *e, const struct conn_frame *cf, mono_t now);
/* One between two hosts of the LAN here, which leond does not forward: it is of a connection that
 * was taken while one of them was elsewhere, or it is left alone. */
void conn_frame_here(struct engine *e, const struct flow_frame *f, mono_t now);
/* A packet of the kernel here for a host: where it goes. NULL: nowhere. */
struct conn *conn_of_packet(struct engine *e, uint16_t vlan, const struct tcp_view *t);
/* One of the stand-in. */
void conn_to_near(struct conn *c, const uint8_t *vnet, const uint8_t *frame, size_t len);
const struct flow *conn_flow(const struct conn *c);
struct accel_peer *conn_peer(const struct conn *c);
uint32_t conn_hash(const struct conn *c);

/* A message of the carrier about a stream; c NULL: of one that is new (OFFER). False: nonsense. */
bool conn_message(struct conn *c, const struct accel_frame *f, mono_t now);
/* An OFFER of the peer. */
void conn_offered(struct engine *e, struct accel_peer *p, const struct accel_frame *f, mono_t now);
/* carried: bytes of it on the carrier. False: more than the credit that was given. */
bool conn_data(struct conn *c, const void *data, size_t len, size_t carried);
/* Its turn on the carrier: sends at most `max` bytes of the near host. Returns how many bytes of
 * the carrier they took; 0: there are no more, or the stream has ended. */
size_t conn_send(struct conn *c, size_t max);
/* It has sent what there was. */
void conn_turn_over(struct conn *c);
void conn_carrier_gone(struct conn *c, mono_t now);

/* One that the process before left behind: its host is told that it is dead. */
void conn_bury(struct conn *c, const struct taken_one *one, mono_t now);
/* Asks the near host where it is, or both where both are here; what they answer is refused. */
void conn_ask(struct conn *c);
/* Both hosts are on the LAN here, and its switches may believe them behind this node, since its
 * stand-ins spoke for them: they are asked, and what they answer goes everywhere. */
void conn_find_hosts(struct conn *c);
/* Those that are drained or returned; true where there are any. */
bool conns_tick(struct engine *e, mono_t now);
/* A host is behind that node now, says leond. */
void conns_moved(struct engine *e, uint16_t vlan, struct mac mac, node_id_t node, mono_t now);
/* Gives back what needs it no longer, forgets what is silent. */
void conns_second(struct engine *e, mono_t now);
/* Since then, until now, frames may have gone past leon-accel. */
void conns_unseen(struct engine *e, mono_t since, mono_t now);
void conns_release_all(struct engine *e, mono_t now);
void conns_reset_all(struct engine *e, mono_t now);
/* Of all that there were. */
struct accel_time conns_time(const struct engine *e);
/* All that are followed, behind the one with this serial. */
void conns_page(struct engine *e, uint64_t behind, struct accel_page *page, mono_t now);
struct jsonw;
void conns_write(const struct engine *e, struct jsonw *w);
/* Writes the connections between two endpoints, in either order, with all checks of judge.h. */
void conns_explain(struct engine *e, const struct endpoint *a, const struct endpoint *b,
		   struct jsonw *w, mono_t now);
void conns_free(struct engine *e);
