// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of this node. Control thread.
 */
#pragma once

struct leond;
struct nl_event;

void locators_start(struct leond *d);
void locators_free(struct leond *d);
void locators_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void locators_update(struct leond *d);
