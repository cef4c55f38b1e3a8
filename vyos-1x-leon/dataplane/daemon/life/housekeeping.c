// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work of each second: aging of tables, reclaiming of retired memory, MTU rule, name resolution of
 * seeds, member cache, status line of systemd. Control thread.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/guard/loop_guard.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "io/ctlsock.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* Period of a complete scan of the FDB and the neighbors, in seconds. */
#define AGE_ROUND_S 8

struct housekeeping {
	struct timer *timer;
	uint64_t no_descriptors; /* refused control connections at the last check */
	char status[128];	 /* last status line */
};

static void age_tables(struct leond *d, mono_t now)
{
	uint32_t budget = fdb_maximum(d->fdb) * 2 / AGE_ROUND_S + 64;

	fdb_age(d->fdb, now_s_of(now), d->conf->fdb_aging_s, budget);
	neigh_age(d->neigh, now_s_of(now), budget);
	if (fdb_wants_copy(d->fdb))
		snapshot_replace_fdb(d, d->conf->fdb_maximum);
}

static void report_status(struct leond *d)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	unsigned others = 0, reachable = 0;
	char text[sizeof(d->states->housekeeping->status)];

	for (const struct node *n = NULL; (n = nodedb_next(db, n));) {
		others++;
		reachable += n->state == NODE_REACHABLE;
	}
	snprintf(text, sizeof(text), "STATUS=%s: %u of %u other nodes reachable%s",
		 d->conf->interface, reachable, others,
		 guard_state(d->guard) == GUARD_BLOCKED ? ", blocked by the loop guard" : "");
	/* Only after a change: a slow service manager blocks its clients. */
	if (strcmp(text, d->states->housekeeping->status) == 0)
		return;
	snprintf(d->states->housekeeping->status, sizeof(d->states->housekeeping->status), "%s",
		 text);
	loop_notify(d->loop, text);
}

static void end_relaying(struct leond *d, mono_t now)
{
	if (mono_is_never(d->states->relays_until) || mono_before(now, d->states->relays_until))
		return;
	d->states->relays_until = MONO_NEVER;
	snapshot_publish(d);
}

/* A client refused for lack of descriptors receives no reason; an event reports it. */
static void report_descriptors(struct leond *d)
{
	uint64_t n = ctl_counters(d->ctl)->no_descriptors;

	if (n == d->states->housekeeping->no_descriptors)
		return;
	if (d->states->housekeeping->no_descriptors == 0)
		report_event(
			d, FACTS(EV_NO_DESCRIPTORS, .value = n),
			"no file descriptor was left for the control socket: raise LimitNOFILE "
			"of the unit");
	d->states->housekeeping->no_descriptors = n;
}

static void on_second(void *arg, mono_t now)
{
	struct leond *d = arg;

	timer_set(d->states->housekeeping->timer, mono_add_ms(now, 1000));
	age_tables(d, now);
	fwd_reclaim(d->fwd);
	end_relaying(d, now);
	modules_second(d, now);
	report_descriptors(d);
	report_status(d);
}

void housekeeping_start(struct leond *d)
{
	d->states->housekeeping = leond_memory(d, sizeof(*d->states->housekeeping));
	d->states->housekeeping->timer = leond_timer(d, on_second, d);
	timer_set(d->states->housekeeping->timer, mono_add_ms(loop_now(d->loop), 1000));
}
