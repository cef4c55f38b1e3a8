// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See autorate.h. Called by the timer of the daemon. Pure; control thread.
 */
#include "state/rates/autorate.h"

#include <string.h>

#include "base/defs.h"

/* Queueing delays that lower a limit and that set the first limit. */
#define HIGH_US	 5000
#define OPEN_US	 (2 * HIGH_US)
#define IN_A_ROW 2
/* The queue must stand for this number of RTTs as well, because TCP starts with bursts that queue
 * for a moment. */
#define OPEN_RTTS 3
/* The limit between bandwidth probes, in thousandths of the rate of the access link. */
#define CRUISE_PM 970
/* Time between bandwidth probes. */
#define HOLD_MS 500
/* Target time to drain a queue: a drain ends before the next bandwidth probe. The largest reduction
 * of the rate for draining. */
#define DRAIN_US     (HOLD_MS * 1000 / 2)
#define DRAIN_PM_MAX 400
/* A limit with this part in use can cause a queue. */
#define BUSY_PM 700
/* PINGs of the first two steps of draining measure the state before it. */
#define LEARN_MS (2 * AUTORATE_STEP_MS)
/* A lower rate must shorten a queue of own load by a quarter within this time, one RTT and the
 * queueing delay. */
#define LOOK_MS 300
/* Time after which the baseline is measured again, and of the first suspension. */
#define AGAIN_MS 10000
/* A larger change of the delay between two samples indicates a queue. */
#define MOVES_US 3000
/* Time to drain a queue, and to empty a link with less than half of its verified rate. */
#define UNRESPONSIVE_MS 3000
#define SUSPENDED_TIMES 3 /* maximum number of doublings of AGAIN_MS */
#define FORGIVEN_MS	(6 * AGAIN_MS)
#define MIN_OF_BEST	16
/* The best rate decays by this factor at each bandwidth probe. */
#define FADES_PM 700
/* Window of the maximum delivery rate, which contains the last bandwidth probes. A queue may still
 * be own load for this time after the last use, because a bulk flow may have ended within it. */
#define RECENT_MS (4 * HOLD_MS)

const char *autorate_state_name(enum autorate_state s)
{
	static const char *const name[] = { [AUTORATE_OPEN] = "open",
					    [AUTORATE_DRAIN] = "drain",
					    [AUTORATE_CRUISE] = "cruise",
					    [AUTORATE_PROBE] = "probe",
					    [AUTORATE_SUSPENDED] = "suspended" };

	return name[s];
}

void autorate_reset(struct autorate *a)
{
	memset(a, 0, sizeof(*a));
}

/* --- helpers --- */

static uint32_t part(uint32_t kbits, uint32_t pm)
{
	return (uint32_t)((uint64_t)kbits * pm / 1000);
}

static void enter(struct autorate *a, enum autorate_state s, mono_t now)
{
	a->state = s;
	a->since = now;
}

static int64_t for_ms(const struct autorate *a, mono_t now)
{
	return mono_sub_ms(now, a->since);
}

static void set_kbits(struct autorate *a, uint64_t kbits)
{
	uint32_t least = max_of(a->best / MIN_OF_BEST, (uint32_t)AUTORATE_MIN);

	a->kbits = (uint32_t)max_of(min_of(kbits, (uint64_t)UINT32_MAX), (uint64_t)least);
	a->best = max_of(a->best, a->kbits);
}

static void open_link(struct autorate *a, mono_t now)
{
	a->kbits = a->best = 0;
	a->high = 0;
	a->baseline_us = 0;
	enter(a, AUTORATE_OPEN, now);
}

/* Queueing delay above the baseline. */
static uint32_t queue_us(const struct autorate *a, const struct site_load *in)
{
	return in->queue_us - min_of(in->queue_us, a->baseline_us);
}

/* A limit empties the queue again and again. Therefore the windowed minimum of the delay is a valid
 * base, and the delay that stood before is left out. */
static bool is_high(const struct autorate *a, const struct site_load *in)
{
	return queue_us(a, in) > site_load_threshold_us(in, a->kbits, HIGH_US);
}

/* Schedules the next check of whether the queue drains. PINGs return after an RTT and queue as
 * well, so both delays are added. */
