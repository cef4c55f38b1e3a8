// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl map`: the overlay as one self-contained HTML page (map.html). leonctl only.
 */
#pragma once

#include "client/target.h"

/* Sends the requests to the daemon and prints the page. Returns the exit code. */
int map_print(struct target *t, const char *unused);
