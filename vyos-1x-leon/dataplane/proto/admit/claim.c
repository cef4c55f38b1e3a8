// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may have a node-id: whether the key that has it here is still about, and which of two claims
 * counts. Decides and changes nothing. Called by identity.c, room.c, member.c and sync.c; control
 * thread. Protocol 3.4, doc/decisions/018.
 */
#include "proto/admit/claim.h"

#include <string.h>

#include "proto/core.h"
#include "proto/service.h"

/* After so much silence of a node its id may come back with another key: its operator made it
 * anew. Until then another key is somebody else who uses the id. */
#define SILENT_MS 300000
/* A key that is known from a record alone has so long to show that it is there: who is about and
 * can be reached is in session within seconds. */
#define HEARSAY_MS 60000
#define AHEAD_US   (86400LL * 1000000) /* what a clock may be ahead of ours; time zones and all */

/* When the key that the node-id is pinned to last proved itself to this node: by a message in
 * its session, which goes through relays too. What others say of the node counts for nothing
 * here, as they may mean the one with another key. A key known from a record alone was never
 * proved; for it the time counts at which it was first heard of. */
static mono_t last_proof(const struct overlay *o, const struct node *n)
{
	const struct peer *p = n->slot < o->cap_slots ? o->by_slot[n->slot] : NULL;

	return p && mono_before(n->pinned, p->heard) ? p->heard : n->pinned;
}

bool claim_is_held(const struct overlay *o, const struct node *n)
{
	int64_t silent_ms = n->proven ? SILENT_MS : HEARSAY_MS;
	int64_t limit_ms = min_of(silent_ms, (int64_t)o->conf->forget_ms);
	mono_t last = last_proof(o, n);

	return n->state != NODE_LEFT && !mono_is_never(last) &&
	       mono_sub_ms(overlay_now(o), last) < limit_ms;
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

/* An incarnation that lies in the future gives its record no precedence over others. */
static bool is_plausible(const struct overlay *o, uint64_t incarnation)
{
	return incarnation <= o->ops.wall_us(o->arg) + AHEAD_US;
}

/* Of two keys that claim a node-id, and of which none was ever in session here, all nodes take the
 * same one, whatever they heard first: the one that started last, as far as that can be. */
static bool outranks(const struct overlay *o, const struct msg_summary_entry *a,
		     const struct msg_summary_entry *b)
{
	bool a_can_be = is_plausible(o, a->incarnation), b_can_be = is_plausible(o, b->incarnation);
	int cmp = version_cmp(a->incarnation, a->seq, b->incarnation, b->seq);

	if (a_can_be != b_can_be)
		return a_can_be;
	return cmp ? cmp > 0 : memcmp(a->key, b->key, sizeof(a->key)) > 0;
}

/* A record under another key than the node-id has here. It can take the place of a claim that
 * nobody stands for any more; it takes nothing from a key that was in session with this node:
 * for that its holder has to come itself. */
bool claim_may_replace(const struct overlay *o, const struct node *n,
		       const struct msg_summary_entry *e)
{
	struct msg_summary_entry own;

	if (e->left)
		return false;
	if (n->state == NODE_LEFT)
		return true;
	if (n->proven || claim_is_held(o, n))
		return false;
	own = claim_of(&n->rec);
	return !n->has_record || outranks(o, e, &own);
}

bool claim_would_be_taken(const struct overlay *o, const struct node *n,
			  const struct msg_summary_entry *e)
{
	if (!n || !n->has_key)
		return true;
	if (memcmp(n->key, e->key, sizeof(e->key)) != 0)
		return claim_may_replace(o, n, e);
	return !n->has_record ||
	       version_cmp(e->incarnation, e->seq, n->rec.incarnation, n->rec.seq) > 0;
}
