// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of one worker, shared by the steps of the packet path (all files of fwd/ but fwd.h). Only
 * the worker uses the structure, except for marked members. The steps take the worker as first
 * argument, work within a batch (a snapshot and a time) and count into the worker's stats. No step
 * allocates, locks, logs or blocks.
 *
 * A batch from the TAP. from_tap -> (queue) -> (reports, suppress, storm) -> flood | encap ->
 *                        (tso, splitting, bundling) -> outgoing -> tx
 *
 * A batch from the net. from_net -> reports | incoming -> relay -> tx | (assemble) ->
 *                        to_segment -> deliver | divert -> handover
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/mono.h"
#include "base/rcu.h"
#include "base/ring.h"
#include "base/siphash.h"
#include "fwd/fwd.h"
#include "fwd/in/received_tables.h"
#include "fwd/lan/lan_state.h"
#include "fwd/thread.h"
#include "fwd/out/from_tap.h"
#include "fwd/queue/queue.h"
#include "fwd/send/send_state.h"
#include "fwd/stats.h"
#include "fwd/tap/tap_frames.h"
#include "io/udp.h"
#include "state/tables/snap.h"

#define NET_BATCH	   32		/* messages, each of up to 64 KiB after GRO */
#define NET_TURN_BYTES	   (128u << 10) /* approximate limit of a turn */
#define NET_BUFFER	   65536
#define REASM_BYTES	   (4 << 20) /* per worker */
#define CONTROL_RING_BYTES (1u << 20)
#define REPORT_RING_BYTES  (256u << 10)
#define FWD_WORKERS_MAX	   UDP_SOCKETS_MAX

/* Counters of one node, see struct fwd_traffic. */
struct traffic {
	_Atomic uint64_t link_tx, link_rx, path_tx, path_rx, refused, directed;
	_Atomic uint64_t link_tx_bytes, link_rx_bytes, trains;
};

/* Bytes by pair of lines, see struct fwd_line_traffic. */
struct line_traffic {
	_Atomic uint64_t tx_bytes[LINE_PAIRS], rx_bytes[LINE_PAIRS];
	/* counted bytes that the kernel refused; later bytes are not counted in their place, so the
	 * counter never decreases */
	uint64_t refused[LINE_PAIRS];
};

/* Counters of one VLAN, see struct fwd_vlan. */
struct vlan_flood {
	struct bucket storm;
	_Atomic uint64_t flooded, pruned, limited;
};

/* See struct fwd_waits. */
struct socket_waits {
	_Atomic uint64_t waits[FWD_WAITS], waits_us;
};

/* A descriptor polled by a worker. */
struct source {
	int fd;
	/* Runs a batch; returns true if more may be pending. */
	bool (*take)(struct worker *w, int fd);
	/* Time of the turn for queued frames without a ready descriptor, or MONO_NEVER. NULL:
	 * never. */
	mono_t (*due)(const struct worker *w);
	/* Handles a poll() error of the descriptor. NULL: the source is closed. */
	void (*error)(struct worker *w, int fd);
	uint8_t line; /* of the socket */
};
#define SOURCES_MAX 8

struct worker {
	struct fwd *fwd;
	unsigned index;
	struct fwd_io io;
	struct source source[SOURCES_MAX]; /* in the order of their turns */
	unsigned n_sources;
	int wake_fd;			/* eventfd that ends a sleep */
	bool stopping;			/* a stop was requested */
	bool udp_gso, tap_tso, tap_uso; /* granted by the kernel */
	struct priority priority;
	struct moderation moderation;
	struct polling polling;
	mono_t idle_at;	 /* time of the last work while busy polling is on, else 0 */
	uint64_t inputs; /* frames and messages read from TAP and sockets */

	/* State of the batch. */
	const struct snap *snap;
	mono_t now;
	uint32_t now_s;
	/* the control thread stalled: the LAN state of the snapshot is outdated */
	bool lan_is_old;
	uint32_t kbits;	  /* egress rate limit, or 0 */
	bool shapes_hops; /* at least one next hop has a rate */
	int64_t real_ns;  /* CLOCK_REALTIME at `now`; 0: not read yet */

	struct tap_rx tap_rx;
	struct queue queue;
	uint8_t *accel_arena; /* of ACCEL_RX_ARENA bytes; NULL without a queue */
	struct handover handover;
	struct udp_rx *rx;
	unsigned rx_messages; /* messages of the next batch, by the size of earlier ones */
	uint8_t rx_line;      /* line of the socket that is read */
	struct bundle bundle[BUNDLE_OPEN]; /* hash table by slot, see bundling.c */
	struct tx tx;
	struct deliver deliver;
	uint8_t *spare; /* NET_BUFFER bytes: copy of sealed data for a second key */
	struct reasm *reasm;
	struct bucket storm[N_STORM];
	struct hash_key hash_key;
	struct recent recent; /* recently posted reports */
	uint32_t fragment_id;
	uint64_t copy_counter;	   /* counter of the next duplicated frame or block */
	struct coding coding;	   /* blocks with parity that are being sent */
	struct resend resend;	   /* what a line that fails may lose */
	struct spread spread;	   /* train of distributed datagrams */
	struct sampler sampler;	   /* next frame for the export of flows */
	bool holds;		   /* the batch changed the order of datagrams, fwd/in/hold.c */
	mono_t foreign_at;	   /* time of the last FWD_FOREIGN */
	mono_t *cannot_forward_at; /* by slot of the source: time of its last report */

