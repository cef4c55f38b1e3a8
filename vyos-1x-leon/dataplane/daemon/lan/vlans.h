// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLANs that this node serves: the VLANs of its segment. Control thread.
 */
#pragma once

#include <stdbool.h>

#include "base/mono.h"
#include "base/vlan_set.h"
#include "io/netlink/netlink.h"
#include "state/tables/segments.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

struct leond;

enum vlans_source {
	VLANS_UNREAD = -1, /* result of a failed dump; never in struct vlans */
	VLANS_ANY,	   /* unknown: all VLANs */
	VLANS_BRIDGE,	   /* VLANs of leon0 as port of a VLAN-filtering bridge */
	VLANS_CONFIGURED,
	VLANS_DEVICES, /* untagged frames and the VLAN interfaces on leon0 */
};
const char *vlans_source_name(enum vlans_source s); /* "any", "bridge" ... */

struct vlans {
	enum vlans_source source;
	struct vlan_set set; /* undefined with VLANS_ANY */
	uint16_t tag;	     /* EtherType of the tags of a VLAN-filtering bridge; 0: unknown */
	/* Frames of other VLANs than VLANS_DEVICES were seen, from a sender that the kernel does
	 * not report. */
	bool hidden;
	struct segments *map; /* map of VLANs to segments; published; owned here until retired */
	struct timer *timer;  /* debounce timer */
	bool failed;	      /* the last dump failed, and is reported */
	bool retries;	      /* the timer is of a failed dump */
};

/* Returns the set; NULL if it is unknown. */
static inline const struct vlan_set *vlans_served(const struct vlans *v)
{
	return v->source == VLANS_ANY ? NULL : &v->set;
}

/* Own frames have an 802.1Q tag, which a bridge of 802.1ad VLANs takes for payload. */
static inline void vlans_set_tag(const struct vlans *v, uint8_t *frame)
{
	if (v->tag == ETHERTYPE_DOT1AD && get_u16(frame + 2 * MAC_LEN) == ETHERTYPE_DOT1Q)
		put_u16(frame + 2 * MAC_LEN, ETHERTYPE_DOT1AD);
}

void vlans_open(struct leond *d);  /* called with the tables */
void vlans_start(struct leond *d); /* called after the guard exists */
void vlans_stop(struct leond *d);
/* A link changed. */
void vlans_changed(struct leond *d, const struct nl_event *ev);
/* A frame of this VLAN was not forwarded, because the guard does not listen to it yet or the VLAN
 * is not served. */
void vlans_frame_seen(struct leond *d, uint16_t vlan);
/* The guard forgets VLANs without hosts. */
void vlans_second(struct leond *d, mono_t now);
void vlans_apply_conf(struct leond *d);
