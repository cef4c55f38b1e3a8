// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rates of pairs of lines. PONGs on each pair carry the inputs (protocol 4.7), and the workers get
 * rates and delays. Control thread. doc/decisions/080.
 */
#include "proto/measure/measure.h"

#include "proto/overlay.h"
#include "proto/core.h"
#include "proto/view.h"

/* Without a full line for this time, all data uses one line. */
#define NEEDED_MS 30000
/* Rate assumed for an unmeasured line, as a part of that of the line in use. */
#define FIRST_PART 4
/* Datagrams on the way must stay in the window of the receiver (2.5) and of its order. */
#define DATAGRAMS_MAX 1000
#define DATAGRAM_BITS 12000
/* Earliest arrival (EDPF) would fill the faster line up to the difference of the delays, and other
 * traffic waits there. A longer difference is left to the receiver. */
#define AHEAD_US 2000
/* Least interval between two reports of a distribution that begins. */
#define REPORT_MS 60000
/* A peer with a smaller part of the limit does not fill the line. */
#define FULL_PART 8
/* Part of the rate that a queue of the second line takes away. */
#define DRAIN_PART 4
/* Part of a difference between account and measurement that is corrected. */
#define CORRECTION 2

static struct line_rate *rate_of(const struct peer *p, unsigned pair)
{
	return &p->lines.pair[pair].rate;
}

void line_rates_fill(const struct overlay *o, const struct peer *p, const struct via *back,
		     struct msg_pong *m)
{
	uint64_t tx;

	if (!p->lines.pair || !o->ops.line_traffic || back->n_hops != 1)
		return;
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		const struct endpoint *ep = i == p->lines.in_use ? &p->ep : &p->lines.pair[i].ep;

		if (!endpoint_equal(ep, &back->to))
			continue;
		m->has_received = true;
		o->ops.line_traffic(o->arg, p->slot, i, &tx, &m->received);
		return;
	}
}

static bool carries(const struct peer *p, unsigned pair)
{
	return p->lines.distributes && (pair == p->lines.in_use || pair == p->lines.second);
}

int64_t line_rates_mark(const struct overlay *o, const struct peer *p, unsigned pair)
{
	return carries(p, pair) ? o->ops.line_backlog_us(o->arg, p->slot, pair == p->lines.second)
				: 0;
}

static int64_t rise_us(const struct peer *p, unsigned pair)
{
	const struct link_filter *f =
		pair == p->lines.in_use ? &p->probe.filter : &p->lines.pair[pair].filter;

	return f->last_us - minmax_min(&f->min);
}

/* Additional delay of the second line; negative: of the first one. */
static int32_t later_us(const struct line_rate *one, const struct line_rate *two)
{
	return (int32_t)(line_rate_base_us(two) - line_rate_base_us(one));
}

static void tell_workers(struct overlay *o, const struct peer *p)
{
	const struct line_rate *one = rate_of(p, p->lines.in_use);
	struct line_rate *two = rate_of(p, p->lines.second);
	int32_t later = max_of(min_of(later_us(one, two), AHEAD_US), -AHEAD_US);
	uint32_t kbits = o->limit_kbits ? min_of(one->kbits, o->limit_kbits) : one->kbits;

	/* Without a rate, the line would get no data, and so no rate. */
	if (!two->kbits)
		two->kbits = one->kbits / FIRST_PART;
	o->ops.line_set(o->arg, p->slot, false, kbits, (uint32_t)max_of(-later, 0));
	o->ops.line_set(o->arg, p->slot, true, two->kbits, (uint32_t)max_of(later, 0));
}

void line_rates_answer(struct overlay *o, struct peer *p, unsigned pair, const struct msg_pong *m,
		       mono_t sent, int64_t backlog_us)
{
	struct line_rate_sample s = { .epoch = m->epoch,
				      .arrived_us = m->arrived_us,
				      .sent_us = (uint32_t)(sent.ns / NS_PER_US),
				      .received = m->received };
	int64_t wrong_us;
	uint64_t rx;

	if (!p->lines.pair || !o->ops.line_set)
		return;
	s.rise_us = rise_us(p, pair);
	o->ops.line_traffic(o->arg, p->slot, pair, &s.sent, &rx);
	if (!m->has_received) {
		line_rate_reset(rate_of(p, pair));
		return;
	}
	line_rate_note(rate_of(p, pair), &s, overlay_now(o));
	if (!carries(p, pair))
		return;
	if (rate_of(p, pair)->loses && pair == p->lines.second)
		p->lines.pair[pair].avoid_until = mono_add_ms(overlay_now(o), LINE_AVOID_MS);
	wrong_us = rate_of(p, pair)->queue_us - backlog_us;
	o->ops.line_correct(o->arg, p->slot, pair == p->lines.second, wrong_us / CORRECTION);
	tell_workers(o, p);
}

