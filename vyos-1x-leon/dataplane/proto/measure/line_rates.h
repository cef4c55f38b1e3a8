// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rates of pairs of lines, for the distribution of bulk data over two pairs (doc/decisions/080).
 * PONGs on each pair carry the inputs (protocol 4.7). The workers get rates and delays. Called by
 * line_pairs.c, line_choice.c, link.c and probe.c; control thread.
 */
#pragma once

#include "proto/core.h"

#define LINE_NONE LINE_PAIRS

/* Fills in the counter of a PONG that travels back on a pair. */
void line_rates_fill(const struct overlay *o, const struct peer *p, const struct via *back,
		     struct msg_pong *m);
/* Backlog of the pair in the account of the workers, before a PING. */
int64_t line_rates_mark(const struct overlay *o, const struct peer *p, unsigned pair);
/* A PONG on the pair, after its round-trip time entered the filter of the pair. `backlog_us`:
 * line_rates_mark() of the PING. */
void line_rates_answer(struct overlay *o, struct peer *p, unsigned pair, const struct msg_pong *m,
		       mono_t sent, int64_t backlog_us);
/* Returns true if data may be distributed over the pair in use and this one. */
bool line_rates_may(const struct peer *p, unsigned pair, mono_t now);
/* Distributes over this pair too; LINE_NONE: no distribution. */
void line_rates_use(struct overlay *o, struct peer *p, unsigned pair);
