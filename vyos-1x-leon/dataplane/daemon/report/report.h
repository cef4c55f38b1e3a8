// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recent events of the overlay, with a sentence for people and fields for programs. Control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/mono.h"
#include "proto/overlay_ops.h"
#include "state/event.h"
#include "wire/message/msg.h"

struct leond;

/* The facts of an event without its time as an argument: FACTS(EV_MAC_MOVED, .node = id). */
#define FACTS(event, ...) (&(const struct overlay_event){ .kind = (event), __VA_ARGS__ })
void report_event(struct leond *d, const struct overlay_event *n, const char *fmt, ...)
	attr_printf(3, 4);
void report_overlay_event(struct leond *d, const struct overlay_event *e);
/* Writes "seoul (192.0.2.3)", or "192.0.2.3" without a name. */
#define NODE_LABEL_LEN (MSG_NAME_MAX + NODE_ID_STRLEN + 4)
char *node_label(struct leond *d, node_id_t id, char *buf, size_t len);
#define NODE_LABEL(d, id) node_label((d), (id), (char[NODE_LABEL_LEN]){ 0 }, NODE_LABEL_LEN)
/* Returns the node-name of a node in the table; "" if unknown. */
const char *node_name_of(struct leond *d, node_id_t id);
/* Returns NODE_ID_NONE for a free slot. */
node_id_t node_id_at(const struct leond *d, uint16_t slot);
/* Writes "192.0.2.1:443", of the TCP connection for a stream, in ENDPOINT_STRLEN bytes. */
char *endpoint_name(const struct leond *d, const struct endpoint *ep, char *buf, size_t len);

#define EVENTS_KEPT 1000

struct event {
	mono_t at;
	int64_t wall_us; /* time of the event, microseconds since 1970 */
	enum event_kind kind;
	node_id_t node, other; /* NODE_ID_NONE if the event concerns none */
	char node_name[MSG_NAME_MAX + 1];
	uint64_t value; /* depends on the kind of event; 0 none */
	char detail[112];
	char text[320]; /* one sentence, sized for the longest names (test_event_text) */
};

struct events;
struct events *events_new(unsigned capacity);
void events_free(struct events *e); /* NULL ok */
/* Stores a copy, dropping the oldest event if full, and logs it. */
void events_add(struct events *e, const struct event *ev);
unsigned events_count(const struct events *e);
uint64_t events_total(const struct events *e);
/* Returns the i-th event; 0 is the oldest; NULL behind the newest. */
const struct event *events_at(const struct events *e, unsigned i);
