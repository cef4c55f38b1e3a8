// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path as the daemon sees it: a fixed set of workers, each with a TAP queue and UDP
 * sockets. Snapshots supply the workers, and they return reports and counters. The control thread
 * calls the functions. Worker code is in worker.c and the steps from_tap.c, from_net.c, flood.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "fwd/stats.h"
#include "state/tables/groups.h"
#include "state/tables/neigh.h"
#include "state/tables/snap.h"
#include "wire/frame/eth.h"
#include "wire/frame/guard.h"
#include "wire/frame/mcast.h"

struct fwd_captured;
struct sampled_flow;
struct fwd;

/* Descriptors that each worker reads; owned by the caller; -1: unused. */
struct fwd_io {
	int tap;
	int udp4, udp6;
	int accel;	      /* seqpacket socket to the accelerator */
	int stream;	      /* UDP socket to leon-tls; 0: unused, like accel */
	int second4, second6; /* UDP sockets of the second line; 0: unused, like accel */
};
struct fwd_setup {
	unsigned n_workers;
	const struct fwd_io *io;
	bool tap_offload; /* the TAP has vnet headers and offloads enabled (io/tap.h) */
	bool tap_uso;	  /* UDP segmentation offload in addition */
	bool udp_gso;	  /* UDP_SEGMENT works */
	uint16_t slots_maximum;
};

struct fwd *fwd_new(const struct fwd_setup *setup);
uint16_t fwd_slots(const struct fwd *f); /* slots_maximum */
/* Starts the threads. Requires a published snapshot. Returns 0 or -errno. */
int fwd_start(struct fwd *f);
/* Sets the real-time priority that workers may take (1 to 99, fwd/thread.h); 0: none. */
void fwd_set_realtime(struct fwd *f, int priority);
/* Ends the sleep of all workers, after the replacement of a socket. A sleeping worker waits for the
 * previous socket. */
void fwd_wake(struct fwd *f);
/* Stops and joins the threads. */
void fwd_stop(struct fwd *f);
void fwd_free(struct fwd *f); /* NULL ok */

/* The node of the slot is gone or has restarted: workers forget the state of its frames. */
void fwd_forget(struct fwd *f, uint16_t slot);

/* Takes ownership of the snapshot; frees the previous snapshot when no worker can see it. */
void fwd_publish(struct fwd *f, struct snap *s);
const struct snap *fwd_snap(const struct fwd *f); /* current snapshot of the control thread */
/* Frees p with fn when no worker can hold it (replaced FDBs and neighbor tables). */
void fwd_retire(struct fwd *f, void *p, void (*fn)(void *));
/* Reclaims retired objects. Called about once a second and after publishing. */
void fwd_reclaim(struct fwd *f);
/* Control thread, about every 10 ms. Returns true if every worker has read its TAP queue since the
 * last call, or the queue is empty. Also, no worker still processes frames read before. */
bool fwd_input_is_current(struct fwd *f);
/* Expiry of the LAN state of snapshots; never: no expiry. */
void fwd_lan_until(struct fwd *f, mono_t until);

enum fwd_report_type {
	FWD_CONTROL,	    /* control datagram for this node */
	FWD_LEARN,	    /* source MAC new or moved */
	FWD_NEIGH,	    /* neighbor new or changed */
	FWD_CANNOT_FORWARD, /* relaying failed; at most once per worker, source and second */
	FWD_GUARD,	    /* received loop-guard frame */
	FWD_VLAN,	    /* frame of a VLAN unknown to the loop guard */
	FWD_REPETITION,	    /* a flooded frame returned: a loop is possible */
	FWD_MULTICAST,	    /* a query, a joined group, or a multicast router */
	FWD_SEND_ERROR,	    /* ICMP error or send error for an endpoint */
	FWD_FOREIGN,	    /* sample of datagrams with another VNI or version */
	FWD_ACCEL_FOREIGN,  /* frame between accelerators that is not of its sender, now and then */
};
struct fwd_report {
	enum fwd_report_type type;
	union {
		struct {
			struct endpoint from;
			mono_t rx;     /* kernel receive time if plausible, else read time */
			uint8_t *data; /* writable until the next fwd_next_report() */
			size_t len;
		} control;
		struct {
			uint16_t vlan, slot;
			struct mac mac;
		} learn;
		struct {
			uint16_t vlan, slot;
			struct mac mac;
			struct ip_addr ip;
			enum neigh_role role;
		} neigh;
		struct {
			node_id_t source, next, destination;
		} cannot_forward;
		struct {
			uint8_t frame[GUARD_FRAME_MAX];
			size_t len;
		} guard;
		struct {
			uint16_t vlan;
			struct mac src;
			uint8_t family;
			enum mcast_kind kind;
			bool left; /* MCAST_REPORT: the group is left, else joined */
			struct groups_query query; /* MCAST_REPORT: only its group */
		} multicast;
		uint16_t vlan;
		uint16_t slot; /* FWD_ACCEL_FOREIGN */
		struct {
			struct endpoint ep;
			int error;  /* errno */
			bool local; /* the local kernel refused to send; else an ICMP error */
		} suspect;
		struct {
			struct endpoint from;
			bool other_version; /* true: another version; false: another VNI */
			uint8_t wire;	    /* the version; 0: perhaps another program */
		} foreign;
	};
};
/* Eventfd, readable if reports are pending; the control thread polls it. */
int fwd_report_fd(const struct fwd *f);
/* Acknowledges the eventfd; called before draining. */
void fwd_report_ack(struct fwd *f);
bool fwd_next_report(struct fwd *f, struct fwd_report *r);
/* Copies the oldest sample of a worker (snap.flow_sampling). Returns false without a sample. */
bool fwd_next_sample(struct fwd *f, struct sampled_flow *out);
/* Copies the oldest record of a capture of a worker (snap.capture). Returns false without a
 * record. */
