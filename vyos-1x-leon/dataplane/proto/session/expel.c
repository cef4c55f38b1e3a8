// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Removes nodes whose identity a reload has taken off the list of trusted identities, and withdraws
 * the values offered to them. Called by overlay.c; control thread. doc/decisions/018.
 */
#include "proto/session/membership.h"

#include <string.h>

#include "proto/admit/admit.h"
#include "proto/measure/measure.h"
#include "proto/handshake/handshake.h"
#include "proto/share/share.h"

static bool is_untrusted(const struct overlay *o, const struct node *n)
{
	return n && n->slot != SLOT_SELF && n->has_key && !conf_trusts(o->conf, n->key);
}

/* A value offered to a key that is no longer trusted must not become a session. */
static void cancel_handshake(struct overlay *o, struct peer *p)
{
	if (p->handshake.answers.session_mine &&
	    !conf_trusts(o->conf, p->handshake.answers.identity))
		handshake_cancel(&p->handshake);
}

/* Announces that our links to the removed nodes are down, before the sessions end. Paths of other
 * nodes through this node to the removed nodes would fail. */
static void notify_links_down(struct overlay *o)
{
	bool any = false;

	for (uint16_t i = 0; i < nodedb_slots(o->nodes); i++) {
		struct peer *p = peer_at(o, i);

		if (!p || !p->probe.up || !is_untrusted(o, nodedb_at(o->nodes, i)))
			continue;
		link_state_lost(o, p);
		any = true;
	}
	if (any && o->started && !o->leaving)
		rows_announce(o, overlay_now(o));
}

/* Two steps: paths through the node are replaced before its slot is free. */
static void clear_untrusted(struct overlay *o, struct node *n, struct slot_set *gone)
{
	trust_notify(o, n->id, n->key);
	member_clear(o, n, gone);
	nodedb_forget(o->nodes, n, overlay_now(o));
}

static void remove_untrusted(struct overlay *o)
{
	uint16_t n_slots = nodedb_slots(o->nodes);
	struct slot_set gone = { 0 };
	bool any = false;

	for (uint16_t i = 0; i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (!is_untrusted(o, n))
			continue;
		clear_untrusted(o, n, &gone);
		any = true;
	}
	member_purge(o, &gone);
	if (any)
		paths_run(o, overlay_now(o));
	for (uint16_t i = 0; any && i < n_slots; i++) {
		struct node *n = nodedb_at(o->nodes, i);

		if (is_untrusted(o, n))
			nodedb_remove(o->nodes, n, overlay_now(o));
	}
}

void expel_untrusted(struct overlay *o)
{
	notify_links_down(o);
	trust_forget(o);
	remove_untrusted(o);
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		cancel_handshake(o, p);
	for (unsigned i = 0; i < o->n_pending; i++)
		cancel_handshake(o, o->pending[i]);
	/* An identity may be trusted now that was not before: request summaries at once. */
	sync_again(o);
}
