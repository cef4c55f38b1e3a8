// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The latency database: every node's row of measured link latencies, the same everywhere, and
 * the filter that makes a row's entry out of probe results. Indexed by the slots of nodedb.
 * No I/O, no clock; control thread. Paper section 4.2; protocol section 5.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/extreme.h"
#include "state/nodedb.h"
#include "wire/msg.h"

/* --- filter of one link, fed by probes --- */
#define FILTER_QUICK_MS 500
#define FILTER_CALM_S	20
#define FILTER_JITTER_S 60

struct link_filter {
	uint32_t n_samples;
	/* For timeouts, with the gains of RFC 6298: smoothed RTT; smoothed deviation upward,
	 * doubled, which is as large as the mean deviation where there is as much below the
	 * average as above. */
	int64_t srtt_us, var_us;
	/* For paths, by time and not by probe, so that traffic, which makes probes more frequent,
	 * does not change them: the latency now, and in the long run, with the mean deviation from
	 * that of the latency now, and of the single answer. */
	int64_t now_us, lasting_us, sway_us, dev_us;
	uint32_t lasting_s; /* time scale of the latter three */
	/* What `now` is made of: the last answers, their average, and how much one answer differs
	 * from the one before. */
	int64_t quick_us, calm_us, jitter_us, before_us;
	int64_t load_us; /* of the answer to come, that our own traffic makes: not the link's */
	mono_t first_at, last_at;
	uint32_t last_us;    /* last sample */
	struct extreme min;  /* lowest of the current and the previous minute */
	struct extreme peak; /* highest of the current and the previous hour */
	uint32_t loss_pm;    /* smoothed loss, 1/1000 (gain 1/32) */
	uint32_t late_ppm; /* smoothed share of probes answered after their timeout (gain 1/256) */
};
void link_filter_reset(struct link_filter *f, uint32_t lasting_s);
void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now);
/* The first answer after a silence, and to a probe that was taken for lost: the latency jumped. */
void link_filter_jump(struct link_filter *f, uint32_t rtt_us, mono_t now);
/* A late answer after one to a later probe. It says nothing of what is, but without such answers
 * the averages of a link that is slow now and then would be too good. */
void link_filter_overtaken(struct link_filter *f, uint32_t rtt_us, mono_t now);
void link_filter_loss(struct link_filter *f);
/* Notes whether a probe was answered after its timeout. */
void link_filter_late(struct link_filter *f, bool late);
/* So many more unanswered probes in a row may be chance on this link, because answers on it are
 * often late; 0 where they hardly ever are. */
uint32_t link_filter_chance(const struct link_filter *f);

/* --- the database --- */
struct lat_entry {
	uint32_t rtt_us;     /* what it is now */
	uint32_t lasting_us; /* what it is in the long run */
	uint32_t var_us;     /* mean deviation of the one from the other */
	uint16_t loss_pm;
	uint16_t mtu; /* largest LEON datagram, 0 unknown */
	bool up;
	bool silent; /* up, but its last probes are unanswered: rtt_us is an estimate */
};

/* An entry as it is kept. Rows are many (N * N cells on each node), so a cell has what the wire has
 * and no padding. */
struct cell {
	uint32_t rtt_up;     /* rtt in us, 24 bits; CELL_UP, CELL_SILENT */
	uint32_t lasting_us; /* 24 bits */
	uint32_t var_us;     /* 24 bits */
	uint16_t loss_pm;
	uint16_t mtu;
};
#define CELL_UP	    0x80000000u
#define CELL_SILENT 0x40000000u
#define CELL_US_MAX 0xffffffu

static inline struct lat_entry cell_entry(const struct cell *c)
{
	return (struct lat_entry){
		.rtt_us = c->rtt_up & CELL_US_MAX,
		.lasting_us = c->lasting_us,
		.var_us = c->var_us,
		.loss_pm = c->loss_pm,
		.mtu = c->mtu,
		.up = c->rtt_up & CELL_UP,
		.silent = c->rtt_up & CELL_SILENT,
	};
}

/* Both ends of a link measured it: is one of them wrong? Twice as much and 8 ms more than the other
 * is beyond what measuring explains. */
bool lat_contradicts(const struct lat_entry *a, const struct lat_entry *b);

struct latdb;
struct latdb *latdb_new(void);
void latdb_free(struct latdb *db); /* NULL ok */

/* Entry of link from -> to, all zero (down) where unknown. */
struct lat_entry latdb_get(const struct latdb *db, uint16_t from, uint16_t to);
/* The whole row, by slot of the far end, for whoever looks at all of it; what is beyond *n is not
 * known. Valid until the database changes. */
const struct cell *latdb_row(const struct latdb *db, uint16_t from, uint32_t *n);
/* Of the same cells, for whoever looks at all of them for the few that matter: no cost of the link
 * is below this number, and it is LEAST_DOWN where the link is down. *n of latdb_row(), rounded up
 * to a multiple of LEAST_MULTIPLE, are there. */
const uint32_t *latdb_least(const struct latdb *db, uint16_t from);
#define LEAST_DOWN     0x80ffffffu
#define LEAST_MULTIPLE 8
uint32_t latdb_row_seq(const struct latdb *db,
		       uint16_t from); /* complete up to this sequence; 0 none */
uint64_t latdb_row_incarnation(const struct latdb *db, uint16_t from);

/* A node became known: rows that named a node which was not known stay in use, but are to
 * be fetched anew. */
void latdb_ask_lacking(struct latdb *db);

/* Forgets the row and the column of a slot; or the row alone, of a node with another key. */
void latdb_forget(struct latdb *db, uint16_t slot);
void latdb_forget_row(struct latdb *db, uint16_t slot);

enum row_verdict {
	ROW_CHANGED,   /* entries taken over */
	ROW_UNCHANGED, /* newer, but nothing in it that moves a path */
	ROW_OLD,       /* duplicate or older: ignored */
	ROW_GAP,       /* builds on a sequence we do not have: fetch the whole row */
};
/*
 * Merges one message of another origin's row. Entries apply at once; the row's sequence advances
 * when all parts have come. `slot_of` resolves node-ids (SLOT_NONE: not known, entry left out;
 * latdb_ask_lacking() has the row fetched again when one becomes known).
 */
enum row_verdict latdb_merge(struct latdb *db, uint16_t from, const struct msg_row *m,
			     uint16_t (*slot_of)(void *arg, node_id_t id), void *arg);

/*
 * Own row. latdb_set stages a measurement; a smaller movement than the following leaves the row
 * as it is, so that all copies stay the same. It counts as changed where `up` or `silent` differs,
 * where mtu differs, where rtt, lasting or var moved by more than 5 % and 300 us, or loss by more
 * than 5/1000. Returns true where it is a change worth announcing (true at once for `up`).
 */
bool latdb_set(struct latdb *db, uint16_t to, const struct lat_entry *e);
/* Anything staged since the last announcement? */
bool latdb_own_dirty(const struct latdb *db);
/*
 * Next messages of the own row: with whole = false only what changed, as one new sequence with
 * base = the sequence before (all of it, base 0, where it is the first of an incarnation); with
 * whole = true everything at the current sequence, base 0. Call until it returns false, without
 * changing the database or the nodes in between; *iter starts at 0. Node-ids come from nodedb.
 */
bool latdb_own_next(struct latdb *db, struct nodedb *nodes, uint64_t incarnation, bool whole,
		    uint32_t *iter, struct msg_row *out);