bool fwd_next_captured(struct fwd *f, struct fwd_captured *out);

/* Data datagrams since the start, by slot, summed over workers. The counters are not read
 * atomically: a datagram may be in one counter and not yet in another. */
struct fwd_traffic {
	uint64_t link_tx, link_rx; /* directly to and from the node, including relayed ones */
	uint64_t path_tx, path_rx; /* end to end between this node and the other, along any path */
	uint64_t refused;	   /* part of link_tx refused by the kernel */
	/* Frames to one node and relayed or critical datagrams on the link: grows with each use
	 * except floods. */
	uint64_t directed;
	uint64_t link_tx_bytes, link_rx_bytes; /* bytes of the IP packets */
	uint64_t trains; /* messages of several datagrams to the node, with UDP segmentation */
};
void fwd_traffic(const struct fwd *f, uint16_t slot, struct fwd_traffic *out);
/* The two counters of the first n_slots slots at once, because those of a worker are contiguous. */
struct fwd_use {
	uint64_t link_tx, directed;
};
void fwd_uses(const struct fwd *f, uint16_t n_slots, struct fwd_use *out);
/* Bytes of IP packets with data on a pair of lines of the node, since the start. */
struct fwd_line_traffic {
	uint64_t tx_bytes, rx_bytes;
};
struct fwd_line_traffic fwd_line_traffic(const struct fwd *f, uint16_t slot, unsigned line);
/* Sets rate and delay of the pair in use or of the second pair, for the distribution. */
void fwd_set_line(struct fwd *f, uint16_t slot, bool second, uint32_t kbits, uint32_t delay_us);
/* Backlog of the account of a pair, and its correction by a measurement. */
int64_t fwd_line_backlog_us(const struct fwd *f, uint16_t slot, bool second, mono_t now);
void fwd_correct_line(struct fwd *f, uint16_t slot, bool second, int64_t us, mono_t now);
/* Sends to this node with UDP segmentation if the kernel and the snapshot permit. Any time. */
void fwd_set_segmentation(struct fwd *f, uint16_t slot, bool on);
/* Flooded frames of a VLAN, summed over workers. */
struct fwd_vlan {
	uint64_t flooded; /* frames */
	uint64_t pruned;  /* copies saved because the node does not serve the VLAN */
	uint64_t limited; /* frames above storm-control per-vlan */
};
/* All VLANs at once, because the counters of a worker are contiguous. */
void fwd_vlans(const struct fwd *f, struct fwd_vlan out[VLAN_IDS]);
/* Sets the egress rate limit in addition to the limit of the snapshot; 0: no limit. Any time. */
void fwd_set_bottleneck(struct fwd *f, uint32_t kbits);
/* Sets the rate limit of all traffic sent directly to the node; 0: no limit. Any time. */
void fwd_set_hop(struct fwd *f, uint16_t slot, uint32_t kbits);
bool fwd_shapes_hops(const struct fwd *f); /* returns true if any node has a limit */
uint32_t fwd_hop_kbits(const struct fwd *f, uint16_t slot);
/* An access link of this rate sends a super-frame in 0.5 ms. On slower links super-frames would
 * delay other frames. Workers segment super-frames to a slow hop, and the TAP supplies none for a
 * slow access link. */
#define FWD_SUPER_KBITS 1000000
/* Statistics of frames queued between TAP and overlay, since the start. */
#define FWD_WAITS 24 /* classes of sojourn times */
struct fwd_queue {
	uint64_t backlog_bytes, backlog_frames; /* current backlog */
	uint64_t sent, marked, full, late;	/* as in counter.def and drop.def */
	/* sent frames by sojourn time: class i is 2^(i-1) to 2^i us; the last class is unbounded */
	uint64_t waits[FWD_WAITS];
	uint64_t waits_us; /* sum of sojourn times */
};
/* Time of datagrams in a worker's sockets before reading, by the oldest of each batch. Classes as
 * in struct fwd_queue; empty if the kernel supplies no timestamps. */
struct fwd_waits {
	uint64_t n, waits[FWD_WAITS], waits_us;
};
void fwd_add_socket_waits(const struct fwd *f, unsigned worker, struct fwd_waits *sum);
/* Tier of a frame by its DSCP (fwd/queue/fq.h). */
enum fwd_tier { TIER_BULK, TIER_BEST_EFFORT, TIER_VIDEO, TIER_VOICE, FWD_TIERS };
const char *fwd_tier_name(enum fwd_tier tier);
/* Share of the rate in percent, while all tiers have a backlog. */
unsigned fwd_tier_percent(enum fwd_tier tier);
/* Statistics of a worker (all tiers), of a tier (all workers), and of a next hop with a rate. */
void fwd_queue(const struct fwd *f, unsigned worker, struct fwd_queue *out);
void fwd_queue_tier(const struct fwd *f, enum fwd_tier tier, struct fwd_queue *out);
void fwd_queue_hop(const struct fwd *f, uint16_t slot, struct fwd_queue *out);
/* Part of the backlog limited by the rate of the next hop, not of the line. */
uint64_t fwd_held_frames(const struct fwd *f);
/* Sum over all workers. */
void fwd_stats(const struct fwd *f, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS]);
/* Used share of the budget of second copies, in percent. */
unsigned fwd_budget_used_percent(const struct fwd *f, mono_t now);
/* Bytes held by reassembly, summed, for `show statistics`. */
uint64_t fwd_reassembly_bytes(const struct fwd *f);
