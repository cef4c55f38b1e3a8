// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `capture start`, `capture read` and `capture stop`, for leonctl. The program reads several times
 * a second and writes the file. The capture ends if the program ends. Control thread.
 */
#include <stdlib.h>

#include "base/text.h"
#include "daemon/answer/answer.h"
#include "daemon/capture/captures.h"
#include "daemon/states.h"
#include "io/clock.h"
#include "proto/view.h"

#define RECORDS_MAX 2000 /* in an answer */

#define SECONDS_DEFAULT 10
#define BYTES_DEFAULT	(1u << 20)
#define SNAP_DEFAULT	128

/* --- start --- */

static bool add_node(struct command *c, node_id_t id, node_id_t list[COLLECT_NODES_MAX],
		     unsigned *n)
{
	for (unsigned i = 0; i < *n; i++)
		if (list[i] == id)
			return true;
	if (*n == COLLECT_NODES_MAX) {
		command_refuse(c, "a capture takes at most %d nodes: name them with --node",
			       COLLECT_NODES_MAX);
		return false;
	}
	list[(*n)++] = id;
	return true;
}

/* The nodes of the request, or this node and all reachable members. */
static bool nodes_of(struct command *c, node_id_t list[COLLECT_NODES_MAX], unsigned *n)
{
	struct jsonr_node *given = jsonr_array(c->arguments, "nodes");
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct node *node = NULL;
	const char *text;

	*n = 0;
	for (size_t i = 0; i < jsonr_len(given) && jsonr_str_at(given, i, &text); i++) {
		node = command_find_node(c, text);
		if (!node || !add_node(c, node->id, list, n))
			return false;
	}
	if (*n)
		return true;
	add_node(c, c->self, list, n);
	while ((node = nodedb_next(db, node)))
		if (node->state == NODE_REACHABLE && !add_node(c, node->id, list, n))
			return false;
	return true;
}

/* Returns false with the error set. */
static bool read_start(struct command *c, struct msg_capture_start *s)
{
	uint64_t seconds = SECONDS_DEFAULT, bytes = BYTES_DEFAULT, snap = SNAP_DEFAULT;
	const char *filter = "";
	char err[200];

	jsonr_str(c->arguments, "filter", &filter);
	jsonr_u64(c->arguments, "seconds", 1, CAPTURE_SECONDS_MAX, &seconds);
	jsonr_u64(c->arguments, "bytes", CAPTURE_BYTES_MIN, CAPTURE_BYTES_MAX, &bytes);
	jsonr_u64(c->arguments, "snap", CAPTURE_SNAP_MIN, CAPTURE_SNAP_MAX, &snap);
	if (jsonr_error(c->doc)) {
		command_refuse(c, "request: %s", jsonr_error(c->doc));
		return false;
	}
	*s = (struct msg_capture_start){ .seconds = (uint16_t)seconds,
					 .bytes = (uint32_t)bytes,
					 .snap = (uint16_t)snap };
	if (capture_filter_parse(filter, &s->filter, err, sizeof(err)))
		return true;
	command_refuse(c, "%s", err);
	return false;
}

enum command_result capture_start(struct command *c)
{
	node_id_t list[COLLECT_NODES_MAX];
	struct msg_capture_start start;
	unsigned n;

	if (!read_start(c, &start) || !nodes_of(c, list, &n))
		return CMD_FAILED;
	if (!c->d->fwd || !collect_start(c->d, &start, list, n))
		return command_refuse(c, "a capture of this node is under way: wait for its end");
	jsonw_u64(c->w, "seconds", start.seconds);
	jsonw_u64(c->w, "snap", start.snap);
	jsonw_u64(c->w, "nodes", n);
	return CMD_DONE;
}

/* --- read --- */

static void write_nodes(struct command *c, struct collect *x)
{
	struct clock_of_node clock[COLLECT_NODES_MAX];

	collect_clocks(x, clock);
	jsonw_array(c->w, "nodes");
	for (unsigned i = 0; i < x->n_nodes; i++) {
		const struct collect_node *n = &x->node[i];

		answer_begin_node(c->w, "node_id", c->d, n->id);
		jsonw_str(c->w, "state", collect_state_name(n->state));
		answer_id(c->w, "by", n->by);
		jsonw_u64(c->w, "frames", (uint64_t)n->frames + n->relayed);
		jsonw_u64(c->w, "lost", n->lost);
		jsonw_u64(c->w, "unseen", n->unseen);
		jsonw_u64(c->w, "bytes", n->have);
		answer_known(c->w, "clock_offset_us", clock[i].known, clock[i].offset_us);
		answer_known(c->w, "clock_error_us", clock[i].known, clock[i].error_us);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
}

static void write_record(struct command *c, const struct collected *r)
{
	char hex[HEX_LEN(CAPTURE_SNAP_MAX) + 1];

	jsonw_object(c->w, NULL);
	answer_id(c->w, "node", r->node);
	jsonw_str(c->w, "place", capture_place_name(r->r.place));
	jsonw_u64(c->w, "at_us", r->r.at_us);
	answer_id(c->w, "source", r->r.source);
	jsonw_array(c->w, "path");
	for (unsigned i = 0; i < r->r.n_hops; i++)
		answer_id(c->w, NULL, r->r.hop[i]);
	jsonw_end(c->w);
	jsonw_bool(c->w, "sealed", r->r.flags & CAPTURE_SEALED);
	jsonw_u64(c->w, "length", r->r.len);
	jsonw_str(c->w, "frame", hex_format(r->bytes, r->r.n, hex));
	jsonw_end(c->w);
}

static void write_records(struct command *c, struct collect *x)
{
	jsonw_array(c->w, "records");
	for (unsigned i = 0; i < RECORDS_MAX && x->next_ready < x->n_ready; i++) {
		struct collected *r = &x->ready[x->next_ready++];

		write_record(c, r);
		free(r->bytes);
	}
	jsonw_end(c->w);
	if (x->next_ready == x->n_ready)
		x->next_ready = x->n_ready = 0;
}

enum command_result capture_read(struct command *c)
{
	struct collect *x = c->d->states->collect;

	if (!x)
		return command_refuse(c, "no capture of this node is under way");
	x->read_at = c->now;
	jsonw_u64(c->w, "clock_us", (uint32_t)(mono_now().ns / NS_PER_US));
	jsonw_u64(c->w, "wall_us", (uint64_t)wall_now_us());
	write_nodes(c, x);
	write_records(c, x);
	x->told = collect_is_over(x) && x->next_ready == x->n_ready;
	jsonw_bool(c->w, "over", x->told);
	return CMD_DONE;
}

enum command_result capture_stop(struct command *c)
{
	if (!c->d->states->collect)
		return command_refuse(c, "no capture of this node is under way");
	collect_end(c->d);
	return CMD_DONE;
}
