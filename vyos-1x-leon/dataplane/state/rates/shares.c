// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of the ingress rate among senders, see shares.h. Control thread.
 */
#include "state/rates/shares.h"

#include "base/defs.h"

/* Initial share of an idle sender until it is seen to use it. The share is not reserved: all idle
 * senders together may exceed the rate by at most this factor. */
#define BEGIN_PART 16
#define BEGINNERS  2
/* Part of the excess over the rate that is withheld in each round, and the upper bound of all that
 * is withheld. Several rounds fit into the time in which the effect becomes visible. */
#define WITHHOLD_PART 8
#define WITHHELD_MOST 2
/* A sender that uses at least this part of its share, in hundredths, may want more. */
#define USED_PERCENT 80

static bool uses(const struct share *s)
{
	return s->kbits && (uint64_t)s->got_kbits * 100 >= (uint64_t)s->kbits * USED_PERCENT;
}

/* Demand of a sender: 1.5 times its current rate if it is below its share. */
static uint32_t wants(const struct share *s)
{
	uint64_t more = (uint64_t)s->got_kbits + s->got_kbits / 2;

	return uses(s) ? UINT32_MAX : (uint32_t)min_of(more, (uint64_t)UINT32_MAX);
}

/* Water-filling level of max-min fairness: senders below it get their demand, the others share the
 * remainder equally. Each round satisfies at least one sender. */
static uint32_t level_of(const struct share *s, unsigned n, uint32_t rate_kbits)
{
	uint32_t level = 0;

	for (unsigned round = 0; round <= n; round++) {
		uint64_t taken = 0;
		unsigned above = 0;
		uint32_t next;

		for (unsigned i = 0; i < n; i++) {
			if (wants(&s[i]) > level)
				above++;
			else
				taken += wants(&s[i]);
		}
		if (!above)
			return rate_kbits;
		next = (uint32_t)((rate_kbits - min_of(taken, (uint64_t)rate_kbits)) / above);
		if (next <= level)
			break;
		level = next;
	}
	return level;
}

/* The unused remainder is divided among idle senders too. A TCP connection that starts on an idle
 * line must not leave slow start early. All senders that may start together must not exceed the
 * rate. */
static uint32_t begin_with(const struct share *s, unsigned n, uint32_t rate_kbits, uint32_t level)
{
	uint32_t part = rate_kbits / BEGIN_PART, spare = rate_kbits;
	unsigned idle = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t taken = min_of(wants(&s[i]), level);

		if (wants(&s[i]) < part)
			idle++;
		else
			spare -= min_of(taken, spare);
	}
	if (!idle)
		return part;
	part = idle > BEGINNERS ? part * BEGINNERS / idle : part;
	return min_of(part + spare / idle, rate_kbits);
}

/* More than the rate arrives, because several senders started at once or relays forward unlimited
 * traffic. The divided rate is reduced until arrivals equal the rate. */
static uint32_t to_divide(struct shares *of, const struct share *s, unsigned n, uint32_t rate_kbits)
{
	int64_t got = 0, withheld = of->withheld_kbits;

	for (unsigned i = 0; i < n; i++)
		got += s[i].got_kbits;
	withheld += (got - (int64_t)rate_kbits) / WITHHOLD_PART;
	withheld = min_of(max_of(withheld, (int64_t)0), (int64_t)rate_kbits / WITHHELD_MOST);
	of->withheld_kbits = (uint32_t)withheld;
	return rate_kbits - of->withheld_kbits;
}

void shares_divide(struct shares *of, struct share *s, unsigned n, uint32_t rate_kbits)
{
	uint32_t rate = to_divide(of, s, n, rate_kbits), level = level_of(s, n, rate);
	uint32_t begin = max_of(begin_with(s, n, rate, level), 1u);

	for (unsigned i = 0; i < n; i++) {
		uint32_t fair = min_of(wants(&s[i]), level);

		s[i].kbits = max_of(fair, begin);
	}
}

/* --- arrival rate --- */

/* Closer marks are merged, because calls may follow each other at once. */
#define MARK_MS (SHARES_EVERY_MS / 2)

uint32_t share_meter_note(struct share_meter *m, uint64_t bytes, mono_t now)
{
	int64_t us;

	if (!m->n || bytes < m->mark[m->n - 1].bytes) {
		*m = (struct share_meter){ .n = 1, .mark[0] = { .at = now, .bytes = bytes } };
		return 0;
	}
	us = mono_sub_us(now, m->mark[0].at);
	if (us < MARK_MS * INT64_C(1000))
		return m->kbits;
	m->kbits = (uint32_t)min_of((bytes - m->mark[0].bytes) * 8000 / (uint64_t)us,
				    (uint64_t)UINT32_MAX);
	if (mono_sub_ms(now, m->mark[m->n - 1].at) < MARK_MS)
		return m->kbits;
	if (m->n == SHARE_MARKS) {
		for (unsigned i = 1; i < SHARE_MARKS; i++)
			m->mark[i - 1] = m->mark[i];
		m->n--;
	}
	m->mark[m->n].at = now;
	m->mark[m->n].bytes = bytes;
	m->n++;
	return m->kbits;
}

/* --- received limits --- */

bool share_receive(struct share_request *s, uint32_t kbits, mono_t until)
{
	bool other = kbits != s->kbits;

	*s = (struct share_request){ .kbits = kbits, .until = until };
	return other;
}

bool share_expire(struct share_request *s, mono_t now)
{
	if (!s->kbits || mono_before(now, s->until))
		return false;
	*s = (struct share_request){ 0 };
	return true;
}
