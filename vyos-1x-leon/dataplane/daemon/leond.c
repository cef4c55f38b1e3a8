// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of struct leond and of its parts that are not opaque.
 */
#include "daemon/leond.h"

#include "base/mem.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/tap.h"

struct whole {
	struct leond d;
	struct states states;
	struct tap tap;
	struct udp udp;
	struct line_states lines;
	struct vlans vlans;
	struct guard guard;
	struct ipsec_report ipsec;
};

struct leond *leond_new(void)
{
	struct whole *w = x_new(struct whole);

	w->d.states = &w->states;
	w->d.tap = &w->tap;
	w->d.udp = &w->udp;
	w->states.lines = &w->lines;
	w->d.vlans = &w->vlans;
	w->d.guard = &w->guard;
	w->d.ipsec = &w->ipsec;
	return &w->d;
}
