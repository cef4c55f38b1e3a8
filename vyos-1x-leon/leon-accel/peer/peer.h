// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accelerator of another node and the inter-proxy connection to it. The connection exists while
 * the node is known and above the latency threshold, so a new stream finds a warm connection. The
 * node with the lower node-id connects, and closes after a minute with a near node without streams.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "frames/fifo.h"
#include "conn/time_saved.h"
#include "peer/share.h"
#include "wire/accel.h"
#include "ipc/accel_queue.h"
#include "ipc/accel_report.h"

struct conn;
struct engine;
struct accel_peer;

/* Actions of higher modules for an inter-proxy connection. */
struct peer_ops {
	/* Handles a received message. Returns false for an invalid message. */
	bool (*take)(struct accel_peer *p, const struct accel_frame *f, mono_t now);
	/* Serves a stream in its turn, see streams.h. */
	size_t (*send)(struct conn *c, size_t max);
	void (*turn_over)(struct conn *c);
	/* The inter-proxy connection of the stream has ended. */
	void (*gone)(struct conn *c, mono_t now);
};
extern const struct peer_ops peer_frames_ops;

struct accel_peer *peer_find(struct engine *e, node_id_t id);
/* Stores the reported values of a node, and makes a peer for a new node. The local node is no
 * peer. */
void peer_learn(struct engine *e, const struct accel_notify_frame *f, mono_t now);
/* Handles an inter-proxy connection from another node. Owns fd. */
void peer_accept(struct engine *e, int fd, mono_t now);
/* Opens and maintains inter-proxy connections. Called once a second. */
void peers_second(struct engine *e, mono_t now);
/* The counters of the node. */
struct accel_node *peer_counted(struct accel_peer *p);
/* The share of the node in the table of tracked connections. */
struct node_share *peer_share(struct accel_peer *p);
/* Counts a refused input. */
void peer_misuse(struct accel_peer *p, enum accel_misuse m);
/* Reports whether messages to other accelerators are unsent. */
bool peers_unsent(const struct engine *e);
struct jsonw;
void peers_write(const struct engine *e, struct jsonw *w);
void peers_free(struct engine *e);

node_id_t peer_id(const struct accel_peer *p);
bool peer_is_up(const struct accel_peer *p);
/* leond has recently reported the node, so frames between hosts here and there are diverted. */
bool peer_is_known(const struct accel_peer *p, mono_t now);
/* leond sends messages, but not about the node, so frames of the node bypass leon-accel. */
bool peer_is_left(const struct accel_peer *p, mono_t now);
/* The node has an accelerator, with or without a path to it at present. Frames of other nodes are
 * diverted only for a time after a host moved there. */
bool peer_accelerates(const struct accel_peer *p);
/* Frames of the node bypass leon-accel. */
bool peer_is_bypassed(const struct accel_peer *p);
bool peer_leads(const struct accel_peer *p); /* The local node leads. */
int64_t peer_rtt_ms(const struct accel_peer *p);
uint32_t peer_rtt_us(const struct accel_peer *p);
/* Bytes per round trip that the inter-proxy connection can carry for one more stream. */
uint64_t peer_room(struct accel_peer *p, enum saved_direction d, mono_t now);
/* A host there has acknowledged bytes of a plain connection. */
void peer_acknowledged(struct accel_peer *p, uint32_t bytes, mono_t now);
/* The node has answered a recent PING, so an offer to it will be answered. */
bool peer_answers(const struct accel_peer *p, mono_t now);
/* The node has recently refused a connection for a reason that holds for other connections. */
bool peer_refuses(const struct accel_peer *p, mono_t now);
/* The reason of the refusal. */
enum accel_reason peer_refusal(const struct accel_peer *p);
uint32_t peer_new_stream(struct accel_peer *p);

void peer_notify(struct accel_peer *p, const struct accel_frame *f);
/* The stream has data, and gets turns now or with the next free space (conn_send()). */
void peer_serve(struct accel_peer *p, uint32_t stream);
/* Reports whether the stream waits for a turn. conn_turn_over() is called after the last turn. */
bool peer_serves_later(struct accel_peer *p, uint32_t stream);
/* Called by conn_send() only. Returns the number of bytes on the inter-proxy connection. */
size_t peer_send(struct accel_peer *p, uint32_t stream, const void *data, size_t len);

/* Sends a frame of a host with its vnet header. The frame is lost if there is no free space. */
void peer_forward(struct accel_peer *p, uint8_t type, uint32_t stream, const uint8_t *vnet,
		  const uint8_t *frame, size_t len);

/* Streams and conns. */
void peer_bind(struct accel_peer *p, uint32_t stream, struct conn *c);
void peer_unbind(struct accel_peer *p, uint32_t stream);
unsigned peer_streams(const struct accel_peer *p);
/* Number of streams without a proxy socket: their interception is being negotiated. */
unsigned peer_attempts(const struct accel_peer *p);
unsigned peers_attempts(const struct engine *e);
