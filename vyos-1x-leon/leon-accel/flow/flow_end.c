// SPDX-License-Identifier: GPL-2.0-or-later
/* State of a host from frames, and comparison of the views of two nodes. */
#include "flow/flow.h"

#include "flow/flow_step.h"
#include "wire/frame/tcp.h"

/* Time in which timestamps are observed before their clock is known, interval of a comparison, and
 * tolerance for queueing delay. */
#define CLOCK_MIN_MS   20
#define CLOCK_MAX_MS   86400000
#define CLOCK_NOISE_MS 500
/* The largest window of RFC 7323. */
#define SEQ_WINDOW_MAX (1u << 30)
/* Number of segments for an estimate of loss. Older segments count less, because paths change. */
#define RECENT_MAX 1024

void flow_end_begin(struct flow_end *e)
{
	*e = (struct flow_end){ .syn = { .scale = TCP_SCALE_UNKNOWN } };
}

/* The order of two timestamps is known only if less than 24 days are between them. */
static bool is_late(const struct flow_end *e, const struct tcp_view *t, mono_t now)
{
	return e->has_ts && seq_before(t->ts_val, e->ts_val) &&
	       (e->ts_raised || mono_sub_ms(now, e->ts_at) <= CLOCK_MAX_MS);
}

static void receive_clock(struct flow_end *e, const struct tcp_view *t, mono_t now)
{
	if (!t->has_ts || is_late(e, t, now))
		return;
	if (!e->has_ts || mono_sub_ms(now, e->ts_first_at) > CLOCK_MAX_MS) {
		e->ts_first = t->ts_val;
		e->ts_first_at = now;
	}
	e->has_ts = true;
	e->ts_val = t->ts_val;
	e->ts_at = now;
}

void flow_end_syn(struct flow_end *e, const struct tcp_view *t, mono_t now)
{
	flow_end_begin(e);
	e->began = true;
	e->start = e->next = t->end;
	e->syn = (struct accel_options){ .scale = t->scale,
					 .scaling = t->scale != TCP_SCALE_UNKNOWN,
					 .sack = t->sack_permitted,
					 .mss = t->mss };
	/* A SYN without the option states that the host does not scale, which equals a shift of
	 * 0. */
	if (!e->syn.scaling)
		e->syn.scale = 0;
	receive_clock(e, t, now);
}

bool flow_end_clock_fits(const struct flow_end *e)
{
	int64_t seen_ms = mono_sub_ms(e->ts_at, e->ts_first_at);
	int64_t ticks = (int32_t)(e->ts_val - e->ts_first);

	if (!e->has_ts)
		return true;
	return seen_ms >= CLOCK_MIN_MS && 2 * ticks >= seen_ms &&
	       ticks <= 2 * seen_ms + CLOCK_NOISE_MS;
}

void flow_end_receive(struct flow_end *e, const struct tcp_view *t, mono_t now)
{
	receive_clock(e, t, now);
	e->sack_seen |= t->sack_blocks;
	if (!(t->flags & TCP_ACK))
		return;
	if (!e->seen) {
		/* flow_end_took() counts payload and FIN, as for any segment. */
		e->next = t->seq;
		e->acked = t->ack;
	}
	e->seen = true;
	if (!seq_before(t->ack, e->acked)) {
		e->acked = t->ack;
		e->window = t->window;
		if (e->widest < t->window)
			e->widest = t->window;
	}
}

void flow_end_took(struct flow_end *e, const struct tcp_view *t, uint16_t gso_size)
{
	uint32_t size = gso_size ? gso_size : t->payload_len;
	uint32_t n = gso_size ? (t->payload_len + gso_size - 1) / gso_size : t->payload_len > 0;

	if (!seq_before(e->next, t->end)) {
		/* A keepalive segment has the last byte again, or no data. */
		if (t->payload_len > 1 || t->end != e->next)
			e->again += n;
		return;
	}
	e->next = t->end;
	/* Only another connection can follow a FIN. */
	e->fin = t->flags & TCP_FIN;
	if (!t->payload_len)
		return;
	e->segments += n;
	e->recent += n;
	if (e->recent >= RECENT_MAX) {
		e->recent /= 2;
		e->again /= 2;
	}
	if (size > e->largest && size <= UINT16_MAX)
		e->largest = (uint16_t)size;
}

