// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LAN behind another node changed: hosts there are to be learned anew. Control thread.
 */
#pragma once

#include "proto/core.h"

/* The record of the peer's node says something else about its LAN than before. agenda_arm()
 * after it. */
void lan_flags_changed(struct overlay *o, struct peer *p);
void lan_tick(struct overlay *o, struct peer *p, mono_t now);
