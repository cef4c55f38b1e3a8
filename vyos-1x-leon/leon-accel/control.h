// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket of leon-accel: reports to leond each second (ipc/accel_report.h), lists and
 * explains connections, and releases all on request. Requests and answers have the format of leond
 * (daemon/control/control.h), and leonctl talks to both.
 * Single-threaded.
 */
#pragma once

struct ctl_server;
struct engine;

/* 0 or -errno, logged. The caller frees the server. */
int control_start(struct ctl_server **out, struct engine *e, const char *path);
