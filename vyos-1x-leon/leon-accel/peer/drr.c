// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deficit round robin among streams, see drr.h.
 */
#include "peer/drr.h"

static void append(struct drr_list *l, struct drr_entry *t)
{
	t->next = NULL;
	if (l->last)
		l->last->next = t;
	else
		l->first = t;
	l->last = t;
}

/* Removes the stream from the list. */
static void drr_unlink(struct drr *ts, struct drr_entry *t)
{
	struct drr_list *l = t->is_new ? &ts->new_streams : &ts->old_streams;
	struct drr_entry **link = &l->first, *before = NULL;

	while (*link != t) {
		before = *link;
		link = &before->next;
	}
	*link = t->next;
	if (l->last == t)
		l->last = before;
}

static void make_old(struct drr *ts, struct drr_entry *t)
{
	drr_unlink(ts, t);
	t->is_new = false;
	append(&ts->old_streams, t);
}

void drr_add(struct drr *ts, struct drr_entry *t)
{
	if (t->is_listed)
		return;
	*t = (struct drr_entry){ .deficit = DRR_QUANTUM, .is_listed = true, .is_new = true };
	append(&ts->new_streams, t);
}

void drr_remove(struct drr *ts, struct drr_entry *t)
{
	if (!t->is_listed)
		return;
	drr_unlink(ts, t);
	t->is_listed = false;
}

struct drr_entry *drr_next(struct drr *ts)
{
	struct drr_entry *t;

	while ((t = ts->new_streams.first ? ts->new_streams.first : ts->old_streams.first) &&
	       t->deficit <= 0) {
		t->deficit += DRR_QUANTUM;
		make_old(ts, t);
	}
	return t;
}

void drr_sent(struct drr *ts, struct drr_entry *t, size_t bytes)
{
	t->deficit -= (long)bytes;
	if (bytes)
		return;
	/* A new stream stays for a whole round. Otherwise each byte would make the stream new
	 * again. */
	if (t->is_new)
		make_old(ts, t);
	else
		drr_remove(ts, t);
}
