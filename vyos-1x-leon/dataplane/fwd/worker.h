// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one worker owns, shared by the steps of the packet path (all files of fwd/ but fwd.h).
 * Everything here is touched by its worker only, except where marked; the steps take the worker as
 * their first argument, work within one batch (one snapshot, one time) and count into its stats.
 * No step allocates, locks, logs or blocks.
 *
 * A batch from the TAP:  from_tap -> (queue) -> (reports, suppress, storm) -> flood | encap ->
 *                        (tso, splitting, bundling) -> outgoing -> tx
 * A batch from the net:  from_net -> reports | incoming -> relay -> tx | reasm -> to_segment ->
 *                        deliver | divert -> handover
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
#include "fwd/budget.h"
#include "fwd/bundling.h"
#include "fwd/copies.h"
#include "fwd/deliver.h"
#include "fwd/divert.h"
#include "fwd/fwd.h"
#include "fwd/handover.h"
#include "fwd/queue.h"
#include "fwd/reasm.h"
#include "fwd/recent.h"
#include "fwd/rounds.h"
#include "fwd/shaper.h"
#include "fwd/stats.h"
#include "fwd/storm.h"
#include "fwd/tap_rx.h"
#include "fwd/tx.h"
#include "io/udp.h"
#include "state/snap.h"

#define NET_BATCH	   32		/* messages, each of up to 64 KiB after GRO */
#define NET_TURN_BYTES	   (128u << 10) /* about as many are read before others get their turn */
#define NET_BUFFER	   65536
#define REASM_BYTES	   (4 << 20) /* of each worker */
#define CONTROL_RING_BYTES (1u << 20)
#define REPORT_RING_BYTES  (256u << 10)
#define FWD_WORKERS_MAX	   UDP_SOCKETS_MAX

/* Of one node, struct fwd_traffic says what. */
struct traffic {
	_Atomic uint64_t link_tx, link_rx, path_tx, path_rx, refused;
	_Atomic uint64_t link_tx_bytes, link_rx_bytes;
};

/* Flooded frames of one VLAN, struct fwd_vlan says what. */
struct vlan_flood {
	struct storm storm;
	_Atomic uint64_t flooded, spared, limited;
};

/* struct fwd_waits says what. */
struct socket_waits {
	_Atomic uint64_t waits[FWD_WAITS], waits_us;
};

/* A descriptor that a worker waits for. */
struct source {
	int fd;
	/* One batch of what it has; true where more may wait. */
	bool (*take)(struct worker *w, int fd);
	/* When it has its turn without the descriptor being ready, because something that it gave
	 * waits here; MONO_NEVER: nothing does. NULL: never. */
	mono_t (*due)(const struct worker *w);
	/* poll() says that something is wrong with it. NULL: it is of no use any more. */
	void (*error)(struct worker *w, int fd);
};
#define SOURCES_MAX 8

struct worker {
	struct fwd *fwd;
	unsigned index;
	struct fwd_io io;
	struct source source[SOURCES_MAX]; /* in the order in which they get their turn */
	unsigned n_sources;
	bool stopping; /* it was asked to end */
	bool udp_gso;

	/* Of the batch. */
	const struct snap *snap;
	mono_t now;
	uint32_t now_s;
	bool lan_is_old;  /* the control thread did not run: what the snapshot says of the LAN */
	uint32_t kbits;	  /* what is sent in all, 0: no limit */
	bool shapes_hops; /* one next hop at least has a rate */
	int64_t real_ns;  /* CLOCK_REALTIME at `now`, 0: not read yet */

	struct tap_rx tap_rx;
	struct queue queue;
	struct accel_rx accel_rx;
	struct handover handover;
	struct udp_rx *rx;
	unsigned rx_messages; /* how many are read next, by how large those before were */
	struct bundle bundle[BUNDLE_OPEN]; /* by slot, see bundling.h */
	struct tx tx;
	struct deliver deliver;
	uint8_t *spare; /* NET_BUFFER bytes: sealed data that two keys are tried on */
	struct reasm *reasm;
	struct storm storm[N_STORM];
	struct hash_key hash_key;
	struct recent recent; /* reports posted a moment ago */
	uint32_t fragment_id;
	uint64_t copy_counter;	   /* of the next frame that travels twice */
	mono_t foreign_at;	   /* when a FWD_FOREIGN was posted last */
	mono_t *cannot_forward_at; /* by slot of the source: when one was posted for it */

