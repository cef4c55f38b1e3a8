// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bandwidth probe of the access link: traffic may exceed the limit for a moment. The PINGs sent
 * near the end show if the link has spare capacity. Owns the height and the duration of the
 * probe, and the judgement of its samples. autorate.c starts a probe, applies its height and acts
 * on its outcome. Pure; control thread. See doc/decisions/041.
 */
#include "state/rates/autorate.h"

#include "base/defs.h"

/* Duration and first height of a bandwidth probe. The probe lasts longer if the RTT jitter exceeds
 * the queue that the probe makes. After success, the next probe is three times as high. */
#define PROBE_MS     (2 * AUTORATE_STEP_MS)
#define PROBE_MS_MAX (4 * PROBE_MS)
#define PROBE_PM     40
#define PROBE_PM_MAX (4 * PROBE_PM)
/* Part of the limit that must be delivered before a bandwidth probe becomes higher. */
#define PEAK_PM 985

void bandwidth_probe_shrink(struct bandwidth_probe *p)
{
	p->step_pm = PROBE_PM;
}

/* A PING is sent at the end. PINGs count if they are sent within one step of the end. */
void bandwidth_probe_start(struct bandwidth_probe *p, uint32_t noise_us, mono_t now)
{
	uint32_t ms = 2 * noise_us / p->step_pm;

	ms = max_of(min_of(ms, (uint32_t)PROBE_MS_MAX), (uint32_t)PROBE_MS);
	*p = (struct bandwidth_probe){ .step_pm = p->step_pm,
				       .ms = ms,
				       .since = now,
				       .judge_from = mono_add_ms(now, ms - AUTORATE_STEP_MS),
				       .judge_until = mono_add_ms(now, ms + AUTORATE_STEP_MS),
				       .answered_at = mono_add_ms(now, ms + 2 * AUTORATE_STEP_MS),
				       .empty = true };
}

uint32_t bandwidth_probe_height_pm(const struct bandwidth_probe *p, mono_t now)
{
	return mono_sub_ms(now, p->since) < p->ms ? p->step_pm : 0;
}

bool bandwidth_probe_ended(struct bandwidth_probe *p, mono_t now)
{
	if (p->sent || mono_sub_ms(now, p->since) < p->ms)
		return false;
	p->sent = true;
	return true;
}

bool bandwidth_probe_is_over(const struct bandwidth_probe *p, uint32_t rtt_us, mono_t now)
{
	return !mono_before(now, mono_add_ms(p->answered_at, rtt_us / 1000));
}

/* Queueing delay that a probe may cause if the link has spare capacity: half of the queue of the
 * smallest probe on a full link. The limit ignores the height of the probe, because TCP seldom has
 * enough data for a high one. */
static uint32_t limit_us(const struct bandwidth_probe *p, uint32_t noise_us)
{
	return max_of((uint32_t)PROBE_PM * p->ms / 2, noise_us);
}

void bandwidth_probe_note(struct bandwidth_probe *p, const struct probe_sample *s)
{
	if (mono_before(s->sent_at, p->since) || mono_before(p->judge_until, s->sent_at))
		return;
	p->peak_kbits = max_of(p->peak_kbits, s->delivered_kbits);
	p->tried |= !mono_before(s->sent_at, p->judge_from);
	p->full |= s->queue_us > limit_us(p, s->noise_us);
	p->empty &= s->queue_us <= limit_us(p, s->noise_us) / 2;
}

/* The rate rises from the rate that was delivered during the probe, because TCP may have had less
 * data. If a queue exists already, the rate rises to the delivered rate and no further. */
static uint64_t raised(const struct bandwidth_probe *p, uint64_t kbits)
{
	uint64_t peak = p->peak_kbits;
	uint64_t most = min_of(kbits, peak) * (1000 + p->step_pm) / 1000;

	return max_of(kbits, p->empty ? most : min_of(peak, most));
}

enum probe_outcome bandwidth_probe_judge(struct bandwidth_probe *p, uint64_t *kbits)
{
	uint64_t was = *kbits;

	if (!p->tried)
		return PROBE_UNANSWERED;
	if (p->full || p->peak_kbits < was * BANDWIDTH_PROBE_USED_PM / 1000) {
		bandwidth_probe_shrink(p);
		return PROBE_FULL;
	}
	*kbits = raised(p, was);
	if (p->empty && p->peak_kbits >= was * PEAK_PM / 1000)
		p->step_pm = min_of(p->step_pm * 3, (uint32_t)PROBE_PM_MAX);
	return PROBE_ROOM;
}
