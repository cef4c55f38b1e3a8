// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checks of a plain connection, see eligibility.h.
 */
#include "conn/eligibility.h"

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "conn/conn_state.h"
#include "conn/place.h"
#include "peer/peer.h"
#include "peer/benefit.h"

/* Limit of simultaneously drained connections with a node. Each connection holds frames of a host,
 * and a stalled accelerator gives no answer for 10 s. With 64 connections in a round trip of 250
 * ms, 256 connections per second can be intercepted. */
#define ATTEMPTS_MAX	64
#define MEASURED_ROUNDS 2

/* Time without benefit after which an intercepted connection is released: the first if no other
 * connection needs its place, the second otherwise. A shorter time would mistake a pause for the
 * end of a transfer. */
#define NO_BENEFIT_MS 60000
#define FULL_MS	      10000 /* time for which a refused connection counts as waiting for a place */

/* The compared figures of a check. unit NULL: no figures. */
struct figure {
	uint64_t value, limit;
	const char *unit;
};

/* Returns true if the check keeps the connection plain. */
typedef bool (*check_fn)(struct conn *c, struct figure *f, mono_t now);

/* --- functions for other files --- */

static bool is_far_enough(const struct conn *c, uint32_t of_threshold_percent)
{
	const struct accel_settings *s = &c->e->settings;

	/* The latency is unknown without a path. */
	if (!peer_rtt_us(c->peer) && of_threshold_percent < 100)
		return true;
	return s->mode == ACCEL_ALWAYS || (uint64_t)peer_rtt_us(c->peer) * 100 >=
						  (uint64_t)s->threshold_us * of_threshold_percent;
}

bool judge_is_worth_keeping(const struct conn *c, enum saved_direction d, uint64_t flow)
{
	const struct flow *f = &c->flow;

	return benefit_present(flow, flow_window(f, d == SAVED_OUT ? &f->far : &f->near));
}

bool eligibility_is_on(const struct conn *c)
{
	return engine_answers(c->e) && is_far_enough(c, ACCEL_KEEP_PERCENT);
}

bool eligibility_is_admitted(const struct conn *c)
{
	const struct accel_key *k = &c->flow.key;

	return accel_settings_admit(&c->e->settings, &k->near, &k->far, k->near_port, k->far_port);
}

bool eligibility_is_wanted(const struct conn *c)
{
	return eligibility_is_on(c) && eligibility_is_admitted(c);
}

bool conn_is_no_benefit_for(const struct conn *c, int64_t ms, mono_t now)
{
	return c->e->settings.mode != ACCEL_ALWAYS && mono_sub_ms(now, c->benefit_at) >= ms;
}

static bool is_needed(const struct conn *c, mono_t now)
{
	const struct engine *e = c->e;
	bool others_wait = e->full_at.ns && mono_sub_ms(now, e->full_at) < FULL_MS;

	return !conn_is_no_benefit_for(c, others_wait ? CONN_NO_BENEFIT_MS : NO_BENEFIT_MS, now);
}

bool eligibility_is_over(const struct conn *c, mono_t now)
{
	if (!engine_answers(c->e) || place_is_migrated(c) || c->flow.foreign)
		return true;
	return !mono_before(now, c->flow.retry.not_before) &&
	       (!eligibility_is_wanted(c) || !is_needed(c, now));
}

/* Attempts count too: several offers may be accepted before the first TAKE. */
static uint64_t used_places(const struct engine *e)
{
	return e->n_intercepted + peers_attempts(e);
}

bool eligibility_is_full(const struct engine *e)
{
	return used_places(e) >= e->settings.maximum;
}

enum accel_reason eligibility_of_refusal(uint8_t reason)
{
	switch (reason) {
	case ACCEL_NO_PLACE:
		return ACCEL_REASON_PEER_FULL;
	case ACCEL_NOT_THIS_ONE:
		return ACCEL_REASON_PEER_EXCLUDES;
	case ACCEL_NOT_WITH_YOU:
		return ACCEL_REASON_PEER_OFF;
	default:
		return ACCEL_REASON_PEER_LATER;
	}
}

/* --- settings and the node --- */

static bool is_off(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return !engine_answers(c->e);
}

static bool is_unreached(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return !peer_is_up(c->peer);
}

static bool is_bypassed(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return peer_is_bypassed(c->peer);
}

static bool is_excluded(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return !eligibility_is_admitted(c);
}

static bool is_near(struct conn *c, struct figure *f, mono_t now)
{
	const struct accel_settings *s = &c->e->settings;

	(void)now;
	*f = (struct figure){ peer_rtt_us(c->peer), s->mode == ACCEL_ALWAYS ? 0 : s->threshold_us,
			      "us" };
	return !is_far_enough(c, 100);
}

static bool is_unmoved(struct conn *c, struct figure *f, mono_t now)
{
	const struct flow *flow = &c->flow;
	const struct moved *moved = &c->e->moved;

	(void)f;
	(void)now;
	return c->e->settings.mode == ACCEL_MOVED &&
	       !moved_has(moved, flow->key.vlan, flow->near.mac) &&
	       !moved_has(moved, flow->key.vlan, flow->far.mac);
}

