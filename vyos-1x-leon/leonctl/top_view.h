// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `leonctl top` shows, out of the daemon's answers: head, rates, paths, events, as many lines
 * as the terminal has and no wider. Pure but for the writing; the terminal itself is top.c's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/jsonr.h"

enum top_rate { TOP_IN, TOP_OUT, TOP_NET_TX, TOP_NET_RX, TOP_RELAYED, TOP_DROPS, N_TOP_RATES };

/* Counters at one moment; rates are of two of them. */
struct top_sample {
	int64_t at_ms;
	uint64_t value[N_TOP_RATES];
};
void top_sample_take(struct jsonr_node *statistics, int64_t now_ms, struct top_sample *out);

struct top_input {
	struct jsonr_node *nodes, *paths, *statistics, *events; /* roots of answers */
	struct top_sample before, now;
	bool has_before; /* else no rate is known yet */
};
/* Lines apart by "\n", none behind the last; no control character but these. */
void top_view(const struct top_input *in, unsigned rows, unsigned columns, FILE *out);
/* One line of a text that may be too wide, or hold what a terminal would obey. */
void top_line(const char *text, unsigned columns, FILE *out);
