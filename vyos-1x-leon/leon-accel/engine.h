// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as a whole: the queues to leond, the TAPs of the namespace, one peer for each node,
 * one conn for each connection. All run on the thread of the loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/siphash.h"
#include "flow/flow.h"
#include "io/netlink/netlink.h"
#include "conn/hosts.h"
#include "frames/intercepted.h"
#include "frames/tun.h"
#include "ipc/accel_queue.h"
#include "ipc/accel_report.h"

#define CONNS_MAX 65536
#define HELD_MAX  (64 << 20)
/*
 * The memory budget of acceleration.md is 768 MiB, half of the MemoryMax of the unit. In MiB: data
 * 128, held frames 64, table 64, zstd windows 128, buffers of 64 inter-proxy connections 64, kernel
 * buffers of these connections 256 (peer/interproxy.h); 704 in all.
 */
#define CREDIT_ALL (64u << 20)
#define CREDIT_MIN (16u << 10)
#define LANS_MAX   64
#define VLANS	   4095

struct conn_entry;
struct peer_entry;
struct peer_ops;

/* A TAP for the proxy sockets of one VLAN. */
struct lan {
	struct engine *e;
	uint16_t vlan;
	char name[TAP_NAME_MAX + 1];
	struct tun tun;
};

struct engine {
	struct loop *loop;
	struct nl *nl;
	struct hash_key hash_key;
	/* State of leond. */
	node_id_t self;
	struct mac device; /* MAC address of the interface of leond. */
	struct accel_settings settings;
	struct moved moved;
	struct intercepted_file *intercepted;
	unsigned n_queues;
	int queue[ACCEL_QUEUES_MAX];
	mono_t received; /* Time of the last message from the queues. */
	/* Time of the last message of leond, and start of its messages without a gap. */
	mono_t leond_seen, leond_since;
	mono_t ticked; /* Last one-second tick of the loop. */
	mono_t stall_began,
		stall_ended; /* Start and end of the last stall of leon-accel. 0: no stall. */
	/* State of the namespace. */
	struct tun interproxy;
	bool interproxy_is_open;
	int listener;
	void (*on_lan)(void *lan, int fd, uint32_t events); /* Packets of a TAP. */
	struct lan *lan[VLANS]; /* Indexed by VLAN. NULL: not made yet. */
	unsigned n_lans;
	/* Tables. */
	struct peer_entry *peers;
	const struct peer_ops *peer_ops;
	struct conn_entry *conns; /* Owned by conns.c. */
	struct hosts hosts;	  /* Of the connections. */
	unsigned n_conns, n_intercepted;
	/* Last time at which the maximum prevented an interception. 0: never. */
	mono_t full_at;
	uint64_t last_serial;
	struct accel_time forgotten; /* Time saved by former connections of the table. */
	int64_t held;
	int64_t promised; /* Unused credit, and waiting data for near hosts. */
	uint64_t windows; /* Bytes reserved by pack_reserve(). */
	unsigned n_interproxies;
	struct timer *tick, *second;
	bool stopping;
	mono_t stop_at;
	/* The report to leond, without the values of other fields. `undelivered` and `plain` are
	 * updated once a second. */
	struct accel_totals counters;
	uint8_t *message; /* The last message read, ACCEL_QUEUE_MAX bytes. */
};

/* Owns the loop and the file until engine_fini(). The queues are set later, by engine_setup(). */
void engine_init(struct engine *e, struct loop *loop, struct nl *nl,
		 struct intercepted_file *intercepted);
void engine_fini(struct engine *e);
/* Settings of leond. fd: the queues, owned by the engine afterwards. Returns 0 or -errno. */
int engine_setup(struct engine *e, const struct accel_notify_frame *f, const int *fd, unsigned n);
/* A host has moved. Its frames in the queues are older than the move, and are handled first: a
 * later frame of the host proves that it has returned. */
void engine_moved(struct engine *e, const struct accel_notify_frame *f);
/* Notes a message of leond of any kind. */
void engine_leond_seen(struct engine *e);
void engine_set(struct engine *e, const struct accel_settings *s);
/* Reports whether requests of followers may be accepted. */
bool engine_answers(const struct engine *e);
/* Reports whether interception is disabled, no connection is intercepted, and the other
 * accelerators have been notified. */
bool engine_is_idle(const struct engine *e);
/* Releases all connections, then ends the loop. */
void engine_stop(struct engine *e);

/* The virtio_net_hdr of a complete frame. */
extern const uint8_t no_offload[ACCEL_VNET_LEN];
/* Sends a message to leond: header, vnet header and frame. With vnet NULL, `frame` is the whole
 * message. hash selects the queue. */
void engine_send(struct engine *e, uint32_t hash, enum accel_where where, node_id_t node,
		 const void *vnet, const void *frame, size_t len);
/* Returns the TAP of a VLAN, or NULL and sets errno. ENODEV: all devices are in use. */
struct lan *engine_lan(struct engine *e, uint16_t vlan);
/* Payload of each segment of the frame behind that header. 0: no super-frame. */
uint16_t engine_gso_size(const uint8_t *vnet);
/* Starts the short timer, because a connection is being drained or released. */
void engine_start_tick(struct engine *e);
