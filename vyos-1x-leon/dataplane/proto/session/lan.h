// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LAN behind another node changed: hosts there are to be learned anew. Control thread.
 */
#pragma once

#include "proto/core.h"

/* The record of the peer's node says that its LAN changed in these classes of VLANs (struct
 * record_lan). agenda_arm() after it. */
void lan_classes_changed(struct overlay *o, struct peer *p, uint64_t classes);
void lan_tick(struct overlay *o, struct peer *p, mono_t now);
