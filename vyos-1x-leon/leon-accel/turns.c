// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deficit round robin among streams, see turns.h.
 */
#include "turns.h"

static void append(struct turn_list *l, struct turn *t)
{
	t->next = NULL;
	if (l->last)
		l->last->next = t;
	else
		l->first = t;
	l->last = t;
}

/* Removes the stream from the list. */
static void unlink_turn(struct turns *ts, struct turn *t)
{
	struct turn_list *l = t->is_new ? &ts->new_streams : &ts->old_streams;
	struct turn **link = &l->first, *before = NULL;

	while (*link != t) {
		before = *link;
		link = &before->next;
	}
	*link = t->next;
	if (l->last == t)
		l->last = before;
}

static void make_old(struct turns *ts, struct turn *t)
{
	unlink_turn(ts, t);
	t->is_new = false;
	append(&ts->old_streams, t);
}

void turns_add(struct turns *ts, struct turn *t)
{
	if (t->is_listed)
		return;
	*t = (struct turn){ .deficit = TURN_QUANTUM, .is_listed = true, .is_new = true };
	append(&ts->new_streams, t);
}

void turns_remove(struct turns *ts, struct turn *t)
{
	if (!t->is_listed)
		return;
	unlink_turn(ts, t);
	t->is_listed = false;
}

struct turn *turns_next(struct turns *ts)
{
	struct turn *t;

	while ((t = ts->new_streams.first ? ts->new_streams.first : ts->old_streams.first) &&
	       t->deficit <= 0) {
		t->deficit += TURN_QUANTUM;
		make_old(ts, t);
	}
	return t;
}

void turns_sent(struct turns *ts, struct turn *t, size_t bytes)
{
	t->deficit -= (long)bytes;
	if (bytes)
		return;
	/* A new stream stays for a whole round. Otherwise each byte would make the stream new
	 * again. */
	if (t->is_new)
		make_old(ts, t);
	else
		turns_remove(ts, t);
}
