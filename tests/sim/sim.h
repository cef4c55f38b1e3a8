// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many overlays in one process on virtual time, connected by an Internet in the form of a matrix.
 * Each ordered pair has delay, jitter, loss, duplication, MTU and up/down. Single nodes may have a
 * second line, be behind a NAT or change their address. The simulation forwards control datagrams
 * and frames as workers do in production: along the hops in the header, between members only. One
 * thread. Seeded; the seed is printed, and SIM_SEED=n repeats a run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/loop.h"
#include "crypto/aead.h"
#include "crypto/stretch.h"
#include "proto/overlay.h"
#include "state/conf/conf.h"
#include "state/event.h"
#include "wire/datagram/leon.h"

#define SIM_NODES_MAX 1024
#define SIM_NAT_MAX   64	  /* mappings of one NAT */
#define SIM_FIRST_ID  0x0a000001u /* node-id of the first node; later nodes have the next numbers */
#define SIM_SECRET    "correct horse battery staple"

struct sim;

/* One direction of the Internet between two nodes. */
struct sim_link {
	int32_t delay_us;
	int32_t jitter_us; /* additional delay, uniform in 0..jitter */
	uint16_t loss_pm, dup_pm;
	uint16_t mtu; /* largest UDP payload; 0: no limit */
	bool down;
	bool data_down; /* drops only data: a middle box that passes PINGs */
	uint16_t data_loss_pm;
};

struct sim_node {
	struct sim *sim;
	unsigned index;
	node_id_t id;
	struct conf *conf;
	struct overlay *o;	/* NULL: not running */
	struct endpoint ep;	/* address that other nodes see */
	struct endpoint second; /* address of the second line; family 0: one line */
	/* behavior as a relay */
	enum sim_liar { SIM_HONEST, SIM_SWALLOWS_DATA, SIM_SWALLOWS_ALL } liar;
	bool nat;
	struct endpoint inner; /* own address of the node, behind a NAT */
	struct endpoint nat_to[SIM_NAT_MAX];
	unsigned n_nat_to;
	unsigned generation;   /* counts changes of the address */
	int64_t wall_shift_us; /* offset of its wall clock */
	uint64_t rng_seed;
	int64_t held_lie_us; /* added to the held time in each PONG */
	uint64_t identity;   /* seed of the identity key */
	/* Counted events */
	unsigned n_events[N_EVENT_KINDS];
	mono_t last_event[N_EVENT_KINDS];
	node_id_t last_other[N_EVENT_KINDS];
	char stranger[112]; /* detail of the last EV_STRANGER */
	unsigned n_asked;   /* changes of a requested limit */
	unsigned n_snapshot_changed, n_lan_changes, n_lan_left, n_new_runs;
	unsigned n_purges, n_purge_calls; /* purged nodes; one call can have several */
	uint64_t lan_classes;		  /* VLAN classes of the changes of LANs */
	unsigned n_fast_flaps; /* voluntary path changes within hold-time of the previous one */
	mono_t *path_since;    /* by node index */
	uint64_t tx_msgs, tx_bytes, rx_msgs, rx_bytes;
	uint64_t n_notices_asked;
	struct overlay_traffic *traffic; /* by node index: counters of the workers */
	bool forges_counters;		 /* reports zero received datagrams of every node */
	bool damages_trains;		 /* its network card loses data with UDP segmentation */
	bool *singly;			 /* by node index: data is sent without UDP segmentation */
	/* by node index: the announced multicast groups; n 0: all */
	struct sim_groups {
		unsigned n, n_calls;
		uint64_t greatest; /* entry */
	} * groups;
};

/* Frames sent at a steady rate along the path in use. */
struct sim_flow {
	struct sim *sim;
	unsigned src, dst;
	int64_t period_us;
	struct timer *timer;
	uint64_t sent, received;
	mono_t last_rx;
	int64_t max_gap_us; /* largest time between two arrivals since sim_flow_mark() */
	struct sim_flow *next;
};

/* Called for each datagram before transmission; false drops the datagram. May be NULL. */
typedef bool (*sim_tap_fn)(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
			   size_t len);

