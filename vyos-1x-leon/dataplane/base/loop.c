// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dispatches the calls of loop.h that both loops have, and counts timers, so that a timer that
 * outlives its loop is detected. Control thread.
 */
#include "loop.h"

#include "log.h"
#include "loop_ops.h"

void loop_free(struct loop *l)
{
	if (!l)
		return;
	if (l->n_timers)
		bug("loop freed with %u timers alive", l->n_timers);
	l->ops->free(l);
}

mono_t loop_now(struct loop *l)
{
	return l->ops->now(l);
}

struct timer *timer_new(struct loop *l, timer_fn fn, void *arg)
{
	struct timer *t = l->ops->timer_new(l);

	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	l->n_timers++;
	return t;
}

void timer_set(struct timer *t, mono_t at)
{
	/* Zero means "never" for every mono_t. */
	if (mono_is_never(at))
		t->loop->ops->timer_stop(t);
	else
		t->loop->ops->timer_set(t, at);
}

void timer_stop(struct timer *t)
{
	t->loop->ops->timer_stop(t);
}

bool timer_is_set(const struct timer *t)
{
	return t->loop->ops->timer_is_set(t);
}

void timer_free(struct timer *t)
{
	if (!t)
		return;
	t->loop->n_timers--;
	t->loop->ops->timer_free(t);
}
