// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that leond starts and that gives up its rights (io/confine.h): socket pair, end, and
 * delay before the next start. The owner handles the messages. Control thread; never logs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"

struct child {
	int control; /* SOCK_SEQPACKET socket to the program. -1: the program does not run */
	pid_t pid;   /* 0: none, or collected */
	mono_t start_at, ended_at;
	uint32_t wait_s; /* before the next start */
};
#define CHILD_INIT                                                                                 \
	{                                                                                          \
		.control = -1, .wait_s = 1                                                         \
	}

/* Starts the program `name` of LEON_LIBEXECDIR, or the program that the environment variable names.
 * The program has its end of the socket pair as descriptor CONFINE_CONTROL_FD. Calls fn for
 * messages and for the end of the program. Returns 0 or -errno. */
struct child_program {
	const char *name, *variable;
	loop_fd_fn fn;
	void *arg;
};
int child_start(struct child *c, struct loop *l, const struct child_program *p);
/* Closes the socket. The program ends by itself then, unless it hangs. */
void child_end(struct child *c, struct loop *l);
/* Delays the next start after child_end(), longer each time. The owner resets wait_s to 1. */
void child_delay(struct child *c);
/* Collects a program that has ended, and kills a program that hangs. Returns true if a start is
 * due. */
bool child_is_due(struct child *c, mono_t now);
/* Kills and collects a program after child_end(). */
void child_kill(struct child *c);
