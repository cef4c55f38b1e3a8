// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events that leond reports. event.def is the list; it generates this enum, the names in JSON
 * and log, the levels, the sentences and the table of reference.md. Pure; any thread.
 */
#pragma once

#include "base/log.h"

enum event_kind {
#define EVENT(id, word, level, sentence, meaning) EV_##id,
#include "state/event.def"
#undef EVENT
	N_EVENT_KINDS
};

extern const struct event_text {
	const char *name; /* "joined", "link-down" ... */
	enum log_level level;
	/* Sentence with placeholders in braces; NULL if the reporter supplies the text. */
	const char *sentence;
} event_texts[N_EVENT_KINDS];
