// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of a tracked connection, for the files of conn/, and their functions for each other.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"
#include "conn/conn.h"
#include "peer/meter.h"
#include "engine.h"
#include "flow/flow.h"
#include "flow/proxy_sock.h"
#include "frames/fifo.h"
#include "ipc/accel_queue.h"
#include "ipc/accel_report.h"
#include "peer/share.h"

struct conn;
struct engine;
struct flow_frame;
struct jsonw;

/* Places of the hosts. */
struct conn_migrated {
	node_id_t far_at; /* Present node of the far host. 0: the peer. */
	mono_t met;	  /* Time of the last change of far_at. */
	/* The near host is at another node: last time at which the peer proved that it has the
	 * connection. 0: the near host is here. */
	mono_t near_seen;
	uint8_t host_probes; /* Remaining number of probes for both hosts. */
	struct local_pair local_pair;
};

/* Proxy socket. */
struct conn_socket {
	int fd;		  /* Descriptor. -1: no proxy socket. */
	mono_t made;	  /* Time at which the proxy socket was made. */
	int file_index;	  /* Index in the file of intercepted.h. -1: not in the file. */
	uint32_t watched; /* Watched events. */
	uint32_t written; /* Bytes of the far host in the proxy socket, modulo 2^32. */
	uint32_t read;	  /* Bytes of the near host from the proxy socket, modulo 2^32. */
};

/* Credit, in bytes. */
struct conn_window {
	uint32_t may_send; /* Remaining credit. */
	uint32_t largest;  /* Largest credit so far, which bounds the bytes at the other end. */
	uint32_t given;	   /* Unused credit of the other end. */
};

/* Ends of both directions. */
struct conn_ended {
	/* FIN of the far host: not received, received, and passed to the proxy socket. */
	enum { FAR_SENDS, FAR_FIN_RECEIVED, FAR_FIN_PASSED } far;
	bool near_eof;
	bool lingers; /* Both directions have ended, and the near host has not read all data. */
};

/* Remaining probes for hosts that may not know of the reset. The other accelerator may have
 * released the connection, and resets no host then. */
struct conn_probe_reset {
	uint8_t near, far;
};

struct conn {
	struct engine *e;
	struct accel_peer *peer;
	struct share_link link;
	struct flow flow;
	struct conn_migrated away;
	struct conn_socket socket;
	struct conn_probe_reset ask;
	struct fifo in; /* Bytes for the near host. */
	struct conn_window window;
	struct conn_ended ended;
	/* State of an intercepted connection. */
	struct accel_bytes bytes;
	struct time_saved time_saved;
	/* By direction: bytes that the proxy socket delivered and received. */
	struct meter through[2];
	mono_t benefit_at; /* Last time at which interception had a benefit. */
	uint64_t serial;   /* Selects the queue to leond, too. */
	uint16_t times;	   /* Number of interceptions. */
	/* State of a plain connection. */
	struct meter plain[2]; /* By direction. */
	bool no_benefit;       /* Released because of a low rate. */
	uint8_t refused;       /* enum accel_reason of the last REFUSE, or FULL. 0: none. */
};

static inline struct conn *conn_of(struct flow *f)
{
	return container_of(f, struct conn, flow);
}

extern const struct flow_ops conn_ops;
/* Forgets the proxy socket. The descriptor stays open. */
void conn_detach(struct conn *c);
/* Removes the connection from the file of intercepted.h. */
void conn_unlist(struct conn *c);
/* Time without benefit after which the place of a connection is free for another one. */
#define CONN_NO_BENEFIT_MS 5000
/* Reports whether an intercepted connection has had no benefit for that time. */
bool conn_is_no_benefit_for(const struct conn *c, int64_t ms, mono_t now);
/* Acknowledged bytes, possibly undelivered to the other host, in both directions. */
uint64_t conn_undelivered(const struct conn *c);
/* Releases the connection, or requests its release from the other end. */
void conn_release(struct conn *c, mono_t now);
/* Reports whether both directions have ended. Closes the proxy socket once the host has all data,
 * see conn.c. */
bool conn_end_where_done(struct conn *c);
/* Iterates over the tracked connections in the order of their serials. c NULL: the first one. NULL:
 * no more. */
struct conn *conns_next(const struct engine *e, const struct conn *c);

/* conn_socket.c: the proxy socket. */
/* Makes the device of the VLAN if it is missing. Returns false on failure, which delays the next
 * attempt. Called before data is held. */