	/* To the control thread. */
	struct ring *control, *reports;
	bool posted; /* a report, in this batch */
	/* Written here, read by the control thread. */
	struct stats stats;
	struct traffic *traffic; /* by slot */
	struct vlan_flood *vlan; /* by VLAN id; memory comes with the first frame of each */
	_Atomic uint64_t reasm_bytes;
	struct socket_waits socket_waits;
} attr_cacheline;

struct fwd {
	unsigned n_workers;
	struct worker *worker;
	uint16_t slots_maximum;
	_Atomic(struct snap *) snap;
	struct rcu *rcu;
	struct copies *copies; /* all workers, as are the next two */
	struct rounds *rounds;
	struct budget budget;
	struct shaper shaper;
	_Atomic uint32_t line_kbits; /* as found automatically, 0: no limit */
	struct hop_account *hop;     /* by slot */
	_Atomic bool shapes_hops;
	unsigned n_shaped; /* control thread */
	int event_fd, stop_fd;
	_Atomic bool realtime;
	_Atomic int64_t lan_until_ns; /* as the loop guard found; 0: for ever */
	/* Control thread. */
	struct keeping_up {
		bool waits;			  /* for workers to end what they had */
		uint64_t frames[FWD_WORKERS_MAX]; /* taken from their TAP queues */
	} keeping_up;
	struct ring *held;  /* its oldest record is with the caller of fwd_next_report() */
	unsigned next_ring; /* where the next search begins */
	bool running;
	pthread_t *thread;
};

static inline void count(struct worker *w, enum counter c, uint64_t n)
{
	stats_count(&w->stats, c, n);
}
static inline void drop(struct worker *w, enum drop_reason r)
{
	stats_drop(&w->stats, r);
}
static inline void drop_many(struct worker *w, enum drop_reason r, uint64_t n)
{
	stats_add(&w->stats.drop[r], n);
}

/* A datagram with data was begun on the link to `first`; `to` is its destination where this node is
 * its source, else SLOT_NONE; `len` without headers of UDP and IP. */
static inline void traffic_out(struct worker *w, uint16_t first, uint16_t to, size_t len)
{
	stats_add(&w->traffic[first].link_tx, 1);
	stats_add(&w->traffic[first].link_tx_bytes,
		  len + tx_around(w->snap->node[first].ep.ip.family));
	if (to != SLOT_NONE)
		stats_add(&w->traffic[to].path_tx, 1);
}
/* One came on the link from `previous`; `source` where this node is its destination. */
static inline void traffic_in(struct worker *w, uint16_t previous, uint16_t source, size_t len)
{
	stats_add(&w->traffic[previous].link_rx, 1);
	stats_add(&w->traffic[previous].link_rx_bytes,
		  len + tx_around(w->snap->node[previous].ep.ip.family));
	if (source != SLOT_NONE)
		stats_add(&w->traffic[source].path_rx, 1);
}

/* worker.c */
void worker_init(struct worker *w, struct fwd *f, unsigned index, const struct fwd_setup *setup);
void worker_fini(struct worker *w);
void *worker_run(void *arg); /* thread */
/* Begins a batch: reads the snapshot and the clock. The worker is online. */
void worker_begin(struct worker *w);
/* Takes the latest snapshot, in a batch that has used nothing of the one before yet. */
static inline void worker_see_snapshot(struct worker *w)
{
	uint32_t line = atomic_load_explicit(&w->fwd->line_kbits, memory_order_relaxed);

	w->snap = atomic_load_explicit(&w->fwd->snap, memory_order_acquire);
	w->kbits = w->snap->shape_kbits;
	if (unlikely(line) && (!w->kbits || line < w->kbits))
		w->kbits = line;
	w->shapes_hops = atomic_load_explicit(&w->fwd->shapes_hops, memory_order_relaxed);
}
/* Ends it: writes and sends what waits, tells the control thread. */
void worker_end(struct worker *w);
