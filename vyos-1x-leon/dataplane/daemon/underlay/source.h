// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loss and return of the source-address or source-interface. Control thread.
 */
#pragma once

struct leond;
struct nl_event;

void source_start(struct leond *d);
void source_free(struct leond *d);
void source_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
