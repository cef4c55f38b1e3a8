// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Real-time scheduling of the daemon's threads, if the system permits it (system scheduling), and
 * the limit of busy polling.
 * Control thread. doc/decisions/037.
 */
#pragma once

#include <stdint.h>

struct conf;
struct leond;

/* Called after the workers were started and after a reload; a refusal is logged once with its
 * reason. */
void scheduling_apply_conf(struct leond *d);

/* The limit of busy polling, us. 0 on a single processor, where polling would only delay the
 * program that sends the next frame. */
uint32_t scheduling_busy_poll_us(const struct conf *c);
