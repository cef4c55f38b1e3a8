// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: distribution over two pairs of lines. Workers. */
#include "fwd/send/send_state.h"

#include "base/defs.h"
#include "fwd/send/send_steps.h"
#include "fwd/worker.h"

int64_t spread_backlog_us(const struct spread_line *l, mono_t now)
{
	return max_of(mono_sub_us(shaper_paid(&l->shaper), now), (int64_t)0);
}

static int64_t arrival_us(const struct spread_line *l, mono_t now)
{
	return spread_backlog_us(l, now) + load_relaxed(&l->delay_us);
}

bool spread_prefers_second(const struct spread_account *a, mono_t now)
{
	return load_relaxed(&a->line[1].kbits) &&
	       arrival_us(&a->line[1], now) < arrival_us(&a->line[0], now);
}

void spread_pay(struct spread_line *l, size_t bytes, mono_t now)
{
	uint32_t kbits = load_relaxed(&l->kbits);

	if (kbits)
		shaper_pay(&l->shaper, kbits, bytes, now);
}

bool spread_is_bulk(const struct frame *f)
{
	uint8_t class = 0;

	if (f->gso == FRAME_PLAIN && f->len < SPREAD_FRAME)
		return false;
	ip_class(f->data, f->len, &f->v, &class);
	class >>= DSCP_SHIFT;
	return class == 0 || tier_of_dscp(class) == TIER_BULK;
}

bool spread_takes_second(struct worker *w, uint16_t slot, size_t len)
{
	struct spread_account *a = &w->fwd->spread[slot];
	struct spread *s = &w->spread;

	if (s->slot == slot && s->left >= len) {
		s->left -= len;
		return s->second;
	}
	s->slot = slot;
	s->second = spread_prefers_second(a, w->now);
	s->left = load_relaxed(&a->line[s->second].kbits) * (size_t)SPREAD_TRAIN_US / (8 * 1000);
	s->left -= min_of(s->left, len);
	return s->second;
}
