// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Periodic work of all nodes, due work of one peer, and creation and end of a peer. Defines the
 * order of the modules. Called by the loop and by peer.c (struct hooks), on the control thread.
 */
#include "proto/periodic.h"

#include "proto/measure/measure.h"
#include "proto/lines/line_pairs.h"
#include "proto/handshake/handshake.h"
#include "proto/session/membership.h"
#include "proto/share/share.h"

#define PERIODIC_MS 1000
#define LOOK_MS	    500 /* data begins to flow on a path with relays */

/* --- each second --- */

static void periodic_run(void *arg, mono_t now)
{
	struct overlay *o = arg;

	o->periodic.at = MONO_NEVER;
	peer_free_dropped(o);
	own_periodic(o, now);
	member_periodic(o, now);
	peer_expire_pending(o);
	member_fetch_missing(o);
	sync_periodic(o, now);
	rekey_periodic(o, now);
	handshake_expire(o, now);
	move_periodic(o);
	asymmetry_periodic(o, now);
	paths_periodic(o, now);
	probe_periodic(o, now);
	lines_periodic(o);
	peer_free_dropped(o);
	alarm_set(&o->periodic, overlay_in(o, PERIODIC_MS * 3 / 4, PERIODIC_MS));
}

/* One timer serves all nodes. A timer of each node would wake up hundreds of times a second. */
static void look_run(void *arg, mono_t now attr_unused)
{
	struct overlay *o = arg;

	o->looking.at = MONO_NEVER;
	path_probe_look(o);
	alarm_set(&o->looking, overlay_in(o, LOOK_MS * 9 / 10, LOOK_MS));
}

/* --- one peer --- */

static void peer_tick(void *arg, mono_t now)
{
	struct peer *p = arg;
	struct overlay *o = p->o;

	p->tick.at = MONO_NEVER;
	initiator_tick(o, p, now);
	data_tick(o, p, now);
	path_probe_tick(o, p, now);
	probe_tick(o, p, now);
	lines_tick(o, p, now);
	own_tick(o, p, now);
	lan_tick(o, p, now);
	multicast_tick(o, p, now);
	schedule_arm(p);
}

static void peer_ends(struct peer *p)
{
	link_set_misses(p->o, p, 0);
	session_free(p->cur);
	session_free(p->prev);
	data_free(p);
	multicast_peer_free(p);
	lines_peer_free(p);
	handshake_cancel(&p->handshake);
}

void periodic_start(struct overlay *o)
{
	o->hooks = (struct hooks){
		.peer_begins = probe_init,
		.peer_tick = peer_tick,
		.peer_ends = peer_ends,
	};
	alarm_init(o, &o->periodic, periodic_run, o);
	alarm_set(&o->periodic, overlay_in(o, PERIODIC_MS / 2, PERIODIC_MS));
	alarm_init(o, &o->looking, look_run, o);
	alarm_set(&o->looking, overlay_in(o, LOOK_MS / 2, LOOK_MS));
}
