// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of a peer, for peer.c (facts), peer_link.c (socket), peers.c (table) and
 * peer_frames.c (received messages).
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "peer/interproxy.h"
#include "engine.h"
#include "frames/fifo.h"
#include "peer/meter.h"
#include "conn/time_saved.h"
#include "peer/share.h"
#include "peer/streams.h"
#include "peer/train.h"

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
	uint16_t room;
	bool bypassed;
	enum peer_state state;
	int fd;
	uint32_t watched;    /* Watched events of the socket. */
	bool somebody_waits; /* A stream waits for free space. */
	bool refuses;	     /* The node has no place, or refuses all connections of this node. */
	enum accel_reason refusal;
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
	struct streams *streams;
	struct node_share share;
	struct accel_node counted;
};

/* Counts bytes on the inter-proxy connection. */
void peer_use(struct accel_peer *p, enum saved_direction d, size_t bytes);
/* Handles a received message. Returns false for an invalid message. */
bool peer_take(struct accel_peer *p, const struct accel_frame *f, mono_t now);

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
