// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbors behind other nodes: (VLAN, IP) to MAC, learned from ARP and ND frames, so that requests
 * are answered locally instead of flooded. Like the FDB it has one writer (control thread) and
 * lock-free readers (workers).
 *
 * A request is answered locally only if all of these conditions hold:
 * - The neighbor was confirmed less than NEIGH_FRESH_S ago, and its MAC is in the FDB behind
 *   another node.
 * - No unicast request was sent to it since. Hosts send unicast requests to check reachability
 *   (RFC 4861 section 7.3.3, RFC 1122 section 2.3.2.1).
 * - The same request was not answered locally within NEIGH_PROBE_AGAIN_S. A repeated request shows
 *   that the answer did not help, so the second one is flooded.
 * - The requester has had its address, MAC and node for NEIGH_SETTLE_S. A request also announces
 *   its sender's address, so requests of new or moved hosts are flooded.
 * - An advertisement has shown the role of an IPv6 neighbor. Hosts delete the default route through
 *   a router that an answer calls a host (RFC 4861 section 7.2.5).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/slot_set.h"
#include "base/vlan_set.h"
#include "state/tables/nodedb.h"

#define NEIGH_FRESH_S	    60
#define NEIGH_PROBE_AGAIN_S 3
#define NEIGH_SETTLE_S	    10

/* Only neighbor advertisements show the role. */
enum neigh_role { NEIGH_ROLE_UNKNOWN, NEIGH_HOST, NEIGH_ROUTER };

struct fdb;
struct neigh;
struct neigh *neigh_new(uint32_t maximum);
void neigh_free(void *n); /* struct neigh *; NULL ok */

/* --- any worker --- */
struct neigh_hit {
	struct mac mac;
	uint16_t slot;
	enum neigh_role role;
};
/* Returns true if a local answer is permitted now, and records it. */
bool neigh_answer(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, uint32_t now_s,
		  struct neigh_hit *hit);
/* Returns true if (vlan, ip) has had this mac and slot for NEIGH_SETTLE_S. */
bool neigh_is_settled(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		      uint16_t slot, uint32_t now_s);
/* Records doubt, such as a unicast request to that host: no local answers until the host sends ARP
 * or ND. */
void neigh_mark_stale(struct neigh *n, uint16_t vlan, const struct ip_addr *ip);
/* Returns true if (vlan, ip) must be reported to the control thread: stored with another mac,
 * slot or known role, in doubt, or old. */
bool neigh_differs(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		   uint16_t slot, enum neigh_role role, uint32_t now_s);

/* --- control thread --- */
/* NEIGH_ROLE_UNKNOWN keeps the role of a neighbor with the same mac and slot. */
void neigh_learn(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		 uint16_t slot, enum neigh_role role, uint32_t now_s);
/* Forgets the neighbors behind these nodes in these VLANs; NULL: all. Walks the table once. */
void neigh_forget_slots(struct neigh *n, const struct slot_set *gone, const struct vlan_set *vlans);
void neigh_forget_slot(struct neigh *n, uint16_t slot, const struct vlan_set *vlans);
/* Bit of a moved MAC for neigh_forget_moved(). */
static inline uint64_t neigh_moved_bit(uint64_t mac)
{
	return 1ULL << (mac & 63);
}
/* Marks the location of neighbors as unknown (SLOT_NONE) if the FDB has their MAC elsewhere.
 * Checks only MACs with a bit in `moved`. */
void neigh_forget_moved(struct neigh *n, const struct fdb *fdb, uint64_t moved);
/* Removes entries older than 4 * NEIGH_FRESH_S. Incremental: checks up to `budget` places from its
 * last position. */
void neigh_age(struct neigh *n, uint32_t now_s, uint32_t budget);
uint32_t neigh_count(const struct neigh *n);

struct neigh_entry {
	uint16_t vlan, slot;
	struct ip_addr ip;
	struct mac mac;
	enum neigh_role role;
	uint32_t confirmed_s;
	bool stale; /* see neigh_mark_stale() */
};
/* Iterates; *iter starts at 0. */
bool neigh_next(const struct neigh *n, uint32_t *iter, struct neigh_entry *out);
