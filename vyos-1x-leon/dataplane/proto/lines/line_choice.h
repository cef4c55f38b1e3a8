// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the pair of lines in use, and the second pair for distributed data, from the measurements
 * of line_pairs.c, the only caller. Control thread. Protocol 3.7.
 */
#pragma once

#include "proto/core.h"

/* Changes the pair in use if it fails or another one is better, then the second pair. */
void line_choose(struct overlay *o, struct peer *p, mono_t now);

/* Conditions of the choice that PINGs of a pair test. */
bool line_works(const struct overlay *o, unsigned own);
/* Path MTU of the pair in use; a second pair needs as much. */
uint16_t line_mtu_in_use(const struct overlay *o, const struct peer *p);
