// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop of the tests and of leonsim: no descriptors, no clock; time jumps from timer to timer.
 * Owns a heap of armed timers ordered by {time, order of arming}, so a run is the same every time.
 * Overlays of hundreds of nodes arm hundreds of thousands of timers: a place in the heap has the
 * key beside the timer, and four places below it, so that comparing stays in few cache lines. One
 * thread.
 */
#include <stdlib.h>

#include "defs.h"
#include "log.h"
#include "loop_ops.h"
#include "mem.h"

#define NOT_ARMED SIZE_MAX
#define CHILDREN  4

struct sim_timer {
	struct timer timer;
	size_t pos; /* in the heap, or NOT_ARMED */
};

struct armed {
	int64_t at_ns;
	uint64_t order;
	struct sim_timer *timer;
};

struct sim_loop {
	struct loop loop;
	mono_t now;
	uint64_t order; /* of the next arming */
	struct armed *heap;
	size_t n_heap;
	size_t room;
};

static bool is_before(const struct armed *a, const struct armed *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct sim_loop *s, const struct armed *a, size_t pos)
{
	s->heap[pos] = *a;
	a->timer->pos = pos;
}

static void sift_up(struct sim_loop *s, const struct armed *a, size_t pos)
{
	while (pos > 0) {
		size_t up = (pos - 1) / CHILDREN;

		if (!is_before(a, &s->heap[up]))
			break;
		place(s, &s->heap[up], pos);
		pos = up;
	}
	place(s, a, pos);
}

/* Place of the first of those below pos; n_heap or more: there is none. */
static size_t first_below(const struct sim_loop *s, size_t pos)
{
	size_t first = CHILDREN * pos + 1, end = min_of(first + CHILDREN, s->n_heap);

	for (size_t i = first + 1; i < end; i++)
		if (is_before(&s->heap[i], &s->heap[first]))
			first = i;
	return first;
}

static void sift_down(struct sim_loop *s, const struct armed *a, size_t pos)
{
	size_t child = first_below(s, pos);

	while (child < s->n_heap && is_before(&s->heap[child], a)) {
		place(s, &s->heap[child], pos);
		pos = child;
		child = first_below(s, pos);
	}
	place(s, a, pos);
}

/* Finds the place of a timer whose key changed, or that fills the hole at pos. */
static void resettle(struct sim_loop *s, struct armed a, size_t pos)
{
	if (pos > 0 && is_before(&a, &s->heap[(pos - 1) / CHILDREN]))
		sift_up(s, &a, pos);
	else
		sift_down(s, &a, pos);
}

static struct sim_loop *sim_of(struct loop *l)
{
	return container_of(l, struct sim_loop, loop);
}

static struct sim_timer *sim_timer_of(struct timer *t)
{
	return container_of(t, struct sim_timer, timer);
}

static void sim_free(struct loop *l)
{
	struct sim_loop *s = sim_of(l);

	free(s->heap);
	free(s);
}

static mono_t sim_now(struct loop *l)
{
	return sim_of(l)->now;
}

static struct timer *sim_timer_new(struct loop *l)
{
	struct sim_timer *t = x_new(struct sim_timer);

	(void)l;
	t->pos = NOT_ARMED;
	return &t->timer;
}

static void sim_timer_set(struct timer *timer, mono_t at)
{
	struct sim_timer *t = sim_timer_of(timer);
	struct sim_loop *s = sim_of(timer->loop);
	struct armed a = { .at_ns = at.ns, .order = s->order++, .timer = t };

	if (t->pos != NOT_ARMED) {
		resettle(s, a, t->pos);
		return;
	}
	if (s->n_heap == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->heap = x_realloc(s->heap, s->room, sizeof(struct armed));
	}
	sift_up(s, &a, s->n_heap++);
}

static void sim_timer_stop(struct timer *timer)
{
	struct sim_timer *t = sim_timer_of(timer);
	struct sim_loop *s = sim_of(timer->loop);
	size_t hole = t->pos;

	if (hole == NOT_ARMED)
		return;
	t->pos = NOT_ARMED;
	s->n_heap--;
	if (hole < s->n_heap)
		resettle(s, s->heap[s->n_heap], hole);
}

static bool sim_timer_is_set(const struct timer *timer)
{
	const struct sim_timer *t = container_of(timer, const struct sim_timer, timer);

	return t->pos != NOT_ARMED;
}

static void sim_timer_free(struct timer *timer)
{
	sim_timer_stop(timer);
	free(sim_timer_of(timer));
}

static const struct loop_ops sim_ops = {
	.free = sim_free,
	.now = sim_now,
	.timer_new = sim_timer_new,
	.timer_set = sim_timer_set,
	.timer_stop = sim_timer_stop,
	.timer_is_set = sim_timer_is_set,
	.timer_free = sim_timer_free,
};

struct loop *loop_sim_new(void)
{
	struct sim_loop *s = x_new(struct sim_loop);

	s->loop.ops = &sim_ops;
	s->now = (mono_t){ NS_PER_S };
	return &s->loop;
}

static struct sim_loop *require_sim(struct loop *l)
{
	if (l->ops != &sim_ops)
		bug("not a loop on virtual time");
	return sim_of(l);
}

void loop_sim_run_until(struct loop *l, mono_t until)
{
	struct sim_loop *s = require_sim(l);

	while (s->n_heap && s->heap[0].at_ns <= until.ns) {
		struct sim_timer *t = s->heap[0].timer;

		/* A timer armed for the past runs now: time never goes back. */
		s->now.ns = max_of(s->now.ns, s->heap[0].at_ns);
		sim_timer_stop(&t->timer);
		/* The callback may free the timer. */
		t->timer.fn(t->timer.arg, s->now);
	}
	if (mono_before(s->now, until))
		s->now = until;
}

bool loop_sim_next(struct loop *l, mono_t *at)
{
	struct sim_loop *s = require_sim(l);

	if (!s->n_heap)
		return false;
	*at = (mono_t){ s->heap[0].at_ns };
	return true;
}
