// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What two accelerators say to each other over their carrier, a TCP connection: frames, one behind
 * the other. Pure encode and decode. doc/protocol.md has the table and the test vectors.
 *
 *   type (8) | stream (32) | length (24) | `length` bytes of that type
 *
 * A stream is one TCP connection between two hosts, numbered by the node that begins: the one that
 * leads (with the lower node-id) from 1, the other from behind ACCEL_FOLLOWERS; a number is not
 * used again while the carrier lives. 0 is none.
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
/* No stream. READY about it: the leader answers what is wanted. */
#define ACCEL_FOLLOWERS (1u << 31)

enum accel_type {
	ACCEL_HELLO = 1, /* first on a carrier */
	ACCEL_OFFER,	 /* leader: let us take this connection; it is drained here from now on */
	ACCEL_WANT,	 /* follower: the same; it is bound until the leader answers */
	ACCEL_ACCEPT,	 /* drained here too, from this point on; of the leader with its TAKE */
	ACCEL_REFUSE,	 /* not this one, for a while */
	ACCEL_READY,	 /* the host here has acknowledged the other's point */
	ACCEL_TAKE,	 /* leader: it is taken, for both */
	ACCEL_ABORT,	 /* leader: it is not, go on as before */
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

/* Why not (REFUSE); others are as the first. */
enum accel_refusal {
	ACCEL_NOT_NOW,	    /* it is not known there, or cannot be taken yet */
	ACCEL_NO_PLACE,	    /* as many are taken as may be */
	ACCEL_NOT_THIS_ONE, /* the settings there exclude it */
	ACCEL_NOT_WITH_YOU, /* none with the node that began, as things are */
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

struct accel_frame {
	uint8_t type;
	uint32_t stream;
	union {
		struct {
			uint8_t version;
			node_id_t node;
			uint8_t window_log; /* of the sender's zstd stream; 0: it packs nothing */
		} hello;
		struct { /* OFFER, WANT */
			struct accel_key key;
			uint32_t point; /* sequence number behind what the host here sent */
			struct accel_options near, far;
		} offer;
		struct { /* ACCEPT */
			uint32_t point;
			struct accel_options near, far;
		} accept;
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