static bool is_silent(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return !peer_answers(c->peer, now);
}

/* --- the connection itself --- */

static bool is_short(struct conn *c, struct figure *f, mono_t now)
{
	uint32_t segments = c->flow.near.segments + c->flow.far.segments;

	(void)now;
	*f = (struct figure){ segments, c->e->settings.segments, "segments" };
	return segments < c->e->settings.segments;
}

static bool is_foreign(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return c->flow.foreign;
}

static bool is_ending(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return c->flow.near.fin && c->flow.far.fin;
}

static bool is_unseen(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return !c->flow.near.seen || !c->flow.far.seen;
}

static bool is_unfit(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	(void)now;
	return !flow_end_clock_fits(&c->flow.near) || !flow_end_clock_fits(&c->flow.far);
}

/* --- attempts before --- */

/* Reasons for a delay of another attempt. */
static enum accel_reason reason_of_wait(const struct conn *c, mono_t now)
{
	if (mono_before(now, c->flow.retry.not_before))
		return c->refused ? (enum accel_reason)c->refused : ACCEL_REASON_LATER;
	return peer_refuses(c->peer, now) ? peer_refusal(c->peer) : ACCEL_REASON_NONE;
}

static bool is_peer_full(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return reason_of_wait(c, now) == ACCEL_REASON_PEER_FULL;
}

static bool is_peer_excluding(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return reason_of_wait(c, now) == ACCEL_REASON_PEER_EXCLUDES;
}

static bool is_peer_off(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return reason_of_wait(c, now) == ACCEL_REASON_PEER_OFF;
}

static bool is_peer_later(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return reason_of_wait(c, now) == ACCEL_REASON_PEER_LATER;
}

static bool is_later(struct conn *c, struct figure *f, mono_t now)
{
	int64_t ms = mono_sub_ms(c->flow.retry.not_before, now);

	*f = (struct figure){ (uint64_t)max_of(ms, (int64_t)0), 0, "ms" };
	return reason_of_wait(c, now) == ACCEL_REASON_LATER;
}

/* --- expected benefit --- */

/* Round trips until the rate is known. A rate seen from the first segment on is known at once. */
static unsigned rounds_of_measurement(struct conn *c, mono_t now)
{
	const struct flow *f = &c->flow;
	uint32_t rtt_us = peer_rtt_us(c->peer);

	if (c->times || f->near.syn.scale == TCP_SCALE_UNKNOWN ||
	    f->far.syn.scale == TCP_SCALE_UNKNOWN)
		return MEASURED_ROUNDS;
	/* Data follows the commit of an offer, so the node beside the sender offers first. The
	 * handshake and the offer of the other node need two round trips. */
	return meter_best(&c->plain[SAVED_OUT], rtt_us, now) <
			       meter_best(&c->plain[SAVED_IN], rtt_us, now)
		       ? MEASURED_ROUNDS + 1
		       : 0;
}

static int64_t measurement_us(struct conn *c, mono_t now)
{
	return (int64_t)rounds_of_measurement(c, now) * peer_rtt_us(c->peer);
}

/* The connection was released because of a low rate, and the rate has not changed. */
static bool still_lacks_benefit(struct conn *c, mono_t now)
{
	uint32_t rtt_us = peer_rtt_us(c->peer);

	for (enum saved_direction d = SAVED_OUT; d <= SAVED_IN && c->no_benefit; d++)
		c->no_benefit =
			!judge_is_worth_keeping(c, d, meter_best(&c->plain[d], rtt_us, now));
	return c->no_benefit;
}

/* Request-response traffic. A connection that has just begun has a low rate, too. */
static bool is_request_response(struct conn *c, mono_t now)
{
	const struct flow *f = &c->flow;
	uint32_t rtt_us = peer_rtt_us(c->peer);
	struct benefit_exchange t = { .segments = f->near.recent + f->far.recent,
				      .again = f->near.again + f->far.again };

	if (!c->times && mono_sub_us(now, f->since) < METER_ROUNDS * (int64_t)rtt_us)
		return false;
	for (enum saved_direction d = SAVED_OUT; d <= SAVED_IN; d++) {
		t.direction[d].flow = meter_best(&c->plain[d], rtt_us, now);
		t.direction[d].window = flow_window(f, d == SAVED_OUT ? &f->far : &f->near);
	}
	return benefit_is_request_response(&t);
}

static bool gains(struct conn *c, enum saved_direction d, mono_t now)
{
	const struct flow *f = &c->flow;
	struct accel_peer *p = c->peer;
	struct benefit w = { .flow = meter_best(&c->plain[d], peer_rtt_us(p), now),
			     .window = flow_window(f, d == SAVED_OUT ? &f->far : &f->near),
			     .interproxy = peer_room(p, d, now),
			     .age_ms = mono_sub_ms(now, f->since),
			     .rtt_ms = peer_rtt_ms(p) };

	return benefit_expected(&w);
}

