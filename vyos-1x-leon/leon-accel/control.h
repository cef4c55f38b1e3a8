// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket of leon-accel: what is taken, and the wish to give it back. Requests and
 * answers are as leond's (daemon/control/cmds.h); leonctl asks both. One thread.
 */
#pragma once

struct control;
struct engine;

/* 0 or -errno, logged. */
int control_start(struct control **out, struct engine *e, const char *path);
void control_free(struct control *c); /* NULL ok */
