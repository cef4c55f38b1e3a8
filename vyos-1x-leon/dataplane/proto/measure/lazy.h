// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the links with few PINGs. Control thread. Protocol 6, decision 081.
 */
#pragma once

#include "proto/core.h"

/* Returns true if the overlay is large enough for lazy links. */
bool lazy_permitted(const struct overlay *o);
/* Sets probing.lazy of all links. Call every second. */
void lazy_choose(struct overlay *o, mono_t now);
/* Returns the interval of PINGs on the link while it is idle and answers. */
int64_t lazy_idle_ms(const struct overlay *o, const struct peer *p);
