// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Schedules work, see core.h: urgent work at once, other work at intervals that grow with the
 * number of members. Control thread.
 */
#include "proto/core.h"

#define HELLO_GAP_MS	  200 /* minimum interval of HELLOs to a peer */
#define RUN_EVERY_MS	  100
#define FAILURES_MS	  5
#define SNAPSHOT_EVERY_MS 20
#define TRIGGERED_MS	  50 /* least interval of failure announcements */
#define AFTER_RUN_MS	  10
#define ROW_SOON_MS	  200 /* longest delay after a link came up, to batch changes */
/* Above this number of members, announcements without urgency come less often than each interval.
 * An announcement costs the square of the members, and smoothing takes several intervals anyway. */
#define SPREAD_MEMBERS 40u
/* Above that number, a node without links to most members waits this long for more links between
 * two announcements. If links that were up may return, the node also waits before the first one,
 * and for longer among more members. Links of a joining node and of merging halves come up over a
 * second or two, and each announcement costs a message for each member. */
#define SETTLE_MS 2000

static mono_t later_of(mono_t a, mono_t b)
{
	return mono_before(a, b) ? b : a;
}

/* --- work of one peer --- */

void schedule_arm(struct peer *p)
{
	mono_t at = MONO_NEVER;

	if (p->slot == SLOT_NONE)
		return;
	for (unsigned i = 0; i < DUE_N; i++)
		at = mono_earlier(at, p->due[i]);
	if (at.ns != p->tick.at.ns || !timer_is_set(p->tick.timer))
		alarm_set(&p->tick, at);
}

bool schedule_take(struct peer *p, enum due what, mono_t now)
{
	if (mono_is_never(p->due[what]) || mono_before(now, p->due[what]))
		return false;
	p->due[what] = MONO_NEVER;
	return true;
}

void schedule_hello(struct overlay *o, struct peer *p, int64_t within_ms)
{
	mono_t at = overlay_in(o, 0, within_ms),
	       gap = mono_add_ms(p->initiator.sent_at, HELLO_GAP_MS);

	p->initiator.wait_ms = 0;
	p->due[DUE_HELLO] = mono_earlier(p->due[DUE_HELLO], later_of(at, gap));
	schedule_arm(p);
}

void schedule_probe(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	mono_t gap = mono_add_ms(pr->sent_at, o->conf->fast_interval_ms / 2);

	if (!p->cur)
		return;
	if (!pr->up)
		pr->wait_ms = 0;
	p->due[DUE_PROBE] = mono_earlier(p->due[DUE_PROBE], later_of(overlay_now(o), gap));
	schedule_arm(p);
}

/* --- work of the overlay --- */

/* Returns true if nine of ten have a link, or if there are few members. */
static bool are_most(const struct overlay *o, uint32_t linked, uint32_t of)
{
	return nodedb_members(o->nodes) <= SPREAD_MEMBERS || linked >= of * 9 / 10;
}

/* Time of ROW_SOON. It is random after an event that concerns all nodes at the same time. */
static mono_t row_soon(struct overlay *o)
{
	uint32_t linked = 0, before = 0;
	int64_t ms = overlay_stretch(o, o->conf->interval_ms / 2);
	mono_t at;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		linked += p->probe.up;
		before += p->probe.was_up;
	}
	if (!are_most(o, linked, nodedb_members(o->nodes)))
		ms = max_of(ms, (int64_t)SETTLE_MS);
	at = are_most(o, linked, before)
		     ? overlay_in(o, ROW_SOON_MS / 2, ROW_SOON_MS)
		     : overlay_in(o, SETTLE_MS, overlay_stretch(o, 2 * SETTLE_MS));
	return later_of(at, mono_add_ms(o->done.row, ms));
}

/* The interval of work after failures doubles whenever a request had to wait for it, as routers
 * throttle LSAs and SPF computations. After the series of failures it is the least one again. On a
 * lossy underlay or a busy machine, each announcement and each computation adds load. */
