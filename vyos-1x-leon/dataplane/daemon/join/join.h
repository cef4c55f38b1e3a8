// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts a joining token (wire/token.h) to the configuration of the new node. Called by leond
 * --join without a daemon, and by `invite` to check its token. The text contains the secret; the
 * caller wipes it.
 */
#pragma once

#include <stddef.h>

#include "base/addr.h"
#include "wire/token.h"

/* Values that the token lacks. */
struct join_self {
	const char *interface;
	node_id_t node_id;
	const char *name; /* node-name; NULL or an invalid name: omitted */
};

/* Returns leond.json(5) with one key per line; the caller wipes and frees it. NULL, with one
 * sentence in err, if conf_parse() refuses the values of the token. */
char *join_configuration(const struct token *t, const struct join_self *self, char *err,
			 size_t err_len);
/*
 * leond --join. `from` is a token, the name of a file with one, or "-". Writes the configuration to
 * `path`, readable for the group of its directory, never over an existing file; to the standard
 * output if `path` is NULL. Returns the exit code; errors go to stderr.
 */
int join_run(const char *from, const char *path);
