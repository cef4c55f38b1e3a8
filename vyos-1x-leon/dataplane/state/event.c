// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of events, see event.h. Pure.
 */
#include "state/event.h"

static const struct {
	const char *name;
	enum log_level level;
	const char *sentence;
} kinds[N_EVENT_KINDS] = {
#define EVENT(id, word, level, sentence, meaning) [EV_##id] = { word, LOG_LVL_##level, sentence },
#include "state/event.def"
#undef EVENT
};

const char *event_name(enum event_kind k)
{
	return (unsigned)k < N_EVENT_KINDS ? kinds[k].name : "unknown";
}

enum log_level event_level(enum event_kind k)
{
	return kinds[k].level;
}

const char *event_sentence(enum event_kind k)
{
	return kinds[k].sentence;
}