	/* Reports to the control thread. */
	struct ring *control, *reports;
	struct ring *samples;  /* read periodically, without a notification */
	struct ring *captured; /* likewise */
	bool posted;	       /* this batch posted a report */
	/* Written here, read by the control thread. */
	struct stats stats;
	struct traffic *traffic;   /* indexed by slot */
	struct line_traffic *line; /* indexed by slot; of nodes with pairs of lines */
	struct vlan_flood *vlan;   /* indexed by VLAN id; allocated at the first frame */
	_Atomic uint64_t reasm_bytes;
	struct socket_waits socket_waits;
} attr_cacheline;

struct fwd {
	unsigned n_workers;
	struct worker *worker;
	uint16_t slots_maximum;
	_Atomic(struct snap *) snap;
	struct rcu *rcu;
	struct copies *copies; /* shared by all workers, as the next four */
	struct recovery *recovery;
	struct hold *hold;
	struct flood_dedup *flood_dedup;
	struct budget budget;
	struct shaper shaper;
	_Atomic uint32_t bottleneck_kbits; /* automatic rate limit, or 0 */
	struct hop_account *hop;	   /* indexed by slot, as the next two */
	struct spread_account *spread;
	_Atomic bool *no_gso; /* no UDP segmentation to the node */
	_Atomic bool shapes_hops;
	unsigned n_shaped; /* control thread */
	int event_fd;
	_Atomic bool stops;	      /* a stop of all workers was requested */
	_Atomic int realtime;	      /* priority that workers may take, or 0 */
	_Atomic int64_t lan_until_ns; /* expiry of the LAN state; 0: no expiry */
	/* Control thread only. */
	struct watchdog {
		bool waits;			  /* waits until workers end their current batch */
		uint64_t frames[FWD_WORKERS_MAX]; /* frames read from the TAP queues */
	} watchdog;
	struct ring *held;  /* ring whose oldest record the caller of fwd_next_report() holds */
	unsigned next_ring; /* ring of the next search */
	bool running;
	pthread_t *thread;
};

static inline void count(struct worker *w, enum counter c, uint64_t n)
{
	stats_add(&w->stats.counter[c], n);
}
/* Counts n frames. Returns false, as a step does that passes no frame on. */
static inline bool drop_many(struct worker *w, enum drop_reason r, uint64_t n)
{
	stats_add(&w->stats.drop[r], n);
	return false;
}
static inline bool drop(struct worker *w, enum drop_reason r)
{
	return drop_many(w, r, 1);
}

/* Counts a data datagram that starts on the link to `first`. `to`: the destination if this node is
 * the source, else SLOT_NONE. `len`: without UDP and IP headers. */
static inline void traffic_out(struct worker *w, uint16_t first, uint16_t to, size_t len)
{
	stats_add(&w->traffic[first].link_tx, 1);
	stats_add(&w->traffic[first].link_tx_bytes,
		  len + tx_around(w->snap->node[first].ep.ip.family));
	if (to != SLOT_NONE)
		stats_add(&w->traffic[to].path_tx, 1);
	else
		stats_add(&w->traffic[first].directed, 1);
}
/* Counts frames sent to the node; `copies`: flooded ones among them. */
static inline void frames_out(struct worker *w, uint16_t to, unsigned n, unsigned copies)
{
	count(w, CNT_flood_tx, copies);
	count(w, CNT_unicast_tx, n - copies);
	stats_add(&w->traffic[w->snap->node[to].first].directed, n - copies);
}
/* Counts a data datagram received on the link from `previous`; `source`: set if this node is its
 * destination. */
static inline void traffic_in(struct worker *w, uint16_t previous, uint16_t source, size_t len)
{
	stats_add(&w->traffic[previous].link_rx, 1);
	stats_add(&w->traffic[previous].link_rx_bytes,
		  len + tx_around(w->snap->node[previous].ep.ip.family));
	if (source != SLOT_NONE)
		stats_add(&w->traffic[source].path_rx, 1);
}

/* Counts a data datagram on a pair of lines of the node. */
static inline void line_out(struct worker *w, uint16_t slot, uint8_t line, size_t len)
{
	struct line_traffic *t = &w->line[slot];
	uint64_t bytes = len + tx_around(w->snap->node[slot].ep.ip.family);
	uint64_t counted = min_of(bytes, t->refused[line]);

	t->refused[line] -= counted;
	stats_add(&t->tx_bytes[line], bytes - counted);
}
static inline void line_in(struct worker *w, uint16_t slot, uint8_t line, size_t len)
{
	stats_add(&w->line[slot].rx_bytes[line], len + tx_around(w->snap->node[slot].ep.ip.family));
}

/* worker.c */
void worker_init(struct worker *w, struct fwd *f, unsigned index, const struct fwd_setup *setup);
void worker_fini(struct worker *w);
void *worker_run(void *arg); /* thread function */
/* Begins a batch: reads the snapshot and the clock. The worker is online. */
void worker_begin(struct worker *w);
/* Switches to the latest snapshot, in a batch that has not used the previous one yet. */
static inline void worker_see_snapshot(struct worker *w)
{
	uint32_t line = load_relaxed(&w->fwd->bottleneck_kbits);

	w->snap = load_acquire(&w->fwd->snap);
	w->kbits = w->snap->shape_kbits;
	if (unlikely(line) && (!w->kbits || line < w->kbits))
		w->kbits = line;
	w->shapes_hops = load_relaxed(&w->fwd->shapes_hops);
	w->deliver.batch.tcp = w->tap_tso && !w->snap->no_offload.tap_tso;
	w->deliver.batch.udp = w->tap_uso && !w->snap->no_offload.tap_uso;
	/* The TAPs of leon-accel belong to the same kernel. */
	w->handover.batch.tcp = w->deliver.batch.tcp;
}
/* Ends the batch: writes and sends collected data, notifies the control thread. */
void worker_end(struct worker *w);
