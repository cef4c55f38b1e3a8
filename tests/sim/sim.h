// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many overlays in one process on virtual time, joined by an Internet that is a matrix: delay,
 * jitter, loss, duplication, MTU and up/down for each ordered pair, NAT in front of single nodes,
 * addresses that change. What the workers do in production with control datagrams for others, and
 * with frames, is done here the same way: forwarding along the hops in the header, from members to
 * members only. One thread. Seeded; the seed is printed, SIM_SEED=n repeats a run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/loop.h"
#include "proto/overlay.h"
#include "wire/leon.h"

#define SIM_NODES_MAX 512
#define SIM_NAT_MAX   64	  /* destinations that a NAT remembers */
#define SIM_FIRST_ID  0x0a000001u /* node-id of the first node; the others' follow */
#define SIM_SECRET    "correct horse battery staple"

struct sim;

/* One direction of the Internet between two nodes. */
struct sim_link {
	int32_t delay_us;
	int32_t jitter_us; /* uniformly 0..jitter more */
	uint16_t loss_pm, dup_pm;
	uint16_t mtu; /* largest UDP payload; 0: no limit */
	bool down;
	bool data_down; /* of data only: a middle box that lets PINGs pass */
	uint16_t data_loss_pm;
};

struct sim_node {
	struct sim *sim;
	unsigned index;
	node_id_t id;
	struct conf *conf;
	struct overlay *o;  /* NULL: not running */
	struct endpoint ep; /* what the others see */
	enum sim_liar { SIM_HONEST, SIM_SWALLOWS_DATA, SIM_SWALLOWS_ALL } liar; /* as a relay */
	bool nat;
	struct endpoint inner; /* what it believes, behind a NAT */
	struct endpoint nat_to[SIM_NAT_MAX];
	unsigned n_nat_to;
	unsigned generation;   /* of the address */
	int64_t wall_shift_us; /* of its clock against the others' */
	uint64_t rng_seed;
	int64_t held_lie_us; /* it says of each PING that it held it so much longer */
	uint64_t identity;   /* another value is another identity key */
	/* What happened */
	unsigned n_events[N_EVENT_KINDS];
	mono_t last_event[N_EVENT_KINDS];
	unsigned n_asked; /* times that another was asked to send no more than so much, or not */
	unsigned n_snapshot_changed, n_purges, n_lan_changes, n_lan_left, n_new_runs;
	uint64_t lan_classes;  /* of the changes of LANs */
	unsigned n_fast_flaps; /* voluntary path changes sooner than hold-time after the last */
	mono_t *path_since;    /* by node index */
	uint64_t tx_msgs, tx_bytes, rx_msgs, rx_bytes;
	uint64_t n_notices_asked;
	struct overlay_traffic *traffic; /* by node index: what workers count */
	bool forges_counters;		 /* says that it received nothing, of anybody */
};

/* Frames sent at a steady pace along whatever path is in use. */
struct sim_flow {
	struct sim *sim;
	unsigned src, dst;
	int64_t period_us;
	struct timer *timer;
	uint64_t sent, received;
	mono_t last_rx;
	int64_t max_gap_us; /* between two arrivals, since sim_flow_mark() */
	struct sim_flow *next;
};

/* Sees each datagram before it travels; false: it is dropped. May be NULL. */
typedef bool (*sim_tap_fn)(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
			   size_t len);

struct sim {
	struct loop *loop;
	unsigned n;
	struct sim_node *node;
	struct sim_link *link; /* [from * n + to] */
	uint64_t rng, seed;
	struct sim_flow *flows;
	struct packet *packets; /* under way */
	sim_tap_fn tap;
	void *tap_arg;
	uint64_t n_lost, n_too_big, n_delivered, n_refused;
	int64_t turn_us; /* machines so busy that they read only so often; 0: at once */
	bool trace;
};

/* --- building --- */
struct sim *sim_new(unsigned n, uint64_t default_seed);
void sim_free(struct sim *s);
uint64_t sim_random(struct sim *s);
struct sim_link *sim_link(struct sim *s, unsigned from, unsigned to);
void sim_set_rtt(struct sim *s, unsigned a, unsigned b, int64_t rtt_us); /* half each way */
void sim_set_all(struct sim *s, struct sim_link link);
void sim_set_down(struct sim *s, unsigned a, unsigned b, bool down); /* both ways */
/* All links between the first `k` nodes and the rest. */
void sim_partition(struct sim *s, unsigned k, bool down);
void sim_seed_of(struct sim *s, unsigned i, unsigned seed); /* `seed` is a configured peer of i */
void sim_clear_mode(struct sim *s);
void sim_put_behind_nat(struct sim *s, unsigned i);

/* --- running --- */
void sim_boot(struct sim *s, unsigned i);
void sim_boot_all(struct sim *s);	  /* in order; node 0 is a configured peer of all others */
void sim_kill(struct sim *s, unsigned i); /* without a word */
void sim_leave(struct sim *s, unsigned i);
void sim_move(struct sim *s, unsigned i); /* to another address, unnoticed by itself */
mono_t sim_now(const struct sim *s);
void sim_run(struct sim *s, int64_t ms);
typedef bool (*sim_cond_fn)(struct sim *s, void *arg);
/* Runs until cond holds or `ms` are over; returns the time it took, or -1. */
int64_t sim_until(struct sim *s, sim_cond_fn cond, void *arg, int64_t ms);

/* --- conditions.c --- */
static inline unsigned sim_index(node_id_t id)
{
	return id - SIM_FIRST_ID;
}

uint16_t sim_slot(struct sim *s, unsigned at, unsigned of); /* SLOT_NONE where unknown */
bool sim_is_up(const struct sim *s, unsigned i);
enum node_state sim_state(struct sim *s, unsigned at, unsigned of); /* NODE_LEFT where unknown */
const struct choice *sim_choice(struct sim *s, unsigned at, unsigned of);
/* All running nodes know exactly each other, with equal digests, and reach each other. */
bool sim_converged(struct sim *s, void *arg);
/* Besides: all have equal copies of all rows. arg not NULL: prints the first difference. */
bool sim_rows_equal(struct sim *s, void *arg);
unsigned sim_events(const struct sim *s, enum event_kind k); /* at all nodes */
/* Path in use from a to b, as indices; returns the number of hops. */
unsigned sim_path(struct sim *s, unsigned a, unsigned b, unsigned hop[LEON_HOPS_MAX]);
uint64_t sim_tx_bytes(const struct sim *s); /* control traffic of all nodes, with IP and UDP */

/* --- traffic --- */
struct sim_flow *sim_flow_start(struct sim *s, unsigned src, unsigned dst, int64_t period_us);
void sim_flow_mark(struct sim_flow *f);
/* Largest gap between arrivals since the mark, the one that still lasts included. */
int64_t sim_flow_gap_ms(const struct sim_flow *f);

/* What nodes derive their keys from; computed once for each secret. */
void sim_master_key(void *arg, const char *secret, uint32_t vni, uint8_t out[MASTER_KEY_LEN]);

/* --- the attacker: a datagram from any address straight into the Internet --- */
void sim_inject(struct sim *s, const struct endpoint *from, unsigned to, const void *data,
		size_t len);

/* --- matrix.c --- */
/* n nodes at the first or at random sites (rng not NULL) of a file of tests/latency, which has 128:
 * n x n round-trip times in us. Nodes beyond that share the sites. */
void matrix_planetlab(const char *file, unsigned n, uint64_t *rng, int64_t *rtt_us);
