// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of leonctl's commands: words on the command line, argument, request to the daemon,
 * renderer of the answer, help text. leonctl only.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "render/render.h"
#include "client/target.h"

enum command_argument {
	ARG_NONE,
	ARG_NODE,
	ARG_NODE_COUNT,
	ARG_ADDRESSES,
	ARG_LISTEN,
	ARG_ENDPOINTS,
	ARG_COMMAND,
	ARG_INVITATION,
	ARG_TOKEN,
	ARG_FILTER
};

/* A command of leonctl itself, without a request or with several. Returns the exit code. */
typedef int (*command_run_fn)(struct target *t, const char *argument);

struct ctl_command {
	const char *words; /* also the command name in the request */
	enum command_argument argument;
	render_fn *render; /* NULL: `text`, show.def, or a command of leonctl itself */
	const char *help;
	const char *text;    /* of the answer, for show_text(); or NULL */
	command_run_fn run;  /* of a command of leonctl itself, else NULL */
	verdict_fn *verdict; /* exit code of an answer; NULL: 0 */
	const char *options; /* as the help prints them; NULL: none */
};

/* Returns the command that argv begins with, or NULL. *used is the number of words. */
const struct ctl_command *command_find(int argc, const char *const *argv, int *used);
void command_help(FILE *f);
void command_help_one(const struct ctl_command *c, FILE *f);
/* Lists the commands that begin with the word; `unknown`: behind an error message. Returns false
 * without such a command. */
bool command_help_group(const char *word, bool unknown, FILE *f);
/* Prints suggestions for unknown words: the nearest command, or the commands that begin with the
 * first word, or all commands. */
void command_unknown(int argc, const char *const *argv, FILE *f);
/* Returns true if the command has the option, such as "address". */
bool command_takes(const struct ctl_command *c, const char *option);
/* Prints the answer to a request, unless out is NULL. Returns the exit code. */
int command_print(const struct ctl_command *c, struct jsonr_node *root, FILE *out);
/* Checks the argument of the command. Returns NULL, or a sentence if the arguments are wrong. */
const char *command_argument(const struct ctl_command *c, int argc, const char *const *argv,
			     const char **argument);
/* Makes one request line, to be freed. Returns NULL, or a sentence if the arguments are wrong. */
const char *command_request(const struct ctl_command *c, const struct target *t, int argc,
			    const char *const *argv, char **request);
