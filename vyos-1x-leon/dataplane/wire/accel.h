// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between two accelerators, called frames. They follow each other on an inter-proxy
 * connection, which is a TCP connection. Pure encode and decode. doc/protocol.md has the table and
 * the test vectors.
 *
 *   type (8) | stream (32) | length (24) | `length` bytes of that type
 *
 * A stream is one TCP connection between two hosts. The node that offers the stream assigns its
 * number: the leader (the lower node-id) from 1, the follower above ACCEL_FOLLOWERS. A number is
 * used once in the lifetime of an inter-proxy connection. 0 is no stream.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct eth_view;

/* An accelerator has the address fd6c:656f:6e00::<node-id> and listens at this TCP port. */
#define ACCEL_PORT	 5366
#define ACCEL_PREFIX_LEN 64
struct ip_addr accel_address(node_id_t id);
/* Checks a frame of kind 6: a TCP segment over IPv6 without extension headers, between the
 * accelerators of two nodes, with ACCEL_PORT at one end. v is the view of the frame. */
bool accel_is_between(const uint8_t *frame, size_t len, const struct eth_view *v, node_id_t from,
		      node_id_t to);

#define ACCEL_VERSION	2
#define ACCEL_HDR_LEN	8
#define ACCEL_DATA_MAX	65536			/* data bytes of one frame */
#define ACCEL_BODY_MAX	(ACCEL_DATA_MAX + 1024) /* compression may add a little */
#define ACCEL_SMALL_MAX 128			/* a whole frame of any type but data */
/* Streams of the follower have numbers above this one, which is no stream. */
#define ACCEL_FOLLOWERS (1u << 31)

enum accel_type {
	ACCEL_HELLO = 1, /* First message of an inter-proxy connection. */
	/* Requests the interception of a connection. The near host of the sender is held from now
	 * on. */
	ACCEL_OFFER,
	/* The connection is drained and the proxy socket exists. The sender is bound until TAKE or
	 * REFUSE. */
	ACCEL_ACCEPT,
	ACCEL_REFUSE, /* The connection stays plain. Sent by either node. */
	ACCEL_TAKE,   /* From the offering node: both nodes intercept the connection. */
	ACCEL_DATA,   /* Data of the near host of the sender. */
	ACCEL_PACKED, /* Compressed data: the next part of the zstd stream of this direction. */
	ACCEL_FIN,    /* The near host of the sender has no more data. */
	ACCEL_RESET,  /* The connection has ended. */
	ACCEL_CREDIT, /* The receiver may send that number of additional data bytes. */
	/* Leader: releases the connection at this point. Follower: requests the release. */
	ACCEL_RELEASE,
	ACCEL_RELEASED, /* Follower: releases the direction of the follower at this point. */
	/* Follower: its host has acknowledged all data up to the point of the leader. */
	ACCEL_DRAINED,
	ACCEL_RETURN, /* Leader: the connection is released, for both nodes. */
	ACCEL_PING,   /* On stream 0. Requests an answer. */
	ACCEL_PONG,
	/* A frame of the receiver's host that arrived at the sender, because the host moved. */
	ACCEL_FOUND,
	ACCEL_FORWARD, /* A frame for the sender's host, which is on the LAN of the receiver. */
	ACCEL_TYPES,   /* Number of types. 0 is not a type. */
};

/* Reason of a REFUSE. A node reads an unknown reason as the first one. */
enum accel_refusal {
	ACCEL_NOT_NOW,	    /* The connection is unknown, or cannot be intercepted yet. */
	ACCEL_NO_PLACE,	    /* The maximum of connections is intercepted. */
	ACCEL_NOT_THIS_ONE, /* The settings exclude the connection. */
	/* No connection with the offering node can be intercepted at present. */
	ACCEL_NOT_WITH_YOU,
	ACCEL_NOT_DRAINED,    /* Frames are still in flight after the time limit. */
	ACCEL_NO_SOCKET,      /* A proxy socket cannot be made. */
	ACCEL_NUMBERS_DIFFER, /* The nodes saw different sequence numbers. */
	ACCEL_FIN_DIFFERS,    /* Only one node saw a FIN. */
	ACCEL_OPTIONS_DIFFER, /* The nodes saw different options of a SYN. */
	ACCEL_CLOCKS_DIFFER,  /* The nodes saw different timestamps. */
	ACCEL_REFUSALS,
};

/* A connection in the view of the sender. */
struct accel_key {
	uint16_t vlan; /* 0: untagged. */
	/* The host behind the sender, and the host behind the receiver. */
	struct ip_addr near, far;
	uint16_t near_port, far_port;
};

/* The same connection in the view of the receiver. */
static inline struct accel_key accel_key_mirrored(const struct accel_key *k)
{
	return (struct accel_key){ k->vlan, k->far, k->near, k->far_port, k->near_port };
}

/* Options of the SYN of a host, as the sender saw them. */
struct accel_options {
	uint8_t scale; /* TCP_SCALE_UNKNOWN: no SYN was seen. */
	bool scaling;  /* false with a known SYN: the host does not scale. */
	bool sack;
	uint16_t mss; /* 0: unknown. */
};

/* State of one host, from the frames that the sender saw. */
struct accel_end {
	uint32_t seq;	 /* Sequence number behind the last byte or FIN. */
	uint32_t ack;	 /* Last acknowledgement of the host. */
	bool fin;	 /* The host has sent a FIN, which `seq` includes. */
	bool has_ts;	 /* The host sends timestamps. */
	uint32_t ts_val; /* Last timestamp of the host. */
	struct accel_options syn;
};

/* Both hosts of a connection in the view of the sender. */
struct accel_view {
	struct accel_end near, far;
};

struct accel_frame {
	uint8_t type;
	uint32_t stream;
	union {
		struct {
			uint8_t version;
			node_id_t node;
			/* Window of the zstd stream of the sender. 0: no compression. */
			uint8_t window_log;
		} hello;
		struct { /* OFFER. ACCEPT without the key. */
			struct accel_key key;
			struct accel_view view;
		} offer;
		struct { /* RELEASE and RELEASED. */
			uint32_t point;
		} at;
		struct {		/* REFUSE. */
			uint8_t reason; /* enum accel_refusal. */
		} refuse;
		struct {
			uint32_t bytes;
		} credit;
		struct { /* PING and PONG. */
			uint64_t value;
		} ping;
		struct { /* DATA and PACKED. FOUND and FORWARD: vnet header and frame. */
			const uint8_t *data;
			size_t len;
		} data;
	};
};

enum accel_parse {
	ACCEL_OK,
	ACCEL_MORE, /* The frame is incomplete. */
	ACCEL_BAD,  /* The input is not valid. */
};
/* Decodes the first frame of the input. On ACCEL_OK, *used is its length, and data points into the
 * input. */
enum accel_parse accel_decode(const void *data, size_t len, struct accel_frame *f, size_t *used);

/* The caller writes the bytes of data behind the output of accel_encode(). */
bool accel_has_data(uint8_t type);
/* Writes a frame, or only the header of a frame with data. Returns the length, at most
 * ACCEL_SMALL_MAX. */
size_t accel_encode(const struct accel_frame *f, void *out);
