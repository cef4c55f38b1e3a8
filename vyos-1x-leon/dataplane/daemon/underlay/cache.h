// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache in its file. Control thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "daemon/underlay/members.h"

struct conf;
struct leond;

void cache_load(struct leond *d);
void cache_append_to(const struct leond *d, struct conf *c);
/* Returns the i-th appended entry. */
const struct member_entry *cache_member(const struct leond *d, uint32_t i);
void cache_save(struct leond *d, mono_t now);
void cache_periodic(struct leond *d, mono_t now); /* called once a second */
void cache_free(struct leond *d);
