// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements about loop-guard frames in PINGs (protocol 4.7 and 7). Owns guard_statements of struct
 * peer and guard_number of struct overlay. Control thread.
 */
#include "proto/measure/measure.h"

#include "base/defs.h"
#include "proto/overlay.h"
#include "proto/core.h"

void guard_stated_ping(struct overlay *o, struct peer *p, const struct msg_ping *m)
{
	int64_t stale_ms = GUARD_STALE_INTERVALS * (int64_t)o->conf->guard_interval_ms;

	guard_stated(&p->guard_statements, p->incarnation, m->guard, stale_ms, overlay_now(o));
}

void overlay_set_guard_number(struct overlay *o, uint64_t number)
{
	o->guard_number = number;
}

struct guard_bounds overlay_guard_bounds(struct overlay *o, node_id_t node)
{
	const struct peer *p = peer_find(o, node);
	const struct node *n = nodedb_find(o->nodes, node);
	uint64_t incarnation = p ? p->incarnation : 0;

	if (!p || !peer_is_alive(o, p))
		return (struct guard_bounds){ 0 };
	/* The record follows a new session, and the other way round if the node raises its own. */
	if (n && n->has_record)
		incarnation = max_of(incarnation, n->rec.incarnation);
	return guard_bounds_of(&p->guard_statements, p->incarnation, incarnation);
}
