// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choice of the pair in use and of the second pair. A failed pair is left at once for a pair that
 * answered later. A better pair is used only after it was better for some time. Called by
 * line_pairs.c; control thread. doc/decisions/080.
 */
#include "proto/lines/line_pairs.h"

#include <string.h>

#include "proto/measure/measure.h"
#include "proto/overlay.h"
#include "state/latency/path.h"

/* A pair is left if the cost of another one was lower by an eighth and this value for this time. */
#define BETTER_US 1000
#define BETTER_MS 10000
#define LOSS_PM	  10 /* a pair with more loss carries no distributed data */

bool line_works(const struct overlay *o, unsigned own)
{
	return own < o->n_lines && !o->line[own].lost;
}

uint16_t line_mtu_in_use(const struct overlay *o, const struct peer *p)
{
	return latdb_get(o->lat, SLOT_SELF, p->slot).mtu;
}

/* --- the pair in use --- */

static bool answers(const struct overlay *o, const struct line_pair *q, unsigned i)
{
	return q[i].ep.ip.family && q[i].verified && !q[i].misses && q[i].filter.n_samples &&
	       line_works(o, own_line(i));
}

static uint32_t cost_of(const struct line_pair *q)
{
	struct lat_entry e = { .rtt_us = (uint32_t)q->filter.now_us,
			       .var_us = (uint32_t)q->filter.variation_us,
			       .loss_pm = (uint16_t)q->filter.loss_pm,
			       .up = true };

	return link_cost(&e);
}

static void use(struct overlay *o, struct peer *p, unsigned i, const char *reason)
{
	struct line_pair *old = &p->lines.pair[p->lines.in_use], *q = &p->lines.pair[i];
	bool own_line_changes = own_line(i) != own_line(p->lines.in_use);
	mono_t now = overlay_now(o);

	old->misses = p->probe.misses;
	old->answered_sent = p->probe.answered_sent;
	line_rate_outage(&old->rate);
	old->wait_ms = 0;
	old->due = now;
	old->better_since = MONO_NEVER;
	memset(old->out, 0, sizeof(old->out));
	p->ep = q->ep;
	p->lines.in_use = (uint8_t)i;
	p->lines.changes++;
	p->lines.since = now;
	/* At the first use, the size of a PING that the pair passed. */
	old->mtu = link_state_line_changed(o, p, &q->filter, q->mtu ? q->mtu : q->passed,
					   &old->filter);
	schedule_snapshot_now(o);
	overlay_emit(o, EV_LINK_LINE, p->id, NODE_ID_NONE, own_line_changes, reason);
}

/* A link that is down needs several answers to be up. Its pair has the time of an answer to its
 * first PING, which schedule_probe() delays by up to half of the fast interval. */
static bool is_trial(const struct overlay *o, const struct peer *p)
{
	int64_t us = link_timeout_us(&p->probe.filter) + 500 * (int64_t)o->conf->fast_interval_ms;

	return p->probe.answers || mono_sub_us(overlay_now(o), p->lines.since) < us;
}

/* Leaves the pair in use at once if it fails. Returns false if it works. */
static bool leave(struct overlay *o, struct peer *p)
{
	const struct line_pair *q = p->lines.pair;
	bool lost = !line_works(o, own_line(p->lines.in_use)), silent = link_misses_many(o, p);
	unsigned best = LINE_PAIRS, failed = p->lines.in_use;

	if (!lost && !silent && (p->probe.up || is_trial(o, p)))
		return !p->probe.up;
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		if (i == p->lines.in_use || !answers(o, q, i))
			continue;
		/* An answer from before the silence shows nothing. */
		if (!lost && p->probe.misses && mono_before(q[i].answered_sent, p->probe.missing))
			continue;
		if (best == LINE_PAIRS || cost_of(&q[i]) < cost_of(&q[best]))
			best = i;
	}
	if (best == LINE_PAIRS)
		return true;
	p->lines.failures++;
	p->lines.failed = p->probe.answered_sent;
	use(o, p, best, lost ? "source lost" : "no answer");
	/* A link that went down has no misses any more. Two dead pairs must not alternate. */
	p->lines.pair[failed].misses = max_of(p->lines.pair[failed].misses, 1u);
	return true;
}

/* Changes to a pair that was better for some time. */
static void improve(struct overlay *o, struct peer *p, mono_t now)
{
	struct lat_entry e = latdb_get(o->lat, SLOT_SELF, p->slot);
	struct line_pair *q = p->lines.pair;
	uint32_t cost = link_cost(&e), least = UINT32_MAX;
	bool loses = loss_on_link(p);
	unsigned best = LINE_PAIRS;

	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		if (i == p->lines.in_use)
			continue;
		if (!answers(o, q, i) || mono_before(now, q[i].avoid_until) ||
		    (cost_of(&q[i]) + BETTER_US > cost - cost / 8 && !loses)) {
			q[i].better_since = MONO_NEVER;
			continue;
		}
		if (mono_is_never(q[i].better_since))
			q[i].better_since = now;
		if ((loses || mono_sub_ms(now, q[i].better_since) >= BETTER_MS) &&
		    cost_of(&q[i]) < least) {
			best = i;
			least = cost_of(&q[i]);
		}
	}
	if (best == LINE_PAIRS)
		return;
	if (loses)
		q[p->lines.in_use].avoid_until = mono_add_ms(now, LINE_AVOID_MS);
	use(o, p, best, loses ? "data loss" : "better");
}

/* --- distribution --- */

static bool may_carry(const struct overlay *o, const struct peer *p, unsigned i, mono_t now)
{
	const struct line_pair *q = &p->lines.pair[i];

	return i != p->lines.in_use && q->ep.ip.family && q->verified &&
	       q->misses < LINE_MISSES_MAX && q->filter.n_samples &&
	       (is_second_pair(&p->lines, i) || q->filter.loss_pm < LOSS_PM) &&
	       q->passed >= line_mtu_in_use(o, p) && line_works(o, own_line(i)) &&
	       !mono_before(now, q->avoid_until) && line_rates_may(p, i, now);
}

/* Two pairs without a common line carry the most. */
static unsigned common_lines(const struct peer *p, unsigned i)
{
	unsigned used = p->lines.in_use;

	return (unsigned)(own_line(i) == own_line(used)) +
	       (unsigned)(i % LINES_MAX == used % LINES_MAX);
}

static void distribute(struct overlay *o, struct peer *p, mono_t now)
{
	struct line_pair *q = &p->lines.pair[p->lines.second % LINE_PAIRS];
	unsigned best = LINE_NONE;

	if (p->lines.distributes && p->lines.second != p->lines.in_use &&
	    q->misses >= LINE_MISSES_MAX) {
		p->lines.failures++;
		p->lines.failed = q->answered_sent;
		line_rate_outage(&q->rate);
	}
	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (p->probe.up && may_carry(o, p, i, now) &&
		    (best == LINE_NONE || common_lines(p, i) < common_lines(p, best)))
			best = i;
	line_rates_use(o, p, best);
}

void line_choose(struct overlay *o, struct peer *p, mono_t now)
{
	if (!leave(o, p))
		improve(o, p, now);
	distribute(o, p, now);
}
