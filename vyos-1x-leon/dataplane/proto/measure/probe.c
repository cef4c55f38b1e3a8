// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measurement of direct links: probe intervals, matching of answers, loss. Results enter the own
 * row of the latency database and the state of the link (link_state.c). Control thread. Protocol
 * 4.7, 6.
 */
#include "proto/measure/measure.h"

#include <string.h>

#include "proto/admit/admit.h"
#include "proto/core.h"
#include "proto/share/share.h"

#define LATE_SELDOM_PPM 5000
#define USED_MS		2000 /* fast probing lasts this long after data on the link */
/* Maximum number of probes in a round-trip time. */
#define PROBES_PER_RTT 8

void probe_init(struct overlay *o, struct peer *p)
{
	loss_init(o, p);
	p->probe = (struct probing){ 0 };
	link_filter_reset(&p->probe.filter, o->conf->long_term_s);
	link_load_reset(&p->probe.load);
	pmtu_reset(o, p);
}

/* Age of the oldest overdue probe, or 0. */
static int64_t missing_us(const struct probing *pr, mono_t now)
{
	return pr->misses ? mono_sub_us(now, pr->missing) : 0;
}

/* Lower bound of the probe interval on links with long round-trip times. A PING stays in `out`
 * until its timeout; a quarter of the entries is for jitter and other PINGs. */
static int64_t least_gap_ms(const struct probing *pr, mono_t now)
{
	int64_t us = max_of(pr->filter.srtt_us, missing_us(pr, now)) / PROBES_PER_RTT;

	return max_of(us, link_timeout_us(&pr->filter) / (PROBES_OUT * 3 / 4)) / 1000;
}

/* Probe interval of a link with overdue answers. */
static int64_t overdue_gap_ms(const struct overlay *o)
{
	return overlay_spread(o->conf->fast_interval_ms / 2, o->n_missing);
}

uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now)
{
	const struct probing *pr = &p->probe;
	int64_t fast_ms = o->conf->fast_interval_ms, ms;

	if (!pr->up)
		return pr->wait_ms ? pr->wait_ms : (uint32_t)(2 * fast_ms);
	ms = lazy_idle_ms(o, p);
	if (pr->burst && !lazy_permitted(o))
		ms = min_of(ms, fast_ms);
	if (link_is_used(o, p))
		ms = min_of(ms, fast_ms);
	if (segmentation_is_on_trial(p))
		ms = min_of(ms, (int64_t)GSO_TRIAL_PING_MS);
	if (pr->misses)
		ms = min_of(ms, overdue_gap_ms(o));
	ms = max_of(ms, least_gap_ms(pr, now));
	return (uint32_t)max_of(ms, (int64_t)1);
}

/* --- sending --- */

/* Sends to this address on all lines, except to the endpoint in use. */
static void send_on_lines(struct overlay *o, struct peer *p, const struct endpoint *to, uint32_t id)
{
	struct via v = { .to = *to, .n_hops = 1, .hop = { p->id } };

	for (uint8_t line = 0; to->ip.family && line < o->n_lines; line++) {
		v.to.line = line;
		if (!endpoint_equal(&v.to, &p->ep) && !o->line[line].lost)
			link_ping(o, p, &v, id, 0);
	}
}

/* While the link is down or unresponsive, the peer may be at any of its addresses. All probes have
 * one id and yield one sample. */
static void send_to_locators(struct overlay *o, struct peer *p, uint32_t id)
{
	const struct node *n = peer_node(o, p);

	if (o->n_lines > 1)
		send_on_lines(o, p, &p->ep, id);
	for (unsigned i = 0; n && n->has_record && i < n->rec.n_locators; i++)
		if ((o->n_lines > 1 || !endpoint_equal(&n->rec.locator[i], &p->ep)) &&
		    endpoint_may_send(o, n, &n->rec.locator[i]))
			send_on_lines(o, p, &n->rec.locator[i], id);
}

