// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anti-entropy: repairs all losses. Digests in PING and PONG reveal whether two nodes know the same
 * records. If they differ for longer than an update needs, the nodes exchange summaries and fetch
 * newer records. Called by dispatch.c, periodic.c and modules that miss a record; control thread.
 * Protocol 4.3, 4.4, 4.8.
 */
#include "proto/share/share.h"

#include <string.h>

#include "proto/admit/admit.h"

#define REQUEST_AGAIN_MS  2000
#define RANDOM_REQUEST_MS 30000
#define SETTLED_MS	  30000
#define CLAIM_AGAIN_MS	  60000
#define ANSWER_AGAIN_MS	  300 /* interval per peer */
#define SUMMARIES_PER_S	  100
#define FETCH_AGAIN_MS	  1000

static bool is_due(const struct overlay *o, mono_t at)
{
	return mono_is_never(at) || !mono_before(overlay_now(o), at);
}

/* --- requests --- */

void sync_request(struct overlay *o, struct peer *p)
{
	struct msg m = { .type = MSG_SUMMARY_REQ };

	if (!is_due(o, p->sync.request_at))
		return;
	p->sync.request_at = overlay_in(o, REQUEST_AGAIN_MS / 2, REQUEST_AGAIN_MS);
	p->sync.parts = 0;
	p->sync.wanted_some = false;
	peer_send(o, p, &m);
}

/* Two nodes may differ permanently: one has a list of identities and the other has none, or each
 * reaches another holder of a node-id. A new request helps only after a change, and occasionally,
 * because a refused key is not refused for ever. */
static bool is_settled(const struct overlay *o, const struct peer *p)
{
	return p->sync.settled_own == nodedb_digest(o->nodes) &&
	       p->sync.settled_its == p->sync.digest && !is_due(o, p->sync.settled_until);
}

static void settle(struct overlay *o, struct peer *p)
{
	p->sync.settled_own = nodedb_digest(o->nodes);
	p->sync.settled_its = p->sync.digest;
	p->sync.settled_until = overlay_in(o, SETTLED_MS * 3 / 4, SETTLED_MS);
}

void sync_again(struct overlay *o)
{
	o->synced = false;
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		p->sync.settled_until = MONO_NEVER;
}

void sync_digest(struct overlay *o, struct peer *p, uint64_t digest)
{
	mono_t now = overlay_now(o);

	p->sync.digest = digest;
	if (digest == nodedb_digest(o->nodes)) {
		p->sync.mismatch_since = MONO_NEVER;
		p->record_tries = 0;
		p->due[DUE_RECORD] = MONO_NEVER;
		return;
	}
	if (is_settled(o, p))
		return;
	if (mono_is_never(p->sync.mismatch_since)) {
		p->sync.mismatch_since = now;
		return;
	}
	if (mono_sub_ms(now, p->sync.mismatch_since) < o->conf->interval_ms ||
	    !is_due(o, o->sync.request_at))
		return;
	o->sync.request_at = overlay_in(o, 100, 300);
	sync_request(o, p);
}

static struct peer *random_alive(struct overlay *o)
{
	struct peer *chosen = NULL;
	uint64_t n = 0;

	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (peer_is_alive(o, p) && overlay_random(o) % ++n == 0)
			chosen = p;
	return chosen;
}

void sync_start(struct overlay *o)
{
	o->sync.random_request_at = overlay_in(o, RANDOM_REQUEST_MS / 2, RANDOM_REQUEST_MS);
}

void sync_periodic(struct overlay *o, mono_t now)
{
	struct peer *p;

	if (o->synced && mono_before(now, o->sync.random_request_at))
		return;
	p = random_alive(o);
	if (p)
		sync_request(o, p);
	if (!mono_before(now, o->sync.random_request_at))
		o->sync.random_request_at =
			overlay_in(o, RANDOM_REQUEST_MS * 3 / 4, RANDOM_REQUEST_MS);
}

/* --- summaries --- */

/* Only records of nodes that were in session with this node are forwarded. This rule suffices,
 * because a node behind relays is learned from the last relay, which is in session with the node.
 * Fabricated records of a member spread no further. A node forgotten without leaving is not named,
 * because other nodes need not learn of it. */
bool sync_is_listed(const struct node *n)
{
	return n && n->has_record && (n->verified || n->slot == SLOT_SELF) &&
	       (n->state != NODE_LEFT || (n->rec.flags & RECORD_LEFT));
}

_Static_assert(CONF_NODES_LIMIT <= MSG_PARTS_MAX * MSG_SUMMARY_MAX, "a summary names all members");
/* Fills a part with the next nodes; *slot is the continuation. Members come in the first round. */
static void fill_part(struct overlay *o, struct msg_summary *s, uint32_t *slot, uint32_t n_slots)
{
	s->n = 0;
	for (; *slot < 2 * n_slots && s->n < MSG_SUMMARY_MAX; ++*slot) {
		struct node *n = nodedb_at(o->nodes, (uint16_t)(*slot % n_slots));
		bool tombstones = *slot >= n_slots;

		if (!sync_is_listed(n) || (n->state == NODE_LEFT) != tombstones)
			continue;
		s->entry[s->n++] = claim_of(&n->rec);
	}
}