void flow_end_see_window(struct flow_end *near, const struct flow_end *far)
{
	uint32_t flight = far->next - near->acked;

	if (!near->seen || !far->seen || !near->window || flight > SEQ_WINDOW_MAX)
		return;
	while (near->scale_seen < TCP_SCALE_MAX &&
	       (uint32_t)near->window << near->scale_seen < flight)
		near->scale_seen++;
}

uint8_t flow_end_scale(const struct flow_end *e)
{
	uint8_t scale = e->scale_seen;

	while (scale < TCP_SCALE_MAX && e->widest &&
	       (uint32_t)e->widest << (scale + 1) <= UINT16_MAX)
		scale++;
	return scale;
}

/* --- comparison of two views of a connection --- */

static struct accel_end end_of(const struct flow_end *e)
{
	return (struct accel_end){ .seq = e->next,
				   .ack = e->acked,
				   .fin = e->fin,
				   .has_ts = e->has_ts,
				   .ts_val = e->has_ts ? e->ts_val : 0,
				   .syn = e->syn };
}

struct accel_view agree_view(const struct flow_end *near, const struct flow_end *far)
{
	return (struct accel_view){ end_of(near), end_of(far) };
}

/* The MSS is left out: leond lowers the MSS of a forwarded SYN. */
static bool options_fit(const struct accel_options *a, const struct accel_options *b)
{
	if (a->scale == TCP_SCALE_UNKNOWN || b->scale == TCP_SCALE_UNKNOWN)
		return true;
	return a->scale == b->scale && a->scaling == b->scaling && a->sack == b->sack;
}

static enum accel_refusal numbers_differ(const struct accel_end *a, const struct accel_end *b)
{
	if (a->fin != b->fin)
		return ACCEL_FIN_DIFFERS;
	return a->seq == b->seq ? ACCEL_NOT_NOW : ACCEL_NUMBERS_DIFFER;
}

/* Each host has acknowledged all data of the other host. */
static bool is_at_rest(const struct accel_view *v)
{
	return v->near.ack == v->far.seq && v->far.ack == v->near.seq;
}

enum accel_refusal agree_differ(const struct accel_view *mine, const struct accel_view *theirs,
				bool drained)
{
	enum accel_refusal reason = numbers_differ(&mine->far, &theirs->near);

	if (reason == ACCEL_NOT_NOW && drained)
		reason = numbers_differ(&mine->near, &theirs->far);
	if (reason != ACCEL_NOT_NOW)
		return reason;
	/* The near host is behind this node, so the other node cannot have seen more of its
	 * data. */
	if (theirs->far.fin && !mine->near.fin)
		return ACCEL_FIN_DIFFERS;
	if (seq_before(mine->near.seq, theirs->far.seq) || (drained && !is_at_rest(theirs)))
		return ACCEL_NUMBERS_DIFFER;
	if (!options_fit(&mine->near.syn, &theirs->far.syn) ||
	    !options_fit(&mine->far.syn, &theirs->near.syn))
		return ACCEL_OPTIONS_DIFFER;
	if (mine->near.has_ts != theirs->far.has_ts || mine->far.has_ts != theirs->near.has_ts ||
	    (mine->near.has_ts && seq_before(mine->near.ts_val, theirs->far.ts_val)))
		return ACCEL_CLOCKS_DIFFER;
	return ACCEL_NOT_NOW;
}

static void learn(struct accel_options *mine, const struct accel_options *theirs)
{
	if (mine->scale == TCP_SCALE_UNKNOWN)
		*mine = *theirs;
}

void agree_learn(struct flow_end *near, struct flow_end *far, const struct accel_view *theirs)
{
	learn(&far->syn, &theirs->near.syn);
	learn(&near->syn, &theirs->far.syn);
}
