// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What two accelerators say to each other over their carrier, a TCP connection: frames, one behind
 * the other. Pure encode and decode. doc/protocol.md has the table and the test vectors.
 *
 *   type (8) | stream (32) | length (24) | `length` bytes of that type
 *
 * A stream is one TCP connection between two hosts. The node that offers it numbers it: the leader
 * (with the lower node-id) from 1, the follower from behind ACCEL_FOLLOWERS. A number is used once
 * in the life of a carrier. 0 is no stream.
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
/* A frame of kind 6 is a TCP segment over IPv6 without extension headers, from the accelerator of
 * one node to that of the other, with ACCEL_PORT at one end. v is of the frame. */
bool accel_is_between(const uint8_t *frame, size_t len, const struct eth_view *v, node_id_t from,
		      node_id_t to);

#define ACCEL_VERSION	2
#define ACCEL_HDR_LEN	8
#define ACCEL_DATA_MAX	65536			/* bytes of a host's in one frame */
#define ACCEL_BODY_MAX	(ACCEL_DATA_MAX + 1024) /* compression may add a little */
#define ACCEL_FRAME_MAX (ACCEL_HDR_LEN + ACCEL_BODY_MAX)
#define ACCEL_SMALL_MAX 128 /* a whole frame of any type but data */
/* Streams that the follower begins have numbers above this one, which is no stream. */
#define ACCEL_FOLLOWERS (1u << 31)

enum accel_type {
	ACCEL_HELLO = 1, /* first on a carrier */
	ACCEL_OFFER,	 /* intercept this connection with me; its near host is held from now on */
	ACCEL_ACCEPT,	 /* drained, the proxy socket exists: bound until TAKE or REFUSE */
	ACCEL_REFUSE,	 /* it stays plain, from either node */
	ACCEL_TAKE,	 /* the node that offered: it is intercepted, for both */
	ACCEL_DATA,	 /* bytes of the host here */
	ACCEL_PACKED,	 /* the same, compressed: the next part of this direction's zstd stream */
	ACCEL_FIN,	 /* the host here has no more to send */
	ACCEL_RESET,	 /* the connection is dead */
	ACCEL_CREDIT,	 /* so many more bytes of data may be sent */
	ACCEL_RELEASE,	 /* leader: give it back from this point on; follower: please do */
	ACCEL_RELEASED,	 /* follower: from this point on */
	ACCEL_DRAINED,	 /* follower: its host has acknowledged all up to the leader's point */
	ACCEL_RETURN,	 /* leader: it is given back, for both */
	ACCEL_PING,	 /* stream 0: answer it */
	ACCEL_PONG,
	ACCEL_FOUND,   /* a frame of the receiver's host, which came in here: the host moved */
	ACCEL_FORWARD, /* one for the sender's host, which is where the receiver sees it */
	ACCEL_TYPES,   /* end of them; 0 is none */
};

/* Why not (REFUSE). A reason that a node does not know is read as the first. */
enum accel_refusal {
	ACCEL_NOT_NOW,	      /* not known there, or it cannot be intercepted yet */
	ACCEL_NO_PLACE,	      /* as many are intercepted as may be */
	ACCEL_NOT_THIS_ONE,   /* the settings there exclude it */
	ACCEL_NOT_WITH_YOU,   /* none with the node that offers, as things are */
	ACCEL_NOT_DRAINED,    /* frames are still in flight after the time for that */
	ACCEL_NO_SOCKET,      /* a proxy socket cannot be made */
	ACCEL_NUMBERS_DIFFER, /* the nodes saw different sequence numbers */
	ACCEL_FIN_DIFFERS,    /* one node saw a FIN, the other did not */
	ACCEL_OPTIONS_DIFFER, /* the nodes saw different options of a SYN */
	ACCEL_CLOCKS_DIFFER,  /* the nodes saw different timestamps */
	ACCEL_REFUSALS,
};

/* Which connection, as the sender sees it. */
struct accel_key {
	uint16_t vlan;		  /* 0: untagged */
	struct ip_addr near, far; /* the host behind the sender; the one behind the receiver */
	uint16_t near_port, far_port;
};

/* What the sender saw in the SYN of a host. */
struct accel_options {
	uint8_t scale; /* TCP_SCALE_UNKNOWN: no SYN was seen */
	bool scaling;  /* false, and a SYN was seen: the host does not scale */
	bool sack;
	uint16_t mss; /* 0: unknown */
};

/* The state of one host, by the frames that the sender saw. */
struct accel_end {
	uint32_t seq;	 /* behind its last byte or FIN */
	uint32_t ack;	 /* its last acknowledgement */
	bool fin;	 /* it has sent a FIN, which seq counts */
	bool has_ts;	 /* it sends timestamps */
	uint32_t ts_val; /* its last timestamp */
	struct accel_options syn;
};

/* Both hosts of a connection, as the sender sees them. */
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
			uint8_t window_log; /* of the sender's zstd stream; 0: it packs nothing */
		} hello;
		struct { /* OFFER; ACCEPT without the key */
			struct accel_key key;
			struct accel_view view;
		} offer;
		struct { /* RELEASE, RELEASED */
			uint32_t point;
		} at;
		struct {		/* REFUSE */
			uint8_t reason; /* enum accel_refusal */
		} refuse;
		struct {
			uint32_t bytes;
		} credit;
		struct { /* PING, PONG */
			uint64_t value;
		} ping;
		struct { /* DATA, PACKED; FOUND, FORWARD: vnet header and frame */
			const uint8_t *data;
			size_t len;
		} data;
	};
};

enum accel_parse {
	ACCEL_OK,
	ACCEL_MORE, /* the frame is not whole yet */
	ACCEL_BAD,  /* this is no peer that we understand */
};
/* Reads the first frame of what came; on ACCEL_OK *used bytes of it, and data points into them. */
enum accel_parse accel_decode(const void *data, size_t len, struct accel_frame *f, size_t *used);

/* Bytes follow what accel_encode() writes. */
bool accel_has_data(uint8_t type);
/* Writes a frame; of data only the header, the bytes follow. Returns the length written, at most
 * ACCEL_SMALL_MAX. */
size_t accel_encode(const struct accel_frame *f, void *out);
