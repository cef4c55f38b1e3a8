// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of direct links: up, unresponsive, down, and the consequences of a change for rows, paths
 * and snapshot. Called by probe.c after answers and misses, by line_choice.c, and by session/ for
 * moved and lost peers; control thread.
 *
 * A link is unresponsive after dead-multiplier unanswered probes in a row, and not before as many
 * fast intervals have passed since the first of them. The link may have failed, or the round-trip
 * time may have jumped; both look alike at first. Therefore its cost rises at once with the age of
 * the oldest unanswered probe, and traffic moves to cheaper links. If this age is unusual for the
 * link, the link is marked unresponsive. The link counts as down only after a longer silence. A
 * late answer is a valid answer and sample. doc/decisions/021.
 */
#include "proto/measure/measure.h"

#include <string.h>

#include "proto/core.h"

#define BURST 4
/* Weight of the part of a delay that exceeds the usual delay of the link. */
#define LATE_FACTOR 3

/* --- up and down --- */

void link_state_up(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;

	pr->up = true;
	pr->was_up = true;
	loss_link_up(p);
	segmentation_link_up(o, p);
	pr->up_since = overlay_now(o);
	link_set_misses(o, p, 0);
	pr->burst = BURST;
	pr->wait_ms = 0;
	pmtu_reset(o, p);
	link_store(o, p);
	overlay_emit(o, EV_LINK_UP, p->id, NODE_ID_NONE, 0, NULL);
	schedule_row(o, ROW_SOON);
	schedule_snapshot(o);
	schedule_paths_later(o);
}

/* Requests the paths without the failed link. */
static void leave_link(struct overlay *o, const struct peer *p)
{
	if (link_is_used(o, p))
		schedule_paths_urgent(o);
	else
		schedule_paths_now(o);
}

static void go_down(struct overlay *o, struct peer *p)
{
	p->probe.up = false;
	p->due[DUE_PMTU] = MONO_NEVER;
	p->probe.late_us = 0;
	p->probe.silent = false;
	segmentation_link_down(o, p);
	link_store(o, p);
	overlay_emit(o, EV_LINK_DOWN, p->id, NODE_ID_NONE, 0, NULL);
}

static void link_down(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;

	/* An outage is not loss: `up` describes it. The restored path must not carry the cost of
	 * the probes lost during the outage. */
	pr->filter.loss_pm = pr->loss_before;
	pr->answers = 0;
	link_set_misses(o, p, 0);
	pr->wait_ms = 0;
	p->due[DUE_PROBE] = overlay_in(o, o->conf->fast_interval_ms / 2, o->conf->fast_interval_ms);
	go_down(o, p);
	schedule_row(o, ROW_NOW);
	schedule_snapshot_now(o);
	leave_link(o, p);
}

void link_state_lost(struct overlay *o, struct peer *p)
{
	ingress_end(o, p);
	if (p->probe.up)
		go_down(o, p);
}

/* Probes on the way belong to the previous transport or pair of lines. */
static void start_on_new(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;

	memset(pr->out, 0, sizeof(pr->out));
	link_expect(p);
	link_set_misses(o, p, 0);
	pr->late_us = 0;
	pr->silent = false;
	pr->burst = BURST;
	if (!pr->up)
		return;
	link_store(o, p);
	schedule_row(o, ROW_SOON);
	schedule_paths_later(o);
}

/* Saves the measurements of the transport or pair. An outage is no loss. */
static void save_filter(const struct probing *pr, struct link_filter *out)
{
	*out = pr->filter;
	out->load_us = 0; /* the data leaves with the pair */
	if (pr->misses)
		out->loss_pm = pr->loss_before;
}

uint16_t link_state_line_changed(struct overlay *o, struct peer *p,
				 const struct link_filter *filter, uint16_t mtu,
				 struct link_filter *before)
{
	struct probing *pr = &p->probe;

	save_filter(pr, before);
	pr->filter = *filter;
	link_load_reset(&pr->load);
	/* Frames that the previous pair lost are no loss of the link. */
	loss_link_forgive(o, p);
	mtu = pmtu_transport_changed(o, p, mtu);
	start_on_new(o, p);
	schedule_probe(o, p);
	return mtu;
}

void link_state_transport_changed(struct overlay *o, struct peer *p, uint32_t rtt_us)
{
	struct probing *pr = &p->probe;
	struct other_transport before = { pr->filter.n_samples > 0, pr->filter, 0 };

	save_filter(pr, &before.filter);
	if (pr->other.used)
		pr->filter = pr->other.filter;
	else if (rtt_us)
		link_filter_reset(&pr->filter, o->conf->long_term_s);
	if (rtt_us)
		link_filter_answer(&pr->filter, rtt_us, overlay_now(o));
	before.mtu = pmtu_transport_changed(o, p, pr->other.mtu);
	pr->other = before;
	start_on_new(o, p);
}

/* --- unresponsive links --- */

/* A link with occasional high delay gets more time before it counts as down. */
static int64_t down_after_us(const struct overlay *o, const struct probing *pr)
{
	int64_t ms = (int64_t)o->conf->dead_multiplier * o->conf->interval_ms;

	ms = max_of(ms, (int64_t)minmax_max(&pr->filter.peak) * 2 / 1000);
	return min_of(ms, (int64_t)SILENCE_MAX_MS) * 1000;
}

/*
 * Expected round-trip time while an answer is overdue: the age plus the variation of the link. The
 * part above the usual range is multiplied, because the link may have failed. A quiet link
 * therefore costs four times the age within three probes, and a link with occasional delays of this
 * size costs the age. The row is updated when the age has reached the announced value.
 */
static int64_t late_cost_us(const struct link_filter *f, int64_t age_us)
{
	int64_t beyond = max_of(age_us - link_filter_usual_us(f), (int64_t)0);

	return max_of(age_us + f->dev_us + LATE_FACTOR * beyond, f->now_us);
}

void link_state_silent(struct overlay *o, struct peer *p, int64_t age_us)
{
	struct probing *pr = &p->probe;

	if (age_us >= down_after_us(o, pr)) {
		link_down(o, p);
		return;
	}
	if (pr->late_us && age_us < pr->late_us)
		return;
	pr->late_us = late_cost_us(&pr->filter, age_us);
	if (age_us > link_filter_usual_us(&pr->filter)) {
		pr->silences += !pr->silent;
		pr->silent = true;
		schedule_row(o, ROW_NOW);
	}
	link_store(o, p);
	leave_link(o, p);
}

void link_state_responds(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	bool was_silent = pr->silent;

	/* Neither an outage nor a jump of the latency is loss. */
	pr->filter.loss_pm = min_of(pr->filter.loss_pm, pr->loss_before);
	pr->late_us = 0;
	pr->silent = false;
	pr->burst = BURST; /* settles the filter soon */
	link_store(o, p);
	if (was_silent)
		schedule_row(o, ROW_SOON);
	schedule_paths_later(o);
}

/* --- data loss --- */

void link_state_loss_changed(struct overlay *o, struct peer *p)
{
	link_store(o, p);
	schedule_row(o, loss_on_link(p) ? ROW_NOW : ROW_SOON);
	if (loss_on_link(p))
		leave_link(o, p);
	else
		schedule_paths_later(o);
}
