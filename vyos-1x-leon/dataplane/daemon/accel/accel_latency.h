// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The latency of the paths to nodes, compared with the threshold of acceleration. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct conf;
struct overlay;

/* RTT of the path to the node of the slot, at least 1. 0: no working path. */
uint32_t accel_latency_us(const struct overlay *o, uint16_t slot);
/* Reports whether the mode has near nodes, and the latency to the node is below that percentage of
 * the threshold. */
bool accel_latency_is_near(const struct overlay *o, const struct conf *c, uint16_t slot,
			   uint32_t percent);
