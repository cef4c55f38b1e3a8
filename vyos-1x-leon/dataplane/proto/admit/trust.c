// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enforces the list of trusted identities: refuses others, and removes identities that a reload
 * drops. Of refused identities only the report times of the last 64 are kept, for the log and `show
 * identity`. Control thread. doc/decisions/018.
 */
#include "proto/admit/admit.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/view.h"

#define NOTIFY_AGAIN_MS 600000 /* interval per key and node-id */

/* A refused and reported identity. */
struct refusal {
	node_id_t id; /* NODE_ID_NONE: free entry */
	uint8_t key[MSG_KEY_LEN];
	mono_t at;
};

struct trust_state {
	struct refusal refusal[OVERLAY_REFUSALS];
	struct bucket event;
};

void trust_init(struct overlay *o)
{
	o->trust = x_new(struct trust_state);
}

static struct refusal *place_of(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	uint64_t name;

	memcpy(&name, key, sizeof(name));
	return &o->trust->refusal[siphash_u64(&o->hash_key, name ^ id) % OVERLAY_REFUSALS];
}

/* One event per identity in NOTIFY_AGAIN_MS, and a limit for all, so that many identities cannot
 * fill the log. */
static bool may_notify(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
{
	mono_t now = overlay_now(o);
	const struct refusal *r = place_of(o, id, key);
	bool same = r->id == id && memcmp(r->key, key, MSG_KEY_LEN) == 0;

	if (same && mono_sub_ms(now, r->at) < NOTIFY_AGAIN_MS)
		return false;
	return bucket_pass(&o->trust->event, now, 6 * NS_PER_S, 60 * NS_PER_S);
}

void trust_notify(struct overlay *o, node_id_t id, const uint8_t key[MSG_KEY_LEN])
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
	if (may_notify(o, id, key))
		trust_notify(o, id, key);
	return false;
}

bool overlay_refusal(const struct overlay *o, unsigned index, node_id_t *id, const uint8_t **key)
{
	const struct refusal *r = &o->trust->refusal[index];

	*id = r->id;
	*key = r->key;
	return r->id != NODE_ID_NONE && !conf_trusts(o->conf, r->key);
}

void trust_forget(struct overlay *o)
{
	memset(o->trust->refusal, 0, sizeof(o->trust->refusal));
}
