// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local segment: the LAN of this node, its VLANs and its hosts. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/vlan_set.h"
#include "daemon/leond.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "state/tables/groups.h"
#include "state/tables/segments.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

struct fwd_report;

/* --- vlans.c: VLANs that this node serves, the VLANs of its segment --- */
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

/* Sends an own frame to the LAN, and counts the frame. Fails while the interface is down; then no
 * loop is possible, and no switch or host can be reached. */
static inline void vlans_send(const struct leond *d, uint8_t *frame, size_t len, uint64_t *count)
{
	vlans_set_tag(d->vlans, frame);
	if (tap_send(d->tap->fd[0], frame, len) >= 0)
		++*count;
}

void vlans_open(struct leond *d);  /* called with the tables */
void vlans_start(struct leond *d); /* called after the guard exists */
/* A link changed. */
void vlans_changed(struct leond *d, const struct nl_event *ev);
/* A frame of this VLAN was not forwarded, because the guard does not listen to it yet or the VLAN
 * is not served. */
void vlans_frame_seen(struct leond *d, uint16_t vlan);
/* The guard forgets VLANs without hosts. */
void vlans_second(struct leond *d, mono_t now);
void vlans_apply_conf(struct leond *d);

/* --- loop_guard_io.c: the loop guard on the segment --- */
/* The LAN behind the node has changed in VLANs of the given classes (struct record_lan). Forgets
 * possibly wrong entries. */
void lan_changed(struct leond *d, uint16_t slot, uint64_t classes);
void guard_open(struct leond *d); /* Called before any frame is forwarded. */
void guard_start(struct leond *d);
void guard_close(struct leond *d);
/* The daemon stops, and other nodes on the LAN forward at once. */
void guard_leave(struct leond *d);
void guard_apply_conf(struct leond *d);
void guard_frame_received(struct leond *d, const uint8_t *frame, size_t len);
/* A host was seen on the local segment, so there is a LAN even if leon0 is no port of a bridge. */
void guard_local_host(struct leond *d, struct mac mac);
/* There is a LAN for certain. */
void guard_lan_found(struct leond *d);
/* The set of served VLANs has changed. */
void guard_vlans_changed(struct leond *d);
/* used: a frame of this VLAN was not forwarded, because the guard has not listened to the VLAN yet,
 * or the VLAN has hosts. */
void guard_vlan_used(struct leond *d, uint16_t vlan, bool used);
/* A host of the VLAN moved between LAN and overlay, or a flooded frame arrived twice. */
void guard_probe_vlan(struct leond *d, uint16_t vlan);
/* Another port of the bridge came up. */
void guard_port_up(struct leond *d);
/* Another node reports the departure from every LAN. */
void guard_node_gone(struct leond *d, uint16_t slot);
/* Nodes became reachable or unreachable. */
void guard_paths_changed(struct leond *d);
/* The state of the interface, of its bridge or bond, or of other ports of the bridge has
 * changed. */
void guard_lan_changed(struct leond *d);
/* Notifies other nodes of moved hosts in segments of the given classes. */
void guard_hosts_moved(struct leond *d, uint64_t classes);

/* --- guard_report.c: events about the VLANs of the loop guard --- */
/* Reports the states of the changed VLANs, one event for each state. */
void guard_report_states(struct leond *d, const struct vlan_set *changed);
/* Reports VLANs with another segment id at another node of the LAN. A LAN would be two segments,
 * and each router would move its frames into another segment. `reported` has the VLANs with an
 * event so far. */
void guard_report_mismatch(struct leond *d, struct vlan_set *reported);

/* --- bridge_ports.c: the other ports of the bridge of leon0, which lead to the LAN --- */
void bridge_ports_start(struct leond *d); /* called before guard_start() */
/* A link changed, or leon0 was added to or removed from a bridge. */
void bridge_ports_changed(struct leond *d, const struct nl_event *ev);
void bridge_ports_look(struct leond *d);

/* --- failover.c --- */
/* Gratuitous announcements after this node became forwarder of VLANs, from which switches learn
 * that remote hosts are behind this port. */

void failover_start(struct leond *d);
/* Starts announcements in these VLANs. */
void failover_announce(struct leond *d, const struct vlan_set *vlans);

/* --- host_probes.c: queries of hosts after a loop or a change of the forwarder --- */
void host_probes_start(struct leond *d);
/* Removes the former node from the neighbors of moved hosts. Called before fdb_forget_slot(), so
 * that neigh_forget_slot() of the former node keeps their addresses. */
void host_probes_mark_moved(struct leond *d);
/* Called before hosts behind `slot` are forgotten in these VLANs: queries the hosts of this LAN and
 * hosts without a known location. Called after fdb_forget_slot() and before the neighbors of the
 * slot are forgotten, because they supply the addresses. */
void host_probes_start_vlans(struct leond *d, uint16_t slot, const struct vlan_set *vlans);

/* --- snooping.c --- */
/* IGMP and MLD snooping (decisions/077): the groups of the LAN to the other nodes, and their
 * groups to the workers. */

void snooping_start(struct leond *d);
void snooping_apply_conf(struct leond *d);
void snooping_second(struct leond *d, mono_t now);
void snooping_stop(struct leond *d);
/* A worker reports FWD_MULTICAST. */
void snooping_report(struct leond *d, const struct fwd_report *r);
/* The node of this slot receives only these groups; n 0: all. */
void snooping_announced(struct leond *d, uint16_t slot, const uint64_t *entry, unsigned n);
/* The hosts on the LAN may have changed: its groups are not known until they report again. */
void snooping_relearn(struct leond *d, const struct vlan_set *vlans);
void snooping_host_moved(struct leond *d, uint16_t vlan);
/* More hosts may be on the LAN: the querier of this node queries them. */
void snooping_query_soon(struct leond *d);
/* Queries of this node since its start. */
uint64_t snooping_queries(const struct leond *d);
/* NULL: snooping is off. */
const struct groups *snooping_groups(const struct leond *d);
