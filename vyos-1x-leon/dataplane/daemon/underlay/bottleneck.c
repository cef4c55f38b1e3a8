// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Egress rate limit of the access link of the site, see underlay.h. With `shaper automatic`,
 * collects the link measurements for state/rates/autorate.h 20 times a second. Passes the result to
 * the workers and the TAP. Control thread.
 *
 * All links with a substantial part of the data are combined, and the shortest queue of any link
 * counts. A queue that all links see is at the own access link; a queue that one link sees is at
 * its far end.
 */
#include "daemon/underlay/underlay.h"

#include "base/loop.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* A limit is used up if frames wait and the line delivers it except for this part. */
#define SPARE_PART 8
/* Maximum age of a link's last answer. */
#define FRESH_MS 1000
/* Bandwidth probes vary the limit by up to a fifth, and must not switch super-frames. */
#define SUPER_AGAIN_KBITS (FWD_SUPER_KBITS / 4 * 5)

struct bottleneck {
	struct timer *timer;
	struct autorate rate;
	struct site_load in;
	uint32_t found_kbits; /* automatic limit; 0: none */
	mono_t seen;	      /* latest sample at the previous step */
};

/* --- measurement --- */

static const struct link_load *load_at(const struct leond *d, uint16_t slot, mono_t now)
{
	const struct link_load *l = overlay_load(d->overlay, slot);

	return l && l->known && mono_sub_ms(now, l->at) < FRESH_MS ? l : NULL;
}

static int64_t most_sent(const struct leond *d, uint16_t n, mono_t now)
{
	int64_t most = 0;

	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		const struct link_load *l = load_at(d, slot, now);

		if (l)
			most = max_of(most, link_load_sent(l));
	}
	return most;
}

/* Backlog of the access link; a backlog caused by the rate of one node does not count. */
static bool frames_wait(const struct leond *d)
{
	uint64_t frames = 0;
	struct fwd_queue q;

	for (unsigned i = 0; i < d->tap->n_queues; i++) {
		fwd_queue(d->fwd, i, &q);
		frames += q.backlog_frames;
	}
	return frames > fwd_held_frames(d->fwd);
}

static void look(struct leond *d, mono_t now)
{
	struct bottleneck *bottleneck = d->states->bottleneck;
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));
	struct site_load in = { 0 };
	int64_t most = most_sent(d, n, now);
	mono_t latest = bottleneck->seen;

	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		const struct link_load *l = load_at(d, slot, now);

		if (!l || !site_load_counts(l, most))
			continue;
		site_load_add(&in, l);
		if (mono_before(latest, l->at))
			latest = l->at;
	}
	in.fresh = in.links && mono_before(bottleneck->seen, latest);
	in.backlog = frames_wait(d);
	bottleneck->seen = latest;
	bottleneck->in = in;
}

/* Sends PINGs on all measured links now. */
static void ask(struct leond *d, mono_t now)
{
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));
	int64_t most = most_sent(d, n, now);

	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		const struct link_load *l = load_at(d, slot, now);

		if (l && site_load_counts(l, most))
			overlay_probe(d->overlay, slot);
	}
}

/* --- result --- */

static uint32_t lower_of(uint32_t a, uint32_t b)
{
	return a && b ? min_of(a, b) : max_of(a, b);
}

static uint32_t found_kbits(const struct leond *d)
{
	return d->states->bottleneck ? d->states->bottleneck->found_kbits : 0;
}

static bool is_fast(uint32_t limit, uint32_t least)
{
	return !limit || limit >= least;
}

/* On a slow line a super-frame delays other frames by milliseconds. Workers segment super-frames to
 * a single slow node. */
static void set_tap_limit(struct leond *d)
{
	uint32_t least = d->tap->super ? FWD_SUPER_KBITS : SUPER_AGAIN_KBITS;

	tap_pass_super(d->tap, is_fast(d->conf->shaper_egress_kbits, FWD_SUPER_KBITS) &&
				       is_fast(found_kbits(d), least));
}

