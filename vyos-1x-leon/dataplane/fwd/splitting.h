// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a frame too big for its path leaves as LEON fragments (wire/fragment.h), never as IP
 * fragments. A partial checksum stays partial: every fragment carries the flag, and who puts the
 * frame together hands it on. So neither end sums the payload for it. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/outgoing.h"

struct worker;

/* A path on which a fragment could carry less than this is no path. */
#define FRAG_UNIT_MIN 64

/* Sends a frame in pieces that fit the lane. The frame's body must
 * stay as it is until the flush, its head is copied. False (and counted) where it is not sent. */
bool frag_send(struct worker *w, const struct lane *lane, const struct pieces *p, uint8_t flags);
