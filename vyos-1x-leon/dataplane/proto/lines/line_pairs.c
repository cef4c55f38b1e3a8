// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of lines and their measurement, see lines.h; line_choice.c chooses among them. probe.c
 * measures the pair in use as any link. The other pairs get PINGs: as an idle link while they
 * answer, quickly while the pair in use misses answers, and seldom while silent. Control thread.
 */
#include "proto/lines/line_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/admit/admit.h"
#include "proto/measure/measure.h"
#include "proto/overlay.h"
#include "state/latency/path.h"

#define LOCATORS_MS 10000 /* interval of PINGs to the announced addresses of a peer */
#define SIZE_PINGS  4	  /* each fourth PING of a pair tests the path MTU */

/* The peer distinguishes lines, and one of the two nodes has a second one. */
static bool is_active(const struct overlay *o, const struct peer *p)
{
	return (o->n_lines > 1 || p->lines.pair) && p->cur && !endpoint_is_stream(&p->ep) &&
	       p->ep.ip.family && peer_announces(o, p, RECORD_TAKES_LINES);
}

static struct line_pair *pairs_of(struct overlay *o, struct peer *p)
{
	if (p->lines.pair)
		return p->lines.pair;
	p->lines.pair = x_calloc(LINE_PAIRS, sizeof(*p->lines.pair));
	p->lines.incarnation = p->incarnation;
	for (unsigned i = 0; i < LINE_PAIRS; i++)
		link_filter_reset(&p->lines.pair[i].filter, o->conf->long_term_s);
	return p->lines.pair;
}

/* The endpoint in use may have moved. */
static void follow_endpoint(struct peer *p)
{
	struct line_pair *q = p->lines.pair;

	if (endpoint_equal(&q[p->lines.in_use].ep, &p->ep))
		return;
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		if (!endpoint_equal(&q[i].ep, &p->ep))
			continue;
		p->lines.in_use = (uint8_t)i;
		return;
	}
	if (own_line(p->lines.in_use) != p->ep.line)
		p->lines.in_use = (uint8_t)line_pair_index(p->ep.line, p->lines.in_use % LINES_MAX);
	q[p->lines.in_use].ep = p->ep;
}

static bool line_sends(const struct overlay *o, unsigned own, const struct endpoint *ep)
{
	return own < o->n_lines && (ep->ip.family == 6 ? o->line[own].v6 : o->line[own].v4);
}

/* --- discovery --- */

/* A line of the peer has one address, unless a NAT shows another address on each own line. */
static void derive(const struct overlay *o, struct peer *p, unsigned i)
{
	struct line_pair *q = p->lines.pair;

	for (unsigned own = 0; own < o->n_lines; own++) {
		const struct line_pair *known = &q[line_pair_index(own, i % LINES_MAX)];

		if (!known->ep.ip.family || !line_sends(o, own_line(i), &known->ep))
			continue;
		q[i].ep = known->ep;
		q[i].ep.line = (uint8_t)own_line(i);
		return;
	}
}

static bool is_known_address(const struct peer *p, const struct endpoint *ep)
{
	for (unsigned i = 0; i < LINE_PAIRS; i++)
		if (endpoint_same_address(&p->lines.pair[i].ep, ep))
			return true;
	return false;
}

/* A NAT of this node may keep out PINGs from the second line of the peer. A PING to each address of
 * the record opens the NAT. */
static void ping_locators(struct overlay *o, struct peer *p, mono_t now)
{
	const struct node *n = peer_node(o, p);

	if (!peer_announces(o, p, RECORD_HAS_LINES) ||
	    mono_is_recent(p->lines.locators_at, LOCATORS_MS, now))
		return;
	p->lines.locators_at = now;
	for (unsigned k = 0; k < n->rec.n_locators; k++) {
		struct via v = { .to = n->rec.locator[k], .n_hops = 1, .hop = { p->id } };

		if (is_known_address(p, &v.to) || !endpoint_may_send(o, n, &v.to))
			continue;
		for (unsigned own = 0; own < o->n_lines; own++) {
			v.to.line = (uint8_t)own;
			if (line_works(o, own) && line_sends(o, own, &v.to))
				link_ping(o, p, &v, rtt_new_id(), 0);
		}
	}
}

/* --- PINGs --- */

static unsigned index_in(const struct peer *p, const struct line_pair *q)
{
	return (unsigned)(q - p->lines.pair);
}

static int64_t interval_ms(const struct overlay *o, const struct peer *p, const struct line_pair *q)
{
	/* A PING must stay in `out` until its timeout. Some PINGs come early. */
	int64_t least_ms = link_timeout_us(&q->filter) / (1000 * (LINE_PROBES_OUT - 2)) + 1;
	int64_t ms = lazy_idle_ms(o, p);

	if (!q->verified || q->misses)
		ms = q->wait_ms;
	else if (p->probe.misses || is_second_pair(&p->lines, index_in(p, q)))
		ms = o->conf->fast_interval_ms;
	return max_of(ms, least_ms);
}