struct sim {
	struct loop *loop;
	unsigned n;
	struct sim_node *node;
	struct sim_link *link;	 /* [from * n + to] */
	struct sim_link *second; /* the same with the second line of a node at either end */
	uint64_t rng, seed;
	struct sim_flow *flows;
	struct packet *packets; /* in flight */
	sim_tap_fn tap;
	void *tap_arg;
	uint64_t n_lost, n_too_big, n_delivered, n_refused;
	int64_t turn_us; /* interval at which busy machines read input; 0: at once */
	bool trace;
};

/* --- building --- */
struct sim *sim_new(unsigned n, uint64_t default_seed);
void sim_free(struct sim *s);
uint64_t sim_random(struct sim *s);
struct sim_link *sim_link(struct sim *s, unsigned from, unsigned to);
struct sim_link *sim_second_link(struct sim *s, unsigned from, unsigned to);
/* half in each direction */
void sim_set_rtt(struct sim *s, unsigned a, unsigned b, int64_t rtt_us);
void sim_set_all(struct sim *s, struct sim_link link);
void sim_set_down(struct sim *s, unsigned a, unsigned b, bool down); /* both directions */
/* Cuts or restores all links between the first `k` nodes and the other nodes. */
void sim_partition(struct sim *s, unsigned k, bool down);
void sim_seed_of(struct sim *s, unsigned i, unsigned seed); /* `seed` is a configured peer of i */
void sim_clear_mode(struct sim *s);
void sim_put_behind_nat(struct sim *s, unsigned i);
void sim_give_second_line(struct sim *s, unsigned i); /* before its boot */

/* --- running --- */
void sim_boot(struct sim *s, unsigned i);
void sim_boot_all(struct sim *s);	  /* in order; node 0 is a configured peer of all others */
void sim_kill(struct sim *s, unsigned i); /* without a leave */
void sim_leave(struct sim *s, unsigned i);
void sim_move(struct sim *s, unsigned i); /* changes the address without notice to the node */
mono_t sim_now(const struct sim *s);
void sim_run(struct sim *s, int64_t ms);
typedef bool (*sim_cond_fn)(struct sim *s, void *arg);
/* Runs until cond holds or `ms` have passed. Returns the elapsed time, or -1. */
int64_t sim_until(struct sim *s, sim_cond_fn cond, void *arg, int64_t ms);

/* --- conditions.c --- */
static inline unsigned sim_index(node_id_t id)
{
	return id - SIM_FIRST_ID;
}

uint16_t sim_slot(struct sim *s, unsigned at, unsigned of); /* SLOT_NONE if unknown */
bool sim_is_up(const struct sim *s, unsigned i);
enum node_state sim_state(struct sim *s, unsigned at, unsigned of); /* NODE_LEFT if unknown */
const struct choice *sim_choice(struct sim *s, unsigned at, unsigned of);
/* True if each running node knows exactly the running nodes, all digests are equal, and all reach
 * each other. */
bool sim_converged(struct sim *s, void *arg);
/* True if, in addition, all have equal copies of all rows. arg not NULL: prints the first
 * difference. */
bool sim_rows_equal(struct sim *s, void *arg);
unsigned sim_events(const struct sim *s, enum event_kind k); /* sum over all nodes */
/* Writes the path in use from a to b as indices. Returns the number of hops. */
unsigned sim_path(struct sim *s, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX]);
uint64_t sim_tx_bytes(const struct sim *s); /* control traffic of all nodes, with IP and UDP */

/* --- traffic --- */
struct sim_flow *sim_flow_start(struct sim *s, unsigned src, unsigned dst, int64_t period_us);
void sim_flow_mark(struct sim_flow *f);
/* Returns the largest gap between arrivals since the mark, including the present gap. */
int64_t sim_flow_gap_ms(const struct sim_flow *f);

/* Key material of nodes, computed once for each secret. */
void sim_master_key(void *arg, enum stretch_kind kind, const char *secret, uint32_t vni,
		    uint8_t out[MASTER_KEY_LEN]);

/* --- the attacker: a datagram from any address straight into the Internet --- */
void sim_inject(struct sim *s, const struct endpoint *from, unsigned to, const void *data,
		size_t len);

/* --- matrix.c --- */
/* Places n nodes at the first or at random sites (rng not NULL) of a file of tests/latency, which
 * has 128 sites. Returns n x n round-trip times in us. More than 128 nodes share the sites. */
void matrix_planetlab(const char *file, unsigned n, uint64_t *rng, int64_t *rtt_us);
