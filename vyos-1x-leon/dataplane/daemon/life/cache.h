// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache in its file. Control thread.
 */
#pragma once

#include "daemon/leond.h"

void cache_load(struct leond *d);
void cache_append_to(const struct leond *d, struct conf *c);
void cache_save(struct leond *d, mono_t now);
