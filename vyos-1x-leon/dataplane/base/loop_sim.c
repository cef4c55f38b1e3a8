// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop of the tests: no descriptors, no clock; time jumps from timer to timer. Owns a binary
 * heap of armed timers ordered by {time, order of arming}, so a run is the same every time.
 * One thread.
 */
#include <stdlib.h>

#include "defs.h"
#include "log.h"
#include "loop_ops.h"
#include "mem.h"

#define NOT_ARMED SIZE_MAX

struct sim_timer {
	struct timer timer;
	int64_t at_ns;
	uint64_t order;
	size_t pos; /* in the heap, or NOT_ARMED */
};

struct sim_loop {
	struct loop loop;
	mono_t now;
	uint64_t order; /* of the next arming */
	struct sim_timer **heap;
	size_t n_heap;
	size_t room;
};

static bool is_before(const struct sim_timer *a, const struct sim_timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct sim_loop *s, struct sim_timer *t, size_t pos)
{
	s->heap[pos] = t;
	t->pos = pos;
}

static void sift_up(struct sim_loop *s, struct sim_timer *t, size_t pos)
{
	while (pos > 0) {
		size_t up = (pos - 1) / 2;

		if (!is_before(t, s->heap[up]))
			break;
		place(s, s->heap[up], pos);
		pos = up;
	}
	place(s, t, pos);
}

static void sift_down(struct sim_loop *s, struct sim_timer *t, size_t pos)
{
	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= s->n_heap)
			break;
		if (child + 1 < s->n_heap && is_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s->heap[child], t))
			break;
		place(s, s->heap[child], pos);
		pos = child;
	}
	place(s, t, pos);
}

/* Finds the place of a timer whose key changed, or that fills the hole at pos. */
static void resettle(struct sim_loop *s, struct sim_timer *t, size_t pos)
{
	if (pos > 0 && is_before(t, s->heap[(pos - 1) / 2]))
		sift_up(s, t, pos);
	else
		sift_down(s, t, pos);
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

	t->at_ns = at.ns;
	t->order = s->order++;
	if (t->pos != NOT_ARMED) {
		resettle(s, t, t->pos);
		return;
	}
	if (s->n_heap == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->heap = x_realloc(s->heap, s->room, sizeof(struct sim_timer *));
	}
	sift_up(s, t, s->n_heap++);
}

static void sim_timer_stop(struct timer *timer)
{
	struct sim_timer *t = sim_timer_of(timer);
	struct sim_loop *s = sim_of(timer->loop);
	size_t hole = t->pos;
	struct sim_timer *last;

	if (hole == NOT_ARMED)
		return;
	t->pos = NOT_ARMED;
	last = s->heap[--s->n_heap];
	if (last != t)
		resettle(s, last, hole);
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

	while (s->n_heap && s->heap[0]->at_ns <= until.ns) {
		struct sim_timer *t = s->heap[0];

		/* A timer armed for the past runs now: time never goes back. */
		if (t->at_ns > s->now.ns)
			s->now.ns = t->at_ns;
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
	*at = (mono_t){ s->heap[0]->at_ns };
	return true;
}
