// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forwarding snapshot: all data that workers need, immutable once published. The control thread
 * builds it from nodes, choices and configuration and publishes it through base/rcu. Readers:
 * workers. The layout suits them: flat arrays indexed by slot, headers already encoded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "base/vlan_set.h"
#include "crypto/seal.h"
#include "state/tables/fdb.h"
#include "state/tables/listeners.h"
#include "state/tables/neigh.h"
#include "state/tables/policy.h"
#include "state/tables/segments.h"
#include "wire/datagram/leon.h"
#include "wire/flow_capture.h"
#include "wire/message/msg.h"

#define SNAP_SOCKADDR_LEN 28 /* sizeof(struct sockaddr_in6) */
/* Assumed path MTU without a measurement: fits the minimum MTU of IPv6. */
#define SNAP_MTU_UNKNOWN 1232
#define SNAP_HDR_LEN_MAX (LEON_HDR_LEN_MAX + LEON_LINK_LEN)

/* A second pair of lines, over which bulk data is distributed too. */
struct snap_second {
	struct endpoint ep;
	uint8_t sa[SNAP_SOCKADDR_LEN];
	uint8_t sa_len;
	uint8_t line; /* number of the pair */
};

struct snap_node {
	node_id_t id;  /* NODE_ID_NONE: free slot */
	bool link_up;  /* datagrams can be sent directly */
	bool has_path; /* the path below is valid */
	/* The last path failed a moment ago. Only flooded frames use the path below. */
	bool failing;
	/* Underlay address of the node; family 0 if unknown. */
	struct endpoint ep;
	uint8_t sa[SNAP_SOCKADDR_LEN];
	uint8_t sa_len;
	uint16_t link_mtu; /* largest LEON datagram on the direct link */
	/* Encoded header of the path in use; the sender sets kind and flags. */
	uint16_t first;	 /* slot of the first hop, whose `sa` is the destination address */
	uint8_t hdr_len; /* including the link value, if present */
	uint8_t n_hops;
	uint16_t hop[LEON_HOPS_MAX]; /* slots, destination last */
	uint8_t hdr[SNAP_HDR_LEN_MAX];
	uint8_t flags;	   /* LEON_F_SEALED, LEON_F_LINK_VALUE of all data to the node */
	bool no_key;	   /* required keys are not available yet: nothing can be sent */
	uint16_t path_mtu; /* largest LEON datagram on the whole path */
	uint16_t room;	   /* payload budget of path_mtu for frames and fragments */
	/* End-to-end seals of the node; NULL without a secret. References of the snapshot. */
	struct seal *seal_tx;	 /* for transmitted data */
	struct seal *seal_rx[2]; /* for received data: current session, previous session */
	bool clear_rx;		 /* received data need not be sealed */
	/* Link values of the direct link; 0: none. */
	uint64_t link_tx, link_rx[2];
	bool accelerated;    /* this node and the other one have accelerators */
	bool accel_bypassed; /* TCP of the node bypasses the accelerator for now */
	/* VLANs of this node with a segment that the other node has on the same LAN. Frames of that
	 * node were on this LAN already. NULL: none. Owned by the snapshot. */
	struct vlan_set *same_lan;
	/* Its other transport in the place of the pair in use, and the other pairs of lines:
	 * datagrams from there count too. */
	struct endpoint other[LINE_PAIRS];
	bool has_lines;		    /* there is more than one pair of lines */
	uint32_t failures;	    /* of the pair in use, which was left */
	mono_t failed;		    /* data sent after this time may be lost */
	uint8_t line;		    /* number of the pair in use, 0 without lines */
	uint32_t hold_us;	    /* maximum wait of received data for its order */
	struct snap_second *second; /* NULL: data is not distributed. Owned by the snapshot. */
};

/* State of the local segment by VLAN, from the loop guard and the kernel. */
struct snap_lan {
	struct vlan_set open;	 /* frames pass between TAP and overlay */
	struct vlan_set blocked; /* frames do not pass, because another node forwards them */
	struct vlan_set served;	 /* the segment carries the VLAN */
	bool guarded;		 /* the loop guard is active */
	uint16_t tag; /* EtherType of VLAN tags; other tags are payload to the bridge; 0: any */
};

/* The two paths of critical frames to a node; only path fields are set. If both have a path, frames
 * are duplicated, or their parities travel along the second path. */
struct snap_pair {
	struct snap_node first, second;
};

/* Nodes that serve each VLAN. Bitmaps by slot, 64 per word. */
struct snap_members {
	uint16_t n_words;
	uint64_t *to_flood; /* nodes in snap.flood */
	uint64_t *limited;  /* nodes that serve some VLANs only */
	uint64_t *serves;   /* n_words per VLAN: the limited nodes that serve it */
	/* Nodes of one word with the same VLANs, which snap_limit_segments() enters together. */
	struct {
		uint64_t nodes;
		uint16_t word;
		struct vlan_set vlans;
		struct id_range range[MSG_SEGMENTS_MAX];
		unsigned n;
	} same;
};

/* IP header fields of data datagrams, own and relayed. */
enum snap_dscp {
	SNAP_DSCP_SOCKET, /* the value of the socket */
	SNAP_DSCP_COPY,	  /* copied from the inner frame, or from the relayed datagram */
	SNAP_DSCP_SET,
};
struct snap_marking {
	uint8_t tos, tclass; /* values of the sockets: IPv4, IPv6 */
	enum snap_dscp dscp;
	uint8_t dscp_set;
	bool control_has_dscp; /* control datagrams have their own DSCP */
	uint8_t dscp_control;
	bool ecn_disable; /* own datagrams are sent as not ECN-capable */
};

