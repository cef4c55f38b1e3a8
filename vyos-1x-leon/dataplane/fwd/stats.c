// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and sentences of drop reasons and counters from drop.def and counter.def. Pure.
 */
#include "fwd/stats.h"

const struct stat_text drop_stats[N_DROPS] = {
#define DROP(id, sentence) [DROP_##id] = { #id, sentence },
#include "fwd/drop.def"
#undef DROP
};

const struct stat_text counter_stats[N_COUNTERS] = {
#define COUNTER(id, sentence) [CNT_##id] = { #id, sentence },
#include "fwd/counter.def"
#undef COUNTER
};
