// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which VLANs this node serves: those that its segment carries. Control thread.
 */
#pragma once

#include <stdbool.h>

#include "base/vlan_set.h"
#include "io/netlink.h"
#include "state/segments.h"

struct leond;
struct timer;

enum vlans_source {
	VLANS_ANY,    /* nobody can tell: all */
	VLANS_BRIDGE, /* those of leon0 as port of a bridge that filters VLANs */
	VLANS_CONFIGURED,
	VLANS_DEVICES, /* untagged frames, and those of the VLAN interfaces on leon0 */
};
const char *vlans_source_name(enum vlans_source s); /* "any", "bridge" ... */

struct vlans {
	enum vlans_source source;
	struct vlan_set set; /* with VLANS_ANY: meaningless */
	/* Somebody whom the kernel does not show sends frames of others than VLANS_DEVICES. */
	bool hidden;
	struct segments *map; /* which segments they are; published; owned here until retired */
	struct timer *timer;  /* changes come in bursts */
};

/* The set, NULL where it is not known. */
static inline const struct vlan_set *vlans_served(const struct vlans *v)
{
	return v->source == VLANS_ANY ? NULL : &v->set;
}

void vlans_open(struct leond *d);  /* with the tables */
void vlans_start(struct leond *d); /* when the guard is there */
void vlans_stop(struct leond *d);
/* Something about links changed. */
void vlans_changed(struct leond *d, const struct nl_event *ev);
/* A frame of this VLAN was not forwarded, because nobody listens there: not yet, or because it is
 * not served. */
void vlans_frame_seen(struct leond *d, uint16_t vlan);
void vlans_apply_conf(struct leond *d);
