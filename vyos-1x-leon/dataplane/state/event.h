// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can happen that people are told: the list is event.def, from which come this enum, the words
 * in JSON and the log, the levels, sentences, and the table of reference.md. Pure; any thread.
 */
#pragma once

#include "base/log.h"

enum event_kind {
#define EVENT(id, word, level, sentence, meaning) EV_##id,
#include "state/event.def"
#undef EVENT
	N_EVENT_KINDS
};

const char *event_name(enum event_kind k); /* "joined", "link-down" ... */
enum log_level event_level(enum event_kind k);
/* With placeholders in braces; NULL where who reports it writes it. */
const char *event_sentence(enum event_kind k);
