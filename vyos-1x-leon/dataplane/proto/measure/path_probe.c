// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PINGs along the path in use to a node behind relays. While data flows, the answers report lost
 * data (loss.c). If the direct link is down, no other messages pass between the two nodes. Rows of
 * a node without recent messages do not count (state/latency/path.h). Owns struct path_probe.
 * Called by periodic.c (timers), dispatch.c (answers) and paths.c (a path was selected). Control
 * thread. Protocol 6.
 */
#include "proto/measure/measure.h"

#include <string.h>

#include "proto/core.h"

#define FAST_MS	   250 /* PING interval above this data rate */
#define FAST_SENT  5
#define DEAD_PINGS 6	/* unanswered in a row, and for at least DEAD_MS */
#define DEAD_MS	   2000 /* longer than a row needs to report a failed link */

static bool is_relayed(const struct peer *p)
{
	return p->cur && p->choice.path.n_hops > 1;
}

/* Without PINGs the two nodes would not hear each other. */
static bool is_lifeline(const struct peer *p)
{
	return p->cur && p->choice.path.n_hops != 1 && (!p->probe.up || p->probe.silent);
}

/* PING interval of a path without answers. */
static int64_t overdue_gap_ms(const struct overlay *o)
{
	uint32_t n = 0;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		/* On a path that became direct, the number is that of its last relays. */
		n += (is_relayed(p) || is_lifeline(p)) && p->path_probe.n_unanswered > 1;
	}
	return overlay_spread(FAST_MS, n);
}

/* Returns the next check time, after `moved` data datagrams since the last check. Without data, an
 * unanswered PING is no reason for haste: the network or a machine may be overloaded. */
static int64_t wait_ms(const struct overlay *o, const struct peer *p, uint32_t moved)
{
	const struct path_probe *a = &p->path_probe;
	int64_t ms = o->conf->interval_ms;

	if (is_relayed(p) && (moved >= FAST_SENT || (a->data && a->n_unanswered > 1)))
		return min_of(ms, (int64_t)FAST_MS);
	ms = overlay_stretch(o, ms);
	/* The node counts as unreachable after three intervals without a message. */
	if (is_relayed(p) && is_lifeline(p) && a->n_unanswered > 1)
		return min_of(ms, overdue_gap_ms(o));
	return ms;
}

/* Data datagrams to the node since the last check. Negative if the kernel refused some, also for
 * other nodes. */
static int32_t sent_since(const struct overlay *o, const struct peer *p)
{
	return (int32_t)(loss_path_tx(o, p) - p->path_probe.seen_tx);
}

static void send_ping(struct overlay *o, struct peer *p)
{
	struct path_probe *a = &p->path_probe;
	struct path_probe_ping *q = &a->out[a->next_out++ % PATH_PROBES_OUT];
	struct via v;

	/* Without a path the links that others report are used; the node's own row is missing
	 * then. */
	if (!(p->choice.path.n_hops ? via_path(o, &p->choice.path, &v) : via_claimed(o, p, &v)))
		return;
	*q = (struct path_probe_ping){ .id = rtt_new_id(),
				       .data_tx = loss_path_mark(o, p),
				       .sent = overlay_clock(o) };
	if (a->n_unanswered++ == 0)
		a->unanswered_since = overlay_now(o);
	link_ping(o, p, &v, q->id, 0);
}

/* The path changed: the measurements belong to another path. */
static void begin(struct overlay *o, struct peer *p)
{
	struct path_probe *a = &p->path_probe;

	memset(a->out, 0, sizeof(a->out));
	a->path = p->choice.path;
	a->n_unanswered = 0;
	a->data = a->idle = false;
	one_way_reset(&a->ways);
	a->seen_tx = loss_path_tx(o, p);
	loss_path_changed(p);
}

void path_probe_update(struct overlay *o, struct peer *p)
{
	struct path_probe *a = &p->path_probe;
	mono_t soon;

	if (!is_relayed(p) || is_lifeline(p))
		a->idle = false;
	if (!is_relayed(p) && !is_lifeline(p))
		return;
	if ((a->idle || !mono_is_never(p->due[DUE_PATH_PROBE])) &&
	    path_same(&a->path, &p->choice.path))
		return;
	begin(o, p);
	soon = overlay_in(o, 0, o->conf->fast_interval_ms);
	a->start = true;
	p->due[DUE_PATH_PROBE] = mono_earlier(p->due[DUE_PATH_PROBE], soon);
	schedule_arm(p);
}

/* Neither data nor control messages reach the far end, and no relay reports it. */
static bool is_dead(const struct path_probe *a, mono_t now)
{
	int64_t ms = max_of((int64_t)DEAD_MS, (int64_t)a->path.rtt_us * 4 / 1000);

	return a->n_unanswered > DEAD_PINGS && mono_sub_ms(now, a->unanswered_since) > ms;
}

void path_probe_tick(struct overlay *o, struct peer *p, mono_t now)
{
	struct path_probe *a = &p->path_probe;
	uint32_t moved;
	int32_t sent;
	int64_t ms;

	if (!schedule_take(p, DUE_PATH_PROBE, now) || (!is_relayed(p) && !is_lifeline(p)))
		return;
	sent = sent_since(o, p);
	moved = (uint32_t)max_of(sent, 0);
	a->seen_tx += (uint32_t)sent;
	a->data |= moved > 0;
	if (is_relayed(p) && is_dead(a, now)) {
		a->n_unanswered = 0;
		if (loss_distrust(o, p, 1000))
			schedule_paths_now(o);
	}
	/* An unanswered PING is followed by another one even without data, because the far end's
	 * counters are still to be fetched. */
	if (moved || a->start || is_lifeline(p) || a->n_unanswered)
		send_ping(o, p);
	a->start = false;
	ms = wait_ms(o, p, moved);
	a->idle = !moved && !a->n_unanswered && !is_lifeline(p);
	if (!a->idle)
		p->due[DUE_PATH_PROBE] = overlay_in(o, ms * 9 / 10, ms);
}

void path_probe_look(struct overlay *o)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		struct path_probe *a = &p->path_probe;
		int32_t sent;

		if (!is_relayed(p) || (!a->idle && (a->data || !a->n_unanswered)))
			continue;
		sent = sent_since(o, p);
		if (sent <= 0) {
			a->seen_tx += (uint32_t)sent;
			continue;
		}
		p->due[DUE_PATH_PROBE] = overlay_now(o);
		schedule_arm(p);
	}
}

bool path_probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t rx)
{
	struct path_probe *a = &p->path_probe;
	struct path_probe_ping q = { 0 };

	for (unsigned i = 0; i < PATH_PROBES_OUT && m->id; i++)
		if (a->out[i].id == m->id)
			q = a->out[i];
	if (!q.id)
		return false;
	/* Answers to earlier PINGs have older counters and are discarded. */
	for (unsigned i = 0; i < PATH_PROBES_OUT; i++)
		if (!mono_before(q.sent, a->out[i].sent))
			a->out[i].id = 0;
	a->n_unanswered = 0;
	if (!a->data && is_relayed(p) && !is_lifeline(p)) {
		a->idle = true;
		p->due[DUE_PATH_PROBE] = MONO_NEVER;
	}
	a->data = false;
	rtt_one_way(o, &a->ways, q.sent, rx, m);
	if (is_relayed(p) && loss_path_answer(o, p, q.data_tx, m))
		schedule_paths_now(o);
	return true;
}
