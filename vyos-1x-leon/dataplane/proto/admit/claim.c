// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ownership of a node-id: whether the holder of its key is still alive, and which of two claims
 * counts. Changes nothing. Called by identity.c, eviction.c, member.c and sync.c; control thread.
 * Protocol 3.4, doc/decisions/018.
 */
#include "proto/admit/admit.h"

#include <string.h>

/* After this time without a message of the node, its id may return with another key (a reinstalled
 * node). Until then another key is a duplicate node-id. */
#define SILENT_MS 300000
/* A key known from a record alone must be proved within the time: a live, reachable node is in
 * session within seconds. */
#define INDIRECT_MS 60000
#define AHEAD_US    (86400LL * 1000000) /* tolerated clock difference, including wrong time zones */

/* Time of the last message in a session of the pinned key of the node-id, possibly through relays.
 * Statements of other members do not count, because they may concern a node with another key. For a
 * key known from a record alone, the time of the first record counts. */
static mono_t last_proof(const struct overlay *o, const struct node *n)
{
	const struct peer *p = n->slot < o->cap_slots ? o->by_slot[n->slot] : NULL;

	return p && mono_before(n->pinned, p->received) ? p->received : n->pinned;
}

bool claim_is_held(const struct overlay *o, const struct node *n)
{
	int64_t silent_ms = n->verified ? SILENT_MS : INDIRECT_MS;
	int64_t limit_ms = min_of(silent_ms, (int64_t)o->conf->forget_ms);
	mono_t last = last_proof(o, n);

	return n->state != NODE_LEFT && mono_is_recent(last, limit_ms, overlay_now(o));
}

struct msg_summary_entry claim_of(const struct msg_record *r)
{
	struct msg_summary_entry e = {
		.origin = r->origin,
		.incarnation = r->incarnation,
		.seq = r->seq,
		.left = r->flags & RECORD_LEFT,
	};

	memcpy(e.key, r->identity, sizeof(e.key));
	return e;
}

/* An incarnation in the future gives a record no precedence. */
static bool is_plausible(const struct overlay *o, uint64_t incarnation)
{
	return incarnation <= o->ops.wall_us(o->arg) + AHEAD_US;
}

/* Of two keys that claim a node-id without a session here, all nodes select one. The order of
 * arrival has no influence; if possible, the key that started last wins. */
static bool outranks(const struct overlay *o, const struct msg_summary_entry *a,
		     const struct msg_summary_entry *b)
{
	bool a_can_be = is_plausible(o, a->incarnation), b_can_be = is_plausible(o, b->incarnation);
	int cmp = version_cmp(a->incarnation, a->seq, b->incarnation, b->seq);

	if (a_can_be != b_can_be)
		return a_can_be;
	return cmp ? cmp > 0 : memcmp(a->key, b->key, sizeof(a->key)) > 0;
}

/* A record with a key other than the known key. The record may replace a claim without a session. A
 * key that had a session with this node is never replaced; the holder of the new key must open a
 * session. */
bool claim_may_replace(const struct overlay *o, const struct node *n,
		       const struct msg_summary_entry *e)
{
	struct msg_summary_entry own;

	if (e->left)
		return false;
	if (n->state == NODE_LEFT)
		return true;
	if (n->verified || claim_is_held(o, n))
		return false;
	own = claim_of(&n->rec);
	return !n->has_record || outranks(o, e, &own);
}

bool claim_would_conflict(const struct overlay *o, const struct node *n,
			  const struct msg_summary_entry *e)
{
	if (!n || !n->has_key)
		return true;
	if (memcmp(n->key, e->key, sizeof(e->key)) != 0)
		return claim_may_replace(o, n, e);
	return !n->has_record ||
	       version_cmp(e->incarnation, e->seq, n->rec.incarnation, n->rec.seq) > 0;
}