static bool fits_window(const struct line_rate *one, const struct line_rate *two)
{
	int64_t later = later_us(one, two);
	int64_t bits = ((int64_t)one->kbits + two->kbits) * max_of(later, -later) / 1000;

	return bits / DATAGRAM_BITS < DATAGRAMS_MAX;
}

bool line_rates_may(const struct peer *p, unsigned pair, mono_t now)
{
	const struct line_rate *one = rate_of(p, p->lines.in_use), *two = rate_of(p, pair);

	return one->kbits && two->known && !mono_is_never(one->full_at) &&
	       (line_rate_was_full(one, NEEDED_MS, now) ||
		line_rate_was_full(two, NEEDED_MS, now)) &&
	       fits_window(one, two);
}

/* `is`, `was`: number of the second pair plus 1; 0: none. */
static const char *reason(const struct peer *p, unsigned is, unsigned was, mono_t now)
{
	const struct line_pair *old = was ? &p->lines.pair[was - 1] : NULL;

	if (old && mono_before(now, old->avoid_until))
		return "data loss";
	if (old && old->misses)
		return "no answer";
	return is ? "distribution" : "end of distribution";
}

/* An end is reported only after its begin, so a line that comes and goes causes two events a
 * minute. */
static void report(struct overlay *o, struct peer *p)
{
	unsigned is = p->lines.distributes ? p->lines.second + 1u : 0, was = p->lines.reported;
	mono_t now = overlay_now(o);

	if (is == was || (is && mono_is_recent(p->lines.reported_at, REPORT_MS, now)))
		return;
	p->lines.reported = (uint8_t)is;
	if (is)
		p->lines.reported_at = now;
	overlay_emit(o, EV_LINK_LINE, p->id, NODE_ID_NONE, 0, reason(p, is, was, now));
}

static void use(struct overlay *o, struct peer *p, unsigned pair)
{
	bool on = pair != LINE_NONE;

	if (on == p->lines.distributes && (!on || pair == p->lines.second))
		return;
	p->lines.distributes = on;
	p->lines.second = (uint8_t)pair;
	schedule_snapshot_now(o);
	if (on)
		tell_workers(o, p);
}

void line_rates_use(struct overlay *o, struct peer *p, unsigned pair)
{
	use(o, p, pair);
	report(o, p);
}

/* --- automatic shaper --- */

/* A limit moves the queue of the line into this node, so PINGs do not find it. */
static void note_full(struct overlay *o, struct peer *p)
{
	const struct link_load *l = &p->probe.load;
	struct line_rate *r = rate_of(p, p->lines.in_use);

	if (!r->known || link_load_sent(l) < o->limit_kbits / FULL_PART)
		return;
	r->full_at = overlay_now(o);
	if (!r->kbits)
		r->kbits = l->delivered_kbits;
}

void overlay_limit_line(struct overlay *o, uint32_t kbits, bool full)
{
	bool changed = kbits != o->limit_kbits;

	o->limit_kbits = kbits;
	for (struct peer *p = NULL; o->n_lines > 1 && (p = peer_next(o, p));) {
		if (!p->lines.pair)
			continue;
		if (full)
			note_full(o, p);
		if (changed && p->lines.distributes)
			tell_workers(o, p);
	}
}

uint32_t overlay_second_kbits(const struct overlay *o)
{
	uint32_t sum = 0;

	for (const struct peer *p = NULL; o->n_lines > 1 && (p = peer_next(o, p));) {
		const struct line_rate *r;

		if (!p->lines.distributes || own_line(p->lines.second) == own_line(p->lines.in_use))
			continue;
		r = rate_of(p, p->lines.second);
		sum += r->queue_us > LINE_RATE_QUEUE_US ? r->kbits - r->kbits / DRAIN_PART
							: r->kbits;
	}
	return sum;
}
