// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose identity may be a member here, where the configuration lists them: refusing the others, and
 * removing those that a reload has taken off the list. A node so removed stays as a tombstone that
 * nobody sees (nodedb_refuse): rows of members that still know it name a slot then, and its record
 * is not fetched again in the version that was refused. Control thread. doc/decisions/015.
 */
#include <string.h>

#include "base/hex.h"
#include "proto/core.h"

#define TELL_AGAIN_MS 600000 /* of one key and node-id */

/* Each that knocks is told of once in a while, and many of them do not fill the log. */
static bool may_tell(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	mono_t now = overlay_now(o);
	struct refusal *r;
	uint64_t name;

	memcpy(&name, key, sizeof(name));
	name = hash_mix64(name ^ id);
	r = &o->refusal[name % REFUSALS];
	if (r->name == name && mono_sub_ms(now, r->at) < TELL_AGAIN_MS)
		return false;
	if (!bucket_pass(&o->trust_event, now, 6 * NS_PER_S, 60 * NS_PER_S))
		return false;
	*r = (struct refusal){ .name = name, .at = now };
	return true;
}

static void tell(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	char text[HEX_LEN(MSG_KEY_LEN) + 1];

	overlay_emit(o, EV_NOT_TRUSTED, id, NODE_ID_NONE, 0, hex_format(key, MSG_KEY_LEN, text));
}

bool trust_passes(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	if (conf_trusts(o->conf, key))
		return true;
	o->count.rx_not_trusted++;
	if (may_tell(o, id, key))
		tell(o, id, key);
	return false;
}

void trust_refuse_record(struct overlay *o, const struct msg_record *r)
{
	const struct node *n = nodedb_find(o->nodes, r->origin);

	/* A member whose node-id somebody else uses stays what it is. */
	if (!n || n->state == NODE_LEFT)
		nodedb_refuse(o->nodes, r, overlay_now(o));
}

void trust_back(struct overlay *o)
{
	/* What rows say of links to it was kept out, or is as old as its removal. */
	latdb_ask_anew(o->lat);
}

/* --- a reload --- */

static bool is_untrusted(const struct overlay *o, const struct node *n)
{
	return n && n->slot != SLOT_SELF && n->has_key && !conf_trusts(o->conf, n->key);
}

/* What was offered to a key that is no longer trusted must not become a session. */
static void withdraw_offer(struct overlay *o, struct peer *p)
{
	if (p->offer.answers.session_mine && !conf_trusts(o->conf, p->offer.answers.identity))
		hello_withdraw(&p->offer);
}

/* The others hear that our links to them are down while we can still say so: a path of theirs
 * through us, to one of these, would lead nowhere. */
static void say_links_down(struct overlay *o)
{
	bool any = false;

	for (uint16_t i = 0; i < nodedb_slots(o->nodes); i++) {
		struct peer *p = peer_at(o, i);

		if (!p || !p->probe.up || !is_untrusted(o, nodedb_at(o->nodes, i)))
			continue;
		probe_link_lost(o, p);
		any = true;
	}
	if (any && o->started && !o->leaving)
		share_announce(o, overlay_now(o));
}

static void expel(struct overlay *o, struct node *n)
{
	struct msg_record r = n->rec;

	memcpy(r.identity, n->key, MSG_KEY_LEN);
	r.origin = n->id;
	tell(o, n->id, n->key);
	member_bury(o, n);
	nodedb_refuse(o->nodes, &r, overlay_now(o));
}

void trust_configure(struct overlay *o)
{
	bool any_back = false;

	say_links_down(o);
	for (uint16_t i = 0; i < nodedb_slots(o->nodes); i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (n && n->refused && !is_untrusted(o, n)) {
			nodedb_unrefuse(o->nodes, n);
			any_back = true;
		} else if (is_untrusted(o, n) && !n->refused) {
			expel(o, n);
		}
	}
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			withdraw_offer(o, o->by_slot[i]);
	for (unsigned i = 0; i < o->n_pending; i++)
		withdraw_offer(o, o->pending[i]);
	memset(o->refusal, 0, sizeof(o->refusal));
	if (!any_back)
		return;
	/* Somebody may know them: ask at once, and for the rows too. */
	o->synced = false;
	trust_back(o);
}
