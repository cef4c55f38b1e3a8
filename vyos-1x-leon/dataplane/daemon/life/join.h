// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a joining token (wire/token.h) to the configuration of the new node. Called by leond --join,
 * before there is a daemon, and by `invite` to see that what it hands out can be used. The text
 * holds the secret: who has it wipes it.
 */
#pragma once

#include <stddef.h>

#include "base/addr.h"
#include "wire/token.h"

/* What is not in the token. */
struct join_self {
	const char *interface;
	node_id_t node_id;
	const char *name; /* node-name; NULL or one that is none: left out */
};

/* leond.json(5) with a key a line, to be wiped and freed. NULL, and one sentence in err, where
 * conf_parse() refuses what the token says. */
char *join_configuration(const struct token *t, const struct join_self *self, char *err,
			 size_t err_len);
/*
 * leond --join. `from` is a token, the name of a file that holds one, or "-". Writes the
 * configuration to `path`, never over a file that is there, for the group of its directory to read;
 * to the standard output where that is NULL. The exit code; what went wrong is said on stderr.
 */
int join_run(const char *from, const char *path);
