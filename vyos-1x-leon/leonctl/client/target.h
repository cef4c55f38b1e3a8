// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon that leonctl talks to: its socket, one request, and the reason of a failure. Also
 * defines the exit codes of leonctl, because most of them describe a failed request.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json/jsonr.h"

enum { EXIT_REFUSED = 1, EXIT_USAGE, EXIT_NO_ANSWER, EXIT_NOT_PERMITTED };

#define TARGET_PATH_LEN 108
#define TARGET_RUN_DIR	"/run/leon"

/* An option of one command, such as --address. */
struct target_given {
	const char *name, *value; /* value NULL: the option has none */
};
#define TARGET_GIVEN_MAX 80 /* a capture takes 64 nodes */

struct target {
	const char *interface, *socket; /* from the command line; NULL: not given */
	bool json;			/* answers and errors are JSON */
	char path[TARGET_PATH_LEN];	/* of the socket, after the search */
	struct target_given given[TARGET_GIVEN_MAX];
	int n_given;
};

/* Prints an error: one line on stderr, or with --json an object on stdout. */
void target_complain(const struct target *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns the option behind `at` (NULL: the first one) with this name, or NULL. */
const struct target_given *target_next_option(const struct target *t, const char *name,
					      const struct target_given *at);
/* Returns true if the option is given. Stores the first value; `value` may be NULL. */
bool target_option(const struct target *t, const char *name, const char **value);
/* Finds the socket. Returns -1, or prints the reason and returns an exit code. */
int target_find(struct target *t);
/* Returns the answer, to be freed, or -errno (io/ctlsock.h). Prints nothing. */
int target_request(const struct target *t, const char *request, int timeout_ms, char **answer,
		   size_t *len);
/* Returns the checked answer, to be freed; NULL, with the exit code in *code, after it printed the
 * reason. *text is the answer as received, to be freed, also after a failure; `text` may be
 * NULL. */
struct jsonr *target_exchange(const struct target *t, const char *request, int timeout_ms,
			      char **text, int *code);
/* The same for a command with a JSON object as arguments. */
struct jsonr *target_ask(const struct target *t, const char *command, const char *arguments,
			 char **text, int *code);
/* Returns the reason of a failed request as a sentence, in a buffer of text/text.h. */
const char *target_reason(const struct target *t, int error);
