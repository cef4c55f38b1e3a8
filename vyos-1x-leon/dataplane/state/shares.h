// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a node that receives asks each sender to keep below, so that all together fit its line
 * (shaper ingress): fair by max-min. Who sends less than its share has room to send more, and what
 * it leaves the others have. And at the other end, what a node was asked, while that is in force.
 * Pure; owned by whoever embeds the structs; control thread. doc/decisions/052.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct share {
	uint32_t got_kbits; /* that arrived from it lately */
	uint32_t kbits;	    /* that it may send; 0: never told */
};

/* What one division hands on to the next. */
struct shares {
	uint32_t withheld_kbits; /* of the rate, because more arrives */
};

/* New shares of the rate for all senders, by what arrived and what they were told before. A sender
 * that is idle is given a part that it can begin with, which takes nothing from the others. Every
 * SHARES_EVERY_MS. */
void shares_divide(struct shares *of, struct share *s, unsigned n, uint32_t rate_kbits);

/* How fast a counter of bytes grew lately. */
#define SHARE_MARKS 3
struct share_meter {
	struct {
		mono_t at;
		uint64_t bytes;
	} mark[SHARE_MARKS]; /* the oldest first */
	unsigned n;
	uint32_t kbits; /* as of the last note */
};
/* To be noted every 100 ms: the rate is that of the last 300. A counter that is less than before
 * began anew. */
#define SHARES_EVERY_MS 100
uint32_t share_meter_note(struct share_meter *m, uint64_t bytes, mono_t now);

/* What the node was asked to keep below, and for how long that is so unless it is said again. */
struct share_asked {
	uint32_t kbits; /* 0: nothing */
	mono_t until;
};
/* True where it is another one than before. */
bool share_hear(struct share_asked *s, uint32_t kbits, mono_t until);
/* True where it has just ended. */
bool share_expire(struct share_asked *s, mono_t now);
