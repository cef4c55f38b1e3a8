// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds events with a sentence for people, from reports of the protocol and of the daemon itself.
 * Control thread.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "io/clock.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"

const char *node_name_of(struct leond *d, node_id_t id)
{
	const struct node *n;

	/* The own record exists only after the start. */
	if (id == d->self || !d->overlay)
		return id == d->self ? d->conf->node_name : "";
	n = nodedb_find(overlay_nodes(d->overlay), id);
	return n && n->has_record ? n->rec.name : "";
}

node_id_t node_id_at(const struct leond *d, uint16_t slot)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return n ? n->id : NODE_ID_NONE;
}

char *node_label(struct leond *d, node_id_t id, char *buf, size_t len)
{
	const char *name = node_name_of(d, id);

	if (!name[0])
		return node_id_format(id, buf, len);
	snprintf(buf, len, "%s (%s)", name, NODE_ID_TEXT(id));
	return buf;
}

void report_event(struct leond *d, const struct overlay_event *n, const char *fmt, ...)
{
	struct event e = {
		.at = loop_now(d->loop),
		.wall_us = wall_now_us(),
		.kind = n->kind,
		.node = n->node,
		.other = n->other,
		.value = n->value,
	};
	va_list ap;

	snprintf(e.node_name, sizeof(e.node_name), "%s", node_name_of(d, n->node));
	snprintf(e.detail, sizeof(e.detail), "%s", n->detail ? n->detail : "");
	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	events_add(d->events, &e);
}

/* --- sentences of protocol events --- */

/* Writes the path in use, such as "fujisawa > inagi > seoul". */
static void path_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	const struct node *to = nodedb_find(db, e->node);
	const struct choice *c = to ? overlay_choice(d->overlay, to->slot) : NULL;
	size_t at = 0;

	snprintf(buf, len, "no path");
	for (unsigned i = 0; c && i < c->path.n_hops && at < len; i++) {
		const struct node *hop = nodedb_at(db, c->path.hop[i]);

		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? " > " : "",
				       hop ? NODE_LABEL(d, hop->id) : "?");
	}
}

char *endpoint_name(const struct leond *d, const struct endpoint *ep, char *buf, size_t len)
{
	const struct endpoint *to = endpoint_is_stream(ep) ? d->ops->stream_remote(d, ep) : NULL;

	return endpoint_format(to ? to : ep, buf, len);
}

static void endpoint_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), e->node);
	struct overlay_link link;

	snprintf(buf, len, "another address");
	if (n && overlay_link(d->overlay, n->slot, &link) && link.ep.ip.family)
		endpoint_name(d, &link.ep, buf, len);
}

/* Writes "line fibre to 192.0.2.1:5366", and the second one of a distribution. */
static void line_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), e->node);
	struct overlay_pair_view v;
	char name[ENDPOINT_STRLEN];
	size_t at = 0;

	snprintf(buf, len, "another line");
	for (unsigned i = 0; n && i < LINE_PAIRS && at < len; i++) {
		const char *own;

		if (!overlay_line_pair(d->overlay, n->slot, i, &v) || !(v.in_use || v.distributed))
			continue;
		own = conf_line_name(d->conf, v.ep.line);
		at += (size_t)snprintf(buf + at, len - at, "%s%s%s%s%s", at ? " and " : "",
				       own ? "line " : "", own ? own : "", own ? " to " : "",
				       endpoint_name(d, &v.ep, name, sizeof(name)));
	}
}

/* Writes "UDP 192.0.2.1:5366" or "TLS 192.0.2.1:443". */
static void transport_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), e->node);
	struct overlay_link link;
	char name[ENDPOINT_STRLEN];

	snprintf(buf, len, "another transport");
	if (n && overlay_link(d->overlay, n->slot, &link) && link.ep.ip.family)
		snprintf(buf, len, "%s %s", endpoint_is_stream(&link.ep) ? "TLS" : "UDP",
			 endpoint_name(d, &link.ep, name, sizeof(name)));
}

static void loss_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	unsigned percent = (unsigned)(e->value + 5) / 10;
	const char *who = NODE_LABEL(d, e->node);

	if (e->other == NODE_ID_NONE)
		snprintf(buf, len,
			 "link to %s loses %u %% of the data, but no probes: paths avoid the "
			 "link; look for a firewall or policer on the path",
			 who, percent);
	else
		snprintf(buf, len,
			 "the path to %s through %s loses %u %% of the data, but no link of the "
			 "path reports loss: other relays are used",
			 who, NODE_LABEL(d, e->other), percent);
}

/* Duplicate node-id. Of another node: the fact. Of this node: the other user and the reporting
 * node. */
