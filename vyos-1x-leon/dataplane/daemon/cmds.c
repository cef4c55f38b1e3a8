// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket: one JSON request, one JSON answer. Owns the table of commands and who may
 * use them. Who can open the socket (its group) may look; only root and the daemon's own user may
 * change something. Control thread.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/command.h"
#include "daemon/leond.h"

enum access { ACCESS_READ, ACCESS_WRITE };

struct command_row {
	const char *name;
	enum access access;
	command_fn fn;
};

static const struct command_row table[] = {
	{ "show nodes", ACCESS_READ, show_nodes },
	{ "show paths", ACCESS_READ, show_paths },
	{ "show ipsec", ACCESS_READ, show_ipsec },
	{ "show latency", ACCESS_READ, show_latency },
	{ "show fdb", ACCESS_READ, show_fdb },
	{ "show statistics", ACCESS_READ, show_statistics },
	{ "show routes", ACCESS_READ, show_routes },
	{ "show events", ACCESS_READ, show_events },
	{ "show identity", ACCESS_READ, show_identity },
	{ "explain path", ACCESS_READ, explain_path },
	{ "trace", ACCESS_READ, trace_path },
	{ "ping", ACCESS_READ, ping_node },
	{ "metrics", ACCESS_READ, show_metrics },
	{ "report ipsec", ACCESS_WRITE, report_ipsec },
	{ "reload", ACCESS_WRITE, do_reload },
	{ "reset fdb", ACCESS_WRITE, reset_fdb },
	{ "reset statistics", ACCESS_WRITE, reset_statistics },
	{ "reset node", ACCESS_WRITE, reset_node },
};

static const struct command_row *find_row(const char *name)
{
	for (size_t i = 0; i < array_size(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

void command_drop(struct command *c)
{
	jsonw_free(c->w);
	jsonr_free(c->doc);
	free(c);
}

static void answer_error(struct command *c)
{
	jsonw_free(c->w);
	c->w = jsonw_new();
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "version", COMMAND_JSON_VERSION);
	jsonw_str(c->w, "error", c->error);
}

void command_finish(struct command *c, enum command_result result)
{
	const char *text;
	size_t len;

	if (result == CMD_LATER)
		return;
	if (result == CMD_FAILED)
		answer_error(c);
	jsonw_end(c->w);
	text = jsonw_text(c->w, &len);
	ctl_answer(c->conn, text, len);
	command_drop(c);
}

enum command_result command_refuse(struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	va_end(ap);
	return CMD_FAILED;
}

static bool is_member(const struct node *n)
{
	return n && n->state != NODE_LEFT;
}

/* NULL and the error set where no member or more than one has the name. */
static const struct node *find_by_name(struct command *c, const char *name)
{
	struct nodedb *db = overlay_nodes(c->d->overlay);
	const struct node *found = NULL;

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (!is_member(n) || !n->has_record || strcmp(n->rec.name, name) != 0)
			continue;
		if (found) {
			command_refuse(c, "node-name \"%.40s\" is ambiguous: use the node-id",
				       name);
			return NULL;
		}
		found = n;
	}
	if (!found)
		command_refuse(c, "no node is known as \"%.40s\": see `show nodes`", name);
	return found;
}

const struct node *command_node(struct command *c)
{
	const struct node *n;
	const char *text;
	node_id_t id;

	if (!c->arguments || !jsonr_str(c->arguments, "node", &text) || !text[0]) {
		command_refuse(c, "argument \"node\" is missing: give a node-id or a node-name");
		return NULL;
	}
	if (node_id_parse(text, &id) < 0)
		return find_by_name(c, text);
	n = nodedb_find(overlay_nodes(c->d->overlay), id);
	if (is_member(n))
		return n;
	command_refuse(c, "no node has the node-id %s: see `show nodes`", text);
	return NULL;
}

static bool may_write(const struct command *c)
{
	const struct ctl_peer *peer = ctl_conn_peer(c->conn);

	return peer->uid == 0 || peer->uid == geteuid();
}

static enum command_result dispatch(struct command *c)
{
	struct jsonr_node *root = jsonr_root(c->doc);
	const struct command_row *row;
	const char *name = "";
	uint64_t version = 0;

	jsonr_u64(root, "version", 1, UINT32_MAX, &version);
	jsonr_str(root, "command", &name);
	c->arguments = jsonr_object(root, "arguments");
	if (jsonr_error(c->doc))
		return command_refuse(c, "request: %s", jsonr_error(c->doc));
	if (version != COMMAND_JSON_VERSION)
		return command_refuse(c, "request: version %d is expected", COMMAND_JSON_VERSION);
	row = find_row(name);
	if (!row)
		return command_refuse(c, "unknown command \"%.60s\"", name);
	if (row->access == ACCESS_WRITE && !may_write(c))
		return command_refuse(c, "command \"%s\" is for root and the daemon's user only",
				      name);
	return row->fn(c);
}

static void on_request(void *arg, struct ctl_conn *conn, const char *request, size_t len)
{
	struct leond *d = arg;
	struct command *c = x_new(struct command);

	c->d = d;
	c->conn = conn;
	c->now = loop_now(d->loop);
	c->doc = jsonr_parse(request, len);
	c->w = jsonw_new();
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "version", COMMAND_JSON_VERSION);
	jsonw_str(c->w, "interface", d->conf->interface);
	command_finish(c, dispatch(c));
}

int cmds_start(struct leond *d)
{
	/* Failures are logged by io/ctlsock, which knows the path. */
	return ctl_listen(&d->ctl, d->loop, d->conf->control_socket, on_request, d);
}
