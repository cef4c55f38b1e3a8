// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbors seen behind other nodes: (VLAN, IP) to MAC, learned from ARP and ND that passes, so
 * that requests can be answered here instead of being flooded. Same shape as the FDB: one writer
 * (control thread), lock-free readers (workers).
 *
 * An answer is given only where the neighbor was confirmed less than NEIGH_FRESH_S ago, its
 * MAC is in the FDB behind another node, nobody has asked that very host since (whoever does so
 * doubts that it is still there), and the same question was not answered within the last
 * NEIGH_ASK_AGAIN_S: a host that asks twice was not helped, so the second goes to everybody.
 * And only to a host that is settled: a question tells everybody the asker's own address, so
 * those of one that is new, or not where or what it was, travel until others have had
 * NEIGH_SETTLE_S to hear one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
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
/* That host was asked by itself: no more answers until it is heard. */
void neigh_doubt(struct neigh *n, uint16_t vlan, const struct ip_addr *ip);
/* True where (vlan, ip) is not stored with this mac and slot, is in doubt, or is getting old: tell
 * the control thread. */
bool neigh_is_news(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		   uint16_t slot, uint32_t now_s);

/* --- control thread --- */
void neigh_learn(struct neigh *n, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		 uint16_t slot, bool router, uint32_t now_s);
void neigh_forget_slot(struct neigh *n, uint16_t slot);
/* A MAC moved: its neighbors are not known any more. */
void neigh_forget_mac(struct neigh *n, uint16_t vlan, struct mac mac);
void neigh_age(struct neigh *n, uint32_t now_s); /* removes what is older than 4 * NEIGH_FRESH_S */
uint32_t neigh_count(const struct neigh *n);
