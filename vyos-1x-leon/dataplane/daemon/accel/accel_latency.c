// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latency and threshold of acceleration, see leon_accel.h.
 */
#include "daemon/accel/leon_accel.h"

#include "base/defs.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"

uint32_t accel_latency_us(const struct overlay *o, uint16_t slot)
{
	const struct choice *ch = overlay_choice(o, slot);

	if (!ch || !path_works(&ch->path))
		return 0;
	return max_of(ch->path.rtt_us, 1u);
}

bool accel_latency_is_near(const struct overlay *o, const struct conf *c, uint16_t slot,
			   uint32_t percent)
{
	const struct accel_settings *s = &c->accel;
	uint64_t rtt_us = accel_latency_us(o, slot);

	return c->acceleration && (s->mode == ACCEL_MOVED || s->mode == ACCEL_LATENCY) && rtt_us &&
	       rtt_us * 100 < (uint64_t)s->threshold_us * percent;
}
