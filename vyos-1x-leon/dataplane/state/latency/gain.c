// SPDX-License-Identifier: GPL-2.0-or-later
/* See gain.h. */
#include "state/latency/gain.h"

/* Adds the current interval to the sums. */
static void take(struct gain *sum, const struct gain *g, mono_t now)
{
	int64_t ms = mono_is_never(g->at) ? 0 : mono_sub_ms(now, g->at);

	if (ms <= 0 || !g->used_works)
		return;
	if (!g->direct_works) {
		sum->without_direct_ms += (uint64_t)ms;
	} else if (!g->guessed) {
		sum->both_ms += (uint64_t)ms;
		sum->used += (uint64_t)ms * g->used_us;
		sum->direct += (uint64_t)ms * g->direct_us;
	}
}

void gain_note(struct gain *g, const struct path *used, const struct path *direct, mono_t now)
{
	int64_t ms = mono_is_never(g->at) ? 0 : mono_sub_ms(now, g->at);

	take(g, g, now);
	/* The remainder below a millisecond is kept for the next interval. */
	g->at = mono_is_never(g->at) ? now : mono_add_ms(g->at, ms);
	g->used_us = used->rtt_us;
	g->direct_us = direct->rtt_us;
	g->used_works = path_works(used);
	g->direct_works = path_works(direct);
	g->guessed = used->silent || direct->silent;
}

void gain_add(struct gain *sum, const struct gain *g, mono_t now)
{
	sum->used += g->used;
	sum->direct += g->direct;
	sum->both_ms += g->both_ms;
	sum->without_direct_ms += g->without_direct_ms;
	take(sum, g, now);
}

uint64_t gain_used_us(const struct gain *g)
{
	return g->both_ms ? g->used / g->both_ms : 0;
}

uint64_t gain_direct_us(const struct gain *g)
{
	return g->both_ms ? g->direct / g->both_ms : 0;
}
