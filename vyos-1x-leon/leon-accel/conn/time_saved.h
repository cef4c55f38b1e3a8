// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimate of the time saved by interception: the time without an accelerator minus the measured
 * time of the transfer. Without an accelerator, a sender has a single receive window in flight per
 * round trip, so n bytes need at least n / window round trips. The estimate ignores loss, slow
 * start and compression, so the result is too low for a lossy or idle path. If both directions
 * carry data, the slower direction counts. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "ipc/accel_report.h"

enum saved_direction { SAVED_OUT, SAVED_IN };

struct time_saved {
	uint64_t without_ns[2]; /* By direction. */
	uint64_t with_us;
	mono_t last; /* never: no step yet */
};

/* n bytes of a host were passed on. window: the largest window of the receiver. 0: unknown. */
struct saved_step {
	enum saved_direction direction;
	uint64_t bytes;
	uint32_t rtt_us, window;
};
void time_saved_add(struct time_saved *s, const struct saved_step *step, mono_t now);
struct accel_time time_saved_total(const struct time_saved *s);
