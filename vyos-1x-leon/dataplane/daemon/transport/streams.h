// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program leon-tls, a child of leond that carries datagrams in TLS connections: start, restart,
 * sockets for it, and the table of its connections. A connection is a stream (base/addr.h) for
 * workers and protocol. Exists with `transport tls` only. Control thread. doc/decisions/076.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "ipc/stream_control.h"

struct conf_peer;
struct endpoint;
struct ip_addr;
struct leond;
struct udp;

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
