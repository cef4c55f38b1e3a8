// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket of leon-accel: reports to leond each second (ipc/accel_report.h), lists and
 * explains connections, and releases all on request. Requests and answers have the format of leond
 * (daemon/control/control.h), and leonctl talks to both.
 * Single-threaded.
 */
#pragma once

struct control;
struct engine;

/* 0 or -errno, logged. */
int control_start(struct control **out, struct engine *e, const char *path);
void control_free(struct control *c); /* NULL ok */