static void duplicate_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	bool has_place = e->detail && *e->detail, has_other = e->other != NODE_ID_NONE;
	const char *who = NODE_LABEL(d, e->node);

	if (e->node != d->self) {
		snprintf(buf, len, "two nodes use node-id %s: give each node its own node-id", who);
		return;
	}
	snprintf(
		buf, len, "another node also uses node-id %s of this node%s%s%s%s%s: %s", who,
		has_place ? ", at " : "", has_place ? e->detail : "",
		has_other ? ", says node " : "", has_other ? NODE_LABEL(d, e->other) : "",
		e->value ? " and its identity" : "",
		e->value
			? "give the clone its own node-id and delete the identity-file of the clone"
			: "give each node its own node-id");
}

static void node_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	node_label(d, e->node, buf, len);
}

static void other_text(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	node_label(d, e->other, buf, len);
}

static void value_text(struct leond *d attr_unused, const struct overlay_event *e, char *buf,
		       size_t len)
{
	snprintf(buf, len, "%llu", (unsigned long long)e->value);
}

/* Writes the measurements of both ends of a link. */
static void rtts_text(struct leond *d attr_unused, const struct overlay_event *e, char *buf,
		      size_t len)
{
	snprintf(buf, len, "%llu and %llu", (unsigned long long)(e->value >> 32),
		 (unsigned long long)(e->value & UINT32_MAX));
}

static void detail_text(struct leond *d attr_unused, const struct overlay_event *e, char *buf,
			size_t len)
{
	snprintf(buf, len, "%s", e->detail ? e->detail : "");
}

/* Writes the reason of a path, such as " (better)"; "" without one. */
static void reason_text(struct leond *d attr_unused, const struct overlay_event *e, char *buf,
			size_t len)
{
	snprintf(buf, len, "%s%s%s", e->detail ? " (" : "", e->detail ? e->detail : "",
		 e->detail ? ")" : "");
}

/* Placeholders of the sentences in event.def. */
static const struct {
	const char *word;
	void (*write)(struct leond *d, const struct overlay_event *e, char *buf, size_t len);
} placeholders[] = {
	{ "{node}", node_text },	   { "{other}", other_text },
	{ "{value}", value_text },	   { "{rtts}", rtts_text },
	{ "{detail}", detail_text },	   { "{reason}", reason_text },
	{ "{path}", path_text },	   { "{endpoint}", endpoint_text },
	{ "{loss}", loss_text },	   { "{duplicate}", duplicate_text },
	{ "{transport}", transport_text }, { "{line}", line_text },
};

/* Writes the value of the placeholder at `p`; returns the length of the placeholder, 0 if it is
 * none. */
static size_t fill_in(struct leond *d, const struct overlay_event *e, const char *p, char *buf,
		      size_t len)
{
	for (size_t i = 0; i < array_size(placeholders); i++) {
		size_t n = strlen(placeholders[i].word);

		if (strncmp(p, placeholders[i].word, n) == 0) {
			placeholders[i].write(d, e, buf, len);
			return n;
		}
	}
	return 0;
}

static void sentence_of(struct leond *d, const struct overlay_event *e, char *buf, size_t len)
{
	const char *p = event_texts[e->kind].sentence;
	size_t at = 0;

	/* Reports an event of the daemon itself. */
	if (!p)
		p = event_texts[e->kind].name;
	while (*p && at < len - 1) {
		size_t n = fill_in(d, e, p, buf + at, len - at);

		if (n) {
			at += strlen(buf + at);
			p += n;
		} else {
			buf[at++] = *p++;
		}
	}
	buf[at] = '\0';
}

void report_overlay_event(struct leond *d, const struct overlay_event *e)
{
	char text[400];

	sentence_of(d, e, text, sizeof(text));
	report_event(d, e, "%s", text);
}

/* --- the ring of recent events --- */

#define EVENT_LOG_BURST	     20
#define EVENT_LOG_PER_MINUTE 30

struct events {
	unsigned capacity, n, first;
	uint64_t total;
	struct event *ring;
	struct log_limit limit[N_EVENT_KINDS];
};

struct events *events_new(unsigned capacity)
{
	struct events *e = x_new(struct events);

	e->capacity = capacity;
	for (unsigned i = 0; i < N_EVENT_KINDS; i++)
		e->limit[i] = LOG_LIMIT_INIT(EVENT_LOG_BURST, EVENT_LOG_PER_MINUTE);
	e->ring = x_calloc(capacity, sizeof(*e->ring));
	return e;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	free(e->ring);
	free(e);
}

void events_add(struct events *e, const struct event *ev)
{
	unsigned place = (e->first + e->n) % e->capacity;

	e->ring[place] = *ev;
	if (e->n < e->capacity)
		e->n++;
	else
		e->first = (e->first + 1) % e->capacity;
	e->total++;
	log_limited(&e->limit[ev->kind], ev->at, event_texts[ev->kind].level, "event",
		    "%s event=%s", ev->text, event_texts[ev->kind].name);
}

unsigned events_count(const struct events *e)
{
	return e->n;
}

uint64_t events_total(const struct events *e)
{
	return e->total;
}

const struct event *events_at(const struct events *e, unsigned i)
{
	if (i >= e->n)
		return NULL;
	return &e->ring[(e->first + i) % e->capacity];
}
