// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of the configured prefixes this node announces: those it has a route of its own to. Decides
 * when one is withheld and when it comes back. Pure: it gets what the kernel says and `now`;
 * daemon/host/announcer.c asks the kernel and changes the own record.
 * Control thread. doc/decisions/009.
 */
#pragma once

#include <stdbool.h>

#include "base/mono.h"
#include "state/conf.h"

/* A route has to stay this long before what was withheld is announced again. Each change goes to
 * all nodes and moves their routes: a LAN link or a routing protocol that flaps, or a carrier that
 * is there before the switch behind it forwards, must not make them follow each time. */
#define ANNOUNCE_RETURN_MS 2000

/* What leads from this node to a prefix. */
enum announce_reach {
	ANNOUNCE_UNKNOWN, /* the kernel could not be asked: nothing changes */
	ANNOUNCE_ROUTE,
	ANNOUNCE_NO_ROUTE,
	ANNOUNCE_DEFAULT_ONLY, /* no more than the default route */
	ANNOUNCE_OVERLAY,      /* LEON itself: announcing that would be a loop */
	ANNOUNCE_LINK_DOWN,
};

struct announced {
	struct prefix prefix;
	bool announced;
	enum announce_reach reach;
	mono_t since;	    /* announced, or withheld */
	mono_t route_since; /* of the route that is there; never: none is */
};

struct announce {
	bool unconditional;
	unsigned n;
	struct announced entry[MSG_PREFIXES_MAX]; /* as the configuration: sorted */
};

/* Takes over the prefixes of a configuration; those that stay keep what is known of them. */
void announce_configure(struct announce *a, const struct conf *c);
/* What was found out about one of them. A prefix that is looked at for the first time is announced
 * or withheld at once. True where that changed. */
bool announce_note(struct announce *a, unsigned i, enum announce_reach reach, mono_t now);
/* Writes those to announce; returns their number. */
unsigned announce_list(const struct announce *a, struct prefix out[MSG_PREFIXES_MAX]);

/* Why an entry is announced, or not: half a sentence. */
const char *announce_reason(const struct announce *a, const struct announced *e);
