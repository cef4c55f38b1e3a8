// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns what happened into an event with a sentence for people: events of the protocol and those
 * of the daemon itself. Control thread.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/leond.h"

const char *node_name_of(struct leond *d, node_id_t id)
{
	const struct node *n;

	/* Its own record is there only after the start. */
	if (id == d->self || !d->overlay)
		return id == d->self ? d->conf->node_name : "";
	n = nodedb_find(overlay_nodes(d->overlay), id);
	return n && n->has_record ? n->rec.name : "";
}

char *node_label(struct leond *d, node_id_t id, char *buf, size_t len)
{
	const char *name = node_name_of(d, id);
	char text[NODE_ID_STRLEN];

	node_id_format(id, text, sizeof(text));
	if (name[0])
		snprintf(buf, len, "%s (%s)", name, text);
	else
		snprintf(buf, len, "%s", text);
	return buf;
}

void note_event(struct leond *d, const struct note *n, const char *fmt, ...)
{
	struct event e = {
		.at = loop_now(d->loop),
		.wall_us = wall_now_us(),
		.name = n->name,
		.level = n->level,
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

static enum log_level level_of(enum overlay_event_kind k)
{
	switch (k) {
	case EV_UNREACHABLE:
	case EV_LINK_DOWN:
	case EV_DUPLICATE_ID:
	case EV_IDENTITY_CHANGED:
	case EV_CONTRADICTION:
	case EV_DATA_LOSS:
	case EV_LAN_FLAPPING:
	case EV_TABLE_FULL:
	case EV_NOT_TRUSTED:
	case EV_SECRET_DIFFERS:
	case EV_SECRET_MISMATCH:
		return LOG_LVL_WARN;
	case EV_LINK_MTU:
	case EV_ENDPOINT:
	case EV_PATH:
	case EV_NOTICE:
		return LOG_LVL_INFO;
	case EV_STARTED:
	case EV_JOINED:
	case EV_RETURNED:
	case EV_LEFT:
	case EV_FORGOTTEN:
	case EV_REACHABLE:
	case EV_LINK_UP:
	case EV_DATA_PASSES:
		break;
	}
	return LOG_LVL_NOTICE;
}

/* "fujisawa > inagi > seoul" of the path in use. */
static void path_text(struct leond *d, node_id_t id, char *buf, size_t len)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	const struct node *to = nodedb_find(db, id);
	const struct choice *c = to ? overlay_choice(d->overlay, to->slot) : NULL;
	char label[NODE_LABEL_LEN];
	size_t at = 0;

	snprintf(buf, len, "no path");
	for (unsigned i = 0; c && i < c->path.n_hops && at < len; i++) {
		const struct node *hop = nodedb_at(db, c->path.hop[i]);
		int n = snprintf(buf + at, len - at, "%s%s", i ? " > " : "",
				 hop ? node_label(d, hop->id, label, sizeof(label)) : "?");

		at += (size_t)n;
	}
}

static void endpoint_text(struct leond *d, node_id_t id, char *buf, size_t len)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), id);
	struct overlay_link link;

	snprintf(buf, len, "another address");
	if (n && overlay_link(d->overlay, n->slot, &link) && link.ep.ip.family)
		endpoint_format(&link.ep, buf, len);
}

static void contradiction_text(struct leond *d, const struct overlay_event *e, const char *who,
			       char *buf, size_t len)
{
	char other[NODE_LABEL_LEN];

	snprintf(buf, len,
		 "%s and %s disagree about the link between them: %llu and %llu us; "
		 "one of them is wrong, and the larger counts",
		 who, node_label(d, e->other, other, sizeof(other)),
		 (unsigned long long)(e->value >> 32), (unsigned long long)(e->value & UINT32_MAX));
}

static void loss_text(struct leond *d, const struct overlay_event *e, const char *who, char *buf,
		      size_t len)
{
	unsigned percent = (unsigned)(e->value + 5) / 10;
	char via[NODE_LABEL_LEN];

	if (e->other == NODE_ID_NONE)
		snprintf(buf, len,
			 "link to %s loses %u %% of the data while pings pass: it is avoided; look "
			 "for a firewall or policer on the way",
			 who, percent);
	else
		snprintf(buf, len,
			 "the path to %s through %s loses %u %% of the data and no link on it says "
			 "so: other relays are taken",
			 who, node_label(d, e->other, via, sizeof(via)), percent);
}

