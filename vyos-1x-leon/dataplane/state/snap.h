// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forwarding snapshot: all that a worker needs to know, immutable once published. Built by
 * the control thread from nodes, choices and configuration, handed over through base/rcu.
 * Readers: workers. Layout is for them: flat arrays by slot, headers already encoded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/vlan_set.h"
#include "crypto/seal.h"
#include "state/fdb.h"
#include "state/neigh.h"
#include "state/policy.h"
#include "state/segments.h"
#include "wire/leon.h"

#define SNAP_SOCKADDR_LEN 28 /* sizeof(struct sockaddr_in6) */
/* Largest LEON datagram on a path about which nothing is known: fits IPv6's minimum MTU. */
#define SNAP_MTU_UNKNOWN 1232
#define SNAP_HDR_LEN_MAX (LEON_HDR_LEN_MAX + LEON_LINK_LEN)

struct snap_node {
	node_id_t id;  /* NODE_ID_NONE: free slot */
	bool link_up;  /* datagrams may be sent directly */
	bool has_path; /* the path below is valid */
	/* Where the node's datagrams come from and go to directly; family 0 where unknown. */
	struct endpoint ep;
	uint8_t sa[SNAP_SOCKADDR_LEN];
	uint8_t sa_len;
	uint16_t link_mtu; /* largest LEON datagram on the direct link */
	/* The path in use, ready to be sent: kind and flags are patched by the sender. */
	uint16_t first;	 /* slot of the first hop: datagrams go to its `sa` */
	uint8_t hdr_len; /* link value included, where there is one */
	uint8_t n_hops;
	uint16_t hop[LEON_HOPS_MAX]; /* slots, destination last */
	uint8_t hdr[SNAP_HDR_LEN_MAX];
	uint8_t flags;	   /* LEON_F_SEALED, LEON_F_LINK_VALUE: of all data to the node */
	bool no_key;	   /* what policy demands is not known yet: nothing can be sent */
	uint16_t path_mtu; /* largest LEON datagram that passes the whole path */
	uint16_t room;	   /* of it, for frames and fragments */
	/* End to end with the node, with a secret; NULL: none. References of the snapshot. */
	struct seal *seal_tx;	 /* for what is sent to it */
	struct seal *seal_rx[2]; /* what comes from it: of the session in use, of the one before */
	bool clear_rx;		 /* what comes from it need not be sealed */
	/* Of the direct link; 0: none. */
	uint64_t link_tx, link_rx[2];
	bool accelerated; /* it has an accelerator, and so has this node */
	bool accel_aside; /* TCP to and from it does not pass the accelerator all the same */
	/* VLANs of this node whose segment the node has on this LAN, too: what comes from it in
	 * them has been there. NULL: none. Of the snapshot. */
	struct vlan_set *same_lan;
};

/* What the loop guard and the kernel know about the local segment, by VLAN. */
struct snap_lan {
	struct vlan_set open;	 /* frames pass between TAP and overlay */
	struct vlan_set blocked; /* they do not, because another node forwards them */
	struct vlan_set served;	 /* the segment carries them at all */
	bool guarded;		 /* the loop guard watches over it */
};

/* The two paths of critical frames to a node, as snap_node has the one path of others; only what
 * belongs to a path is filled in. Both have a path: they travel twice. */
struct snap_pair {
	struct snap_node first, second;
};

/* Who serves which VLAN. Bits by slot, 64 a word. */
struct snap_members {
	uint16_t n_words;
	uint64_t *to_flood; /* nodes with a path */
	uint64_t *limited;  /* that serve some VLANs only */
	uint64_t *serves;   /* n_words for each VLAN: those of the limited ones that serve it */
};

/* Header fields of datagrams that carry frames, and of those that are relayed. */
enum snap_dscp {
	SNAP_DSCP_SOCKET, /* as the sockets have it */
	SNAP_DSCP_COPY,	  /* of the frame inside, of the datagram that is relayed */
	SNAP_DSCP_SET,
};
struct snap_marking {
	uint8_t tos, tclass; /* of the sockets: IPv4, IPv6 */
	enum snap_dscp dscp;
	uint8_t dscp_set;
	bool control_has_dscp; /* control datagrams have one of their own */
	uint8_t dscp_control;
	bool ecn_disable; /* nothing of our own is sent as able to bear marks */
};

