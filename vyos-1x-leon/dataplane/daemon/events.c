// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event ring. Owns its memory and one log limiter per kind of event, so that a flapping link
 * cannot silence the message about something else. Control thread.
 */
#include "daemon/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* More kinds than exist; a kind beyond the table shares the last limiter. */
#define EVENT_KINDS_MAX	     48
#define EVENT_LOG_BURST	     20
#define EVENT_LOG_PER_MINUTE 30

struct kind_limit {
	const char *name;
	struct log_limit limit;
};

struct events {
	unsigned capacity, n, first;
	uint64_t total;
	struct event *ring;
	struct kind_limit kind[EVENT_KINDS_MAX];
};

struct events *events_new(unsigned capacity)
{
	struct events *e = x_new(struct events);

	e->capacity = capacity;
	e->ring = x_calloc(capacity, sizeof(*e->ring));
	return e;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	free(e->ring);
	free(e);
}

static struct log_limit *limit_of(struct events *e, const char *name)
{
	unsigned i;

	for (i = 0; i < EVENT_KINDS_MAX - 1 && e->kind[i].name; i++)
		if (strcmp(e->kind[i].name, name) == 0)
			return &e->kind[i].limit;
	if (!e->kind[i].name) {
		e->kind[i].name = name;
		e->kind[i].limit = LOG_LIMIT_INIT(EVENT_LOG_BURST, EVENT_LOG_PER_MINUTE);
	}
	return &e->kind[i].limit;
}

void events_add(struct events *e, const struct event *ev)
{
	unsigned place = (e->first + e->n) % e->capacity;

	e->ring[place] = *ev;
	if (e->n < e->capacity)
		e->n++;
	else
		e->first = (e->first + 1) % e->capacity;
	e->total++;
	log_limited(limit_of(e, ev->name), ev->at, ev->level, "event", "%s event=%s", ev->text,
		    ev->name);
}

unsigned events_count(const struct events *e)
{
	return e->n;
}

uint64_t events_total(const struct events *e)
{
	return e->total;
}

const struct event *events_at(const struct events *e, unsigned i)
{
	if (i >= e->n)
		return NULL;
	return &e->ring[(e->first + i) % e->capacity];
}
