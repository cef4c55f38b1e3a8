// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event ring. Owns its memory and one log limiter per kind of event, so that a flapping link cannot
 * suppress messages of other kinds. Control thread.
 */
#include "daemon/report/report.h"

#include <stdlib.h>

#include "base/mem.h"

#define EVENT_LOG_BURST	     20
#define EVENT_LOG_PER_MINUTE 30

struct events {
	unsigned capacity, n, first;
	uint64_t total;
	struct event *ring;
	struct log_limit limit[N_EVENT_KINDS];
};

struct events *events_new(unsigned capacity)
{
	struct events *e = x_new(struct events);

	e->capacity = capacity;
	for (unsigned i = 0; i < N_EVENT_KINDS; i++)
		e->limit[i] = LOG_LIMIT_INIT(EVENT_LOG_BURST, EVENT_LOG_PER_MINUTE);
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

void events_add(struct events *e, const struct event *ev)
{
	unsigned place = (e->first + e->n) % e->capacity;

	e->ring[place] = *ev;
	if (e->n < e->capacity)
		e->n++;
	else
		e->first = (e->first + 1) % e->capacity;
	e->total++;
	log_limited(&e->limit[ev->kind], ev->at, event_level(ev->kind), "event", "%s event=%s",
		    ev->text, event_name(ev->kind));
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
