// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparison of two views of a connection, see agree.h.
 */
#include "flow/agree.h"

#include "wire/frame/tcp.h"

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
