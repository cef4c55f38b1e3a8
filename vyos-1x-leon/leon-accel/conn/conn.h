// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tracked connection: the flow and, during an interception, the proxy socket and the stream on
 * the inter-proxy connection. Made for the first frame and freed after a long silence.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/flow.h"
#include "frames/intercepted.h"
#include "wire/accel.h"
#include "ipc/accel_report.h"

struct conn;
struct engine;
struct accel_peer;

/* A message of the queue: origin and kind of a frame, with pointers into the message. */
struct conn_frame {
	bool from_lan;
	bool is_claim; /* leond does not have the source address at the node */
	struct accel_peer *peer;
	struct flow_frame frame;
};
/* Returns false if the connection is not tracked. The frame then goes on unchanged. */
bool conn_frame(struct engine *e, const struct conn_frame *cf, mono_t now);
/* Handles a frame between two hosts of the local LAN, which leond does not forward. The frame
 * matters only for a connection intercepted before the move of a host to this LAN. */
void conn_frame_local(struct engine *e, const struct flow_frame *f, mono_t now);
/* Returns the destination of a packet that the local kernel sends to a host. NULL: none. */
struct conn *conn_of_packet(struct engine *e, uint16_t vlan, const struct tcp_view *t);

/* Handles a message about a stream. c is NULL for a new stream (OFFER). Returns false for an
 * invalid message. */
bool conn_message(struct conn *c, const struct accel_frame *f, mono_t now);
/* Handles an OFFER of the peer. */
void conn_offered(struct engine *e, struct accel_peer *p, const struct accel_frame *f, mono_t now);
/* `carried`: size on the inter-proxy connection in bytes. Returns false if the data exceeds the
 * granted credit. */
bool conn_data(struct conn *c, const void *data, size_t len, size_t carried);
/* Sends at most `max` bytes of the near host in its turn. Returns the number of bytes on the
 * inter-proxy connection, or 0 if the stream has no more data or has ended. */
size_t conn_send(struct conn *c, size_t max);
/* The turn of the stream is over: all data has been sent. */
void conn_turn_over(struct conn *c);
void conn_interproxy_gone(struct conn *c, mono_t now);

/* Resets a connection of the previous process. */
void conn_quench(struct conn *c, const struct intercepted_one *one, mono_t now);
/* Probes the next host of a reset connection. Its answer is refused. */
void conn_probe_reset(struct conn *c);
/* Handles connections that are drained or released. Returns true if there are any. */
bool conns_tick(struct engine *e, mono_t now);
/* leond reports that a host is behind that node. */
void conns_moved(struct engine *e, uint16_t vlan, struct mac mac, node_id_t node, mono_t now);
/* Releases connections without benefit, and removes connections after a long silence. */
void conns_second(struct engine *e, mono_t now);
/* Frames may have bypassed leon-accel from the given time until now. */
void conns_unseen(struct engine *e, mono_t since, mono_t now);
void conns_release_all(struct engine *e, mono_t now);
void conns_reset_all(struct engine *e, mono_t now);
/* Sum over all present and past connections. */
struct accel_time conns_time(const struct engine *e);
/* Writes a page of the tracked connections with a higher serial, and the number of the connections
 * after the page. */
void conns_page(struct engine *e, uint64_t behind, struct jsonw *w, mono_t now);
/* Writes the connections between two endpoints, in either order, with all checks of
 * conn_state.h. */
void conns_explain(struct engine *e, const struct endpoint *a, const struct endpoint *b,
		   struct jsonw *w, mono_t now);
void conns_free(struct engine *e);
