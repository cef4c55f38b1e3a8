// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show events`: recent events, oldest first. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/leond.h"
#include "daemon/report/event_log.h"

static void write_event(struct command *c, const struct event *e)
{
	jsonw_object(c->w, NULL);
	answer_time(c->w, "at", e->wall_us);
	answer_age(c->w, "age_seconds", c->now, e->at);
	jsonw_str(c->w, "event", event_name(e->kind));
	answer_id(c->w, "node_id", e->node);
	jsonw_str(c->w, "name", e->node_name[0] ? e->node_name : NULL);
	answer_id(c->w, "other", e->other);
	answer_known(c->w, "value", e->value != 0, e->value);
	jsonw_str(c->w, "detail", e->detail[0] ? e->detail : NULL);
	jsonw_str(c->w, "text", e->text);
	jsonw_end(c->w);
}

enum command_result show_events(struct command *c)
{
	const struct events *events = c->d->events;

	jsonw_array(c->w, "events");
	for (unsigned i = 0; i < events_count(events); i++)
		write_event(c, events_at(events, i));
	jsonw_end(c->w);
	jsonw_u64(c->w, "total", events_total(events));
	return CMD_DONE;
}