bool conn_has_device(struct conn *c, mono_t now);
typedef void (*conn_event_fn)(void *arg, int fd, uint32_t events);
/* Makes the proxy socket, and calls fn for its events. Returns 0 or -errno. */
int conn_open_proxy_sock(struct conn *c, conn_event_fn fn);
bool conn_start_proxy_sock(struct flow *f);
/* Passes the FIN of the far host on, after all of its data. */
void conn_pass_fin(struct conn *c);
void conn_watch(struct conn *c, uint32_t events);
/* Grants the other end the credit that is due. */
void conn_give_credit(struct conn *c);

/* conn_words.c: segments for hosts. */
/* Answers a frame of a host with RST. */
void conn_refuse(struct conn *c, enum accel_where where, const struct flow_frame *frame);
/* Makes the host state its sequence numbers. */
void conn_request_host(struct conn *c, enum accel_where where);
/* Resets the hosts. fd: the proxy socket, or -1. */
void conn_end_by_reset(struct conn *c, int fd);
/* Reports whether a host of a reset connection may not know of the reset. */
bool conn_probes_reset(const struct conn *c);

/* --- conn_words.c ---
 * Places of the hosts of a connection, and frames to a host at its present node. Called by conn.c,
 * conns.c and migrated.c. Single-threaded.
 */

/* Reports whether a host of the connection is at another node than its proxy socket. */
bool place_is_migrated(const struct conn *c);
/* Reports whether the near host is at another node. */
bool place_near_is_migrated(const struct conn *c);
/* Reports whether both hosts are on the local LAN. */
bool place_is_here(const struct conn *c);
/* The peer proves that it has the connection, by a message about the stream. */
void place_received(struct conn *c, mono_t now);
/* Handles a frame of the near host, which states the MACs of both hosts. */
void place_from_near(struct conn *c, const struct flow_frame *f, mono_t now);
/* Sends a frame to a host, at its present node. */
void place_send(struct conn *c, enum accel_where where, const uint8_t *vnet, const uint8_t *frame,
		size_t len);

/* --- migrated.c ---
 * A moved host of an intercepted connection. The frames of the host then arrive at the node of the
 * other host. The other node passes them to the accelerator with the proxy socket (FOUND), and
 * forwards the frames of the proxy socket to the host (FORWARD). So the connection can be released
 * wherever the host is. Called by conns.c and peer_frames.c. Single-threaded.
 */

/* A frame of an intercepted connection, from or for a node without the proxy socket of that host.
 * Returns true if the frame needs no further handling. */
bool migrated_frame(struct conn *c, const struct conn_frame *cf, mono_t now);
/* A frame between two hosts that are both on the local LAN. */
void migrated_both_local(struct conn *c, bool from_near, const struct flow_frame *f, mono_t now);
/* leond reports the move of a host to the node. */
void migrated_update(struct conn *c, struct mac mac, node_id_t node, mono_t now);
/* A message FOUND or FORWARD of the other accelerator. */
void migrated_forwarded(struct conn *c, const struct accel_frame *f, mono_t now);
/* Reports whether the connection cannot be released. Causes: too few frames of the moved host are
 * seen here for too long, or the peer has ended the connection. */
bool migrated_is_lost(const struct conn *c, mono_t now);

/* --- eligibility.c ---
 * Reasons why a tracked connection is not intercepted: the checks of a plain connection, in the
 * order of enum accel_reason. conns.c calls them for each frame, control.c for `explain
 * connection`. Single-threaded.
 */

/* Returns the first check that fails. ACCEL_REASON_NONE: the next frame starts an attempt. */
enum accel_reason eligibility(struct conn *c, mono_t now);
/* Writes all checks with figures into the open object. */
void eligibility_explain(struct conn *c, struct jsonw *w, mono_t now);
/* Reports whether latency and mode permit interception with the node. */
bool eligibility_is_on(const struct conn *c);
/* Reports whether the configuration permits it. */
bool eligibility_is_admitted(const struct conn *c);
/* Both: the connection may stay intercepted. */
bool eligibility_is_wanted(const struct conn *c);
/* Reports whether an intercepted connection is to be released now. */
bool eligibility_is_over(const struct conn *c, mono_t now);
/* Reports whether the maximum of connections is intercepted. */
bool eligibility_is_full(const struct engine *e);
/* `reason` is the enum accel_refusal of the other accelerator. */
enum accel_reason eligibility_of_refusal(uint8_t reason);
/* Reports whether the rate `flow` in that direction passes benefit_present(). */
bool judge_is_worth_keeping(const struct conn *c, enum saved_direction d, uint64_t flow);
