// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Network configuration of the kernel: links, their settings and addresses, routes, and
 * notifications. Hides libmnl. Control thread; requests are synchronous. Never logs: the caller
 * knows the purpose of a request.
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
	struct mac mac; /* zero if the link has no address */
	uint32_t mtu;
	int master;  /* index of the bridge, bond or VRF of the link, or 0 */
	bool in_vrf; /* the master is a VRF */
	/* kinds "vlan", "macvlan", "ipvlan": index of the lower link in this namespace; else 0 */
	int lower;
	bool lower_elsewhere;	/* the lower link is in another namespace */
	uint16_t vlan_id;	/* VLAN id of kind "vlan" with 802.1Q tags */
	bool vlan_filtering;	/* kind "bridge": nl_port_vlans() returns the VLANs of a port */
	uint16_t vlan_protocol; /* kind "bridge": EtherType of its VLAN tags; 0: unknown */
	bool up;		/* administratively up */
	bool running;		/* up and with carrier */
	char kind[16];		/* "tun", "bridge", "vlan" ...; empty for hardware */
	bool tun_is_tap;	/* kind "tun": the mode is TAP */
	uint32_t tun_queues;	/* kind "tun": number of queues held open by processes */
	uint32_t vrf_table;	/* kind "vrf": routing table */
};

/* Opens the request socket. Returns 0 or -errno. */
int nl_open(struct nl **out);
void nl_close(struct nl *nl); /* NULL ok */

/* Returns 0 or -errno; -ENODEV: no such link. */
int nl_link_by_name(struct nl *nl, const char *name, struct nl_link *out);
int nl_link_by_index(struct nl *nl, int index, struct nl_link *out);
/* Routing table for addresses and routes of the link: the table of its VRF (or of the link, if a
 * VRF), else the main table. */
uint32_t nl_link_table(struct nl *nl, const struct nl_link *link);
int nl_link_set_mtu(struct nl *nl, int index, uint32_t mtu);
int nl_link_set_mac(struct nl *nl, int index, struct mac mac);
/* master: index of a bridge, bond or VRF; 0: the link has no master afterwards. */
int nl_link_set_master(struct nl *nl, int index, int master);
int nl_link_set_up(struct nl *nl, int index, bool up);

/* Calls fn for each link. Returns 0 or -errno. */
typedef void (*nl_link_fn)(void *arg, const struct nl_link *link);
int nl_links(struct nl *nl, nl_link_fn fn, void *arg);
/* Reads the VLANs of a bridge port by the tag of frames at the port; 0 is untagged. Valid if the
 * bridge filters VLANs. Returns 0 or -errno; -ENODEV: the link is no bridge port. */
int nl_port_vlans(struct nl *nl, int index, struct vlan_set *out);

struct nl_addr {
	int index; /* index of the link */
	struct ip_addr ip;
	uint8_t prefix_len;
	bool link_scope;  /* valid on its link or host only, unusable as a locator */
	bool tentative;	  /* duplicate address detection is pending or has failed */
	bool deprecated;  /* the preferred lifetime has expired */
	uint8_t protocol; /* program that set the address, like a route's protocol; 0 unknown */
};
/* Stores up to `max` addresses of a link (index 0: of all links). Returns the total number, which
 * may exceed max, or -errno. */
int nl_addrs(struct nl *nl, int index, struct nl_addr *out, size_t max);
/* Returns 1 if an interface has the address and it is not tentative, 0 if none, or -errno. */
int nl_has_addr(struct nl *nl, const struct ip_addr *ip);
/* Use index, ip, prefix_len and protocol of the address. An existing address, or a missing one at
 * deletion, is success. Without detection an IPv6 address is usable at once. Return 0 or -errno. */
int nl_addr_add(struct nl *nl, const struct nl_addr *a, bool detect_duplicates);
int nl_addr_delete(struct nl *nl, const struct nl_addr *a);

/* --- routes --- */
#define NL_TABLE_MAIN 254

/* Unicast route through one interface. */
struct nl_route {
	struct prefix dst;
	struct ip_addr gateway; /* family 0: on-link destination */
	uint32_t metric;	/* never 0 */
	uint32_t table;
	int index; /* index of the link */
	uint8_t protocol;
};
enum nl_route_op {
	NL_ROUTE_ADD,	  /* fails if the destination has a route with the metric */
	NL_ROUTE_REPLACE, /* replaces a route with the destination and metric */
	NL_ROUTE_DELETE,  /* deletes exactly this route */
};
struct nl_route_change {
	enum nl_route_op op;
	struct nl_route route;
	int result; /* 0 or -errno; -ESRCH: no such route to delete */
};
/* Treats every gateway as on-link, independent of other routes. Sends batches, each of which the
 * kernel answers at once. Returns 0, or -errno if the kernel could not be reached; then the results
 * of the remaining changes are -ECANCELED. */
