// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket: a JSON request, a JSON answer. Owns the table of commands with their access
 * rights; answer.c has the common parts of handlers. The group of the socket may read. Only root
 * and the daemon's own user may change state. Control thread.
 */
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/control/control.h"
#include "daemon/leond.h"
#include "io/ctlsock.h"
#include "state/conf/conf.h"

enum access { ACCESS_READ, ACCESS_WRITE };

struct command_row {
	const char *name;
	enum access access;
	command_fn fn;
};

static const struct command_row table[] = {
#define COMMAND(words, access, handler) { words, ACCESS_##access, handler },
#include "daemon/answer/commands.def"
#undef COMMAND
};

static const struct command_row *find_row(const char *name)
{
	for (size_t i = 0; i < array_size(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
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
	c->overlay = d->overlay;
	c->self = d->self;
	c->conn = conn;
	c->now = loop_now(d->loop);
	c->doc = jsonr_parse(request, len, JSONR_USUAL_MAX);
	c->w = jsonw_new();
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "version", COMMAND_JSON_VERSION);
	jsonw_str(c->w, "interface", d->conf->interface);
	command_finish(c, dispatch(c));
}

int cmds_start(struct leond *d)
{
	/* io/ctlsock knows the path, and logs failures. */
	return ctl_listen(&d->ctl, d->loop, d->conf->control_socket, on_request, d);
}
