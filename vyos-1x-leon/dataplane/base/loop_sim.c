// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop of the tests and of leonsim: no descriptors, no clock; time jumps from timer to timer.
 * Owns a heap of armed timers ordered by {time, order of arming}, so a run is reproducible.
 *
 * The heap is 4-ary and stores each timer's key and number; an array indexed by number stores its
 * heap position. Moving an entry touches no timer object. Overlays of hundreds of nodes arm
 * hundreds of thousands of timers, and their objects are rarely in the cache. One thread.
 */
#include <stdlib.h>

#include "defs.h"
#include "log.h"
#include "loop_ops.h"
#include "mem.h"

#define NOT_ARMED UINT32_MAX
#define CHILDREN  4
#define ROOM_MIN  256

struct sim_timer {
	struct timer timer;
	uint32_t no;
};

struct armed {
	int64_t at_ns;
	uint64_t order;
	uint32_t no; /* number of the timer */
};

struct sim_loop {
	struct loop loop;
	mono_t now;
	uint64_t order; /* order of the next arming */
	struct armed *heap;
	uint32_t n_heap;
	/* Arrays indexed by timer number. The capacity of all three is the largest number of timers
	 * alive at one time. */
	struct sim_timer **timer;
	uint32_t *pos; /* heap position, or NOT_ARMED */
	uint32_t *free_no;
	uint32_t room, n_free;
};

static bool is_before(const struct armed *a, const struct armed *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct sim_loop *s, const struct armed *a, uint32_t pos)
{
	s->heap[pos] = *a;
	s->pos[a->no] = pos;
}

static void sift_up(struct sim_loop *s, const struct armed *a, uint32_t pos)
{
	while (pos > 0) {
		uint32_t up = (pos - 1) / CHILDREN;

		if (!is_before(a, &s->heap[up]))
			break;
		place(s, &s->heap[up], pos);
		pos = up;
	}
	place(s, a, pos);
}

/* Returns the position of the first child of pos, or a value of at least n_heap if there is
 * none. */
static uint32_t first_below(const struct sim_loop *s, uint32_t pos)
{
	uint32_t first = CHILDREN * pos + 1, end = min_of(first + CHILDREN, s->n_heap);

	for (uint32_t i = first + 1; i < end; i++)
		if (is_before(&s->heap[i], &s->heap[first]))
			first = i;
	return first;
}

static void sift_down(struct sim_loop *s, const struct armed *a, uint32_t pos)
{
	uint32_t child = first_below(s, pos);

	while (child < s->n_heap && is_before(&s->heap[child], a)) {
		place(s, &s->heap[child], pos);
		pos = child;
		child = first_below(s, pos);
	}
	place(s, a, pos);
}

/* Sifts a timer with a changed key, or one that fills the hole at pos, to its position. */
static void resettle(struct sim_loop *s, struct armed a, uint32_t pos)
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
	free(s->timer);
	free(s->pos);
	free(s->free_no);
	free(s);
}

static mono_t sim_now(struct loop *l)
{
	return sim_of(l)->now;
}

static void make_room(struct sim_loop *s)
{
	uint32_t room = s->room ? s->room * 2 : ROOM_MIN;

	s->heap = x_realloc(s->heap, room, sizeof(struct armed));
	s->timer = x_realloc(s->timer, room, sizeof(struct sim_timer *));
	s->pos = x_realloc(s->pos, room, sizeof(uint32_t));
	s->free_no = x_realloc(s->free_no, room, sizeof(uint32_t));
	for (uint32_t no = room; no-- > s->room;)
		s->free_no[s->n_free++] = no;
	s->room = room;
}

static struct timer *sim_timer_new(struct loop *l)
{
	struct sim_timer *t = x_new(struct sim_timer);
	struct sim_loop *s = sim_of(l);

	if (!s->n_free)
		make_room(s);
	t->no = s->free_no[--s->n_free];
	s->timer[t->no] = t;
	s->pos[t->no] = NOT_ARMED;
	return &t->timer;
}

static void sim_timer_set(struct timer *timer, mono_t at)
{
	struct sim_timer *t = sim_timer_of(timer);
	struct sim_loop *s = sim_of(timer->loop);
	struct armed a = { .at_ns = at.ns, .order = s->order++, .no = t->no };

	if (s->pos[t->no] != NOT_ARMED)
		resettle(s, a, s->pos[t->no]);
	else
		sift_up(s, &a, s->n_heap++);
}

static void disarm(struct sim_loop *s, uint32_t no)
{
	uint32_t hole = s->pos[no];

	if (hole == NOT_ARMED)
		return;
	s->pos[no] = NOT_ARMED;
	s->n_heap--;
	if (hole < s->n_heap)
		resettle(s, s->heap[s->n_heap], hole);
}

static void sim_timer_stop(struct timer *timer)
{
	disarm(sim_of(timer->loop), sim_timer_of(timer)->no);
}

static bool sim_timer_is_set(const struct timer *timer)
{
	const struct sim_timer *t = container_of(timer, const struct sim_timer, timer);

	return sim_of(timer->loop)->pos[t->no] != NOT_ARMED;
}

static void sim_timer_free(struct timer *timer)
{
	struct sim_timer *t = sim_timer_of(timer);
	struct sim_loop *s = sim_of(timer->loop);

	disarm(s, t->no);
	s->free_no[s->n_free++] = t->no;
	free(t);
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
		struct sim_timer *t = s->timer[s->heap[0].no];

		/* A timer armed for the past runs at the current time; time never moves
		 * backwards. */
		s->now.ns = max_of(s->now.ns, s->heap[0].at_ns);
		disarm(s, s->heap[0].no);
		/* The callback may free the timer. */
		t->timer.fn(t->timer.arg, s->now);
	}
	if (mono_before(s->now, until))
		s->now = until;
}
