// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes per round trip, see meter.h.
 */
#include "peer/meter.h"

#include <string.h>

#include "base/defs.h"

/* Starts an interval for each elapsed round trip. */
static void go_on(struct meter *m, uint32_t rtt_us, mono_t now)
{
	int64_t rounds = m->began.ns ? mono_sub_us(now, m->began) / rtt_us : METER_ROUNDS;

	if (rounds < 1)
		return;
	if (rounds >= METER_ROUNDS) {
		memset(m->bytes, 0, sizeof(m->bytes));
		m->began = now;
		return;
	}
	m->began = mono_add_us(m->began, rounds * rtt_us);
	while (rounds-- > 0) {
		m->at = (m->at + 1) % METER_ROUNDS;
		m->bytes[m->at] = 0;
	}
}

void meter_add(struct meter *m, uint64_t bytes, uint32_t rtt_us, mono_t now)
{
	if (!rtt_us)
		return;
	go_on(m, rtt_us, now);
	m->bytes[m->at] += bytes;
}

uint64_t meter_best(struct meter *m, uint32_t rtt_us, mono_t now)
{
	uint64_t best = 0;

	if (!rtt_us)
		return 0;
	go_on(m, rtt_us, now);
	for (unsigned i = 0; i < METER_ROUNDS; i++)
		best = max_of(best, m->bytes[i]);
	return best;
}
