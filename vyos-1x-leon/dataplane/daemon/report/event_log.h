// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recent events of the overlay for `show events`: a ring of fixed size with a sentence for people
 * and fields for programs. Each event is logged exactly once, from here, within a rate limit per
 * kind. Owned by struct leond; control thread.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "state/event.h"
#include "wire/message/msg.h"

#define EVENTS_KEPT 1000

struct event {
	mono_t at;
	int64_t wall_us; /* time of the event, microseconds since 1970 */
	enum event_kind kind;
	node_id_t node, other; /* NODE_ID_NONE if the event concerns none */
	char node_name[MSG_NAME_MAX + 1];
	uint64_t value; /* depends on the kind of event; 0 none */
	char detail[112];
	char text[320]; /* one sentence, sized for the longest names (test_event_text) */
};

struct events;
struct events *events_new(unsigned capacity);
void events_free(struct events *e); /* NULL ok */
/* Stores a copy, dropping the oldest event if full, and logs it. */
void events_add(struct events *e, const struct event *ev);
unsigned events_count(const struct events *e);
uint64_t events_total(const struct events *e);
/* Returns the i-th event; 0 is the oldest; NULL behind the newest. */
const struct event *events_at(const struct events *e, unsigned i);
