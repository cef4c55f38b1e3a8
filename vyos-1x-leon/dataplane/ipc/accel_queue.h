// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between leond and leon-accel of an interface, on the same host. A pair of seqpacket
 * sockets for each worker carries frames. The seqpacket socket /run/leon-accel/<interface>.accel
 * carries state. Pure encode and decode; workers, control thread, leon-accel.
 *
 * A message of the queue: where (8) | zero (24) | node-id (32) | struct virtio_net_hdr (80) | frame
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "ipc/accel_settings.h"
#include "wire/bytes.h"

#define ACCEL_QUEUE_HDR 8
#define ACCEL_VNET_LEN	10 /* struct virtio_net_hdr */
/* 64 KiB of an IP packet, Ethernet, two tags, and some. */
#define ACCEL_QUEUE_MAX	  (ACCEL_QUEUE_HDR + ACCEL_VNET_LEN + 65536 + 128)
#define ACCEL_QUEUES_MAX  8
#define ACCEL_QUEUE_BYTES (8 << 20) /* that may wait in one direction of a pair */

/* Source of a frame to leon-accel, or destination of a frame from leon-accel. */
enum accel_where {
	/* The local segment; node: the other end. With the node's own id, to leon-accel: both hosts
	 * are on the local segment. */
	ACCEL_LAN = 1,
	ACCEL_NODE = 2, /* the node, as an ordinary frame */
	ACCEL_PEER = 3, /* the accelerator of the node */
	/* To leon-accel only. An ordinary frame of the node, with a source address that the FDB of
	 * leond has at another node, or does not know. An address frozen at no node is no claim. */
	ACCEL_CLAIM = 4,
};

static inline void accel_queue_put(uint8_t *p, enum accel_where where, node_id_t node)
{
	put_u32(p, (uint32_t)where << 24);
	put_u32(p + 4, node);
}

/* At the socket. The first is leon-accel's, all others are leond's. */
enum accel_notify {
	ACCEL_NOTIFY_HERE = 1, /* leon-accel: version; hand me the queues */
	ACCEL_NOTIFY_SETUP,    /* identity of leond, with a descriptor for each queue */
	ACCEL_NOTIFY_NODE,     /* state of a node, each second and at changes */
	/* rules of interception, first and at changes */
	ACCEL_NOTIFY_SETTINGS,
	ACCEL_NOTIFY_MOVED,   /* a host is behind another node now; the last moves first */
	ACCEL_NOTIFY_RELEASE, /* release all connections */
	ACCEL_NOTIFY_END,
};
#define ACCEL_NOTIFY_VERSION 7
#define ACCEL_NOTIFY_MAX     2048

struct accel_notify_frame {
	uint8_t what; /* enum accel_notify */
	union {
		uint8_t version; /* HERE */
		struct {	 /* SETUP */
			node_id_t self;
			struct mac device; /* of the interface: sender of host probes */
			uint8_t n_queues;
		} setup;
		struct { /* NODE */
			node_id_t id;
			uint32_t rtt_us; /* of the path in use, or 0 */
			/* Bytes of the largest frame that fits a datagram; 0: no accelerator. */
			uint16_t room;
			bool bypassed; /* frames of TCP to and from the node bypass leon-accel */
		} node;
		struct accel_settings settings;
		struct { /* MOVED */
			uint16_t vlan;
			struct mac mac;
			node_id_t node; /* present node */
		} moved;
	};
};
size_t accel_notify_encode(const struct accel_notify_frame *f, uint8_t out[ACCEL_NOTIFY_MAX]);
/* 0 or -EBADMSG. */
int accel_notify_decode(const void *data, size_t len, struct accel_notify_frame *f);
