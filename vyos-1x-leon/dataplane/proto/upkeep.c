// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Periodic work: each second for all nodes, due work of one peer, and creation and end of a peer.
 * Defines the order of the modules. Called by the loop and by peer.c (struct hooks), on the control
 * thread.
 */
#include "proto/upkeep.h"

#include "proto/agenda.h"
#include "proto/core.h"
#include "proto/measure/along.h"
#include "proto/measure/doubt.h"
#include "proto/measure/probe.h"
#include "proto/paths.h"
#include "proto/peer.h"
#include "proto/service.h"
#include "proto/session/data.h"
#include "proto/session/greet.h"
#include "proto/session/lan.h"
#include "proto/session/member.h"
#include "proto/session/move.h"
#include "proto/session/offer.h"
#include "proto/session/own.h"
#include "proto/session/rekey.h"
#include "proto/share/sync.h"

#define UPKEEP_MS 1000

/* --- each second --- */

static void upkeep_run(void *arg, mono_t now)
{
	struct overlay *o = arg;

	o->upkeep.at = MONO_NEVER;
	peer_free_dropped(o);
	own_upkeep(o, now);
	member_upkeep(o, now);
	peer_expire_pending(o);
	member_fetch_missing(o);
	sync_upkeep(o, now);
	rekey_upkeep(o, now);
	move_upkeep(o);
	doubt_upkeep(o, now);
	paths_upkeep(o, now);
	probe_upkeep(o);
	peer_free_dropped(o);
	alarm_set(&o->upkeep, overlay_in(o, UPKEEP_MS * 3 / 4, UPKEEP_MS));
}

/* --- one peer --- */

static void peer_tick(void *arg, mono_t now)
{
	struct peer *p = arg;
	struct overlay *o = p->o;

	p->tick.at = MONO_NEVER;
	greet_tick(o, p, now);
	data_tick(o, p, now);
	along_tick(o, p, now);
	probe_tick(o, p, now);
	own_tick(o, p, now);
	lan_tick(o, p, now);
	agenda_arm(p);
}

static void peer_ends(struct peer *p)
{
	session_free(p->cur);
	session_free(p->prev);
	data_free(p);
	offer_withdraw(&p->offer);
}

void upkeep_start(struct overlay *o)
{
	o->hooks = (struct hooks){
		.peer_begins = probe_init,
		.peer_tick = peer_tick,
		.peer_ends = peer_ends,
	};
	alarm_init(o, &o->upkeep, upkeep_run, o);
	alarm_set(&o->upkeep, overlay_in(o, UPKEEP_MS / 2, UPKEEP_MS));
}