static void send_probe(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	uint32_t id = rtt_new_id();
	struct via v;

	pr->sent_at = overlay_now(o);
	pr->tx++;
	link_remember(o, p, id, 0);
	if (via_direct(p, &v))
		link_ping(o, p, &v, id, 0);
	if (!pr->up || pr->silent)
		send_to_locators(o, p, id);
}

static void schedule(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	uint32_t ms = probe_interval_ms(o, p, overlay_now(o));

	p->due[DUE_PROBE] = overlay_in(o, ms * 9 / 10, ms * 11 / 10);
	if (pr->up)
		pr->burst -= pr->burst > 0;
	else
		pr->wait_ms = (uint32_t)min_of((int64_t)ms * 2, overlay_stretch(o, BACKOFF_MAX_MS));
}

void probe_session_up(struct overlay *o, struct peer *p)
{
	memset(p->probe.out, 0, sizeof(p->probe.out));
	link_expect(p);
	schedule_probe(o, p);
}

/* --- result of a probe --- */

static void missed(struct overlay *o, struct peer *p, mono_t sent, mono_t now)
{
	struct probing *pr = &p->probe;
	int64_t dead_ms = (int64_t)o->conf->dead_multiplier * o->conf->fast_interval_ms;
	mono_t again;

	pr->lost++;
	pr->answers = 0;
	/* A peer does not answer before it has the session too. */
	if (!pr->up || mono_before(sent, pr->up_since))
		return;
	if (pr->misses == 0) {
		pr->missing = sent;
		pr->loss_before = pr->filter.loss_pm;
	}
	link_set_misses(o, p, pr->misses + 1);
	/* Overflow of an own queue is no property of the link. */
	if (!load_is_ours(o, p))
		link_filter_loss(&pr->filter);
	if ((link_misses_many(o, p) && missing_us(pr, now) >= 1000 * dead_ms) ||
	    (pr->misses > 1 && missing_us(pr, now) >= 1000 * (int64_t)SILENCE_MAX_MS))
		link_state_silent(o, p, missing_us(pr, now));
	if (!pr->up)
		return;
	link_store(o, p);
	/* The loss alone may make another path better, long before the link is unresponsive. */
	if (link_is_used(o, p))
		schedule_paths_urgent(o);
	again = mono_add_ms(pr->sent_at, max_of(overdue_gap_ms(o), least_gap_ms(pr, now)));
	p->due[DUE_PROBE] = mono_earlier(p->due[DUE_PROBE], mono_before(again, now) ? now : again);
}

/* Enters the time of an answer as a sample; `rtt_us` 0: not a fair sample. */
static void sample(struct probing *pr, const struct probe *q, uint32_t rtt_us, uint32_t long_term_s,
		   mono_t now)
{
	bool overtaken = mono_before(q->sent, pr->answered_sent);
	/* A link with occasional late answers needs more of them in a row. */
	uint32_t in_a_row =
		pr->filter.late_ppm < LATE_SELDOM_PPM ? 2 : 4 + link_filter_chance(&pr->filter);

	pr->filter.long_term_s = long_term_s;
	if (!overtaken)
		pr->answered_sent = q->sent;
	/* The probe was not lost after all. */
	if (q->missed && pr->misses)
		pr->filter.loss_pm = min_of(pr->filter.loss_pm, pr->loss_before);
	if (!rtt_us)
		return;
	link_filter_late(&pr->filter, q->missed);
	/* Several delayed answers at once: the first describes the present, the others the past. */
	if (q->missed && overtaken) {
		link_filter_overtaken(&pr->filter, rtt_us, now);
		return;
	}
	/* Two unusually late answers in a row: the latency jumped. */
	if (q->missed &&
	    (pr->late_us || (pr->misses >= in_a_row && rtt_us > link_filter_usual_us(&pr->filter))))
		link_filter_jump(&pr->filter, rtt_us, now);
	else
		link_filter_answer(&pr->filter, rtt_us, now);
}

