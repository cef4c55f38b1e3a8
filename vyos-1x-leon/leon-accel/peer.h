// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accelerator of another node and the carrier to it: a TCP connection, kept while the node is
 * known and far enough, so that it is warm when it is needed. The lower node-id connects. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "fifo.h"
#include "saving.h"
#include "share.h"
#include "wire/accel.h"
#include "wire/accel_queue.h"
#include "wire/accel_report.h"

struct conn;
struct engine;
struct accel_peer;

struct accel_peer *peer_find(struct engine *e, node_id_t id);
/* What leond knows of the node; made where it is new. */
void peer_learn(struct engine *e, const struct accel_say_frame *f, mono_t now);
/* A carrier from another node. Takes fd. */
void peer_accept(struct engine *e, int fd, mono_t now);
/* Once a second: carriers are opened, and looked after. */
void peers_second(struct engine *e, mono_t now);
/* What leond is told of it; who asks for it changes it. */
struct accel_node *peer_counted(struct accel_peer *p);
/* Its share in the table of followed connections. */
struct node_share *peer_share(struct accel_peer *p);
/* Counts what is refused of the node. */
void peer_misuse(struct accel_peer *p, enum accel_misuse m);
/* Says what changed since, or (all) everything; what cannot be said is said the next time. */
void peers_report(struct engine *e, bool all);
/* Something is on its way to another accelerator. */
bool peers_unsent(const struct engine *e);
struct jsonw;
void peers_write(const struct engine *e, struct jsonw *w);
void peers_free(struct engine *e);

node_id_t peer_id(const struct accel_peer *p);
bool peer_is_up(const struct accel_peer *p);
/* leond spoke of it lately: frames between hosts here and there come by. */
bool peer_is_known(const struct accel_peer *p, mono_t now);
/* leond speaks, but no more of it: they go past. */
bool peer_is_left(const struct accel_peer *p, mono_t now);
/* It has an accelerator, whether there is a path to it now or not. Without, frames come by all the
 * same for a while after a host moved there. */
bool peer_accelerates(const struct accel_peer *p);
/* Frames of its hosts do not come by now. */
bool peer_is_aside(const struct accel_peer *p);
bool peer_leads(const struct accel_peer *p); /* this node leads */
int64_t peer_rtt_ms(const struct accel_peer *p);
uint32_t peer_rtt_us(const struct accel_peer *p);
/* Bytes a round trip that its carrier has room for, for one stream more. */
uint64_t peer_room(struct accel_peer *p, enum saving_direction d, mono_t now);
/* It answered a PING lately: a connection that is offered to it is not held in vain. */
bool peer_answers(const struct accel_peer *p, mono_t now);
/* It refused another one lately, for what is true of the next one as well. */
bool peer_refuses(const struct accel_peer *p, mono_t now);
/* Why, while it does. */
enum accel_why peer_refusal(const struct accel_peer *p);
uint32_t peer_new_stream(struct accel_peer *p);

void peer_tell(struct accel_peer *p, const struct accel_frame *f);
/* The stream has data: it takes its turns, now or as soon as there is room (conn_send()). */
void peer_serve(struct accel_peer *p, uint32_t stream);
/* It waits for its turn; conn_turn_over() is called when it does not any more. */
bool peer_serves_later(struct accel_peer *p, uint32_t stream);
/* From conn_send() only. Returns how many bytes of the carrier it took. */
size_t peer_send(struct accel_peer *p, uint32_t stream, const void *data, size_t len);

/* A frame of a host, with its vnet header; lost where there is no room, as frames are. */
void peer_lend(struct accel_peer *p, uint8_t type, uint32_t stream, const uint8_t *vnet,
	       const uint8_t *frame, size_t len);

/* Streams and their conns. */
void peer_bind(struct accel_peer *p, uint32_t stream, struct conn *c);
void peer_unbind(struct accel_peer *p, uint32_t stream);
unsigned peer_streams(const struct accel_peer *p);
/* Of them, those without a proxy socket: the agreement is under way. */
unsigned peer_attempts(const struct accel_peer *p);
