// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path as the daemon sees it: a fixed set of workers, each with a TAP queue and UDP
 * sockets, fed with snapshots, giving back reports and counters. Calls here are for the control
 * thread; what workers do is in worker.c and the steps from_tap.c, from_net.c, flood.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "fwd/stats.h"
#include "state/snap.h"
#include "wire/eth.h"
#include "wire/guard.h"

struct fwd;

/* Per worker: descriptors it takes over reading (they stay owned by the caller; -1: none). */
struct fwd_io {
	int tap;
	int udp4, udp6;
	int accel; /* queue to the accelerator, seqpacket */
};
struct fwd_setup {
	unsigned n_workers;
	const struct fwd_io *io;
	bool tap_offload; /* the TAP has vnet headers with offloads on (io/tap.h) */
	bool tap_uso;	  /* and UDP segmentation offload */
	bool udp_gso;	  /* UDP_SEGMENT works */
	bool udp_gro;	  /* UDP_GRO is on */
	uint16_t slots_maximum;
};

struct fwd *fwd_new(const struct fwd_setup *setup);
uint16_t fwd_slots(const struct fwd *f); /* slots_maximum */
/* First snapshot must be published before. Starts the threads. 0 or -errno. */
int fwd_start(struct fwd *f);
/* The workers run before what is not real-time, with this priority (1 to 99); 0: like all others.
 * 0 or -errno: not permitted, and some may have it. */
int fwd_set_realtime(struct fwd *f, int priority);
/* Stops and joins the threads. */
void fwd_stop(struct fwd *f);
void fwd_free(struct fwd *f); /* NULL ok */

/* The node of this slot is gone, or was started anew: what workers know of its frames counts no
 * more. */
void fwd_forget(struct fwd *f, uint16_t slot);

/* Takes ownership of the snapshot; frees the one before when no worker can see it. */
void fwd_publish(struct fwd *f, struct snap *s);
const struct snap *fwd_snap(const struct fwd *f); /* the current one, control thread's view */
/* Frees p with fn when no worker can hold it (old FDBs and neighbor tables). */
void fwd_retire(struct fwd *f, void *p, void (*fn)(void *));
/* Call about once a second and after publishing: reclaims what was retired. */
void fwd_reclaim(struct fwd *f);
/* Control thread, each some 10 ms. True where every worker has taken frames from its TAP queue
 * since the last call, or nothing waits there, and none is still busy with what it had then. */
bool fwd_keeps_up(struct fwd *f);
/* What snapshots say of the LAN is not believed after that; never: always. */
void fwd_lan_until(struct fwd *f, mono_t until);

enum fwd_report_type {
	FWD_CONTROL,	    /* control datagram for this node */
	FWD_LEARN,	    /* source MAC new or moved */
	FWD_NEIGH,	    /* neighbor new or changed */
	FWD_CANNOT_FORWARD, /* relaying failed; from each worker one per source and second */
	FWD_GUARD,	    /* loop-guard frame heard on the local segment */
	FWD_VLAN,	    /* frame of a VLAN that the loop guard does not know yet */
	FWD_DOUBT,	    /* frames of a VLAN may go round */
	FWD_SUSPECT,	    /* ICMP error or send error for an endpoint */
	FWD_FOREIGN,	    /* datagram of another overlay or version, a few of them */
	FWD_ACCEL_FOREIGN,  /* frame between accelerators that is not of its sender, now and then */
};
struct fwd_report {
	enum fwd_report_type type;
	union {
		struct {
			struct endpoint from;
			mono_t rx; /* kernel receive time where plausible, else time of the read */
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
			bool router;
		} neigh;
		struct {
			node_id_t source, next, destination;
		} cannot_forward;
		struct {
			uint8_t frame[GUARD_FRAME_MAX];
			size_t len;
		} guard;
		uint16_t vlan;
		uint16_t slot; /* FWD_ACCEL_FOREIGN */
		struct {
			struct endpoint ep;
			int error;  /* errno */
			bool local; /* this host did not send; else an ICMP error */
		} suspect;
		struct {
			struct endpoint from;
			bool other_version; /* else another VNI */
		} foreign;
	};
};
/* Readable when reports wait (eventfd); the control thread polls it. */
int fwd_report_fd(const struct fwd *f);
/* Acknowledges the eventfd; call before draining. */
void fwd_report_ack(struct fwd *f);
bool fwd_next_report(struct fwd *f, struct fwd_report *r);

