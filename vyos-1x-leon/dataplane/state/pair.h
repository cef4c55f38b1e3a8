// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether critical frames to a node are sent along two paths, and along which: those of
 * state/second.h, the direct link and the best relay, or, where the direct link is much slower, the
 * two best relays. Only where neither takes much longer than the other, and, where the operator
 * says so, only while the path in use is bad. Pure; control thread.
 */
#pragma once

#include "state/policy.h"
#include "state/second.h"

/* For so long after the path in use was last bad, copies go on. */
#define PAIR_RECOVERY_MS 30000

enum pair_state {
	PAIR_OFF,	/* there is no policy */
	PAIR_TWICE,	/* they travel twice */
	PAIR_NO_SECOND, /* no two paths that share nothing */
	PAIR_TOO_SLOW,	/* one of the two takes longer than the other by more than is allowed */
	PAIR_GOOD,	/* the path in use is good enough */
	PAIR_UNKNOWN,	/* the node does not know copies: an older version */
};
const char *pair_state_name(enum pair_state s); /* "twice", "no-second-path"... */
/* Why critical frames travel once, for people; NULL where nothing needs a reason. */
const char *pair_state_text(enum pair_state s);

struct pairing {
	enum pair_state state;
	mono_t since; /* it is in that state */
	struct second way;
	bool without_direct;
	mono_t bad_at;		     /* when the path in use was last bad; never */
	uint32_t loss_pm, jitter_us; /* of the path in use, when it was looked at last */
};

/* Looks anew. in_use: the path of other frames. True where what is sent along which path is
 * another now. */
bool pair_run(struct pairing *p, const struct latdb *db, const struct path_params *pp,
	      uint16_t n_slots, uint16_t to, const struct path *in_use, const struct policy *policy,
	      mono_t now);
/* Only whether the two paths are still there: cheap. False: pair_run() is due. */
bool pair_holds(const struct pairing *p, const struct latdb *db, const struct path_params *pp);
/* There is no policy, or the node does not know copies. True where that is new. */
bool pair_end(struct pairing *p, enum pair_state s, mono_t now);
/* By how much the longer of the two is longer, in the long run; false where there are not two. */
bool pair_difference_us(const struct pairing *p, uint32_t *out);
