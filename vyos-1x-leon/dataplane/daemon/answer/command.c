// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common parts of command handlers: find the node argument, refuse with one sentence, send the
 * answer. See answer.h. Control thread.
 */
#include "daemon/answer/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/leond.h"
#include "io/ctlsock.h"
#include "proto/view.h"

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

const struct conf *command_conf(const struct command *c)
{
	return c->d->conf;
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

/* Returns NULL and sets the error if no member, or more than one, has the name. */
static const struct node *find_by_name(struct command *c, const char *name)
{
	struct nodedb *db = overlay_nodes(c->overlay);
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

const struct node *command_find_node(struct command *c, const char *text)
{
	const struct node *n;
	node_id_t id;

	if (node_id_parse(text, &id) < 0)
		return find_by_name(c, text);
	n = nodedb_find(overlay_nodes(c->overlay), id);
	if (is_member(n))
		return n;
	command_refuse(c, "no node has the node-id %s: see `show nodes`", text);
	return NULL;
}

const struct node *command_node(struct command *c)
{
	const char *text;

	if (c->arguments && jsonr_str(c->arguments, "node", &text) && text[0])
		return command_find_node(c, text);
	command_refuse(c, "argument \"node\" is missing: give a node-id or a node-name");
	return NULL;
}

void answer_nodes(struct command *c, const char *key,
		  void (*write)(struct command *c, const struct node *n))
{
	struct nodedb *db = overlay_nodes(c->overlay);

	jsonw_array(c->w, key);
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		write(c, n);
	jsonw_end(c->w);
}
