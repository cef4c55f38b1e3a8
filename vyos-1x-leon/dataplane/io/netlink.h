// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What LEON asks of the kernel's network configuration: links, their settings and addresses, and
 * notifications about them. libmnl stays behind it. Control thread; requests are synchronous.
 * Callers log, because they know what the request was for; nothing is logged here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/vlan_set.h"

#define NL_NAME_MAX 15

struct nl;

struct nl_link {
	int index;
	char name[NL_NAME_MAX + 1];
	struct mac mac; /* zero where the link has none */
	uint32_t mtu;
	int master;	  /* index of the bridge, bond or VRF it belongs to; 0 none */
	bool in_vrf;	  /* the master is a VRF */
	int lower;	  /* kinds "vlan", "macvlan", "ipvlan": index of the link below; else 0 */
	uint16_t vlan_id; /* kind "vlan" with 802.1Q tags */
	bool vlan_filtering; /* kind "bridge": what passes a port is said by nl_port_vlans() */
	bool up;	     /* administratively */
	bool running;	     /* and has carrier */
	char kind[16];	     /* "tun", "bridge", "vlan" ...; empty for hardware */
	bool tun_is_tap;     /* kind "tun" only */
	uint32_t tun_queues; /* kind "tun": queues that processes hold open */
	uint32_t vrf_table;  /* kind "vrf": its routing table */
};

/* Request socket. 0 or -errno. */
int nl_open(struct nl **out);
void nl_close(struct nl *nl); /* NULL ok */

/* 0 or -errno; -ENODEV where there is no such link. */
int nl_link_by_name(struct nl *nl, const char *name, struct nl_link *out);
int nl_link_by_index(struct nl *nl, int index, struct nl_link *out);
/* Table that its addresses and routes belong to: that of its VRF (or of itself, if it is one), else
 * the main one. */
uint32_t nl_link_table(struct nl *nl, const struct nl_link *link);
int nl_link_set_mtu(struct nl *nl, int index, uint32_t mtu);
int nl_link_set_mac(struct nl *nl, int index, struct mac mac);
int nl_link_set_up(struct nl *nl, int index, bool up);

/* Calls fn for each link. 0 or -errno. */
typedef void (*nl_link_fn)(void *arg, const struct nl_link *link);
int nl_links(struct nl *nl, nl_link_fn fn, void *arg);
/* VLANs that a port of a bridge is a member of, as frames are tagged there, 0: untagged. They count
 * where the bridge filters VLANs. 0 or -errno; -ENODEV where the link is no bridge's port. */
int nl_port_vlans(struct nl *nl, int index, struct vlan_set *out);

struct nl_addr {
	int index; /* of the link */
	struct ip_addr ip;
	uint8_t prefix_len;
	bool link_scope; /* valid on its link or host only: no good as a locator */
	bool tentative;	 /* duplicate address detection is not over, or found one */
	bool deprecated; /* preferred lifetime is over */
};
/* Fills up to `max` addresses of a link (index 0: of all links). Returns how many there are in
 * all, which may be more than max, or -errno. */
int nl_addrs(struct nl *nl, int index, struct nl_addr *out, size_t max);

/* --- routes --- */
#define NL_TABLE_MAIN 254

/* A unicast route to one interface. */
struct nl_route {
	struct prefix dst;
	struct ip_addr gateway; /* family 0: the destination is on the link */
	uint32_t metric;	/* not 0 */
	uint32_t table;
	int index; /* of the link */
	uint8_t protocol;
};
enum nl_route_op {
	NL_ROUTE_ADD,	  /* refused where there is one with this destination and metric */
	NL_ROUTE_REPLACE, /* or put in its place */
	NL_ROUTE_DELETE,  /* exactly this one */
};
struct nl_route_change {
	enum nl_route_op op;
	struct nl_route route;
	int result; /* 0 or -errno; -ESRCH: there was none to delete */
};
/* A gateway is taken to be on the link, whatever the other routes say. Sends in portions that the
 * kernel answers at once. 0, or -errno where the kernel could not be asked: then the results from
 * some change on are -ECANCELED. */
int nl_routes_change(struct nl *nl, struct nl_route_change *change, size_t n);
/* Calls fn for every unicast route of a protocol to a link, in any table, IPv4 and IPv6. */
typedef void (*nl_route_fn)(void *arg, const struct nl_route *route);
int nl_routes(struct nl *nl, uint8_t protocol, int index, nl_route_fn fn, void *arg);

enum nl_lookup_kind {
	NL_LOOKUP_UNKNOWN, /* the kernel did not tell */
	NL_LOOKUP_NONE,	   /* no route, or one that refuses: unreachable, prohibit */
	NL_LOOKUP_UNICAST,
	NL_LOOKUP_LOCAL,     /* an address of this host */
	NL_LOOKUP_OF_LINK,   /* broadcast or anycast address of the network on a link */
	NL_LOOKUP_BLACKHOLE, /* of which length the kernel does not tell */
};
struct nl_lookup {
	enum nl_lookup_kind kind;
	uint8_t prefix_len; /* of the route */
	uint8_t protocol;
	int index;	      /* of the link, where it is alive */
	bool alive;	      /* a next-hop is neither dead nor on a link without carrier */
	bool leads_elsewhere; /* one of those is not on own_index */
	int own_index;
};
/* The route in the FIB that a packet to `ip` follows, in a VRF (index of its link) or, with 0, as
 * the host's rules say. 0 or -errno. */
int nl_route_lookup(struct nl *nl, const struct ip_addr *ip, int vrf, int own_index,
		    struct nl_lookup *out);

/* --- notifications --- */
enum nl_change {
	NL_LINK_CHANGED, /* new, or flags, MTU, master or name changed */
	NL_LINK_GONE,
	NL_PORT_CHANGED, /* a bridge's port: its VLANs, or whose it is; of `link` the index only */
	NL_ADDR_ADDED,
	NL_ADDR_GONE,
	NL_ROUTE_CHANGED, /* a route of the protocol came or went, not by the requests of `own` */
	NL_OVERRUN,	  /* notifications were lost: look at everything again */
};
struct nl_event {
	enum nl_change change;
	struct nl_link link; /* NL_LINK_*: as reported; NL_LINK_GONE: index and name */
	struct nl_addr addr; /* NL_ADDR_* */
	int route_index;     /* NL_ROUTE_CHANGED: its link, 0 where it is not told */
};
typedef void (*nl_event_fn)(void *arg, const struct nl_event *ev);

struct nl_monitor;
/* Links, addresses, and routes of one protocol that others than `own` change; the kernel keeps all
 * other routes away from us, of which there may be a million. 0 or -errno. */
int nl_monitor_open(struct nl_monitor **out, uint8_t route_protocol, const struct nl *own);
void nl_monitor_close(struct nl_monitor *m);   /* NULL ok */
int nl_monitor_fd(const struct nl_monitor *m); /* readable when there is something; non-blocking */
/* Reads all that waits and calls fn for each. 0 or -errno. */
int nl_monitor_read(struct nl_monitor *m, nl_event_fn fn, void *arg);
