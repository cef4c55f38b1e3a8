// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon that leonctl asks: its socket, one request, and why there is no answer. The exit codes
 * of leonctl are here, as most of them say how asking went.
 */
#pragma once

#include <stddef.h>

enum { EXIT_REFUSED = 1, EXIT_USAGE, EXIT_NO_ANSWER, EXIT_NOT_PERMITTED };

#define TARGET_PATH_LEN 108
#define TARGET_RUN_DIR	"/run/leon"

struct target {
	const char *interface, *socket; /* as on the command line; NULL: not given */
	char path[TARGET_PATH_LEN];	/* of the socket, once found */
};

/* -1: found; else an exit code, and the reason was printed. */
int target_find(struct target *t);
/* The answer, to be freed, or -errno (io/ctlsock.h). Prints nothing. */
int target_request(const struct target *t, const char *request, int timeout_ms, char **answer,
		   size_t *len);
/* Why a request failed, as one sentence. */
const char *target_reason(const struct target *t, int error, char *buf, size_t len);
/* The exit code for it. */
int target_exit_code(int error);
