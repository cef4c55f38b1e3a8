// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A request of the control socket until its answer. A handler writes the members of an open answer
 * object, or refuses with one sentence. A handler that waits for packets keeps the command and
 * finishes later. Control thread.
 */
#pragma once

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "base/mono.h"
#include "state/tables/nodedb.h"

#define COMMAND_JSON_VERSION 1

struct command {
	struct leond *d;
	struct overlay *overlay;
	node_id_t self;
	struct ctl_conn *conn;
	struct jsonr *doc;
	struct jsonr_node *arguments; /* arguments, or NULL */
	struct jsonw *w;	      /* the answer; the outer object is open */
	mono_t now;
	char error[512];
};

enum command_result {
	CMD_DONE,
	CMD_FAILED, /* error holds one sentence */
	CMD_LATER,  /* the handler keeps the command and calls command_finish() */
};
typedef enum command_result (*command_fn)(struct command *c);

/* The configuration; the next reload ends its life. */
const struct conf *command_conf(const struct command *c);
/* Sends the answer or the error and frees the command. */
void command_finish(struct command *c, enum command_result result);
/* Frees a command without an answer when the daemon stops. */
void command_drop(struct command *c);
/* Sets the error; returns CMD_FAILED. */
enum command_result command_refuse(struct command *c, const char *fmt, ...) attr_printf(2, 3);
/* Returns the member with this node-id or node-name. NULL: the error is set. */
const struct node *command_find_node(struct command *c, const char *text);
/* Returns the member of argument "node", a node-id or node-name. NULL: the error is set. */
const struct node *command_node(struct command *c);

/* Handlers of the commands. */
#define COMMAND(words, access, handler) enum command_result handler(struct command *c);
#include "daemon/answer/commands.def"
#undef COMMAND
