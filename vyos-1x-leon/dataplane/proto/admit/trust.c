// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose identity may be a member here, where the configuration lists them: refusing the others, and
 * removing those that a reload has taken off the list. Of those who are refused nothing is kept but
 * when it was last said of the 64 last ones, for the log and `show identity`. Control thread.
 * doc/decisions/015, 018.
 */
#include <string.h>

#include "base/hex.h"
#include "proto/core.h"

#define TELL_AGAIN_MS 600000 /* of one key and node-id */

static struct refusal *place_of(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	uint64_t name;

	memcpy(&name, key, sizeof(name));
	return &o->refusal[siphash_u64(&o->hash_key, name ^ id) % REFUSALS];
}

/* Each that knocks is told of once in a while, and many of them do not fill the log. */
static bool may_tell(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	mono_t now = overlay_now(o);
	const struct refusal *r = place_of(o, id, key);
	bool same = r->id == id && memcmp(r->key, key, MSG_KEY_LEN) == 0;

	if (same && mono_sub_ms(now, r->at) < TELL_AGAIN_MS)
		return false;
	return bucket_pass(&o->trust_event, now, 6 * NS_PER_S, 60 * NS_PER_S);
}

static void tell(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	char text[HEX_LEN(MSG_KEY_LEN) + 1];
	struct refusal *r = place_of(o, id, key);

	*r = (struct refusal){ .id = id, .at = overlay_now(o) };
	memcpy(r->key, key, MSG_KEY_LEN);
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

bool overlay_refusal(const struct overlay *o, unsigned index, node_id_t *id, const uint8_t **key)
{
	const struct refusal *r = &o->refusal[index];

	*id = r->id;
	*key = r->key;
	return r->id != NODE_ID_NONE && !conf_trusts(o->conf, r->key);
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

/* In two steps: what leads over it is found anew before its slot is free. */
static void bury_untrusted(struct overlay *o, struct node *n)
{
	tell(o, n->id, n->key);
	member_bury(o, n);
	nodedb_forget(o->nodes, n, overlay_now(o));
}

static void expel_untrusted(struct overlay *o)
{
	uint16_t n_slots = nodedb_slots(o->nodes);
	bool any = false;

	for (uint16_t i = 0; i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (!is_untrusted(o, n))
			continue;
		bury_untrusted(o, n);
		any = true;
	}
	if (any)
		route_run(o, overlay_now(o));
	for (uint16_t i = 0; any && i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (is_untrusted(o, n))
			nodedb_remove(o->nodes, n, overlay_now(o));
	}
}

void trust_configure(struct overlay *o)
{
	say_links_down(o);
	memset(o->refusal, 0, sizeof(o->refusal));
	expel_untrusted(o);
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			withdraw_offer(o, o->by_slot[i]);
	for (unsigned i = 0; i < o->n_pending; i++)
		withdraw_offer(o, o->pending[i]);
	/* Somebody may know who is trusted now and was not before: ask at once. */
	o->synced = false;
	sync_forget_answers(o);
}
