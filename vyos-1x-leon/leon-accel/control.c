// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket of leon-accel, see control.h.
 */
#include "control.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "conn.h"
#include "engine.h"
#include "io/ctlsock.h"
#include "peer.h"

#define JSON_VERSION 1

struct control {
	struct engine *e;
	struct ctl_server *server;
};

static void write_counters(const struct engine *e, struct jsonw *w)
{
	const struct engine_counters *n = &e->counters;

	jsonw_object(w, "counters");
	jsonw_u64(w, "taken", n->taken);
	jsonw_u64(w, "returned", n->returned);
	jsonw_u64(w, "reset", n->reset);
	jsonw_u64(w, "refused", n->refused);
	jsonw_u64(w, "bytes_in", n->bytes_in);
	jsonw_u64(w, "bytes_out", n->bytes_out);
	jsonw_u64(w, "carrier_bytes_in", n->carrier_in);
	jsonw_u64(w, "carrier_bytes_out", n->carrier_out);
	jsonw_u64(w, "queue_full", n->queue_full);
	jsonw_u64(w, "held_dropped", n->held_dropped);
	jsonw_u64(w, "maximum_reached", n->full);
	jsonw_u64(w, "not_drained", n->again);
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES; m++)
		jsonw_u64(w, accel_misuse_word(m), n->misuse[m]);
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		jsonw_u64(w, accel_fault_word(i), n->fault[i]);
	jsonw_end(w);
}

static void show(const struct engine *e, struct jsonw *w)
{
	jsonw_u64(w, "connections_followed", e->n_conns);
	jsonw_u64(w, "connections_taken", e->n_taken);
	jsonw_u64(w, "held_bytes", (uint64_t)e->held);
	write_counters(e, w);
	jsonw_array(w, "nodes");
	peers_write(e, w);
	jsonw_end(w);
	jsonw_array(w, "connections");
	conns_write(e, w);
	jsonw_end(w);
}

static bool may_write(const struct ctl_conn *c)
{
	const struct ctl_peer *peer = ctl_conn_peer(c);

	return peer->uid == 0 || peer->uid == geteuid();
}

static const char *run(struct engine *e, const struct ctl_conn *c, const char *name,
		       struct jsonw *w)
{
	if (strcmp(name, "show acceleration") == 0) {
		show(e, w);
		return NULL;
	}
	if (strcmp(name, "reset acceleration") != 0)
		return "unknown command";
	if (!may_write(c))
		return "this is for root and the daemon's user only";
	conns_release_all(e, loop_now(e->loop));
	return NULL;
}

static void on_request(void *arg, struct ctl_conn *conn, const char *request, size_t len)
{
	struct control *c = arg;
	struct jsonr *doc = jsonr_parse(request, len, JSONR_USUAL_MAX);
	struct jsonw *w = jsonw_new();
	const char *name = "", *error, *text;
	size_t text_len;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", JSON_VERSION);
	jsonr_str(jsonr_root(doc), "command", &name);
	error = jsonr_error(doc) ? jsonr_error(doc) : run(c->e, conn, name, w);
	if (error)
		jsonw_str(w, "error", error);
	jsonw_end(w);
	text = jsonw_text(w, &text_len);
	ctl_answer(conn, text, text_len);
	jsonw_free(w);
	jsonr_free(doc);
}

int control_start(struct control **out, struct engine *e, const char *path)
{
	struct control *c = x_new(struct control);
	int rc;

	c->e = e;
	*out = c;
	rc = ctl_listen(&c->server, e->loop, path, on_request, c);
	return rc;
}

void control_free(struct control *c)
{
	if (c)
		ctl_server_free(c->server);
	free(c);
}
