// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that leond starts and that give up its rights (io/confine.h): start with a socket pair,
 * and collection after their end. Control thread; never logs.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Starts the program `name` of LEON_LIBEXECDIR, or the program that the environment variable names.
 * The program has its end of a SOCK_SEQPACKET pair as descriptor CONFINE_CONTROL_FD. Returns 0, or
 * -errno and *control -1. */
int child_start(const char *name, const char *variable, int *control, pid_t *pid);
/* Collects a program that had to end `ms` ago; *pid becomes 0. A program that hangs is killed. */
void child_collect(pid_t *pid, int64_t ms);