static void answered(struct overlay *o, struct peer *p, const struct probe *q, uint32_t rtt_us,
		     mono_t now)
{
	struct probing *pr = &p->probe;

	sample(pr, q, rtt_us, o->conf->long_term_s, now);
	link_set_misses(o, p, 0);
	if (pr->up && pr->late_us) {
		link_state_responds(o, p);
		schedule(o, p);
		return;
	}
	if (pr->up) {
		link_store(o, p);
		return;
	}
	/* A failed link must answer twice in a row before it carries traffic again. */
	if (++pr->answers >= (pr->was_up ? 2u : 1u) && pr->filter.n_samples) {
		link_state_up(o, p);
		schedule(o, p);
		return;
	}
	p->due[DUE_PROBE] = overlay_in(o, 1, o->conf->fast_interval_ms / 2);
}

void probe_tick(struct overlay *o, struct peer *p, mono_t now)
{
	for (unsigned i = 0; i < PROBES_OUT; i++) {
		struct probe *pr = &p->probe.out[i];

		if (!pr->id || pr->missed || mono_before(now, pr->deadline))
			continue;
		pr->missed = true;
		if (pr->size)
			pmtu_miss(o, p, pr->size);
		else
			missed(o, p, pr->sent, now);
	}
	link_expect(p);
	/* If the link is down and the port unreachable, a HELLO finds the peer again. */
	if (schedule_take(p, DUE_PROBE, now) && (p->probe.up || peer_is_alive(o, p))) {
		send_probe(o, p);
		schedule(o, p);
	}
	if (p->probe.up)
		pmtu_tick(o, p, now);
}

void probe_periodic(struct overlay *o, mono_t now)
{
	lazy_choose(o, now);
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		if (loss_link_expire(o, p))
			link_state_loss_changed(o, p);
		segmentation_expire(o, p);
		ingress_expire(o, p);
	}
}

void probe_used(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	mono_t now = overlay_now(o);
	bool idle = mono_is_never(pr->used_until) || mono_before(pr->used_until, now);

	pr->used_until = mono_add_ms(now, USED_MS);
	if (!pr->up)
		return;
	if (idle)
		schedule_probe(o, p);
	pmtu_used(o, p);
}

bool probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct, mono_t rx)
{
	struct probe *pr = NULL, was;
	unsigned pair = p->lines.in_use; /* answered() may change it */
	uint32_t rtt;

	for (unsigned i = 0; i < PROBES_OUT && !pr && m->id; i++)
		if (p->probe.out[i].id == m->id)
			pr = &p->probe.out[i];
	if (!pr || !direct)
		return false;
	was = *pr;
	pr->id = 0;
	link_expect(p);
	ingress_answer(o, p, m);
	if (loss_link_answer(o, p, &was, m))
		link_state_loss_changed(o, p);
	if (segmentation_answer(o, p, &was, m) && loss_link_forgive(o, p))
		link_state_loss_changed(o, p);
	if (was.size && m->size == was.size)
		pmtu_answer(o, p, was.size);
	if (!was.size)
		rtt_one_way(o, &p->probe.ways, was.sent, rx, m);
	/* A large datagram is no fair sample, but proves a live peer. */
	rtt = was.size ? 0 : rtt_sample_us(o, p, was.sent, rx, m->held_ns);
	load_note(o, p, m, was.sent, rx, rtt);
	if (!was.size || p->probe.up)
		answered(o, p, &was, rtt, overlay_now(o));
	line_rates_answer(o, p, pair, m, was.sent, was.backlog_us);
	return true;
}

void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx)
{
	struct msg answer = { .type = MSG_PONG };
	int64_t held_ns = mono_sub_ns(overlay_clock(o), rx);

	answer.pong.id = m->id;
	answer.pong.digest = nodedb_digest(o->nodes);
	answer.pong.row_seq = rows_seq_for(o, p);
	answer.pong.size = (uint16_t)min_of(len, (size_t)UINT16_MAX);
	loss_fill(o, p, &answer.pong);
	ingress_fill(p, &answer.pong);
	line_rates_fill(o, p, back, &answer.pong);
	answer.pong.arrived_us = (uint32_t)(rx.ns / NS_PER_US);
	answer.pong.held_ns = (uint32_t)min_of(max_of(held_ns, (int64_t)0), (int64_t)UINT32_MAX);
	peer_send_via(o, p, back, &answer, 0);
}