int nl_routes_change(struct nl *nl, struct nl_route_change *change, size_t n);
/* Calls fn for every unicast route of a protocol through a link, in any table, IPv4 and IPv6. */
typedef void (*nl_route_fn)(void *arg, const struct nl_route *route);
int nl_routes(struct nl *nl, uint8_t protocol, int index, nl_route_fn fn, void *arg);

enum nl_lookup_kind {
	NL_LOOKUP_UNKNOWN, /* the kernel gave no answer */
	NL_LOOKUP_NONE,	   /* no route, or a route of type unreachable or prohibit */
	NL_LOOKUP_UNICAST,
	NL_LOOKUP_LOCAL,     /* local address of this host */
	NL_LOOKUP_OF_LINK,   /* broadcast or anycast address of a directly connected network */
	NL_LOOKUP_BLACKHOLE, /* blackhole route; the kernel does not report its prefix length */
};
struct nl_lookup {
	enum nl_lookup_kind kind;
	uint8_t prefix_len; /* prefix length of the route */
	uint8_t protocol;
	int index;  /* index of the outgoing link, valid if `alive` */
	bool alive; /* at least one next-hop is not dead and its link has carrier */
	/* at least one live next-hop leaves through a link other than own_index */
	bool leads_elsewhere;
	int own_index;
};
/* Looks up the FIB route for `ip` in a VRF (index of its link), or with 0 by the host's policy
 * rules. Returns 0 or -errno. */
int nl_route_lookup(struct nl *nl, const struct ip_addr *ip, int vrf, int own_index,
		    struct nl_lookup *out);

/* Next hop of packets from an address of this host, with a firewall mark. */
struct nl_flow {
	struct ip_addr to;
	struct ip_addr from; /* family 0: any address of this host */
	int index;	     /* outgoing link or VRF; 0: any */
	uint32_t mark;
};
struct nl_next_hop {
	struct ip_addr gateway; /* family 0: on-link destination, or no route */
	struct ip_addr source;	/* source address that the kernel selects; family 0: unknown */
};
/* Returns 0 or -errno. A missing route is success without a gateway. */
int nl_next_hop(struct nl *nl, const struct nl_flow *flow, struct nl_next_hop *out);

/* --- notifications --- */
enum nl_change {
	NL_LINK_CHANGED, /* new link, or changed flags, MTU, master or name */
	NL_LINK_GONE,
	NL_PORT_CHANGED, /* changed VLANs or master of a bridge port; `link` holds the index only */
	NL_ADDR_ADDED,
	NL_ADDR_GONE,
	/* a route of the protocol was added or deleted, not by requests of `own` */
	NL_ROUTE_CHANGED,
	NL_OVERRUN, /* notifications were lost; the caller must read everything again */
};
struct nl_event {
	enum nl_change change;
	/* NL_LINK_*: the link as reported; NL_LINK_GONE: index and name only */
	struct nl_link link;
	struct nl_addr addr; /* address of NL_ADDR_* */
	int route_index;     /* link of NL_ROUTE_CHANGED; 0: not reported */
};
typedef void (*nl_event_fn)(void *arg, const struct nl_event *ev);

/* Subscribes to links, addresses, and routes of one protocol that processes other than `own`
 * change. A socket filter drops all other routes in the kernel; there may be a million. Returns 0
 * or -errno; for nl_close(). */
int nl_monitor_open(struct nl **out, uint8_t route_protocol, const struct nl *own);
/* non-blocking descriptor, readable if notifications are pending */
int nl_monitor_fd(const struct nl *m);
/* Reads all pending notifications and calls fn for each. Returns 0 or -errno. */
int nl_monitor_read(struct nl *m, nl_event_fn fn, void *arg);

/* --- a network namespace of the process: rules and routes that deliver every packet locally --- */

/* All functions return 0 or -errno. Families are 4 and 6. */
/* Delivers all packets that arrive through the link locally, for any destination address. A rule
 * for the link leads to its table with a local route. The route names the link, because the kernel
 * uses only such routes for IPv6 link-local addresses. */
int nl_all_is_local(struct nl *nl, uint8_t family, const char *device, int index, uint32_t table);
/* Routes all other packets of sockets bound to the link out through this link. */
int nl_default_route(struct nl *nl, uint8_t family, int index, uint32_t metric);
/* TCP parameters of a route. */
struct nl_route_tcp {
	uint32_t mtu;	   /* path MTU in bytes; existing connections follow it */
	uint32_t mss;	   /* advertised MSS (advmss) */
	uint32_t segments; /* initial congestion window in segments (initcwnd) */
};
/* Routes packets to ip out through the link. Replaces an existing route of the kind. */
int nl_host_route(struct nl *nl, int index, const struct ip_addr *ip, const struct nl_route_tcp *t);