/* Some PINGs test the path MTU of the pair in use, a condition of the distribution. */
static uint16_t size_to_test(const struct overlay *o, const struct peer *p,
			     const struct line_pair *q)
{
	uint16_t mtu = line_mtu_in_use(o, p);
	bool wanted = q->passed < mtu || is_second_pair(&p->lines, index_in(p, q));

	return q->verified && wanted && q->next_out % SIZE_PINGS == 0 ? mtu : 0;
}

static void ping(struct overlay *o, struct peer *p, struct line_pair *q, mono_t now)
{
	struct via v = { .to = q->ep, .n_hops = 1, .hop = { p->id } };
	struct line_probe *pr = &q->out[q->next_out++ % LINE_PROBES_OUT];

	q->wait_ms = q->wait_ms ? (uint32_t)min_of(2 * (int64_t)q->wait_ms,
						   overlay_stretch(o, BACKOFF_MAX_MS))
				: o->conf->fast_interval_ms;
	*pr = (struct line_probe){ .id = rtt_new_id(),
				   .sent = overlay_clock(o),
				   .size = size_to_test(o, p, q),
				   .backlog_us = line_rates_mark(o, p, index_in(p, q)) };
	pr->deadline = mono_add_us(now, link_timeout_us(&q->filter));
	q->tx++;
	q->due = mono_add_ms(now, interval_ms(o, p, q));
	link_ping(o, p, &v, pr->id, pr->size);
}

static void missed(struct line_pair *q, mono_t now)
{
	q->lost++;
	q->better_since = MONO_NEVER;
	if (q->misses++ == 0) {
		q->loss_before = q->filter.loss_pm;
		q->wait_ms = 0;
		q->due = now;
	}
	link_filter_loss(&q->filter);
}

static void expire(struct line_pair *q, mono_t now)
{
	for (unsigned i = 0; i < LINE_PROBES_OUT; i++) {
		struct line_probe *pr = &q->out[i];

		if (!pr->id || pr->missed || mono_before(now, pr->deadline))
			continue;
		pr->missed = true;
		if (q->verified && !pr->size)
			missed(q, now);
		if (pr->size && ++q->size_misses >= LINE_MISSES_MAX)
			q->passed = 0;
	}
}

static void answered(struct overlay *o, struct line_pair *q, const struct line_probe *was,
		     uint32_t rtt_us)
{
	if (!q->verified || q->misses) {
		/* An outage is no loss. */
		if (q->misses)
			q->filter.loss_pm = min_of(q->filter.loss_pm, q->loss_before);
		q->due = overlay_now(o); /* settles the filter soon */
	}
	q->verified = true;
	q->misses = 0;
	q->wait_ms = 0;
	q->answered_sent = was->sent;
	if (rtt_us)
		link_filter_answer(&q->filter, rtt_us, overlay_now(o));
}

/* --- calls from outside --- */

/* The time of the next PING or timeout. */
static void schedule(struct peer *p)
{
	mono_t at = MONO_NEVER;

	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		const struct line_pair *q = &p->lines.pair[i];

		if (i == p->lines.in_use || !q->ep.ip.family)
			continue;
		at = mono_earlier(at, q->due);
		for (unsigned k = 0; k < LINE_PROBES_OUT; k++)
			if (q->out[k].id && !q->out[k].missed)
				at = mono_earlier(at, q->out[k].deadline);
	}
	p->due[DUE_LINES] = at;
}

/* The first missed answer of the pair in use: the others must answer now, to be usable. */
static void hurry(struct peer *p, mono_t now)
{
	bool silent = p->probe.misses > 0;

	if (silent && !p->lines.hurried)
		for (unsigned i = 0; i < LINE_PAIRS; i++)
			p->lines.pair[i].due = now;
	p->lines.hurried = silent;
}

void lines_tick(struct overlay *o, struct peer *p, mono_t now)
{
	if (!is_active(o, p)) {
		p->due[DUE_LINES] = MONO_NEVER;
		return;
	}
	pairs_of(o, p);
	follow_endpoint(p);
	hurry(p, now);
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		struct line_pair *q = &p->lines.pair[i];

		if (i == p->lines.in_use || own_line(i) >= o->n_lines)
			continue;
		if (!q->ep.ip.family)
			derive(o, p, i);
		expire(q, now);
		q->due = mono_earlier(q->due, mono_add_ms(now, interval_ms(o, p, q)));
		if (!q->ep.ip.family || !line_works(o, own_line(i)))
			q->due = mono_add_ms(now, o->conf->interval_ms);
		else if (!mono_before(now, q->due))
			ping(o, p, q, now);
	}
	line_choose(o, p, now);
	schedule(p);
}

