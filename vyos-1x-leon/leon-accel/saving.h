// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it is worth that a connection is taken, as an estimate: the time in which its data flowed,
 * and the time that the hosts alone would have needed. Alone, a sender has one window of the
 * receiver under way for each round trip; so n bytes take n / window round trips at least. Loss,
 * slow start and compression are not reckoned with, so a line that is lossy or new saves more than
 * this says. Where two directions flow at a time, the slower one counts. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "wire/accel_report.h"

enum saving_direction { SAVING_OUT, SAVING_IN };

struct saving {
	uint64_t without_ns[2]; /* by direction */
	uint64_t with_us;
	bool began;
	mono_t last;
};

/* n bytes of a host went on; window: the widest of the receiver, 0: unknown. */
struct saving_step {
	enum saving_direction direction;
	uint64_t bytes;
	uint32_t rtt_us, window;
};
void saving_add(struct saving *s, const struct saving_step *step, mono_t now);
struct accel_time saving_time(const struct saving *s);
