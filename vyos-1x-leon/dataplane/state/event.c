// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of events, see event.h. Pure.
 */
#include "state/event.h"

const struct event_text event_texts[N_EVENT_KINDS] = {
#define EVENT(id, word, level, sentence, meaning) [EV_##id] = { word, LOG_LVL_##level, sentence },
#include "state/event.def"
#undef EVENT
};
