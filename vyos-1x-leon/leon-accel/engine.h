// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel as a whole: the queues to leond, the namespace's TAPs, one peer for each node, one
 * conn for each connection. All on one thread, that of its loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/siphash.h"
#include "flow.h"
#include "io/netlink.h"
#include "moved.h"
#include "taken.h"
#include "tun.h"
#include "wire/accel_queue.h"
#include "wire/accel_report.h"

#define CONNS_MAX 65536
#define HELD_MAX  (64 << 20)
/*
 * The memory budget of acceleration.md is 768 MiB, half of the MemoryMax of the unit. In MiB: data
 * 128, held frames 64, table 64, zstd windows 128, buffers of 64 inter-proxy connections 64, kernel
 * buffers of these connections 256 (buffers.h); 704 in all.
 */
#define CREDIT_ALL (64u << 20)
#define CREDIT_MIN (16u << 10)
#define LANS_MAX   64
#define VLANS	   4095

struct conn_entry;
struct accel_peer;

/* A TAP for the stand-ins of one VLAN. */
struct lan {
	struct engine *e;
	uint16_t vlan;
	char name[TAP_NAME_MAX + 1];
	struct tun tun;
};

struct engine_counters {
	uint64_t taken, returned, reset, refused; /* connections */
	uint64_t bytes_in, bytes_out;		  /* of hosts, from the carriers and to them */
	uint64_t carrier_in, carrier_out;	  /* the same as they were carried */
	uint64_t queue_full, held_dropped;
	uint64_t full;			  /* connections not taken, for the maximum was */
	uint64_t again;			  /* that were not drained in time: later again */
	uint64_t misuse[ACCEL_N_MISUSES]; /* of all nodes */
	uint64_t fault[ACCEL_N_FAULTS];
};

struct engine {
	struct loop *loop;
	struct nl *nl;
	struct hash_key hash_key;
	/* Of leond. */
	int leond; /* its socket; -1: it is not there */
	node_id_t self;
	struct mac device; /* of leond's interface */
	struct accel_settings settings;
	struct moved moved;
	struct taken_file *taken;
	unsigned n_queues;
	int queue[ACCEL_QUEUES_MAX];
	mono_t heard;	     /* when the last message came from them */
	mono_t said, speaks; /* leond spoke last then, and without a gap since then */
	mono_t ticked;	     /* the last second of the loop */
	mono_t stood, woke;  /* this process stood still from then until then; 0: it never did */
	/* Of the namespace. */
	struct tun carrier;
	bool carrier_is_open;
	int listener;
	struct lan *lan[VLANS]; /* by VLAN; NULL: none yet */
	unsigned n_lans;
	/* Tables. */
	struct accel_peer *peers;
	struct conn_entry *conns; /* conns.c */
	unsigned n_conns, n_taken;
	mono_t full_at;		    /* when one was not taken since the maximum was; 0: never */
	uint64_t undelivered;	    /* bytes, a second ago at most */
	uint32_t plain[ACCEL_WHYS]; /* a second ago at most: by why they are not intercepted */
	uint64_t last_serial;
	struct accel_time forgotten; /* of connections that are not in the table any more */
	int64_t held;
	int64_t promised; /* credit that is not used, and data that waits for near hosts */
	uint64_t windows; /* reserved by pack_reserve() */
	unsigned n_carriers;
	struct timer *tick, *second;
	bool stopping;
	mono_t stop_at;
	struct engine_counters counters;
	uint8_t *message; /* ACCEL_QUEUE_MAX bytes: what was read last */
};

/* Takes over the loop and the file, up to engine_fini(). After it the queues come with
 * engine_setup(). */
void engine_init(struct engine *e, struct loop *loop, struct nl *nl, struct taken_file *taken);
void engine_fini(struct engine *e);
/* What leond says; fd: the queues, taken over. 0 or -errno. */
int engine_setup(struct engine *e, const struct accel_say_frame *f, const int *fd, unsigned n);
void engine_node(struct engine *e, const struct accel_say_frame *f);
/* Whatever it is: leond speaks. */
void engine_said(struct engine *e);
void engine_set(struct engine *e, const struct accel_settings *s);
/* What followers want may be taken. */
bool engine_answers(const struct engine *e);
/* Nothing is to be taken, nothing is any more, and the other accelerators know. */
bool engine_is_idle(const struct engine *e);
/* Gives everything back, then ends the loop. */
void engine_stop(struct engine *e);

/* Sends a message to leond: header, vnet header and frame in one piece, or (vnet NULL: none is
 * needed) in two. hash: which queue. */
void engine_send(struct engine *e, uint32_t hash, enum accel_where where, node_id_t node,
		 const void *vnet, const void *frame, size_t len);
/* The TAP for a VLAN, NULL where it cannot be had. */
struct lan *engine_lan(struct engine *e, uint16_t vlan);
/* Of a frame behind such a header: payload of each segment, 0: it is no super-frame. */
uint16_t engine_gso_size(const uint8_t *vnet);
/* Something is drained or returned: looks every few milliseconds. */
void engine_hurry(struct engine *e);
