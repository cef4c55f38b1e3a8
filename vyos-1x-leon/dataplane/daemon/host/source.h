// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The address or interface that is sent from goes, or comes back. Control thread.
 */
#pragma once

#include "daemon/leond.h"

void source_start(struct leond *d);
void source_free(struct leond *d);
void source_changed(struct leond *d, const struct nl_event *ev); /* host/watch.c */
