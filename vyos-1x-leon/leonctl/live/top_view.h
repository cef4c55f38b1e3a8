// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of `leonctl top` from the daemon's answers: head, rates, paths, events. The text fits
 * the height and width of the terminal. Pure except for the writing; top.c owns the terminal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json/jsonr.h"

enum top_rate { TOP_IN, TOP_OUT, TOP_NET_TX, TOP_NET_RX, TOP_RELAYED, TOP_DROPS, N_TOP_RATES };

/* Counters at one moment. A rate is computed from two samples. */
struct top_sample {
	int64_t at_ms;
	uint64_t value[N_TOP_RATES];
};
void top_sample_take(struct jsonr_node *statistics, int64_t now_ms, struct top_sample *out);

struct top_input {
	struct jsonr_node *nodes, *paths, *statistics, *events; /* roots of answers */
	struct top_sample before, now;
	bool has_before; /* false: no rate is known yet */
};
/* Lines are separated by "\n", without one after the last line and without other control
 * characters. */
void top_view(const struct top_input *in, unsigned rows, unsigned columns, FILE *out);
/* Copies one line of a text, cut to the width and without control characters. */
void top_line(const char *text, unsigned columns, FILE *out);
