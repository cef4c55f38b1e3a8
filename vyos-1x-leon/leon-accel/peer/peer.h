// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accelerator of another node and the inter-proxy connection to it. The connection exists while
 * the node is known and above the latency threshold, so a new stream finds a warm connection. The
 * node with the lower node-id connects, and closes after a minute with a near node without streams.
 * peer.c has the facts about the node, peer_link.c the socket, peers.c the table, peer_frames.c the
 * received messages. conn/ changes `share`, `counted` and `streams` only.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "peer/meter.h"
#include "frames/fifo.h"
#include "ipc/accel_queue.h"
#include "ipc/accel_report.h"
#include "peer/interproxy.h"
#include "peer/share.h"
#include "peer/streams.h"
#include "wire/accel.h"

struct conn;
struct engine;
struct jsonw;

/* Time without attempts after a node refused for lack of a place, or refused all connections of
 * this node. Each attempt costs a connection a round trip, in which it is drained. The time is not
 * longer than the time for which a full node assumes a waiting connection. */
#define PEER_REFUSED_MS 10000
#define PEER_SILENT_MS	10000
#define PEER_MTU_MIN	1280 /* of IPv6 */
#define PEER_HEADERS	72   /* of IPv6 and TCP, with timestamps */

/* State of the inter-proxy connection. */
enum peer_state { PEER_DOWN, PEER_CONNECTING, PEER_GREETING, PEER_UP };

struct accel_peer {
	struct engine *e;
	node_id_t id;
	uint32_t rtt_us;
	/* Bytes of the largest frame that fits a datagram. 0: the node has no accelerator, and its
	 * frames are diverted only for a time after a host moved there. */
	uint16_t room;
	bool bypassed; /* Frames of the node bypass leon-accel. */
	enum peer_state state;
	int fd;
	uint32_t watched;    /* Watched events of the socket. */
	bool somebody_waits; /* A stream waits for free space. */
	bool refuses;	     /* The node has no place, or refuses all connections of this node. */
	enum accel_reason refusal; /* The reason. */
	mono_t since, learned, ponged;
	mono_t needed;	   /* Last time with a stream or with a sufficient latency. */
	unsigned silent;   /* Seconds of the loop since the last byte of the node. */
	mono_t not_before; /* Earliest time of another attempt with the node. */
	struct interproxy interproxy;
	struct train train;  /* Acknowledgements of plain connections. */
	uint64_t remembered; /* Rate of the former inter-proxy connection in bytes per second. */
	uint32_t mtu, first_segments; /* Values of the route. 0: there is no route. */
	uint64_t far_room;	      /* Capacity at the other end, as reported. 0: not reported. */
	struct meter used[2];	      /* Load of the inter-proxy connection, by direction. */
	struct fifo out, in;
	struct packer *packer;
	uint8_t reserved;   /* log2 of the size of the reserved windows. 0: no windows. */
	uint8_t window_log; /* log2 of the window of the packer. */
	struct unpacker *unpacker;
	uint32_t last_stream;
	struct streams streams;
	struct node_share share; /* Part of the table of tracked connections. */
	struct accel_node counted;
};

/* Actions of higher modules for an inter-proxy connection. */
struct peer_ops {
	/* Handles a received message. Returns false for an invalid message. */
	bool (*take)(struct accel_peer *p, const struct accel_frame *f, mono_t now);
	/* Sends at most `max` bytes of a stream in its turn. Returns the number of bytes on the
	 * inter-proxy connection. */
	size_t (*send)(struct conn *c, size_t max);
	void (*turn_over)(struct conn *c); /* All data has been sent. */
	/* The inter-proxy connection of the stream has ended. */
	void (*gone)(struct conn *c, mono_t now);
};
extern const struct peer_ops peer_frames_ops;

/* --- peers.c --- */

struct accel_peer *peer_find(struct engine *e, node_id_t id);
/* Stores the reported values of a node, and makes a peer for a new node. The local node is no
 * peer. */
void peer_learn(struct engine *e, const struct accel_notify_frame *f, mono_t now);
/* Handles an inter-proxy connection from another node. Owns fd. */
void peer_accept(struct engine *e, int fd, mono_t now);
/* Opens and maintains inter-proxy connections. Called once a second. */
void peers_second(struct engine *e, mono_t now);
unsigned peers_attempts(const struct engine *e);
/* Reports whether messages to other accelerators are unsent. */
bool peers_unsent(const struct engine *e);
void peers_write(const struct engine *e, struct jsonw *w);
void peers_free(struct engine *e);

/* --- peer.c --- */

/* leond has recently reported the node, so frames between hosts here and there are diverted. */
bool peer_is_known(const struct accel_peer *p, mono_t now);
/* leond sends messages, but not about the node, so frames of the node bypass leon-accel. */
bool peer_is_left(const struct accel_peer *p, mono_t now);
/* Reports whether mode and latency permit interception, at that percentage of the threshold. */
bool peer_is_far_at(const struct accel_peer *p, uint32_t percent);
bool peer_leads(const struct accel_peer *p); /* The local node leads. */
int64_t peer_rtt_ms(const struct accel_peer *p);
/* Counts a refused input. */
void peer_misuse(struct accel_peer *p, enum accel_misuse m);
/* Counts bytes on the inter-proxy connection. */
void peer_use(struct accel_peer *p, enum saved_direction d, size_t bytes);
/* Bytes per round trip that the inter-proxy connection can carry for one more stream. */
uint64_t peer_room(struct accel_peer *p, enum saved_direction d, mono_t now);
/* A host there has acknowledged bytes of a plain connection. */
void peer_acknowledged(struct accel_peer *p, uint32_t bytes, mono_t now);
/* The node has answered a recent PING, so an offer to it will be answered. */
bool peer_answers(const struct accel_peer *p, mono_t now);
uint32_t peer_new_stream(struct accel_peer *p);
/* Number of streams without a proxy socket: their interception is being negotiated. */
unsigned peer_attempts(const struct accel_peer *p);

/* --- peer_link.c --- */

void peer_notify(struct accel_peer *p, const struct accel_frame *f);
/* The stream has data, and gets turns now or with the next free space (conn_send()). */
void peer_serve(struct accel_peer *p, uint32_t stream);
/* Called by conn_send() only. Returns the number of bytes on the inter-proxy connection. */
size_t peer_send(struct accel_peer *p, uint32_t stream, const void *data, size_t len);
/* Sends a frame of a host with its vnet header. The frame is lost if there is no free space. */
void peer_forward(struct accel_peer *p, uint8_t type, uint32_t stream, const uint8_t *vnet,
		  const uint8_t *frame, size_t len);
/* Adapts the route to the node. Returns false if there is no route. */
bool peer_fit_route(struct accel_peer *p);
/* Uses the socket for the inter-proxy connection. */
void peer_begin(struct accel_peer *p, int fd, enum peer_state state, mono_t now);
void peer_greet(struct accel_peer *p);
void peer_connect(struct accel_peer *p, mono_t now);
void peer_ping(struct accel_peer *p, mono_t now);
void peer_down(struct accel_peer *p, const char *reason, mono_t now);
/* Reports whether messages to the node are unsent. */
bool peer_is_unsent(const struct accel_peer *p);
