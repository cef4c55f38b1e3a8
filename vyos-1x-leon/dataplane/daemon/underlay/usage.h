// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links with data traffic. Control thread.
 */
#pragma once

struct leond;

void usage_start(struct leond *d);
void usage_free(struct leond *d);