static void look_again(struct autorate *a, const struct site_load *in, mono_t now)
{
	int64_t rtt_us = (int64_t)in->rtt_us + in->queue_us;

	a->target_us = queue_us(a, in) / 4 * 3;
	a->least_us = UINT32_MAX;
	a->look_from = now;
	a->look_at = mono_add_us(now, LOOK_MS * 1000 + rtt_us);
}

static void drain(struct autorate *a, const struct site_load *in, mono_t now)
{
	a->initial_queue_us = queue_us(a, in);
	a->known = a->kbits;
	bandwidth_probe_shrink(&a->probe);
	a->high = 0;
	look_again(a, in, now);
	enter(a, AUTORATE_DRAIN, now);
}

/* --- states --- */

/* Rate of the access link, if the link is full. */
static uint32_t carries(const struct autorate *a, const struct site_load *in)
{
	return max_of((uint32_t)minmax_max(&a->recent), in->latest_kbits);
}

/* Without a limit, a queue may have stood for long. A delay that is worth less than two frames at
 * the delivery rate is no queue. A bulk flow has just ended, and the propagation delay has
 * grown. */
static bool is_full(const struct autorate *a, const struct site_load *in)
{
	uint32_t us = queue_us(a, in) + in->standing_us, kbits = carries(a, in);

	return in->ours && kbits && us > site_load_threshold_us(in, kbits, OPEN_US);
}

/* Waits for a full link. Delay without own load is propagation delay or traffic of others. */
static void when_open(struct autorate *a, const struct site_load *in, mono_t now)
{
	if (!in->fresh)
		return;
	if (!in->ours) {
		a->baseline_us = in->queue_us;
		a->baseline_at = now;
	}
	a->high = is_full(a, in) ? a->high + 1 : 0;
	if (a->high <= 1)
		a->high_at = now;
	if (a->high < IN_A_ROW || mono_sub_us(now, a->high_at) < OPEN_RTTS * (int64_t)in->rtt_us ||
	    !in->delivered_kbits || in->delivered_kbits >= AUTORATE_MAX)
		return;
	a->best = 0;
	set_kbits(a, carries(a, in));
	a->verified = a->kbits;
	a->lowered_at = (mono_t){ 0 };
	a->found++;
	a->unsure = true;
	drain(a, in, now);
}

static void suspend(struct autorate *a, mono_t now)
{
	a->unresponsive++;
	a->suspensions++;
	enter(a, AUTORATE_SUSPENDED, now);
}

static bool is_used(const struct autorate *a, const struct site_load *in, uint32_t pm)
{
	return in->backlog || in->delivered_kbits >= part(a->kbits, pm);
}

/* Distinguishes a queue from propagation delay, because the delivery rate alone may only repeat the
 * own rate. A queue changes its length, because the own rate differs from the rate of the link. */
static bool is_queue(const struct autorate *a, const struct site_load *in)
{
	uint32_t was = a->before_us, is = queue_us(a, in);
	uint32_t moved = max_of(was, is) - min_of(was, is);

	return moved > site_load_threshold_us(in, 0, MOVES_US);
}

/* A rate below half of the verified rate is accepted for UNRESPONSIVE_MS only. */
static void lower(struct autorate *a, uint32_t kbits, mono_t now)
{
	set_kbits(a, kbits);
	if (a->kbits < a->verified / 2 && mono_is_never(a->lowered_at))
		a->lowered_at = now;
}

/* Sets the limit to the delivery rate. The link was busy between two samples that both found a
 * queue, so the bytes delivered between them show its rate. A rate counts even if traffic stayed
 * far below the limit, because the link may have become slower in a pause. The higher one of two
 * intervals counts, because a part of one may precede the queue. */
static void learn(struct autorate *a, const struct site_load *in, mono_t now)
{
	uint32_t carried = max_of(in->latest_kbits, a->before_kbits);

	if (!in->latest_kbits)
		return;
	if (min_of(in->latest_kbits, in->delivered_kbits) > a->kbits) {
		set_kbits(a, min_of(in->latest_kbits, in->delivered_kbits));
	} else if (carried < a->kbits &&
		   (mono_before(in->sent_at, mono_add_ms(a->since, LEARN_MS)) || is_queue(a, in))) {
		lower(a, carried, now);
		look_again(a, in, now);
	}
}

/* Returns true if the rate was low for long enough and the delay stayed: the queue is no own
 * load. */
