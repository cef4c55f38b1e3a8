// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of leonctl's commands: words on the command line, argument, what the daemon is asked,
 * how the answer is shown, what the help says. leonctl only.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "render.h"
#include "target.h"

enum command_argument {
	ARG_NONE,
	ARG_NODE,
	ARG_NODE_COUNT,
	ARG_ADDRESSES,
	ARG_LISTEN,
	ARG_ENDPOINTS
};

struct ctl_command {
	const char *words; /* also what the daemon calls it */
	enum command_argument argument;
	render_fn render; /* NULL: leonctl's own */
	const char *help;
};
/* A command of leonctl's own, that does more than ask and show, or asks nobody. The exit code. */
typedef int (*command_run_fn)(struct target *t, const char *argument);

/* The command that argv begins with; *used is the number of its words. NULL where unknown. */
const struct ctl_command *command_find(int argc, const char *const *argv, int *used);
void command_help(FILE *f);
/* What there is instead of these words, which are no command: the nearest one, or those that begin
 * with the first word, or all. */
void command_unknown(int argc, const char *const *argv, FILE *f);
/* Of one that has no render. */
command_run_fn command_run(const struct ctl_command *c);
/* Its argument; false and a sentence where the arguments do not fit. */
bool command_argument(const struct ctl_command *c, int argc, const char *const *argv,
		      const char **argument, char *err, size_t err_len);
/* One request line, to be freed. NULL and a sentence in err where the arguments do not fit. */
char *command_request(const struct ctl_command *c, int argc, const char *const *argv, char *err,
		      size_t err_len);
