// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of leonctl's commands: words on the command line, argument, what the daemon is asked,
 * how the answer is shown, what the help says. leonctl only.
 */
#pragma once

#include <stdio.h>

#include "render.h"

enum command_argument { ARG_NONE, ARG_NODE, ARG_NODE_COUNT, ARG_ADDRESSES };

struct ctl_command {
	const char *words; /* also what the daemon calls it */
	enum command_argument argument;
	render_fn render;
	const char *help;
};

/* The command that argv begins with; *used is the number of its words. NULL where unknown. */
const struct ctl_command *command_find(int argc, const char *const *argv, int *used);
void command_help(FILE *f);
/* One request line, to be freed. NULL and a sentence in err where the arguments do not fit. */
char *command_request(const struct ctl_command *c, int argc, const char *const *argv, char *err,
		      size_t err_len);