static bool is_persistent(struct autorate *a, const struct site_load *in, mono_t now)
{
	if (mono_before(in->sent_at, a->look_from))
		return false;
	a->least_us = min_of(a->least_us, queue_us(a, in));
	if (mono_before(now, a->look_at))
		return false;
	if (a->least_us > a->target_us)
		return true;
	look_again(a, in, now);
	return false;
}

/* Restores the rate, because the delivery rate only repeated the own rate. The propagation delay
 * grows once. A repetition means that others fill the link. */
static void is_not_own_load(struct autorate *a, mono_t now)
{
	bool again = a->baseline_us > HIGH_US && mono_is_recent(a->stayed_at, AGAIN_MS, now);

	a->baseline_us += a->least_us;
	a->baseline_at = a->stayed_at = now;
	set_kbits(a, max_of(a->kbits, a->known));
	if (again) {
		suspend(a, now);
	} else if (a->unsure) {
		/* The link was not full at all. */
		a->kbits = a->best = 0;
		enter(a, AUTORATE_OPEN, now);
	} else {
		enter(a, AUTORATE_CRUISE, now);
	}
}

static void when_draining(struct autorate *a, const struct site_load *in, mono_t now)
{
	if (!in->fresh)
		return;
	if (!is_high(a, in)) {
		a->unsure = false;
		enter(a, AUTORATE_CRUISE, now);
		return;
	}
	learn(a, in, now);
	if (is_persistent(a, in, now)) {
		/* The delay has grown much since the start, so draining starts again. */
		if (a->least_us > 2 * a->target_us)
			drain(a, in, now);
		else
			is_not_own_load(a, now);
		return;
	}
	if (for_ms(a, now) < UNRESPONSIVE_MS)
		return;
	if (queue_us(a, in) > a->initial_queue_us / 2)
		suspend(a, now);
	else
		drain(a, in, now);
}

/* Returns true if several samples in a row found a queue. */
static bool stands(struct autorate *a, const struct site_load *in)
{
	if (in->fresh)
		a->high = is_high(a, in) ? a->high + 1 : 0;
	return a->high >= IN_A_ROW;
}

/* A queue at a low own rate belongs to others. A lower rate would not shorten the queue, and the
 * state `suspended` would leave the node without a limit when its traffic grows. */
static bool may_be_own_load(const struct autorate *a, const struct site_load *in, mono_t now)
{
	return in->ours || mono_sub_ms(now, a->used_at) < RECENT_MS;
}

static void when_cruising(struct autorate *a, const struct site_load *in, mono_t now)
{
	if (stands(a, in) && may_be_own_load(a, in, now)) {
		drain(a, in, now);
		return;
	}
	if (is_high(a, in) || for_ms(a, now) < HOLD_MS || !is_used(a, in, BANDWIDTH_PROBE_USED_PM))
		return;
	/* A bandwidth probe may fill the link, so the best rate decays. */
	a->best = max_of(part(a->best, FADES_PM), a->kbits);
	bandwidth_probe_start(&a->probe, site_load_noise_us(in, a->kbits), now);
	enter(a, AUTORATE_PROBE, now);
}

/* While the baseline is high, the limit stays within the best rate: a buffer that others keep full
 * does not grow. */
static void after_probe(struct autorate *a, mono_t now)
{
	uint64_t kbits = a->kbits;
	enum probe_outcome outcome = bandwidth_probe_judge(&a->probe, &kbits);

	if (outcome == PROBE_ROOM)
		set_kbits(a, a->baseline_us > HIGH_US ? min_of(kbits, (uint64_t)a->best) : kbits);
	enter(a, AUTORATE_CRUISE, now);
	/* The next bandwidth probe follows at once, after success or if no PING was answered. */
	if (outcome != PROBE_FULL)
		a->since = mono_add_ms(now, -HOLD_MS);
	if (a->kbits >= AUTORATE_MAX)
		open_link(a, now);
}

static void when_probing(struct autorate *a, const struct site_load *in, mono_t now)
{
	const struct probe_sample sample = { .sent_at = in->sent_at,
					     .queue_us = queue_us(a, in),
					     .noise_us = site_load_noise_us(in, a->kbits),
					     .delivered_kbits = in->latest_kbits };

	if (in->fresh)
		bandwidth_probe_note(&a->probe, &sample);
	if (stands(a, in) || (a->probe.full && is_high(a, in))) {
		drain(a, in, now);
	} else if (a->probe.full) {
		bandwidth_probe_shrink(&a->probe);
		enter(a, AUTORATE_CRUISE, now);
	} else if (bandwidth_probe_is_over(&a->probe, in->rtt_us, now)) {
		after_probe(a, now);
	}
}