/* Offloads of the kernel that the configuration disables. */
struct snap_offload {
	bool udp_gso;
	bool tap_tso, tap_uso; /* super-frames to the TAP */
	bool tap_checksum;     /* partial checksums to the TAP */
};

/* The flow that is being captured on this node. */
struct snap_capture {
	bool on;
	uint16_t snap; /* bytes of each frame */
	struct capture_filter filter;
};

struct snap {
	node_id_t self;
	uint32_t vni;
	bool secret;	      /* data is sealed or carries link values */
	bool any_sealed;      /* data to at least one node is sealed */
	bool transit_disable; /* relay nothing */
	bool mss_clamp;
	uint32_t busy_poll_us;	/* polling time of a worker after its last work, before it sleeps */
	uint32_t shape_kbits;	/* egress rate limit; 0: none */
	uint32_t flow_sampling; /* one of this number of frames is sampled; 0: none */
	struct snap_capture capture;
	struct snap_offload no_offload;
	struct snap_marking marking;
	bool suppress_arp, suppress_nd;
	bool accelerator; /* the accelerator is connected and has the queues */
	/* An accelerator may survive a restart of leond and connect soon: leond must not reset its
	 * connections. */
	bool accel_awaited;
	uint32_t storm_broadcast, storm_multicast,
		storm_unknown; /* frames/s per node; 0: unlimited */
	uint32_t storm_per_vlan;
	struct snap_lan *lan; /* NULL: all VLANs pass */
	/* Shared by snapshots, replaced through rcu; NULL: identity map. */
	const struct segments *segments;
	/* Shared by snapshots; NULL: multicast goes to all nodes. */
	struct listeners *listeners;
	struct fdb *fdb;     /* shared by snapshots, replaced through rcu */
	struct neigh *neigh; /* shared by snapshots, replaced through rcu */
	uint16_t n_slots;
	uint16_t n_flood;
	uint16_t *flood; /* slots of all other nodes with a path or a failing path */
	/* Set if some nodes serve some VLANs only; NULL: all serve all. See snap_flood_next(). */
	struct snap_members *members;
	struct snap_node *node; /* indexed by slot; [SLOT_SELF] is this node */
	uint32_t failures;	/* sum over the nodes */
	struct policy *policy;	/* NULL: no frame is critical */
	struct snap_pair *pair; /* indexed by slot; with a policy only */
	/* random hash factor, so that members cannot choose colliding node-ids */
	uint64_t id_factor;
	uint32_t id_mask;
	uint16_t *id_table; /* open addressing, node-id to slot, SLOT_NONE empty */
};

/* Returns a zeroed snapshot for n_slots; the caller fills node[] and calls snap_finish(). */
struct snap *snap_new(uint16_t n_slots);
/* Adds a LAN that serves all VLANs, none of them open. */
struct snap_lan *snap_add_lan(struct snap *s);
/* Marks the segment of this VLAN as shared with node[slot] on the LAN. */
void snap_add_same_lan(struct snap *s, uint16_t slot, uint16_t vlan);
/* Distributes bulk data to node[slot] over this pair too. */
void snap_set_second(struct snap *s, uint16_t slot, const struct endpoint *ep, uint8_t line);
/* Limits node[slot] to these segments, at most MSG_SEGMENTS_MAX ranges. Requires s->segments. */
void snap_limit_segments(struct snap *s, uint16_t slot, const struct id_range *range, unsigned n);
/* Encodes headers and addresses, builds the id table and the flood list. */
void snap_finish(struct snap *s);
/* Sets the path to node[slot] from hops (slots). */
void snap_set_path(struct snap *s, uint16_t slot, const uint16_t *hop, uint8_t n_hops,
		   uint16_t path_mtu);
/* Sets the failed direct path to node[slot], to which frames are flooded. */
void snap_set_failing(struct snap *s, uint16_t slot, uint16_t path_mtu);
/* Copies the policy of critical frames. */
void snap_set_policy(struct snap *s, const struct policy *p);
/* Sets the two paths of critical frames to node[slot]; after snap_set_policy(). */
struct snap_route {
	const uint16_t *hop; /* slots */
	uint8_t n_hops;
	uint16_t mtu;
};
void snap_set_pair(struct snap *s, uint16_t slot, struct snap_route first,
		   struct snap_route second);
/* Sets the seals of node[slot]: to send with, to receive with now and before. Takes references. */
void snap_set_keys(struct snap *s, uint16_t slot, struct seal *tx, struct seal *rx,
		   struct seal *rx_before);
/* Overhead of a data datagram beside LEON header and payload: seal and link values; 0 without a
 * secret. */
size_t snap_overhead(bool secret, bool sealed, unsigned n_hops);
void snap_free(void *s); /* struct snap *; does not free fdb and neigh */
/* Returns the slot of a member by node-id; SLOT_NONE: no member. */
uint16_t snap_find(const struct snap *s, node_id_t id);

/* Returns the first slot from `from` on that receives flooded frames of the VLAN, or SLOT_NONE.
 * Members only. */
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
