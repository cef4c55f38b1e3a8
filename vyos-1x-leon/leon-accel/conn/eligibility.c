// SPDX-License-Identifier: GPL-2.0-or-later
/* The checks of a plain connection. */
#include "conn/conn_state.h"

#include "base/defs.h"
#include "base/json/jsonw.h"
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

/* --- functions for other files --- */

/* Largest window of the receiver of that direction, as flow_window(). */
static uint32_t window(const struct conn *c, enum saved_direction d)
{
	return flow_window(&c->flow, d == SAVED_OUT ? &c->flow.far : &c->flow.near);
}

/* Bytes per round trip of the plain connection. */
static uint64_t plain_rate(struct conn *c, enum saved_direction d, mono_t now)
{
	return meter_best(&c->plain[d], c->peer->rtt_us, now);
}

bool judge_is_worth_keeping(const struct conn *c, enum saved_direction d, uint64_t flow)
{
	return benefit_present(flow, window(c, d));
}

bool eligibility_is_on(const struct conn *c)
{
	/* The latency is unknown without a path. */
	return engine_answers(c->e) &&
	       (!c->peer->rtt_us || peer_is_far_at(c->peer, ACCEL_KEEP_PERCENT));
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

/* --- parts of the checks --- */

static bool is_unmoved(const struct conn *c)
{
	const struct flow *f = &c->flow;
	const struct moved *moved = &c->e->moved;

	return c->e->settings.mode == ACCEL_MOVED && !moved_has(moved, f->key.vlan, f->near.mac) &&
	       !moved_has(moved, f->key.vlan, f->far.mac);
}

/* Reasons for a delay of another attempt. */
static enum accel_reason reason_of_wait(const struct conn *c, mono_t now)
{
	if (mono_before(now, c->flow.retry.not_before))
		return c->refused ? (enum accel_reason)c->refused : ACCEL_REASON_LATER;
	return mono_before(now, c->peer->not_before) ? c->peer->refusal : ACCEL_REASON_NONE;
}

/* Round trips until the rate is known. A rate seen from the first segment on is known at once. */
static unsigned rounds_of_measurement(struct conn *c, mono_t now)
{
	if (c->times || !flow_knows_scales(&c->flow))
		return MEASURED_ROUNDS;
	/* Data follows the commit of an offer, so the node beside the sender offers first. The
	 * handshake and the offer of the other node need two round trips. */
	return plain_rate(c, SAVED_OUT, now) < plain_rate(c, SAVED_IN, now) ? MEASURED_ROUNDS + 1
									    : 0;
}

/* The connection was released because of a low rate, and the rate has not changed. */
static bool still_lacks_benefit(struct conn *c, mono_t now)
{
	for (enum saved_direction d = SAVED_OUT; d <= SAVED_IN && c->no_benefit; d++)
		c->no_benefit = !judge_is_worth_keeping(c, d, plain_rate(c, d, now));
	return c->no_benefit;
}

/* Request-response traffic. A connection that has just begun has a low rate, too. */
static bool is_request_response(struct conn *c, mono_t now)
{
	const struct flow *f = &c->flow;
	struct benefit_exchange t = { .segments = f->near.recent + f->far.recent,
				      .again = f->near.again + f->far.again };

	if (!c->times && mono_sub_us(now, f->since) < METER_ROUNDS * (int64_t)c->peer->rtt_us)
		return false;
	for (enum saved_direction d = SAVED_OUT; d <= SAVED_IN; d++) {
		t.direction[d].flow = plain_rate(c, d, now);
		t.direction[d].window = window(c, d);
	}
	return benefit_is_request_response(&t);
}

static bool gains(struct conn *c, enum saved_direction d, mono_t now)
{
	struct benefit w = { .flow = plain_rate(c, d, now),
			     .window = window(c, d),
			     .interproxy = peer_room(c->peer, d, now),
			     .age_ms = mono_sub_ms(now, c->flow.since),
			     .rtt_ms = peer_rtt_ms(c->peer) };

	return benefit_expected(&w);
}

/* The figures describe the direction with more data: bytes per round trip, now and intercepted. */
static struct figure rates(struct conn *c, mono_t now)
{
	uint64_t out = plain_rate(c, SAVED_OUT, now), in = plain_rate(c, SAVED_IN, now);

	return (struct figure){ max_of(out, in),
				peer_room(c->peer, out >= in ? SAVED_OUT : SAVED_IN, now),
				"bytes" };
}

static uint64_t not_negative(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

/* --- all of them --- */

/* The figures of a check that compares some. */
static struct figure figure_of(struct conn *c, enum accel_reason check, mono_t now)
{
	const struct accel_settings *s = &c->e->settings;
	uint32_t rtt_us = c->peer->rtt_us;

	switch (check) {
	case ACCEL_REASON_NEAR:
		return (struct figure){ rtt_us, s->mode == ACCEL_ALWAYS ? 0 : s->threshold_us,
					"us" };
	case ACCEL_REASON_SHORT:
		return (struct figure){ c->flow.near.segments + c->flow.far.segments, s->segments,
					"segments" };
	case ACCEL_REASON_LATER:
		return (struct figure){ not_negative(mono_sub_ms(c->flow.retry.not_before, now)), 0,
					"ms" };
	case ACCEL_REASON_MEASURING:
		return (struct figure){ not_negative(mono_sub_us(now, c->flow.since)),
					(uint64_t)rounds_of_measurement(c, now) * rtt_us, "us" };
	case ACCEL_REASON_FAST:
		return rates(c, now);
	case ACCEL_REASON_BUSY:
		return (struct figure){ peer_attempts(c->peer), ATTEMPTS_MAX, "attempts" };
	case ACCEL_REASON_FULL:
		return (struct figure){ used_places(c->e), s->maximum, "connections" };
	default:
		return (struct figure){ 0 };
	}
}

static bool is_below(struct figure f)
{
	return f.value < f.limit;
}

/* Reports whether the check keeps the connection plain. */
static bool fails(struct conn *c, enum accel_reason check, mono_t now)
{
	bool always = c->e->settings.mode == ACCEL_ALWAYS;
	const struct flow *f = &c->flow;

	switch (check) {
	case ACCEL_REASON_OFF:
		return !engine_answers(c->e);
	case ACCEL_REASON_UNREACHED:
		return c->peer->state != PEER_UP;
	case ACCEL_REASON_BYPASSED:
		return c->peer->bypassed;
	case ACCEL_REASON_EXCLUDED:
		return !eligibility_is_admitted(c);
	case ACCEL_REASON_NEAR:
		return !peer_is_far_at(c->peer, 100);
	case ACCEL_REASON_UNMOVED:
		return is_unmoved(c);
	case ACCEL_REASON_SHORT:
		return is_below(figure_of(c, check, now));
	case ACCEL_REASON_SILENT:
		return !peer_answers(c->peer, now);
	case ACCEL_REASON_FOREIGN:
		return f->foreign;
	case ACCEL_REASON_ENDING:
		return f->near.fin && f->far.fin;
	case ACCEL_REASON_UNSEEN:
		return !f->near.seen || !f->far.seen;
	case ACCEL_REASON_UNFIT:
		return !flow_end_clock_fits(&f->near) || !flow_end_clock_fits(&f->far);
	case ACCEL_REASON_NO_BENEFIT:
		return !always && (still_lacks_benefit(c, now) || is_request_response(c, now));
	case ACCEL_REASON_MEASURING:
		return !always && is_below(figure_of(c, check, now));
	case ACCEL_REASON_FAST:
		return !always && (!gains(c, SAVED_OUT, now) || !gains(c, SAVED_IN, now));
	case ACCEL_REASON_BUSY:
		return peer_attempts(c->peer) >= ATTEMPTS_MAX;
	case ACCEL_REASON_FULL:
		return eligibility_is_full(c->e) || reason_of_wait(c, now) == check;
	default: /* PEER_FULL to LATER */
		return reason_of_wait(c, now) == check;
	}
}

enum accel_reason eligibility(struct conn *c, mono_t now)
{
	for (enum accel_reason i = ACCEL_REASON_NONE + 1; i < ACCEL_N_REASONS; i++)
		if (fails(c, i, now))
			return i;
	return ACCEL_REASON_NONE;
}

static void write_figure(struct jsonw *w, const char *key, const struct figure *f, uint64_t value)
{
	if (f->unit)
		jsonw_u64(w, key, value);
	else
		jsonw_null(w, key);
}

static void write_check(struct conn *c, enum accel_reason check, struct jsonw *w, mono_t now)
{
	struct figure f = figure_of(c, check, now);

	jsonw_object(w, NULL);
	jsonw_str(w, "check", accel_reason_word(check));
	jsonw_bool(w, "passed", !fails(c, check, now));
	jsonw_str(w, "reason_text", accel_reason_sentence(check));
	write_figure(w, "value", &f, f.value);
	write_figure(w, "limit", &f, f.limit);
	jsonw_str(w, "unit", f.unit);
	jsonw_end(w);
}

void eligibility_explain(struct conn *c, struct jsonw *w, mono_t now)
{
	jsonw_array(w, "checks");
	for (enum accel_reason i = ACCEL_REASON_NONE + 1; i < ACCEL_N_REASONS; i++)
		write_check(c, i, w, now);
	jsonw_end(w);
}