static bool lacks_benefit(struct conn *c, struct figure *f, mono_t now)
{
	(void)f;
	return c->e->settings.mode != ACCEL_ALWAYS &&
	       (still_lacks_benefit(c, now) || is_request_response(c, now));
}

static bool is_measuring(struct conn *c, struct figure *f, mono_t now)
{
	*f = (struct figure){ (uint64_t)max_of(mono_sub_us(now, c->flow.since), (int64_t)0),
			      (uint64_t)measurement_us(c, now), "us" };
	return c->e->settings.mode != ACCEL_ALWAYS && f->value < f->limit;
}

/* The figures describe the direction with more data: bytes per round trip, now and intercepted. */
static bool is_fast(struct conn *c, struct figure *f, mono_t now)
{
	uint32_t rtt_us = peer_rtt_us(c->peer);
	uint64_t out = meter_best(&c->plain[SAVED_OUT], rtt_us, now);
	uint64_t in = meter_best(&c->plain[SAVED_IN], rtt_us, now);

	*f = (struct figure){ max_of(out, in),
			      peer_room(c->peer, out >= in ? SAVED_OUT : SAVED_IN, now), "bytes" };
	return c->e->settings.mode != ACCEL_ALWAYS &&
	       (!gains(c, SAVED_OUT, now) || !gains(c, SAVED_IN, now));
}

static bool is_busy(struct conn *c, struct figure *f, mono_t now)
{
	(void)now;
	*f = (struct figure){ peer_attempts(c->peer), ATTEMPTS_MAX, "attempts" };
	return f->value >= ATTEMPTS_MAX;
}

static bool is_full(struct conn *c, struct figure *f, mono_t now)
{
	*f = (struct figure){ used_places(c->e), c->e->settings.maximum, "connections" };
	return eligibility_is_full(c->e) || reason_of_wait(c, now) == ACCEL_REASON_FULL;
}

/* --- all of them --- */

static const struct check {
	enum accel_reason reason;
	check_fn fails;
} checks[] = {
	{ ACCEL_REASON_OFF, is_off },
	{ ACCEL_REASON_UNREACHED, is_unreached },
	{ ACCEL_REASON_BYPASSED, is_bypassed },
	{ ACCEL_REASON_EXCLUDED, is_excluded },
	{ ACCEL_REASON_NEAR, is_near },
	{ ACCEL_REASON_UNMOVED, is_unmoved },
	{ ACCEL_REASON_SHORT, is_short },
	{ ACCEL_REASON_SILENT, is_silent },
	{ ACCEL_REASON_FOREIGN, is_foreign },
	{ ACCEL_REASON_ENDING, is_ending },
	{ ACCEL_REASON_UNSEEN, is_unseen },
	{ ACCEL_REASON_UNFIT, is_unfit },
	{ ACCEL_REASON_PEER_FULL, is_peer_full },
	{ ACCEL_REASON_PEER_EXCLUDES, is_peer_excluding },
	{ ACCEL_REASON_PEER_OFF, is_peer_off },
	{ ACCEL_REASON_PEER_LATER, is_peer_later },
	{ ACCEL_REASON_LATER, is_later },
	{ ACCEL_REASON_NO_BENEFIT, lacks_benefit },
	{ ACCEL_REASON_MEASURING, is_measuring },
	{ ACCEL_REASON_FAST, is_fast },
	{ ACCEL_REASON_BUSY, is_busy },
	{ ACCEL_REASON_FULL, is_full },
};

enum accel_reason eligibility(struct conn *c, mono_t now)
{
	struct figure f;

	for (size_t i = 0; i < array_size(checks); i++)
		if (checks[i].fails(c, &f, now))
			return checks[i].reason;
	return ACCEL_REASON_NONE;
}

static void write_figure(struct jsonw *w, const char *key, const struct figure *f, uint64_t value)
{
	if (f->unit)
		jsonw_u64(w, key, value);
	else
		jsonw_null(w, key);
}

static void write_check(struct conn *c, const struct check *k, struct jsonw *w, mono_t now)
{
	struct figure f = { 0 };
	bool fails = k->fails(c, &f, now);

	jsonw_object(w, NULL);
	jsonw_str(w, "check", accel_reason_word(k->reason));
	jsonw_bool(w, "passed", !fails);
	jsonw_str(w, "reason_text", accel_reason_sentence(k->reason));
	write_figure(w, "value", &f, f.value);
	write_figure(w, "limit", &f, f.limit);
	jsonw_str(w, "unit", f.unit);
	jsonw_end(w);
}

void eligibility_explain(struct conn *c, struct jsonw *w, mono_t now)
{
	jsonw_array(w, "checks");
	for (size_t i = 0; i < array_size(checks); i++)
		write_check(c, &checks[i], w, now);
	jsonw_end(w);
}
