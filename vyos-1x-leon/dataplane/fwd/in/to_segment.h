// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame at the destination node: checks, learning, delivery. Workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"

struct eth_view;
struct worker;

/* The bytes must not change until deliver_flush(). */
void local_frame(struct worker *w, const struct arrived *a, uint8_t *data, size_t len);
