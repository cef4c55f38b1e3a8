// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transports of links beside UDP, the port mapping, and the programs for them. Control thread.
 * doc/decisions/076.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/loop.h"
#include "base/mono.h"
#include "ipc/portmap_control.h"
#include "ipc/stream_control.h"

struct conf_peer;
struct leond;

/* --- streams.c --- */
/* The program leon-tls, a child of leond that carries datagrams in TLS connections: start,
 * restart, sockets for it, and the table of its connections. A connection is a stream
 * (base/addr.h) for workers and protocol. Exists with `transport tls` only. */

/* Opens the sockets of the workers for streams; called before the workers start. */
int streams_open(struct leond *d);
/* The sockets to leon-tls; NULL: no `transport tls`. */
const struct udp *streams_udp(const struct leond *d);
void streams_start(struct leond *d);
void streams_apply_conf(struct leond *d);
/* At each reload: the files of the certificate may have other content. */
void streams_renew(struct leond *d);
/* Nodes have changed their endpoints. */
void streams_look(struct leond *d, mono_t now);
void streams_second(struct leond *d, mono_t now);
void streams_stop(struct leond *d);

/* Connections that carry datagrams. */
uint32_t streams_links(const struct leond *d);
/* For struct leond_ops. */
const struct endpoint *streams_remote(const struct leond *d, const struct endpoint *local);
unsigned streams_far_ends(const struct leond *d, struct ip_addr **ip);

/* Changes of a connection that this node began. NULL stream: it ended. */
typedef void (*streams_changed_fn)(struct leond *d, uint32_t id, const struct endpoint *stream,
				   const char *reason);
void streams_set_watcher(struct leond *d, streams_changed_fn fn);
/* Begins a connection to the peer, whose address is ip. Behind a proxy, `turn` selects one of the
 * proxy's addresses instead. Returns the id of the connection, or 0 and a sentence in reason. */
uint32_t streams_dial(struct leond *d, const struct conf_peer *peer, const struct ip_addr *ip,
		      unsigned turn, char reason[STREAM_REASON_LEN]);
void streams_close(struct leond *d, uint32_t id);
/* Counters of leon-tls since its start, and those of its predecessors. */
struct stream_counts streams_counts(const struct leond *d);

/* --- fallback.c --- */
/* Transports of the links to configured peers with `tls-port`: TLS if UDP gets no answer for 3
 * s, UDP again as soon as it answers. The node that began a connection decides, and the other
 * one follows. */

void fallback_start(struct leond *d);
/* The list of peers or `transport` changed. Called after seeds_reset() and streams_apply_conf(). */
void fallback_apply_conf(struct leond *d);
void fallback_stop(struct leond *d);

/* State of the connection to configured peer i. */
struct fallback_view {
	const char *state;  /* "idle", "connecting", "connected"; NULL: the peer has no tls-port */
	const char *reason; /* end of the last connection or attempt; NULL: none */
};
struct fallback_view fallback_view(const struct leond *d, uint32_t i);

/* --- portmap.c --- */
/* Port mapping at a gateway with NAT: leond finds the gateway and starts leon-portmap, which
 * requests the mapping. leond checks the reports and announces the mapped address in its record.
 * Exists with `port-mapping` only. */

void portmap_apply_conf(struct leond *d); /* also the start */
void portmap_second(struct leond *d, mono_t now);
void portmap_stop(struct leond *d);

enum portmap_state {
	PORTMAP_IS_NO_GATEWAY,
	PORTMAP_IS_PUBLIC, /* the source address needs no mapping */
	PORTMAP_IS_REQUESTED,
	PORTMAP_IS_MAPPED,
	PORTMAP_IS_PRIVATE, /* the external address is private, and no node sees it */
	PORTMAP_IS_FAILED,
};
struct portmap_view {
	enum portmap_state state;
	struct ip_addr gateway;		 /* family 0: none */
	struct endpoint external;	 /* port 0: no mapping */
	uint32_t method;		 /* enum portmap_method */
	mono_t expires_at;		 /* of the mapping */
	char reason[PORTMAP_REASON_LEN]; /* of the last failure; empty: none */
	uint64_t reports, failures;
};
/* NULL without `port-mapping`. */
const struct portmap_view *portmap_view(const struct leond *d);
const char *portmap_state_name(enum portmap_state s);

/* --- child.c --- */
struct child {
	int control; /* SOCK_SEQPACKET socket to the program. -1: the program does not run */
	pid_t pid;   /* 0: none, or collected */
	mono_t start_at, ended_at;
	uint32_t wait_s; /* before the next start */
};
#define CHILD_INIT                                                                                 \
	{                                                                                          \
		.control = -1, .wait_s = 1                                                         \
	}

/* Starts the program `name` of LEON_LIBEXECDIR, or the program that the environment variable names.
 * The program has its end of the socket pair as descriptor CONFINE_CONTROL_FD. Calls fn for
 * messages and for the end of the program. Returns 0 or -errno. */
struct child_program {
	const char *name, *variable;
	loop_fd_fn fn;
	void *arg;
};
int child_start(struct child *c, struct loop *l, const struct child_program *p);
/* Closes the socket. The program ends by itself then, unless it hangs. */
void child_end(struct child *c, struct loop *l);
/* Delays the next start after child_end(), longer each time. The owner resets wait_s to 1. */
void child_delay(struct child *c);
/* Collects a program that has ended, and kills a program that hangs. Returns true if a start is
 * due. */
bool child_is_due(struct child *c, mono_t now);
/* Kills and collects a program after child_end(). */
void child_kill(struct child *c);