void sync_summary_request(struct overlay *o, struct peer *p)
{
	struct msg m = { .type = MSG_SUMMARY };
	uint32_t n_slots = nodedb_slots(o->nodes), n = 0, slot = 0, parts;

	if (!is_due(o, p->sync.answer_at) || !bucket_pass(&o->sync.answering, overlay_now(o),
							  NS_PER_S / SUMMARIES_PER_S, NS_PER_S)) {
		o->count.rx_rate_limited++;
		return;
	}
	p->sync.answer_at = mono_add_ms(overlay_now(o), ANSWER_AGAIN_MS);
	for (uint32_t i = 0; i < n_slots; i++)
		n += sync_is_listed(nodedb_at(o->nodes, (uint16_t)i));
	parts = max_of((n + MSG_SUMMARY_MAX - 1) / MSG_SUMMARY_MAX, 1u);
	m.summary.parts = (uint16_t)min_of(parts, (uint32_t)MSG_PARTS_MAX);
	for (m.summary.part = 0; m.summary.part < m.summary.parts; m.summary.part++) {
		fill_part(o, &m.summary, &slot, n_slots);
		peer_send(o, p, &m);
	}
}

/* Returns true once in FETCH_AGAIN_MS per origin, for all sources. */
static bool mark_fetch(struct overlay *o, node_id_t origin)
{
	struct fetch_mark *f = &o->sync.fetched[siphash_u64(&o->hash_key, origin) % FETCH_MARKS];

	if (f->origin == origin && !is_due(o, f->at))
		return false;
	f->origin = origin;
	f->at = overlay_in(o, FETCH_AGAIN_MS * 3 / 4, FETCH_AGAIN_MS);
	return true;
}

/* Entries about this node. A version of an earlier run is exceeded after its signature was
 * verified, and a claim of another node is checked occasionally. */
static bool wants_own(struct overlay *o, struct peer *p, const struct msg_summary_entry *e)
{
	const struct msg_record *own = &nodedb_at(o->nodes, SLOT_SELF)->rec;
	int cmp = version_cmp(e->incarnation, e->seq, own->incarnation, own->seq);

	if (memcmp(e->key, own->identity, sizeof(e->key)) != 0) {
		if (!is_due(o, o->sync.claim_at))
			return false;
		o->sync.claim_at = mono_add_ms(overlay_now(o), CLAIM_AGAIN_MS);
		return true;
	}
	if (cmp < 0 && !p->record_tries) {
		p->record_tries = 1;
		p->due[DUE_RECORD] = overlay_now(o);
	}
	return cmp > 0;
}

/* Room for the nodes that member p names in one summary, determined once for each kind. */
struct openings {
	const struct peer *p;
	bool is_known[2][2], is_there[2][2]; /* [place of a member?][slot?] */
};

static bool has_opening(struct overlay *o, struct openings *of, bool place, bool slot)
{
	const struct eviction r = { .place = place, .slot = slot, .by = of->p->id };

	if (!of->is_known[place][slot])
		of->is_there[place][slot] = !eviction_is_needed(o, &r) || eviction_victim(o, &r);
	of->is_known[place][slot] = true;
	return of->is_there[place][slot];
}

static bool wants(struct overlay *o, struct peer *p, const struct msg_summary_entry *e,
		  struct openings *openings)
{
	const struct node *n = nodedb_find(o->nodes, e->origin);
	bool is_member = n && n->state != NODE_LEFT;

	if (e->origin == o->self)
		return wants_own(o, p, e);
	return e->origin != NODE_ID_ANY && conf_may_trust(o->conf, e->key, sizeof(e->key)) &&
	       claim_would_conflict(o, n, e) &&
	       has_opening(o, openings, !e->left && !is_member, !n);
}

/* All parts of a summary have arrived. */
static void finish_summary(struct overlay *o, struct peer *p)
{
	o->synced = true;
	if (!p->sync.wanted_some)
		settle(o, p);
}

void sync_summary(struct overlay *o, struct peer *p, const struct msg_summary *s)
{
	struct msg m = { .type = MSG_FETCH };
	uint64_t all = UINT64_MAX >> (64 - s->parts);
	struct openings openings = { .p = p };

	for (unsigned i = 0; i < s->n; i++) {
		if (!wants(o, p, &s->entry[i], &openings))
			continue;
		p->sync.wanted_some = true;
		if (mark_fetch(o, s->entry[i].origin))
			m.fetch.origin[m.fetch.n++] = s->entry[i].origin;
	}
	p->sync.parts |= 1ULL << s->part;
	if ((p->sync.parts & all) == all)
		finish_summary(o, p);
	if (m.fetch.n)
		peer_send(o, p, &m);
}

/* --- fetches --- */

void sync_want(struct overlay *o, struct peer *origin, struct peer *hint)
{
	struct peer *from = peer_is_alive(o, origin) ? origin : hint;
	struct msg m = { .type = MSG_FETCH };

	if (!is_due(o, origin->sync.fetch_at))
		return;
	origin->sync.fetch_at = overlay_in(o, FETCH_AGAIN_MS * 3 / 4, FETCH_AGAIN_MS);
	m.fetch.n = 1;
	m.fetch.origin[0] = origin->id;
	peer_send(o, from, &m);
}