struct snap {
	node_id_t self;
	uint32_t vni;
	bool secret;	      /* data is sealed, or carries link values */
	bool any_sealed;      /* to one node at least */
	bool transit_disable; /* relay nothing */
	bool mss_clamp;
	uint32_t busy_poll_us; /* a worker that had work looks for more so long, then sleeps */
	uint32_t shape_kbits;  /* what is sent in all, 0: no limit */
	struct snap_marking marking;
	bool suppress_arp, suppress_nd;
	bool accelerator; /* it is there, and has the queues */
	/* It may have outlived the leond before this one, and be about to come: nothing is refused
	 * in its name. */
	bool accel_awaited;
	uint32_t storm_broadcast, storm_multicast,
		storm_unknown; /* frames/s for the whole node, 0 unlimited */
	uint32_t storm_per_vlan;
	struct snap_lan *lan; /* NULL: everything passes */
	/* Shared by snapshots, replaced through rcu; NULL: frames keep their VLAN. */
	const struct segments *segments;
	struct fdb *fdb;     /* shared by snapshots, replaced through rcu */
	struct neigh *neigh; /* likewise */
	uint16_t n_slots;
	uint16_t n_flood;
	uint16_t *flood; /* slots of all nodes with a path but this one */
	/* Where some of them do not serve all VLANs; NULL: all do. See snap_flood_next(). */
	struct snap_members *members;
	struct snap_node *node; /* by slot; [SLOT_SELF] is this node */
	struct policy *policy;	/* NULL: no frame is critical */
	struct snap_pair *pair; /* by slot; where there is a policy */
	uint64_t id_factor;	/* random: members do not choose node-ids that share a place */
	uint32_t id_mask;
	uint16_t *id_table; /* open addressing, node-id to slot, SLOT_NONE empty */
};

/* Zeroed snapshot with arrays for n_slots; the caller fills node[] and then calls snap_finish. */
struct snap *snap_new(uint16_t n_slots);
/* With a LAN that carries all VLANs, of which none is open yet. */
struct snap_lan *snap_add_lan(struct snap *s);
/* What node[slot] sends in the segment that is this VLAN here is on our LAN already. */
void snap_add_same_lan(struct snap *s, uint16_t slot, uint16_t vlan);
/* node[slot] serves these segments and no others. After s->segments. */
void snap_limit_segments(struct snap *s, uint16_t slot, const struct id_range *range, unsigned n);
/* Encodes headers and addresses, builds the id table and the flood list. */
void snap_finish(struct snap *s);
/* Sets the path to node[slot] from hops (slots). */
void snap_set_path(struct snap *s, uint16_t slot, const uint16_t *hop, uint8_t n_hops,
		   uint16_t path_mtu);
/* Critical frames are sent as it says; a copy is made. */
void snap_set_policy(struct snap *s, const struct policy *p);
/* The two paths of critical frames to node[slot]; after snap_set_policy(). */
struct snap_way {
	const uint16_t *hop; /* slots */
	uint8_t n_hops;
	uint16_t mtu;
};
void snap_set_pair(struct snap *s, uint16_t slot, struct snap_way first, struct snap_way second);
/* Keys with node[slot]: to send with, to receive with now and before. Takes references. */
void snap_set_keys(struct snap *s, uint16_t slot, struct seal *tx, struct seal *rx,
		   struct seal *rx_before);
/* Bytes of a data datagram that are neither LEON header nor payload: what sealing and link values
 * cost, without a secret nothing. */
size_t snap_overhead(bool secret, bool sealed, unsigned n_hops);
void snap_free(void *s); /* struct snap *; does not free fdb and neigh */
/* Slot of a node-id, SLOT_NONE where it is not a member. */
uint16_t snap_find(const struct snap *s, node_id_t id);

/* The first slot from `from` on that frames of the VLAN are flooded to, or SLOT_NONE. With
 * members only. */
static inline uint16_t snap_flood_next(const struct snap_members *m, uint16_t vlan, unsigned from)
{
	const uint64_t *serves = m->serves + (size_t)(vlan % VLAN_IDS) * m->n_words;

	for (unsigned w = from / 64; w < m->n_words; w++, from = w * 64) {
		uint64_t bits = m->to_flood[w] & (~m->limited[w] | serves[w]);

		bits &= ~0ULL << from % 64;
		if (bits)
			return (uint16_t)(w * 64 + (unsigned)__builtin_ctzll(bits));
	}
	return SLOT_NONE;
}
