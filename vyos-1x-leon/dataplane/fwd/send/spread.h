// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: distribution of bulk datagrams to a node over two pairs of lines, by the earliest arrival
 * (EDPF; doc/decisions/080). Each line has an account, which all workers charge: sent bytes occupy
 * the line for their transmission time. The control thread sets rates and delays. Workers.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "fwd/send/shaper.h"
#include "fwd/send/tx.h"

struct snap_node;
struct worker;

/* A shorter frame stays on the pair in use, and is not delayed by the order. */
#define SPREAD_FRAME 1000
/* Longest time of consecutive datagrams on one line. */
#define SPREAD_TRAIN_US 2000

struct spread_line {
	struct shaper shaper;
	_Atomic uint32_t kbits; /* of the line; 0: unknown */
	_Atomic uint32_t delay_us;
};
/* By node: the pair in use and the second one. */
struct spread_account {
	struct spread_line line[LINES_MAX];
};

/* State of a worker: line of the current train. */
struct spread {
	uint16_t slot;
	bool second;
	size_t left; /* bytes of the train */
};

/* Time until the line has sent its bytes. */
int64_t spread_backlog_us(const struct spread_line *l, mono_t now);
/* Returns true if a datagram on the second line arrives earlier. */
bool spread_prefers_second(const struct spread_account *a, mono_t now);
void spread_pay(struct spread_line *l, size_t bytes, mono_t now);

/* Long frames without a DSCP, or with one of the lowest tier. */
bool spread_is_bulk(const struct frame *f);
/* Selects the line of the next datagram of `len` bytes to the slot. */
bool spread_takes_second(struct worker *w, uint16_t slot, size_t len);
