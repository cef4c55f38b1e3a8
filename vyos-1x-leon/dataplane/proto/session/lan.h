// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LAN changes of other nodes: hosts must be relearned. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Enters a LAN change of the peer's node in these segment classes (struct record_lan). Requires
 * schedule_arm() afterwards. */
void lan_classes_changed(struct overlay *o, struct peer *p, uint64_t classes);
void lan_tick(struct overlay *o, struct peer *p, mono_t now);
