// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The latency database of latdb.h: one row of cells per origin, grown on demand, and the assembly
 * of rows from several messages. latdb_own.c announces the own row. proto/ sends and receives rows,
 * state/latency/path.c reads them, on the control thread.
 */
#include "state/latency/latdb.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "state/latency/latdb_core.h"

#define ASYMMETRY_FACTOR 2
#define ASYMMETRY_US	 8000

struct latdb *latdb_new(void)
{
	return x_new(struct latdb);
}

static void row_clear(struct row *r)
{
	free(r->cells.rtt);
	free(r->cells.long_term);
	free(r->cells.rest);
	free(r->in.seen);
	*r = (struct row){ 0 };
}

void latdb_free(struct latdb *db)
{
	if (!db)
		return;
	for (uint32_t i = 0; i < db->n_rows; i++)
		row_clear(&db->row[i]);
	free(db->row);
	free(db->changed_at);
	free(db->out.cell);
	free(db);
}

struct row *latdb_row_at(struct latdb *db, uint16_t from)
{
	db->row = x_grow(db->row, &db->n_rows, from + 1u, sizeof(struct row));
	return &db->row[from];
}

static uint32_t *grow(uint32_t *array, uint32_t n, uint16_t to)
{
	return x_grow(array, &n, to + 1u, sizeof(*array));
}

struct cell latdb_cell_at(struct row *r, uint16_t to)
{
	uint32_t n = r->n_cells;

	if (to < n)
		return cells_at(&r->cells, to);
	r->cells.long_term = grow(r->cells.long_term, n, to);
	r->cells.rest = grow(r->cells.rest, n, to);
	r->cells.rtt = x_grow(r->cells.rtt, &r->n_cells, to + 1u, sizeof(uint32_t));
	for (; n < r->n_cells; n++)
		latdb_put(r, n, CELL_UNKNOWN);
	return cells_at(&r->cells, to);
}

bool lat_contradicts(uint32_t a_us, uint32_t b_us)
{
	uint64_t low = min_of(a_us, b_us), high = max_of(a_us, b_us);

	return high > ASYMMETRY_FACTOR * low + ASYMMETRY_US;
}

bool lat_is_asymmetric(const struct lat_entry *a, const struct lat_entry *b)
{
	return a->up && b->up && a->rtt_us && b->rtt_us && lat_contradicts(a->rtt_us, b->rtt_us);
}

struct lat_entry latdb_get(const struct latdb *db, uint16_t from, uint16_t to)
{
	if (from >= db->n_rows || to >= db->row[from].n_cells)
		return (struct lat_entry){ 0 };
	return cell_entry(cells_at(&db->row[from].cells, to));
}

const struct cells *latdb_row(const struct latdb *db, uint16_t from, uint32_t *n)
{
	*n = from < db->n_rows ? db->row[from].n_cells : 0;
	return *n ? &db->row[from].cells : NULL;
}

uint32_t latdb_row_seq(const struct latdb *db, uint16_t from)
{
	return from < db->n_rows ? db->row[from].seq : 0;
}

uint64_t latdb_row_incarnation(const struct latdb *db, uint16_t from)
{
	return from < db->n_rows ? db->row[from].incarnation : 0;
}

void latdb_forget(struct latdb *db, uint16_t slot)
{
	if (slot == SLOT_SELF)
		return;
	latdb_forget_row(db, slot);
	for (uint32_t i = 0; i < db->n_rows; i++) {
		if (slot >= db->row[i].n_cells)
			continue;
		db->row[i].lacks |= cell_is_up(cells_at(&db->row[i].cells, slot));
		latdb_put(&db->row[i], slot, CELL_UNKNOWN);
	}
	if (is_dirty(db, slot))
		db->n_dirty--;
	if (slot < db->n_changed_at)
		db->changed_at[slot] = 0;
}

void latdb_forget_row(struct latdb *db, uint16_t slot)
{
	if (slot != SLOT_SELF && slot < db->n_rows)
		row_clear(&db->row[slot]);
}

void latdb_request_missing(struct latdb *db)
{
	for (uint32_t i = SLOT_SELF + 1; i < db->n_rows; i++) {
		if (!db->row[i].lacks)
			continue;
		db->row[i].seq = 0;
		db->row[i].in.mask = 0; /* earlier parts of it lack the node too */
		db->row[i].lacks = false;
	}
}