static void notify(struct leond *d, bool limited)
{
	const struct autorate *rate = &d->states->bottleneck->rate;

	if (limited)
		report_event(
			d, FACTS(EV_BOTTLENECK_FOUND, .value = rate->kbits),
			"the access link is the bottleneck: shaper automatic limits the rate to %u "
			"kbit/s",
			rate->kbits);
	else if (rate->state == AUTORATE_SUSPENDED)
		report_event(d, FACTS(EV_BOTTLENECK_CLEARED, .value = rate->kbits),
			     "the delay behind this router does not depend on the rate of LEON: "
			     "shaper automatic removes its limit for some time");
	else
		report_event(
			d, FACTS(EV_BOTTLENECK_CLEARED, .value = rate->kbits),
			"the access link is no bottleneck: shaper automatic removes its limit");
}

static void set_found(struct leond *d, uint32_t kbits)
{
	struct bottleneck *bottleneck = d->states->bottleneck;
	bool was = bottleneck->found_kbits != 0;

	if (kbits == bottleneck->found_kbits)
		return;
	bottleneck->found_kbits = kbits;
	fwd_set_bottleneck(d->fwd, kbits);
	set_tap_limit(d);
	if (was != (kbits != 0))
		notify(d, kbits != 0);
}

/* The limit is that of the line in use. The rate of a second line is measured by its own PINGs. */
static void limit_lines(struct leond *d, uint32_t kbits)
{
	const struct site_load *in = &d->states->bottleneck->in;
	bool full = kbits && in->backlog && in->delivered_kbits >= kbits - kbits / SPARE_PART;

	overlay_limit_line(d->overlay, kbits, full);
	set_found(d, kbits ? kbits + overlay_second_kbits(d->overlay) : 0);
}

static void on_step(void *arg, mono_t now)
{
	struct leond *d = arg;

	timer_set(d->states->bottleneck->timer, mono_add_ms(now, AUTORATE_STEP_MS));
	look(d, now);
	limit_lines(d,
		    autorate_step(&d->states->bottleneck->rate, &d->states->bottleneck->in, now));
	if (autorate_probe_ended(&d->states->bottleneck->rate, now))
		ask(d, now);
}

/* --- life cycle --- */

void bottleneck_start(struct leond *d)
{
	d->states->bottleneck = leond_memory(d, sizeof(*d->states->bottleneck));
	d->states->bottleneck->timer = leond_timer(d, on_step, d);
	bottleneck_apply_conf(d);
}

void bottleneck_apply_conf(struct leond *d)
{
	set_tap_limit(d);
	if (!d->states->bottleneck)
		return;
	if (d->conf->shaper_automatic) {
		timer_set(d->states->bottleneck->timer, loop_now(d->loop));
		return;
	}
	timer_stop(d->states->bottleneck->timer);
	autorate_reset(&d->states->bottleneck->rate);
	d->states->bottleneck->in = (struct site_load){ 0 };
	limit_lines(d, 0);
}

/* Clears the rates of slots without a node. */
void bottleneck_notify_peer(struct leond *d, uint16_t slot)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	if (slot < fwd_slots(d->fwd))
		fwd_set_hop(d->fwd, slot,
			    n ? lower_of(conf_rate_to(d->conf, n->id),
					 overlay_requested_kbits(d->overlay, slot))
			      : 0);
}

void bottleneck_notify_peers(struct leond *d)
{
	/* Limits requested by nodes were applied when they arrived. */
	if (!conf_lowest_rate(d->conf) && !fwd_shapes_hops(d->fwd))
		return;
	for (uint16_t slot = SLOT_SELF + 1; slot < fwd_slots(d->fwd); slot++)
		bottleneck_notify_peer(d, slot);
}

struct bottleneck_view bottleneck_view(const struct leond *d)
{
	const struct bottleneck *b = d->states->bottleneck;
	struct bottleneck_view v = { .limit_kbits = lower_of(d->conf->shaper_egress_kbits,
							     found_kbits(d)) };

	if (b) {
		v.rate = b->rate;
		v.load = b->in;
	}
	return v;
}
