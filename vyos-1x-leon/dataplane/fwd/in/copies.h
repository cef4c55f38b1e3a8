// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Duplicate elimination for duplicated frames (wire/datagram/copy.h): a window of counters for each
 * worker of each source. Shared by all workers without locks, because the two copies arrive from
 * two addresses and therefore at two sockets. Memory of unused sources is never touched.
 *
 * The window resembles the replay window of crypto/seal.c, which provides replay protection before.
 * Here a counter far behind means that the source restarted with a clock set back, and is accepted.
 * The window also records the second copy, to count frames with a lost copy.
 */
#pragma once

#include <stdint.h>

#include "wire/datagram/copy.h"

/* Minimum number of counters of one worker that may arrive out of order: 100,000 frames/s on two
 * paths that differ by 160 ms. */
#define COPIES_WINDOW 16368

enum copy_verdict {
	COPY_FIRST,  /* first copy: deliver */
	COPY_SECOND, /* second copy: drop */
	COPY_AGAIN,  /* both copies arrived before: drop */
	COPY_OLD,    /* outside the window: drop */
};

struct copies;

/* --- control thread --- */
struct copies *copies_new(uint16_t slots_maximum);
void copies_free(struct copies *c); /* NULL ok */
/* The slot was assigned to another node. */
void copies_forget(struct copies *c, uint16_t slot);

/* --- workers --- */
/* Returns the result of copies_take() without recording the copy. */
enum copy_verdict copies_look(struct copies *c, uint16_t slot, const struct copy_hdr *h);
/* Records the copy. *lost_one: number of earlier frames of which one copy is now known to be
 * lost. */
enum copy_verdict copies_take(struct copies *c, uint16_t slot, const struct copy_hdr *h,
			      unsigned *lost_one);
