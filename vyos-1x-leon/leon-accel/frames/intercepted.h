// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A list of the intercepted connections in a file, which outlives the process. The next process
 * resets the connections of a killed process, so no host waits for lost bytes. An entry stays in
 * the file until then, because that process may be killed, too. Single-threaded.
 */
#pragma once

#include <stdint.h>

#include "wire/accel.h"

#define INTERCEPTED_MAX	   4096
#define INTERCEPTED_PLACES (2 * INTERCEPTED_MAX) /* of this process and of killed ones */

struct intercepted_one {
	struct accel_key key;
	struct mac near_mac, far_mac;
	node_id_t node;
	uint32_t near_start, far_start; /* First sequence numbers of the proxy socket. */
};

struct intercepted_file;
/* path NULL: in memory only. Returns 0 or -errno. */
int intercepted_open(struct intercepted_file **out, const char *path);
void intercepted_close(struct intercepted_file *t); /* NULL has no effect */
/* -1: the file is full. */
int intercepted_put(struct intercepted_file *t, const struct intercepted_one *one);
void intercepted_drop(struct intercepted_file *t, int at); /* -1 has no effect */
/* Iterates over the connections of previous processes. NULL: no more. */
const struct intercepted_one *intercepted_before(const struct intercepted_file *t, unsigned i);
/* Returns the place of the connection for intercepted_drop(). The last connection of the iteration
 * gets the index i. */
int intercepted_own_before(struct intercepted_file *t, unsigned i);
