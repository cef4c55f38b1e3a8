// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prefixes with a route outside the overlay (state/routes/announce.h). Control thread.
 */
#pragma once

#include "state/routes/announce.h"

struct leond;
struct nl_event;

void announcer_start(struct leond *d); /* called before other nodes know this one */
void announcer_free(struct leond *d);
void announcer_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void announcer_apply_conf(struct leond *d);
const struct announce *announcer_view(const struct leond *d);
