// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which connections are taken, in a file that outlives the process: what a killed one leaves behind
 * is reset by the next, so that no host waits for bytes that nobody has. One thread.
 */
#pragma once

#include <stdint.h>

#include "wire/accel.h"

#define TAKEN_MAX 4096

struct taken_one {
	struct accel_key key;
	struct mac near_mac, far_mac;
	node_id_t node;
	uint32_t near_start, far_start; /* where the stand-in began */
};

struct taken_file;
/* path NULL: in memory only. What is in the file is read, and the file emptied. 0 or -errno. */
int taken_open(struct taken_file **out, const char *path);
void taken_close(struct taken_file *t); /* NULL ok */
/* -1: there is no room. */
int taken_put(struct taken_file *t, const struct taken_one *one);
void taken_drop(struct taken_file *t, int at); /* -1 ok */
/* Those of the process before, one after the other, each once; NULL: there are no more. */
const struct taken_one *taken_before(const struct taken_file *t, unsigned i);
void taken_forget_before(struct taken_file *t, unsigned i); /* the last one takes its place */
