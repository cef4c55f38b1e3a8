// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The latency database: every node's row of measured link latencies, replicated on all nodes, and
 * the filter that derives an entry from probe results. Indexed by the slots of nodedb. No I/O, no
 * clock; control thread. Paper section 4.2; protocol section 5.3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "state/minmax.h"
#include "state/tables/nodedb.h"
#include "wire/message/msg.h"

/* --- filter of one link, input: probes --- */
#define FILTER_QUICK_MS 500
#define FILTER_SLOW_S	20
#define FILTER_JITTER_S 60
#define LOSS_GAIN	32 /* an unanswered probe raises the loss by 1/32 */

struct link_filter {
	uint32_t n_samples;
	/* For timeouts, with the gains of RFC 6298: smoothed RTT, and twice the smoothed upward
	 * deviation, which equals the mean deviation for a symmetric distribution. */
	int64_t srtt_us, var_us;
	/* For paths: the short-term and the long-term latency, and the mean deviations from the
	 * long-term latency, of the short-term latency and of single samples. The averages are by
	 * time, not by probe, so that faster probing under traffic does not change them. */
	int64_t now_us, long_term_us, variation_us, dev_us;
	uint32_t long_term_s; /* time scale of the long-term values */
	/* Input of the short-term latency: the last samples, their average, and the difference
	 * between successive samples. */
	int64_t quick_us, slow_us, jitter_us, before_us;
	/* part of the next sample caused by own traffic, excluded from the link's latency */
	int64_t load_us;
	mono_t first_at, last_at;
	uint32_t last_us;   /* last sample */
	struct minmax min;  /* minimum of the current and the previous minute */
	struct minmax peak; /* maximum of the current and the previous hour */
	uint32_t loss_pm;   /* smoothed loss, 1/1000 (gain 1/LOSS_GAIN) */
	uint32_t late_ppm;  /* smoothed share of probes answered after the timeout (gain 1/256) */
};
void link_filter_reset(struct link_filter *f, uint32_t long_term_s);
void link_filter_answer(struct link_filter *f, uint32_t rtt_us, mono_t now);
/* Enters the first answer after unanswered probes, to a probe already counted as lost: the latency
 * jumped. */
void link_filter_jump(struct link_filter *f, uint32_t rtt_us, mono_t now);
/* Enters a late answer that follows the answer to a later probe. It does not describe the current
 * latency. Without such answers the averages of an occasionally slow link would be too low. */
void link_filter_overtaken(struct link_filter *f, uint32_t rtt_us, mono_t now);
void link_filter_loss(struct link_filter *f);
/* Records whether a probe was answered after the timeout. */
void link_filter_late(struct link_filter *f, bool late);
/* Upper bound of usual round-trip times of the link, by the long-term statistics. */
int64_t link_filter_usual_us(const struct link_filter *f);
/* Number of additional unanswered probes in a row that may be chance on a link with late answers; 0
 * for links with hardly any late answers. */
uint32_t link_filter_chance(const struct link_filter *f);

/* --- the database --- */
#define VARIATION_DIVISOR 4 /* the cost of a link contains this share of var_us (path.h) */

/* Stored form of an entry. A node stores N * N cells, so a cell has the precision of the wire and
 * no padding. Only the variation has 22 bits (4 s), and the MTU 14. */
struct cell {
	uint32_t rtt;	    /* in us, 24 bits; upper 6 bits of the MTU; CELL_SILENT, CELL_DOWN */
	uint32_t long_term; /* in us, 24 bits; lower 8 bits of the MTU */
	uint32_t rest;	    /* variation in us, 22 bits; loss in 1/1000, 10 bits */
};
#define CELL_DOWN    0x80000000u
#define CELL_SILENT  0x40000000u
#define CELL_US_MAX  0xffffffu
#define CELL_VAR_MAX 0x3fffffu
#define CELL_MTU_MAX 0x3fffu
#define CELL_UNKNOWN ((struct cell){ .rtt = CELL_DOWN })

static inline uint32_t cell_rtt_us(struct cell c)
{
	return c.rtt & CELL_US_MAX;
}

static inline uint32_t cell_long_term_us(struct cell c)
{
	return c.long_term & CELL_US_MAX;
}

