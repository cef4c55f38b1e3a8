// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and sentences of drop reasons and counters from drop.def and counter.def. Pure.
 */
#include "fwd/stats.h"

struct def {
	const char *name;
	const char *text;
};

static const struct def drops[N_DROPS] = {
#define DROP(id, sentence) [DROP_##id] = { #id, sentence },
#include "fwd/drop.def"
#undef DROP
};

static const struct def counters[N_COUNTERS] = {
#define COUNTER(id, sentence) [CNT_##id] = { #id, sentence },
#include "fwd/counter.def"
#undef COUNTER
};

const char *drop_name(enum drop_reason r)
{
	return (unsigned)r < N_DROPS ? drops[r].name : "invalid";
}

const char *drop_text(enum drop_reason r)
{
	return (unsigned)r < N_DROPS ? drops[r].text : "not a drop reason";
}

const char *counter_name(enum counter c)
{
	return (unsigned)c < N_COUNTERS ? counters[c].name : "invalid";
}

const char *counter_text(enum counter c)
{
	return (unsigned)c < N_COUNTERS ? counters[c].text : "not a counter";
}
