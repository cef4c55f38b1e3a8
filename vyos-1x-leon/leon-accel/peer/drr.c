// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deficit round robin among streams, see drr.h.
 */
#include "peer/drr.h"

#include <utlist.h>

static struct drr_entry **list_of(struct drr *ts, const struct drr_entry *t)
{
	return t->is_new ? &ts->new_streams : &ts->old_streams;
}

static void make_old(struct drr *ts, struct drr_entry *t)
{
	DL_DELETE(*list_of(ts, t), t);
	t->is_new = false;
	DL_APPEND(ts->old_streams, t);
}

void drr_add(struct drr *ts, struct drr_entry *t)
{
	if (t->is_listed)
		return;
	*t = (struct drr_entry){ .deficit = DRR_QUANTUM, .is_listed = true, .is_new = true };
	DL_APPEND(ts->new_streams, t);
}

void drr_remove(struct drr *ts, struct drr_entry *t)
{
	if (!t->is_listed)
		return;
	DL_DELETE(*list_of(ts, t), t);
	t->is_listed = false;
}

struct drr_entry *drr_next(struct drr *ts)
{
	struct drr_entry *t;

	while ((t = ts->new_streams ? ts->new_streams : ts->old_streams) && t->deficit <= 0) {
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