static void when_suspended(struct autorate *a, const struct site_load *in attr_unused, mono_t now)
{
	int64_t ms = (int64_t)AGAIN_MS << min_of(a->unresponsive, (unsigned)SUSPENDED_TIMES);

	if (for_ms(a, now) >= ms)
		open_link(a, now);
}

/* --- output --- */

bool autorate_probe_ended(struct autorate *a, mono_t now)
{
	return a->state == AUTORATE_PROBE && bandwidth_probe_ended(&a->probe, now);
}

static uint32_t limit(const struct autorate *a, const struct site_load *in, mono_t now)
{
	uint32_t less = (uint32_t)min_of((uint64_t)queue_us(a, in) * 1000 / DRAIN_US,
					 (uint64_t)DRAIN_PM_MAX);
	uint32_t height;

	switch (a->state) {
	case AUTORATE_DRAIN:
	case AUTORATE_CRUISE:
		return part(a->kbits, CRUISE_PM - less);
	case AUTORATE_PROBE:
		height = bandwidth_probe_height_pm(&a->probe, now);
		return part(a->kbits, height ? 1000 + height : CRUISE_PM - less);
	case AUTORATE_OPEN:
	case AUTORATE_SUSPENDED:
		break;
	}
	return 0;
}

/* Updates the baseline. The windowed minimum includes a longer propagation delay after a while, so
 * the baseline shrinks by the same amount. */
static void keep_baseline(struct autorate *a, const struct site_load *in, mono_t now)
{
	int64_t risen_us = max_of(in->base_us - a->base_us, (int64_t)0);

	if (!in->fresh)
		return;
	a->base_us = in->base_us;
	a->baseline_us -= (uint32_t)min_of(risen_us, (int64_t)a->baseline_us);
	a->baseline_us = min_of(a->baseline_us, in->queue_us);
	if (a->baseline_us && mono_sub_ms(now, a->baseline_at) >= AGAIN_MS)
		a->baseline_us = 0;
}

/* Verifies the limit: a link that is limited below its rate is empty, except for two frames and
 * OPEN_US. If the link is not empty, others fill it, and each short pause of their traffic would
 * lower the limit. */
static void verify_rate(struct autorate *a, const struct site_load *in, mono_t now)
{
	if (!in->fresh || !a->kbits || a->state == AUTORATE_SUSPENDED)
		return;
	if (in->any_queue_us <= OPEN_US + site_load_frames_us(a->kbits))
		a->verified = a->kbits;
	if (a->kbits >= a->verified / 2)
		a->lowered_at = (mono_t){ 0 };
	if (mono_is_never(a->lowered_at) || mono_sub_ms(now, a->lowered_at) < UNRESPONSIVE_MS)
		return;
	set_kbits(a, a->verified);
	suspend(a, now);
}

uint32_t autorate_step(struct autorate *a, const struct site_load *in, mono_t now)
{
	static void (*const when[])(struct autorate *, const struct site_load *, mono_t) = {
		[AUTORATE_OPEN] = when_open,	       [AUTORATE_DRAIN] = when_draining,
		[AUTORATE_CRUISE] = when_cruising,     [AUTORATE_PROBE] = when_probing,
		[AUTORATE_SUSPENDED] = when_suspended,
	};

	if (mono_is_never(a->since))
		a->since = a->busy = now;
	keep_baseline(a, in, now);
	minmax_running_max(&a->recent, in->delivered_kbits, RECENT_MS, now);
	if (in->delivered_kbits >= part(a->kbits, 1000 / MIN_OF_BEST))
		a->busy = now;
	if (is_used(a, in, BUSY_PM))
		a->used_at = now;
	when[a->state](a, in, now);
	verify_rate(a, in, now);
	if (in->fresh) {
		a->before_us = queue_us(a, in);
		a->before_kbits = in->latest_kbits;
	}
	if (a->state == AUTORATE_CRUISE && mono_sub_ms(now, a->busy) >= AUTORATE_FORGET_MS)
		open_link(a, now);
	if (a->unresponsive && a->state != AUTORATE_SUSPENDED && for_ms(a, now) >= FORGIVEN_MS)
		a->unresponsive = 0;
	return limit(a, in, now);
}
