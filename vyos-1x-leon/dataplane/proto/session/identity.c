// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pins node-ids to identity keys and checks the keys of HELLOs and records. Every holder of the
 * secret can open a session. The key of the node proves the owner of a session and the origin of a
 * record (sign.c). Called by hello.c and member.c; control thread. Protocol 3.4.
 */
#include "proto/session/membership.h"

#include <string.h>

#include "proto/admit/admit.h"
#include "proto/handshake/handshake.h"

#define VERIFY_PER_S 500 /* records per peer and second; each costs about 100 us */
#define VERIFY_BURST 2000

static bool has_other_key(const struct node *n, const uint8_t key[MSG_KEY_LEN])
{
	return n && n->has_key && memcmp(n->key, key, MSG_KEY_LEN) != 0;
}

/* This node sees two live nodes with one node-id. */
static void refuse_other_key(struct overlay *o, const struct node *n)
{
	o->count.rx_other_identity++;
	if (claim_is_held(o, n) && overlay_once_a_minute(o, &o->duplicate_event))
		overlay_emit(o, EV_DUPLICATE_ID, n->id, NODE_ID_NONE, 0, NULL);
}

/* All state of a node-id belongs to its previous key. */
static void change_key(struct overlay *o, struct node *n)
{
	struct peer *p = peer_at(o, n->slot);

	if (n->has_record && memcmp(n->rec.identity, n->key, MSG_KEY_LEN) != 0)
		nodedb_drop_record(o->nodes, n);
	latdb_forget_row(o->lat, n->slot);
	if (p) {
		rekey_expire(o, p);
		p->received = MONO_NEVER;
		p->incarnation = 0;
	}
	schedule_snapshot(o);
	schedule_paths_later(o);
}

void identity_pin(struct overlay *o, struct node *n, const uint8_t key[MSG_KEY_LEN], bool verified)
{
	bool is_first = !n->has_key, changed = has_other_key(n, key), was_proven = n->verified;
	struct slot_set gone = { 0 };

	n->has_key = true;
	memcpy(n->key, key, MSG_KEY_LEN);
	/* A key that replaced another by a record alone does not block the node-id. Otherwise
	 * records under ever new keys, each blocking for a while, could keep the real node out for
	 * ever. */
	if (is_first || changed)
		n->pinned = is_first || verified ? overlay_now(o) : MONO_NEVER;
	if (verified || changed)
		n->verified = verified;
	if (!changed)
		return;
	change_key(o, n);
	/* If neither key had a session here, there is no event and no purge, because nothing was
	 * learned from the node. */
	if (!verified && !was_proven)
		return;
	slot_set_add(&gone, n->slot);
	o->ops.purge(o->arg, &gone);
	overlay_emit(o, EV_IDENTITY_CHANGED, n->id, NODE_ID_NONE, 0, NULL);
}

bool identity_of_hello(struct overlay *o, const struct peer *p, const struct rx_hello *h)
{
	const struct node *n = nodedb_find(o->nodes, p->id);

	if (!trust_passes(o, p->id, h->m->identity))
		return false;
	if (has_other_key(n, h->m->identity) && claim_is_held(o, n)) {
		refuse_other_key(o, n);
		return false;
	}
	if (sign_holds_hello(o, p->id, h))
		return true;
	o->count.rx_bad_signature++;
	return false;
}

bool identity_of_record(struct overlay *o, struct peer *from, const struct msg_record *r)
{
	const struct node *n = nodedb_find(o->nodes, r->origin);
	const struct msg_summary_entry e = claim_of(r);

	/* A record of this node: an earlier installation may have had another key. */
	if (r->origin != o->self && !trust_passes(o, r->origin, r->identity))
		return false;
	if (r->origin != o->self && has_other_key(n, r->identity) && !claim_may_replace(o, n, &e)) {
		refuse_other_key(o, n);
		return false;
	}
	if (!bucket_pass(&from->verify, overlay_now(o), NS_PER_S / VERIFY_PER_S,
			 VERIFY_BURST * (NS_PER_S / VERIFY_PER_S))) {
		o->count.rx_rate_limited++;
		return false;
	}
	if (sign_holds_record(o, r))
		return true;
	o->count.rx_bad_signature++;
	return false;
}
