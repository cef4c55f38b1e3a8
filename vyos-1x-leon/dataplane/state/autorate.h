// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rate of a site's line, found from what its links measure anyway (link_load.h): a queue that
 * grows while we send says that the line is full, and what arrives meanwhile says what it carries.
 * From then on a little less is sent, so that the queue stands in leond, where flows are known, and
 * now and then a little more for a moment, to see whether there is room. Nothing is sent for it.
 * Owned by the daemon; pure; control thread. doc/decisions/041.
 *
 *   open    no limit: the line was never found full, or is faster than what is worth a queue
 *   drain   less than the line carries, until the queue is gone, or is seen not to be one
 *   cruise  a little less than the line carries
 *   bump    a little more for a moment; what PINGs sent in it find decides
 *   yield   no limit for a while: sending less did not make the queue shorter, so it is not ours
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/extreme.h"
#include "state/link_load.h"

#define AUTORATE_STEP_MS   50
#define AUTORATE_LEAST	   128	   /* kbit/s */
#define AUTORATE_MOST	   1000000 /* a line that carries more is left alone */
#define AUTORATE_FORGET_MS (600 * 1000)

enum autorate_state {
	AUTORATE_OPEN,
	AUTORATE_DRAIN,
	AUTORATE_CRUISE,
	AUTORATE_BUMP,
	AUTORATE_YIELD
};

/* All links of the site that carry some of its data, together. */
struct autorate_input {
	unsigned links;		  /* as many */
	bool fresh;		  /* there is a sample that was not there at the step before */
	mono_t asked;		  /* when the PING of that was sent */
	uint32_t queue_us;	  /* the least that waits on any of them; lately, */
	int64_t base_us;	  /* reckoned from this, */
	uint32_t stood_us;	  /* and for long, perhaps on the way back, and is not the way; */
	uint32_t long_us;	  /* all of it and more: whoever keeps it */
	uint32_t jitter_us;	  /* what round trips differ anyway */
	uint32_t rtt_us;	  /* the longest, without the queue */
	uint32_t delivered_kbits; /* to all of them, as IP packets, lately, */
	uint32_t latest_kbits;	  /* and between the last two samples alone */
	bool ours;		  /* the queue is ours on one of them at least */
	bool backlog;		  /* frames wait here: more would be sent */
};

struct autorate {
	enum autorate_state state;
	mono_t since;	   /* of the state */
	uint32_t kbits;	   /* what the line carries, as far as known; 0: nothing is */
	uint32_t best;	   /* the most of it, lately */
	uint32_t step_pm;  /* of the next bump, in thousandths, */
	uint32_t bump_ms;  /* and how long it is */
	uint32_t at_first; /* us of the queue when the draining began */
	uint32_t floor_us; /* of what seems to wait: it stays whatever is sent, so it is the way, */
	mono_t floor_at;   /* as found then, */
	mono_t stayed_at;  /* and as was seen then by sending less, */
	int64_t base_us;   /* reckoned from this */
	uint32_t before_us;    /* what the sample before found above that, */
	uint32_t before_kbits; /* and what had arrived between it and the one before that */
	struct extreme lately; /* the most that arrived, in kbit/s, for seconds */
	uint32_t proven;       /* kbits when the line was seen empty last, */
	mono_t lowered_at;     /* and when they became less than half of that */
	bool unsure;	       /* it was found full, and its queue has not gone away yet */
	uint32_t known;	       /* kbits when the draining began, */
	bool ours;	       /* and whether the line had been used until then, */
	mono_t used_at;	       /* as it was last at this time */
	uint32_t least_us;     /* while it drains: the least that PINGs found that were sent */
	mono_t look_from;      /* from then on, */
	uint32_t goal_us;      /* what it has to be below, to be a queue of ours, */
	mono_t look_at;	       /* by then */
	unsigned high;	       /* samples in a row that found a queue, */
	mono_t high_at;	       /* and when the first did, while there is no limit */
	unsigned in_vain;      /* times that it yielded, lately */
	mono_t judge_from;     /* PINGs of a bump that count */
	mono_t judge_until;
	bool filled;		 /* one of the bumps since it was found filled the line */
	bool full, tried, asked; /* of this bump: a queue; a sample that counts; the PING */
	bool empty;		 /* none of the samples that count found a good part of one, */
	uint32_t shown;		 /* and the most that arrived in it */
	mono_t busy;		 /* when it carried something last */
	uint64_t found, yielded; /* times */
};

void autorate_reset(struct autorate *a);
/* Does this link carry some of the data? `most_kbits`: what the one that sends the most does. */
bool autorate_counts(const struct link_load *l, int64_t most_kbits);
/* Takes one that does into what is all zero at first. */
void autorate_take(struct autorate_input *in, const struct link_load *l);
/* A bump is at its height: a PING that is sent now says what it made. Once for each. */
bool autorate_asks(struct autorate *a, mono_t now);
/* To be called each AUTORATE_STEP_MS. Returns the limit in kbit/s, 0: none. */
uint32_t autorate_step(struct autorate *a, const struct autorate_input *in, mono_t now);
const char *autorate_state_name(enum autorate_state s);
