// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of the configured peers. Control thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"

struct endpoint;
struct leond;

int seeds_start(struct leond *d);
void seeds_stop(struct leond *d); /* also without seeds_start() */
/* The list of peers changed. */
void seeds_reset(struct leond *d);
/* The stream to configured peer i; family 0: none. */
void seeds_set_stream(struct leond *d, uint32_t i, const struct endpoint *stream);
void seeds_run(struct leond *d, mono_t now); /* called once a second */