static void throttle_done(struct throttle *t, mono_t at, int64_t least_ms, int64_t most_ms)
{
	int64_t ms = t->gap_ms, since_ms = mono_sub_ms(at, t->at);

	if (!t->requested)
		return;
	if (since_ms <= ms + least_ms)
		ms = min_of(2 * ms, most_ms);
	else
		ms = since_ms <= 2 * most_ms ? ms / 2 : least_ms;
	t->gap_ms = max_of(ms, least_ms);
	t->at = at;
	t->requested = false;
}

/* Returns the earliest time of the work. */
static mono_t throttle_request(struct throttle *t)
{
	t->requested = true;
	return mono_add_ms(t->at, t->gap_ms);
}

void schedule_row_done(struct overlay *o, mono_t at)
{
	throttle_done(&o->done.failure_row, at, TRIGGERED_MS, SETTLE_MS);
	o->done.row = at;
	o->done.row_soon = false;
}

void schedule_row(struct overlay *o, enum row_urgency urgency)
{
	uint32_t members = nodedb_members(o->nodes);
	mono_t now = overlay_now(o), at;
	int64_t ms;

	switch (urgency) {
	case ROW_NOW:
		/* Scheduled after the path run that the failure caused, unless a series of failures
		 * delays it. The notification to the far end of the link takes the new path. */
		at = later_of(mono_add_ms(now, AFTER_RUN_MS),
			      later_of(mono_add_ms(o->done.row, TRIGGERED_MS),
				       throttle_request(&o->done.failure_row)));
		break;
	case ROW_SOON:
		if (o->done.row_soon)
			return;
		o->done.row_soon = true;
		at = row_soon(o);
		break;
	case ROW_LATER:
	default:
		if (timer_is_set(o->announce.timer))
			return;
		ms = o->conf->interval_ms * (int64_t)max_of(members, SPREAD_MEMBERS) /
		     SPREAD_MEMBERS;
		at = overlay_in(o, ms * 3 / 4, ms);
		break;
	}
	alarm_sooner(&o->announce, later_of(at, now));
}

/* A run costs the square of the members, so its minimum interval grows likewise. */
static int64_t run_gap_ms(const struct overlay *o, int64_t ms)
{
	return overlay_stretch(o, overlay_stretch(o, ms));
}

void schedule_paths_done(struct overlay *o, mono_t at)
{
	throttle_done(&o->done.failure_paths, at, FAILURES_MS,
		      max_of(run_gap_ms(o, FAILURES_MS), (int64_t)RUN_EVERY_MS));
	o->done.paths = at;
}

static void run_after(struct overlay *o, int64_t ms)
{
	mono_t at = mono_add_ms(o->done.paths, ms);

	at = later_of(at, throttle_request(&o->done.failure_paths));
	alarm_sooner(&o->run, later_of(at, overlay_now(o)));
}

/* Traffic waits for this run. Unanswered PINGs cause runs shortly before it, and it must not wait
 * because of these. */
void schedule_paths_urgent(struct overlay *o)
{
	run_after(o, FAILURES_MS);
}

/* A large failure (a site of many nodes is cut off) produces many rows, so one run serves the rows
 * of a few milliseconds. Among hundreds of nodes the rows of one event arrive over a longer time.
 * The first row triggers a run at once, unless a run preceded it closely. */
void schedule_paths_now(struct overlay *o)
{
	run_after(o, run_gap_ms(o, FAILURES_MS));
}

void schedule_paths_later(struct overlay *o)
{
	mono_t at = mono_add_ms(o->done.paths, run_gap_ms(o, RUN_EVERY_MS));

	alarm_sooner(&o->run, later_of(at, overlay_now(o)));
}

/* A snapshot costs time in proportion to the members, so changes that are not urgent are
 * batched. */
void schedule_snapshot(struct overlay *o)
{
	int64_t ms = overlay_stretch(o, SNAPSHOT_EVERY_MS);

	alarm_sooner(&o->snapshot, later_of(mono_add_ms(o->done.snapshot, ms), overlay_now(o)));
}

void schedule_snapshot_now(struct overlay *o)
{
	alarm_sooner(&o->snapshot, overlay_now(o));
}
