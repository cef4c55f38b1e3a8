// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A list of the intercepted connections in a file, which outlives the process. The next process
 * resets the connections of a killed process, so no host waits for lost bytes. Single-threaded.
 */
#pragma once

#include <stdint.h>

#include "wire/accel.h"

#define TAKEN_MAX 4096

struct taken_one {
	struct accel_key key;
	struct mac near_mac, far_mac;
	node_id_t node;
	uint32_t near_start, far_start; /* First sequence numbers of the proxy socket. */
};

struct taken_file;
/* path NULL: in memory only. Reads the content of the file and then empties the file. Returns 0 or
 * -errno. */
int taken_open(struct taken_file **out, const char *path);
void taken_close(struct taken_file *t); /* NULL has no effect */
/* -1: the file is full. */
int taken_put(struct taken_file *t, const struct taken_one *one);
void taken_drop(struct taken_file *t, int at); /* -1 has no effect */
/* Iterates over the connections of the previous process. NULL: no more. */
const struct taken_one *taken_before(const struct taken_file *t, unsigned i);
/* the last entry moves to the free place */
void taken_forget_before(struct taken_file *t, unsigned i);
