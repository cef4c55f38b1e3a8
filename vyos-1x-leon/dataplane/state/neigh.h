// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbors seen behind other nodes: (VLAN, IP) to MAC, learned from ARP and ND that passes, so
 * that requests can be answered here instead of being flooded. Same shape as the FDB: one writer
 * (control thread), lock-free readers (workers).
 *
 * A request is answered here only where all of these hold:
 * - the neighbor was confirmed less than NEIGH_FRESH_S ago, and its MAC is in the FDB behind
 *   another node;
 * - since then nobody has sent it a unicast request, which hosts do to find out whether a neighbor
 *   is still there (RFC 4861 section 7.3.3, RFC 1122 section 2.3.2.1);
 * - the same request was not answered here within the last NEIGH_ASK_AGAIN_S: a host that repeats
 *   it had no use of the answer, so the second one is flooded;
 * - the asker has had its address, MAC and node for NEIGH_SETTLE_S. A request also announces the
 *   address of its sender, so those of a new or moved host are flooded until all have seen it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/vlan_set.h"
#include "state/nodedb.h"

#define NEIGH_FRESH_S	  60
#define NEIGH_ASK_AGAIN_S 3
#define NEIGH_SETTLE_S	  10

struct neigh;
struct neigh *neigh_new(uint32_t maximum);
void neigh_free(void *n); /* struct neigh *; NULL ok */

/* --- any worker --- */
struct neigh_hit {
	struct mac mac;
	uint16_t slot;
	bool router;
};
/* True where an answer may be given now; marks it as answered. */
bool neigh_answer(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, uint32_t now_s,
		  struct neigh_hit *hit);
/* True where (vlan, ip) has had this mac and slot for NEIGH_SETTLE_S. */
bool neigh_is_settled(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		      uint16_t slot, uint32_t now_s);
/* A unicast request was sent to that host: no more answers until it sends something itself. */
void neigh_doubt(struct neigh *n, uint16_t vlan, const struct ip_addr *ip);
/* True where (vlan, ip) is not stored with this mac and slot, is in doubt, or is getting old:
 * report it to the control thread. */
bool neigh_differs(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		   uint16_t slot, uint32_t now_s);

/* --- control thread --- */
void neigh_learn(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		 uint16_t slot, bool router, uint32_t now_s);
/* In these VLANs, NULL: in all. */
void neigh_forget_slot(struct neigh *n, uint16_t slot, const struct vlan_set *vlans);
/* A MAC moved: it is not known where its neighbors are, SLOT_NONE; only who they are. */
void neigh_forget_mac(struct neigh *n, uint16_t vlan, struct mac mac);
void neigh_age(struct neigh *n, uint32_t now_s); /* removes what is older than 4 * NEIGH_FRESH_S */
uint32_t neigh_count(const struct neigh *n);

struct neigh_entry {
	uint16_t vlan, slot;
	struct ip_addr ip;
	struct mac mac;
	bool router;
	uint32_t confirmed_s;
};
/* Iterates; *iter starts at 0. */
bool neigh_next(const struct neigh *n, uint32_t *iter, struct neigh_entry *out);
