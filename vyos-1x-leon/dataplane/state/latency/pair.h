// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides whether critical frames to a node are duplicated or have parity, and along which two
 * paths. The paths of second.h are the direct link and the best relay, or the two best relays if
 * the direct link is much slower. Requires similar latencies of both paths and, if configured, a
 * degraded path in use. Pure; control thread.
 */
#pragma once

#include "state/latency/second.h"
#include "state/tables/policy.h"

/* Use of the second path continues for this time after the path in use recovers. */
#define PAIR_RECOVERY_MS 30000

enum pair_state {
	PAIR_OFF,	/* no policy configured */
	PAIR_TWICE,	/* both paths are used */
	PAIR_NO_SECOND, /* no two disjoint paths */
	PAIR_TOO_SLOW,	/* the latencies of the two paths differ by more than permitted */
	PAIR_GOOD,	/* the path in use is good enough */
	PAIR_UNKNOWN,	/* the node does not support copies or parity: an older version */
};
/* "duplicated" or "parity", "no-second-path"... */
const char *pair_state_name(enum pair_state s, const struct policy *policy);
/* Sentence with the reason why the second path is not used; NULL if none is needed. */
const char *pair_state_text(enum pair_state s);

struct pairing {
	enum pair_state state;
	mono_t since; /* time of the last state change */
	struct second way;
	bool without_direct;
	/* With parity: of the two paths, way.path was the path in use last. */
	bool second_leads;
	mono_t bad_at;		     /* last time at which the path in use was degraded; never */
	uint32_t loss_pm, jitter_us; /* loss and jitter of the path in use at the last evaluation */
};

/* Evaluates again. in_use: the path of other frames. Returns true if the decision or a path
 * changed. */
bool pair_run(struct pairing *p, const struct latdb *db, const struct path_params *pp,
	      uint16_t n_slots, uint16_t to, const struct path *in_use, const struct policy *policy,
	      mono_t now);
/* Checks cheaply whether the two paths still exist. Returns false if pair_run() is due. */
bool pair_holds(const struct pairing *p, const struct latdb *db, const struct path_params *pp);
/* Turns the use of the second path off: no policy, or no support at the node. Returns true after a
 * change. */
bool pair_end(struct pairing *p, enum pair_state s, mono_t now);
/* The path of frames with parity: the path in use if it is one of the pair. */
const struct path *pair_of_frames(const struct pairing *p);
/* The path of the parities. */
const struct path *pair_of_parities(const struct pairing *p);
/* Difference of the long-term latencies of the two paths; returns false without two paths. */
bool pair_difference_us(const struct pairing *p, uint32_t *out);