/* Datagrams with data since the start, by slot, summed over workers. What is under way between two
 * of the counters may be in one and not yet in the other. */
struct fwd_traffic {
	uint64_t link_tx, link_rx; /* straight to and from the node, relayed ones too */
	uint64_t path_tx, path_rx; /* from here to the node and from it to here, along any path */
	uint64_t refused;	   /* of link_tx: the kernel did not take them */
	uint64_t link_tx_bytes, link_rx_bytes; /* of the IP packets */
};
void fwd_traffic(const struct fwd *f, uint16_t slot, struct fwd_traffic *out);
uint64_t fwd_link_tx(const struct fwd *f, uint16_t slot);
/* Frames of a VLAN that went to all who serve it, summed over workers. */
struct fwd_vlan {
	uint64_t flooded; /* frames */
	uint64_t spared;  /* copies that were not sent, because the node does not serve the VLAN */
	uint64_t limited; /* frames above storm-control per-vlan */
};
void fwd_vlan(const struct fwd *f, uint16_t vlan, struct fwd_vlan *out);
/* What is sent in all is limited to this, besides what the snapshot says; 0: not. Any time. */
void fwd_set_line(struct fwd *f, uint32_t kbits);
/* What is sent straight to this node is limited to this, whatever it is; 0: not. Any time. */
void fwd_set_hop(struct fwd *f, uint16_t slot, uint32_t kbits);
bool fwd_shapes_hops(const struct fwd *f); /* is there any? */
uint32_t fwd_hop_kbits(const struct fwd *f, uint16_t slot);
/* A line of this rate carries a super-frame in half a millisecond; none is to stand on slower
 * ones: workers cut those to a slow hop, and for a slow line the TAP gives none. */
#define FWD_SUPER_KBITS 1000000
/* Frames that waited between the TAP and the overlay, since the start. */
#define FWD_WAITS 24 /* classes of waiting times */
struct fwd_queue {
	uint64_t backlog_bytes, backlog_frames; /* waiting now */
	uint64_t sent, marked, full, late;	/* as counter.def and drop.def say */
	uint64_t waits[FWD_WAITS]; /* frames sent that waited less than 2^i us, and not less than
				      half of that; the last: or longer */
	uint64_t waits_us;	   /* their sum */
};
/* How long what came from the network stood in the sockets of a worker before it was read: of each
 * batch the oldest. Classes as those of struct fwd_queue; nothing where the kernel tells no time of
 * arrival. */
struct fwd_waits {
	uint64_t n, waits[FWD_WAITS], waits_us;
};
void fwd_add_socket_waits(const struct fwd *f, unsigned worker, struct fwd_waits *sum);
/* Where a frame waits, by its DSCP (fwd/tiers.h). */
enum fwd_tier { TIER_BULK, TIER_BEST_EFFORT, TIER_VIDEO, TIER_VOICE, FWD_TIERS };
const char *fwd_tier_name(enum fwd_tier tier);
/* Of what is sent, where all tiers have something to send. */
unsigned fwd_tier_percent(enum fwd_tier tier);
/* Of one worker, all tiers; of one tier, all workers; of what waits for a next hop with a rate. */
void fwd_queue(const struct fwd *f, unsigned worker, struct fwd_queue *out);
void fwd_queue_tier(const struct fwd *f, enum fwd_tier tier, struct fwd_queue *out);
void fwd_queue_hop(const struct fwd *f, uint16_t slot, struct fwd_queue *out);
/* Of all that wait, those that the rate of their next hop holds back, and not that of the line. */
uint64_t fwd_held_frames(const struct fwd *f);
/* Sum over all workers. */
void fwd_stats(const struct fwd *f, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS]);
/* How much of the saved budget of second copies is taken now, in percent. */
unsigned fwd_budget_taken_percent(const struct fwd *f, mono_t now);
/* Bytes held by reassembly, summed; for `show statistics`. */
uint64_t fwd_reassembly_bytes(const struct fwd *f);
