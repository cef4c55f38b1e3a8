// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which frames of those that travel twice (wire/copy.h) have come: for each worker of each source a
 * window on its counters. Shared by all workers, because the two copies of a frame come from two
 * addresses and so to two sockets; no locks. Memory that no source uses is never touched.
 *
 * A kin of the replay window of crypto/seal.c, with other duties: it is no guard against
 * replays (that one is, and comes first), so a counter far behind means that the source was started
 * anew with its clock set back, and is taken; and it notes the second copy too, to tell which
 * frames came only once.
 */
#pragma once

#include <stdint.h>

#include "wire/copy.h"

/* Counters of one worker that may come out of order, at least: 100,000 frames/s, of which one path
 * takes 160 ms longer than the other. */
#define COPIES_WINDOW 16368

enum copy_verdict {
	COPY_FIRST,  /* take it */
	COPY_SECOND, /* the other copy was here before */
	COPY_AGAIN,  /* so were both */
	COPY_OLD,    /* too far behind to tell */
};

struct copies;

/* --- control thread --- */
struct copies *copies_new(uint16_t slots_maximum);
void copies_free(struct copies *c); /* NULL ok */
/* Another node has this slot now. */
void copies_forget(struct copies *c, uint16_t slot);

/* --- workers --- */
/* What copies_take() would say, except that it notes nothing. */
enum copy_verdict copies_look(struct copies *c, uint16_t slot, const struct copy_hdr *h);
/* Notes the copy. *lost_one: how many frames, a window back, are known now to have
 * come once only. */
enum copy_verdict copies_take(struct copies *c, uint16_t slot, const struct copy_hdr *h,
			      unsigned *lost_one);
