// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work of each second. Control thread.
 */
#pragma once

struct leond;

void housekeeping_start(struct leond *d);
void housekeeping_free(struct leond *d);
