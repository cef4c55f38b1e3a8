// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Path MTU of each direct link, by probing. Control thread. Protocol 4.7.
 */
#pragma once

#include "proto/core.h"

void pmtu_reset(struct overlay *o, struct peer *p);
/* Continues with the MTU of the other transport; 0: unknown. Returns the MTU of this one. */
uint16_t pmtu_transport_changed(struct overlay *o, struct peer *p, uint16_t mtu);
void pmtu_tick(struct overlay *o, struct peer *p, mono_t now);
/* Data begins to flow: schedules an early check of the current size. */
void pmtu_used(struct overlay *o, struct peer *p);
void pmtu_answer(struct overlay *o, struct peer *p, uint16_t size);
void pmtu_miss(struct overlay *o, struct peer *p, uint16_t size);
