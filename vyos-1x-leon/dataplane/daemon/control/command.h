// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One request on the control socket on its way to its answer. A handler writes the members of the
 * answer into an object that is open already, or refuses with one sentence; a handler that waits
 * for packets keeps the command and finishes it later. Control thread.
 */
#pragma once

#include "base/defs.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/mono.h"
#include "state/nodedb.h"

struct ctl_conn;
struct leond;

#define COMMAND_JSON_VERSION 1

struct command {
	struct leond *d;
	struct ctl_conn *conn;
	struct jsonr *doc;
	struct jsonr_node *arguments; /* NULL where the request has none */
	struct jsonw *w;	      /* answer; its outer object is open */
	mono_t now;
	char error[256];
};

enum command_result {
	CMD_DONE,
	CMD_FAILED, /* error holds one sentence */
	CMD_LATER,  /* the handler keeps the command and calls command_finish() */
};
typedef enum command_result (*command_fn)(struct command *c);

/* Sends the answer or the error and frees the command. */
void command_finish(struct command *c, enum command_result result);
/* Frees a command that will not be answered: the daemon is stopping. */
void command_drop(struct command *c);
/* Sets the error; always CMD_FAILED. */
enum command_result command_refuse(struct command *c, const char *fmt, ...) attr_printf(2, 3);
/* The member that argument "node" names, by node-id or node-name. On NULL the error is set. */
const struct node *command_node(struct command *c);

/* One handler per command; cmds.c holds the table. */
enum command_result show_nodes(struct command *c);
enum command_result show_peers(struct command *c);
enum command_result show_paths(struct command *c);
enum command_result show_policy(struct command *c);
enum command_result show_ipsec(struct command *c);
enum command_result report_ipsec(struct command *c);
enum command_result show_latency(struct command *c);
enum command_result show_fdb(struct command *c);
enum command_result show_queues(struct command *c);
enum command_result show_segments(struct command *c);
enum command_result show_acceleration(struct command *c);
enum command_result show_acceleration_connections(struct command *c);
enum command_result show_statistics(struct command *c);
enum command_result show_routes(struct command *c);
enum command_result show_events(struct command *c);
enum command_result show_identity(struct command *c);
enum command_result explain_path(struct command *c);
enum command_result trace_path(struct command *c);
enum command_result ping_node(struct command *c);
enum command_result make_invite(struct command *c);
enum command_result do_reload(struct command *c);
enum command_result show_metrics(struct command *c);
enum command_result reset_acceleration(struct command *c);
enum command_result reset_fdb(struct command *c);
enum command_result reset_statistics(struct command *c);
enum command_result reset_node(struct command *c);