static inline struct lat_entry cell_entry(struct cell c)
{
	return (struct lat_entry){
		.rtt_us = cell_rtt_us(c),
		.long_term_us = cell_long_term_us(c),
		.var_us = c.rest & CELL_VAR_MAX,
		.loss_pm = (uint16_t)(c.rest >> 22),
		.mtu = (uint16_t)((c.rtt >> 16 & 0x3f00) | c.long_term >> 24),
		.up = !(c.rtt & CELL_DOWN),
		.silent = c.rtt & CELL_SILENT,
	};
}

/* The cells of a row, by the slot of the far end. Each word of a cell has its own array, because
 * most links are only compared by their RTT. */
struct cells {
	uint32_t *rtt, *long_term, *rest;
};
/* The arrays have whole blocks of this size. The elements of the last block are CELL_UNKNOWN. */
#define CELLS_MULTIPLE 8

static inline struct cell cells_at(const struct cells *r, uint32_t to)
{
	return (struct cell){ r->rtt[to], r->long_term[to], r->rest[to] };
}

/* Returns true if the measurements of the two ends of a link contradict: one is twice the other and
 * 8 ms more, beyond any measurement error. */
bool lat_contradicts(uint32_t a_us, uint32_t b_us);
/* Returns true if both ends measured the RTT of the link, and the values contradict. */
bool lat_is_asymmetric(const struct lat_entry *a, const struct lat_entry *b);

struct latdb;
struct latdb *latdb_new(void);
void latdb_free(struct latdb *db); /* NULL ok */

/* Entry of the link from -> to; all zero (down) if unknown. */
struct lat_entry latdb_get(const struct latdb *db, uint16_t from, uint16_t to);
/* Returns a complete row, indexed by the slot of the far end; links beyond *n are unknown. Valid
 * until the database changes. */
const struct cells *latdb_row(const struct latdb *db, uint16_t from, uint32_t *n);
uint32_t latdb_row_seq(const struct latdb *db, uint16_t from); /* last complete sequence, or 0 */
uint64_t latdb_row_incarnation(const struct latdb *db, uint16_t from);

/* Notes a new known node: rows that named it while it was unknown stay in use, but must be fetched
 * again. */
void latdb_request_missing(struct latdb *db);

/* Forgets the row and the column of a slot, or only the row of a node with a new key. */
void latdb_forget(struct latdb *db, uint16_t slot);
void latdb_forget_row(struct latdb *db, uint16_t slot);

enum row_verdict {
	ROW_CHANGED,   /* entries applied */
	ROW_UNCHANGED, /* newer, but without a change that affects paths */
	ROW_OLD,       /* duplicate or older: ignored */
	ROW_GAP,       /* the base is not stored: fetch the complete row */
};
/*
 * Merges one message of another origin's row. Entries apply at once; the sequence of the row
 * advances when all parts have arrived. `slot_of` resolves node-ids. An entry with an unknown node
 * (SLOT_NONE) is skipped; latdb_request_missing() makes the row be fetched again when the node
 * becomes known.
 */
enum row_verdict latdb_merge(struct latdb *db, uint16_t from, const struct msg_row *m,
			     uint16_t (*slot_of)(void *arg, node_id_t id), void *arg);

/*
 * Own row. latdb_set() stages a measurement. Only a change beyond the limits below changes the row,
 * so that all copies stay equal. The limits: `up`, `silent` or the MTU differs. The RTT, long-term
 * RTT or RTT + variation / 4 moved by more than 5 % and 300 us. The loss rose by more than 5/1000,
 * fell by more than one unanswered probe, or ended. Returns true for a change worth announcing
 * (immediately for `up`).
 */
bool latdb_set(struct latdb *db, uint16_t to, const struct lat_entry *e);
/* Reports whether one unanswered probe, or none, explains the rise of a loss in thousandths. */
bool latdb_loss_is_of_one(uint16_t before, uint16_t after);
/* Returns true if measurements are staged since the last announcement. */
bool latdb_own_dirty(const struct latdb *db);
/*
 * Writes the next message of the own row. ROW_CHANGES: the changes as one new sequence with the
 * previous sequence as base (all cells and base 0 for the first of an incarnation). ROW_WHOLE: all
 * cells at the current sequence, base 0. ROW_SHORT: the messages need not fit MSG_ROW. Call until
 * it returns false, without changing the database or the nodes in between; *iter starts at 0.
 * nodedb supplies the node-ids.
 */
enum row_form { ROW_CHANGES = 0, ROW_WHOLE = 1, ROW_SHORT = 2 };
bool latdb_own_next(struct latdb *db, struct nodedb *nodes, uint64_t incarnation,
		    enum row_form form, uint32_t *iter, struct msg_row *out);
