// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commands of the control socket. Control thread.
 */
#pragma once

struct leond;

int cmds_start(struct leond *d);