/* --- rows of others --- */

/* Returns true if the message is newer than the stored row and its base is stored. */
static bool row_refuses(const struct row *r, const struct msg_row *m, enum row_verdict *why)
{
	bool newer_run = m->incarnation > r->incarnation;

	*why = ROW_OLD;
	if (m->parts == 0 || m->parts > MSG_PARTS_MAX || m->part >= m->parts)
		return true;
	if (m->incarnation < r->incarnation)
		return true;
	/* Messages older than the current sequence are ignored too: their entries would overwrite
	 * newer ones. */
	if (!newer_run && (m->seq <= r->seq || m->seq < r->in.seq))
		return true;
	*why = ROW_GAP;
	return m->base != 0 && (newer_run || m->base > r->seq);
}

static void row_await(struct row *r, const struct msg_row *m)
{
	bool same = m->incarnation == r->incarnation && m->seq == r->in.seq &&
		    m->base == r->in.base && m->parts == r->in.parts && m->set == r->in.set &&
		    r->in.mask;

	if (same)
		return;
	/* The cells of an earlier incarnation stay in use until the new row is complete. */
	if (m->incarnation != r->incarnation)
		r->seq = 0;
	r->incarnation = m->incarnation;
	r->in.seq = m->seq;
	r->in.base = m->base;
	r->in.parts = m->parts;
	r->in.set = m->set;
	r->in.mask = 0;
	if (m->base == 0)
		r->lacks = false;
	free(r->in.seen);
	r->in.seen = NULL;
	r->in.n_seen = 0;
}

/* Applies the entries; returns true if a path may change. */
static bool row_take_entries(struct row *r, uint16_t from, const struct msg_row *m,
			     uint16_t (*slot_of)(void *arg, node_id_t id), void *arg)
{
	bool moves = false;

	for (uint16_t i = 0; i < m->n; i++) {
		const struct row_entry *e = &m->entry[i];
		struct cell c = cell_of(&e->link), before;
		uint16_t slot = slot_of(arg, e->node);

		if (slot == SLOT_NONE) {
			/* An unknown link counts as down, so an entry "down" is not missing. */
			r->lacks |= e->link.up;
			continue;
		}
		if (slot == from)
			continue;
		before = latdb_cell_at(r, slot);
		moves |= cell_moves_paths(before, c);
		latdb_put(r, slot, c);
		if (m->base == 0) {
			r->in.seen = x_grow(r->in.seen, &r->in.n_seen, slot / 8 + 1u, 1);
			r->in.seen[slot / 8] |= (uint8_t)(1u << slot % 8);
		}
	}
	return moves;
}

/* All parts have arrived. Links outside a complete row are removed. */
static bool row_complete(struct row *r)
{
	bool moves = false;

	for (uint32_t i = 0; r->in.base == 0 && i < r->n_cells; i++) {
		if (i / 8 < r->in.n_seen && (r->in.seen[i / 8] >> i % 8 & 1))
			continue;
		moves |= cell_is_up(cells_at(&r->cells, i));
		latdb_put(r, i, CELL_UNKNOWN);
	}
	r->seq = r->in.seq;
	r->in.mask = 0;
	free(r->in.seen);
	r->in.seen = NULL;
	r->in.n_seen = 0;
	return moves;
}

enum row_verdict latdb_merge(struct latdb *db, uint16_t from, const struct msg_row *m,
			     uint16_t (*slot_of)(void *arg, node_id_t id), void *arg)
{
	enum row_verdict why;
	uint64_t all, bit;
	struct row *r;
	bool moves;

	if (from == SLOT_SELF)
		return ROW_OLD;
	r = latdb_row_at(db, from);
	if (row_refuses(r, m, &why))
		return why;
	row_await(r, m);
	bit = 1ULL << m->part;
	all = UINT64_MAX >> (64 - m->parts);
	if (r->in.mask & bit)
		return ROW_OLD;
	r->in.mask |= bit;
	moves = row_take_entries(r, from, m, slot_of, arg);
	if (r->in.mask == all)
		moves |= row_complete(r);
	return moves ? ROW_CHANGED : ROW_UNCHANGED;
}
