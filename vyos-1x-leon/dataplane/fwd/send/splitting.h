// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: sends a frame above the path MTU as LEON fragments (wire/datagram/fragment.h), never as IP
 * fragments. A partial checksum stays partial: every fragment carries the flag, and reassembly
 * passes it on, so neither end sums the payload. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/send/outgoing.h"

struct worker;

/* Minimum payload of a fragment; a path with less is unusable. */
#define FRAG_UNIT_MIN 64

/* Sends a frame in fragments that fit the lane. The body must not change until the flush; the head
 * is copied. Returns false and counts if it is not sent. */
bool frag_send(struct worker *w, const struct lane *lane, const struct pieces *p, uint8_t flags);
