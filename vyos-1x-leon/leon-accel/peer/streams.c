// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams of an inter-proxy connection, see streams.h.
 */
#include <stdlib.h>
#include <utlist.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "peer/streams.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

/* --- the turns of the streams: deficit round robin --- */

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

struct stream_entry {
	struct stream stream;
	UT_hash_handle hh;
};

unsigned streams_count(const struct streams *ss)
{
	return HASH_COUNT(ss->by_number);
}

struct stream *streams_find(const struct streams *ss, uint32_t number)
{
	struct stream_entry *entry;

	HASH_FIND(hh, ss->by_number, &number, sizeof(number), entry);
	return entry ? &entry->stream : NULL;
}

void streams_bind(struct streams *ss, uint32_t number, struct conn *c)
{
	struct stream *s = streams_find(ss, number);
	struct stream_entry *entry;

	if (!s) {
		entry = x_new(struct stream_entry);
		s = &entry->stream;
		s->number = number;
		HASH_ADD(hh, ss->by_number, stream.number, sizeof(number), entry);
	}
	s->conn = c;
}

void streams_unbind(struct streams *ss, uint32_t number)
{
	struct stream *s = streams_find(ss, number);
	struct stream_entry *entry;

	if (!s)
		return;
	drr_remove(&ss->drr, &s->turn);
	entry = container_of(s, struct stream_entry, stream);
	HASH_DEL(ss->by_number, entry);
	free(entry);
}

void streams_each(struct streams *ss, stream_fn fn, mono_t now)
{
	struct stream_entry *entry, *next;

	HASH_ITER(hh, ss->by_number, entry, next)
		fn(entry->stream.conn, now);
}

void streams_free(struct streams *ss)
{
	while (ss->by_number)
		streams_unbind(ss, ss->by_number->stream.number);
}

bool streams_wait(const struct streams *ss, uint32_t number)
{
	const struct stream *s = streams_find(ss, number);

	return s && s->turn.is_listed;
}
