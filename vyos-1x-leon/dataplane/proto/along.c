// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PINGs along the path in use to a node that is reached through relays. Where the direct link is
 * down they are what the two hear of each other: who was not heard lately is not believed to have
 * links (state/path.h). Owns struct along. Called by peer.c (timer), probe.c (answers) and route.c
 * (a path was chosen). Control thread. Protocol 6.
 */
#include "proto/core.h"

/* An unanswered one is followed by others at this pace. */
static int64_t wait_ms(const struct overlay *o, const struct peer *p)
{
	bool hurry = p->along.id && p->choice.path.n_hops;
	int64_t ms = hurry ? o->conf->fast_interval_ms * 2 : o->conf->interval_ms;

	return overlay_stretch(o, min_of(ms, (int64_t)o->conf->interval_ms));
}

static bool is_needed(const struct peer *p)
{
	return p->cur && p->choice.path.n_hops != 1 && !p->probe.up;
}

/* Where no path leads to it, as far as others claim: its own row is missing then. */
static bool find_way(struct overlay *o, const struct peer *p, struct via *v)
{
	if (p->choice.path.n_hops)
		return via_path(o, &p->choice.path, v);
	return route_hearsay(o, p, v);
}

void along_look(struct overlay *o, struct peer *p)
{
	if (!is_needed(p) || !mono_is_never(p->along.next_at))
		return;
	p->along.next_at = overlay_in(o, 0, o->conf->fast_interval_ms);
	peer_arm(p);
}

mono_t along_due(const struct peer *p)
{
	return p->along.next_at;
}

void along_tick(struct overlay *o, struct peer *p, mono_t now)
{
	struct along *a = &p->along;
	struct via v;

	if (mono_is_never(a->next_at) || mono_before(now, a->next_at))
		return;
	a->next_at = MONO_NEVER;
	if (!is_needed(p)) {
		a->id = 0;
		return;
	}
	a->next_at = overlay_in(o, wait_ms(o, p) * 9 / 10, wait_ms(o, p));
	a->id = rtt_new_id();
	if (find_way(o, p, &v))
		probe_send(o, p, &v, a->id, 0);
}

bool along_pong(struct peer *p, const struct msg_pong *m)
{
	if (!m->id || p->along.id != m->id)
		return false;
	p->along.id = 0;
	return true;
}
