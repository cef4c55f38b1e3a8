// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contents of the latency database for latdb.c and latdb_own.c. Control thread.
 */
#pragma once

#include <assert.h>

#include "base/defs.h"
#include "base/mem.h"
#include "state/latency/latdb.h"

static_assert(GROW_STEP % CELLS_MULTIPLE == 0, "the arrays have whole blocks");

struct row {
	struct cells cells;
	uint32_t n_cells;
	uint32_t seq; /* last complete sequence */
	uint64_t incarnation;
	bool lacks; /* the row named a link to a node unknown here */
	/* State of the sequence that is being received, or was last received. */
	struct {
		uint32_t seq, base;
		uint16_t parts, set;
		uint64_t mask; /* received parts; 0: no sequence is being received */
		uint8_t *seen; /* bitmap of slots named by a complete row; NULL otherwise */
		uint32_t n_seen;
	} in;
};
static_assert(MSG_PARTS_MAX <= 64, "one bit per part");

struct latdb {
	struct row *row; /* indexed by slot; [SLOT_SELF] is the own row */
	uint32_t n_rows;
	/* Own row: sequence of the last change of each cell; one above the row's sequence: not
	 * announced yet. */
	uint32_t *changed_at;
	uint32_t n_changed_at;
	uint32_t n_dirty;
	/* State of the current announcement: the cells to send, ordered by node-id. */
	struct {
		bool whole;
		uint16_t mtu, set;
		uint32_t base;
		struct out_cell {
			node_id_t node;
			uint16_t slot;
		} * cell;
		uint32_t n, room;
		uint32_t end[MSG_PARTS_MAX]; /* of each message */
		uint32_t parts;
	} out;
};

struct row *latdb_row_at(struct latdb *db, uint16_t from);
/* Returns the cell of a slot, for which the row has room from now on. */
struct cell latdb_cell_at(struct row *r, uint16_t to);

static inline struct cell cell_of(const struct lat_entry *e)
{
	uint32_t mtu = min_of(e->mtu, CELL_MTU_MAX), loss_pm = min_of(e->loss_pm, 1000u);

	return (struct cell){
		.rtt = min_of(e->rtt_us, CELL_US_MAX) | (mtu & 0x3f00) << 16 |
		       (e->up ? 0 : CELL_DOWN) | (e->up && e->silent ? CELL_SILENT : 0),
		.long_term = min_of(e->long_term_us, CELL_US_MAX) | mtu << 24,
		.rest = min_of(e->var_us, CELL_VAR_MAX) | loss_pm << 22,
	};
}

static inline bool cell_is_up(struct cell c)
{
	return !(c.rtt & CELL_DOWN);
}

/* Writes a cell that latdb_cell_at() has made. */
static inline void latdb_put(struct row *r, uint32_t to, struct cell c)
{
	r->cells.rtt[to] = c.rtt;
	r->cells.long_term[to] = c.long_term;
	r->cells.rest[to] = c.rest;
}

static inline bool cell_is_known(struct cell c)
{
	return c.rtt != CELL_DOWN || c.long_term >> 24 || c.rest;
}

static inline bool cell_same(struct cell a, struct cell b)
{
	return a.rtt == b.rtt && a.long_term == b.long_term && a.rest == b.rest;
}

/* Returns true if a change of the cell may change a computed path. A link that is and stays down
 * changes none. */
static inline bool cell_moves_paths(struct cell before, struct cell after)
{
	return (cell_is_up(before) || cell_is_up(after)) && !cell_same(before, after);
}

static inline bool is_dirty(const struct latdb *db, uint16_t to)
{
	return to < db->n_changed_at && db->changed_at[to] == latdb_row_seq(db, SLOT_SELF) + 1;
}