/* Of another node: it is used twice. Of this one: by whom else, and who says so. */
static void duplicate_text(struct leond *d, const struct overlay_event *e, const char *who,
			   char *buf, size_t len)
{
	bool has_place = e->detail && *e->detail, told = e->other != NODE_ID_NONE;
	char by[NODE_LABEL_LEN];

	if (e->node != d->self) {
		snprintf(buf, len, "node-id %s is used by two nodes: give each its own node-id",
			 who);
		return;
	}
	snprintf(buf, len, "node-id %s of this node is used by another one too%s%s%s%s%s: %s", who,
		 has_place ? ", at " : "", has_place ? e->detail : "", told ? ", says node " : "",
		 told ? node_label(d, e->other, by, sizeof(by)) : "",
		 e->value ? ", which has its identity as well" : "",
		 e->value ? "give it its own node-id and delete the identity-file of the clone"
			  : "give each its own node-id");
}

/* The sentence; `who` is the label of e->node. */
static void event_text(struct leond *d, const struct overlay_event *e, const char *who, char *buf,
		       size_t len)
{
	char extra[160];

	switch (e->kind) {
	case EV_STARTED:
		snprintf(buf, len, "node %s started", who);
		return;
	case EV_JOINED:
		snprintf(buf, len, "node %s joined", who);
		return;
	case EV_RETURNED:
		snprintf(buf, len, "node %s returned", who);
		return;
	case EV_LEFT:
		snprintf(buf, len, "node %s left", who);
		return;
	case EV_FORGOTTEN:
		snprintf(buf, len, "node %s was silent for the forget time and is forgotten", who);
		return;
	case EV_REACHABLE:
		snprintf(buf, len, "node %s is reachable", who);
		return;
	case EV_UNREACHABLE:
		snprintf(buf, len, "node %s is unreachable: no path is left", who);
		return;
	case EV_LINK_UP:
		snprintf(buf, len, "link to %s is up", who);
		return;
	case EV_LINK_DOWN:
		snprintf(buf, len, "link to %s is down", who);
		return;
	case EV_LINK_MTU:
		snprintf(buf, len, "link to %s carries datagrams of %llu bytes", who,
			 (unsigned long long)e->value);
		return;
	case EV_ENDPOINT:
		endpoint_text(d, e->node, extra, sizeof(extra));
		snprintf(buf, len, "node %s is reached at %s now", who, extra);
		return;
	case EV_PATH:
		path_text(d, e->node, extra, sizeof(extra));
		snprintf(buf, len, "path to %s is now %s%s%s%s", who, extra, e->detail ? " (" : "",
			 e->detail ? e->detail : "", e->detail ? ")" : "");
		return;
	case EV_NOTICE:
		node_label(d, e->other, extra, sizeof(extra));
		snprintf(buf, len, "relay %s cannot forward to %s", who, extra);
		return;
	case EV_DUPLICATE_ID:
		duplicate_text(d, e, who, buf, len);
		return;
	case EV_CONTRADICTION:
		contradiction_text(d, e, who, buf, len);
		return;
	case EV_DATA_LOSS:
		loss_text(d, e, who, buf, len);
		return;
	case EV_DATA_PASSES:
		snprintf(buf, len, "data to %s is sent as before it was lost", who);
		return;
	case EV_IDENTITY_CHANGED:
		snprintf(buf, len,
			 "node %s has another identity key than before: it was made anew, or "
			 "somebody else took its node-id",
			 who);
		return;
	case EV_LAN_FLAPPING:
		snprintf(buf, len,
			 "the loop guard of node %s changes its mind all the time: hosts behind it "
			 "are learned anew every 10 s at most; look at its LAN",
			 who);
		return;
	case EV_TABLE_FULL:
		snprintf(buf, len, "node %s was refused: member maximum reached", who);
		return;
	case EV_NOT_TRUSTED:
		snprintf(buf, len,
			 "node %s is kept out: its identity %s is not in trusted-identity", who,
			 e->detail);
		return;
	case EV_SECRET_DIFFERS:
		snprintf(
			buf, len,
			"node %s has another secret now, and none of this node: its session ends in "
			"%llu s",
			who, (unsigned long long)e->value);
		return;
	case EV_SECRET_MISMATCH:
		snprintf(buf, len,
			 "datagrams of configured peer %s do not open: its "
			 "pre-shared-secret or VNI differs",
			 who);
		return;
	}
	snprintf(buf, len, "%s", overlay_event_name(e->kind));
}

void note_overlay_event(struct leond *d, const struct overlay_event *e)
{
	struct note n = {
		.name = overlay_event_name(e->kind),
		.level = level_of(e->kind),
		.node = e->node,
		.other = e->other,
		.value = e->value,
		.detail = e->detail,
	};
	char who[NODE_LABEL_LEN], text[400];

	event_text(d, e, node_label(d, e->node, who, sizeof(who)), text, sizeof(text));
	note_event(d, &n, "%s", text);
}