void lines_periodic(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!is_active(o, p))
			continue;
		pairs_of(o, p);
		ping_locators(o, p, overlay_now(o));
		lines_tick(o, p, overlay_now(o));
		schedule_arm(p);
	}
}

void lines_session_up(struct overlay *o, struct peer *p)
{
	struct line_pair *q = p->lines.pair;

	if (!q)
		return;
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		q[i].counter = 0; /* counters of sessions have no order */
		if (p->lines.incarnation == p->incarnation)
			continue;
		q[i] = (struct line_pair){ .tx = q[i].tx, .lost = q[i].lost };
		link_filter_reset(&q[i].filter, o->conf->long_term_s);
	}
	p->lines.incarnation = p->incarnation;
}

void lines_peer_free(struct peer *p)
{
	free(p->lines.pair);
}

bool lines_has(const struct peer *p, const struct endpoint *ep)
{
	for (unsigned i = 0; p->lines.pair && i < LINE_PAIRS; i++)
		if (endpoint_equal(&p->lines.pair[i].ep, ep))
			return true;
	return false;
}

bool lines_choose_for(const struct peer *p, const struct endpoint *ep)
{
	return p->probe.up && p->lines.incarnation == p->incarnation && lines_has(p, ep);
}

/* The number of the peer's line was not known before. */
static void forget_endpoint(struct peer *p, const struct endpoint *ep)
{
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		struct line_pair *q = &p->lines.pair[i];

		if (!endpoint_equal(&q->ep, ep))
			continue;
		q->ep = (struct endpoint){ 0 };
		q->verified = false;
		memset(q->out, 0, sizeof(q->out));
	}
}

static void set_endpoint(struct overlay *o, struct peer *p, struct line_pair *q,
			 const struct endpoint *ep)
{
	forget_endpoint(p, ep);
	q->ep = *ep;
	q->verified = false;
	q->wait_ms = 0;
	q->due = overlay_now(o);
	p->due[DUE_LINES] = q->due;
	schedule_snapshot(o); /* data may come from there */
}

bool lines_ping(struct overlay *o, struct peer *p, const struct endpoint *from,
		const struct msg_ping *m, uint64_t counter)
{
	unsigned theirs = m->line ? m->line - 1u : 0, i;
	struct line_pair *q;

	if ((o->n_lines == 1 && !m->line && !p->lines.pair) || endpoint_is_stream(from) ||
	    endpoint_is_stream(&p->ep) || !p->ep.ip.family ||
	    !peer_announces(o, p, RECORD_TAKES_LINES))
		return false;
	if (theirs >= LINES_MAX)
		return true;
	q = pairs_of(o, p);
	i = line_pair_index(from->line, theirs);
	if (endpoint_equal(from, &p->ep)) {
		if (!endpoint_equal(&q[i].ep, from))
			forget_endpoint(p, from);
		q[i].ep = *from;
		p->lines.in_use = (uint8_t)i;
		return true;
	}
	follow_endpoint(p);
	/* The line in use has another address. */
	if (i == p->lines.in_use)
		return false;
	if (counter <= q[i].counter)
		return true;
	q[i].counter = counter;
	if (!endpoint_equal(&q[i].ep, from))
		set_endpoint(o, p, &q[i], from);
	return true;
}

bool lines_pong(struct overlay *o, struct peer *p, const struct endpoint *from,
		const struct msg_pong *m, mono_t rx)
{
	for (unsigned i = 0; p->lines.pair && m->id && i < LINE_PAIRS; i++) {
		struct line_pair *q = &p->lines.pair[i];

		for (unsigned k = 0; k < LINE_PROBES_OUT; k++) {
			struct line_probe was = q->out[k];

			if (was.id != m->id)
				continue;
			q->out[k].id = 0;
			if (i == p->lines.in_use || !endpoint_equal(&q->ep, from))
				return true;
			if (was.size && m->size >= was.size) {
				q->passed = was.size;
				q->size_misses = 0;
			}
			answered(o, q, &was,
				 was.size ? 0 : rtt_sample_us(o, p, was.sent, rx, m->held_ns));
			line_rates_answer(o, p, i, m, was.sent, was.backlog_us);
			if (is_active(o, p)) {
				line_choose(o, p, overlay_now(o));
				schedule(p);
			}
			return true;
		}
	}
	return false;
}

void overlay_line_changed(struct overlay *o, uint8_t line, bool lost)
{
	if (line >= o->n_lines || o->line[line].lost == lost)
		return;
	o->line[line].lost = lost;
	if (!o->started)
		return;
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!is_active(o, p))
			continue;
		for (unsigned k = 0; k < LINE_PAIRS; k++) {
			if (own_line(k) == line)
				pairs_of(o, p)[k].wait_ms = 0;
			if (own_line(k) == line && !lost)
				p->lines.pair[k].due = overlay_now(o);
		}
		lines_tick(o, p, overlay_now(o));
		schedule_arm(p);
	}
}
