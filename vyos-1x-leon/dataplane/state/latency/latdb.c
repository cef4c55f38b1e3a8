// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The latency database of latdb.h: one row of cells per origin, grown on demand, the assembly of
 * rows from several messages, and the announcement of the own row. proto/ sends and receives rows,
 * state/latency/path.c reads them, on the control thread.
 */
#include "state/latency/latdb.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define ASYMMETRY_FACTOR 2
#define ASYMMETRY_US	 8000

static_assert(sizeof(struct cell) == 16, "a cell is 16 bytes");

#define ROW_GROWTH 16
static_assert(ROW_GROWTH % LEAST_MULTIPLE == 0, "the array has whole blocks");

struct row {
	struct cell *cell; /* indexed by the slot of the far end */
	uint32_t *least;   /* indexed like cell; see latdb_least() */
	uint32_t n_cells, n_least;
	uint32_t seq; /* last complete sequence */
	uint64_t incarnation;
	bool lacks; /* the row named a link to a node unknown here */
	/* State of the sequence that is being received, or was last received. */
	struct {
		uint32_t seq, base;
		uint16_t parts;
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
	/* State of the current announcement: message of each cell, indexed by slot. */
	bool out_whole;
	uint32_t out_base;
	uint8_t *out_part;
	uint32_t n_out_part, out_parts;
};
#define PART_NONE 0xff /* the cell is not sent */
static_assert(MSG_PARTS_MAX < PART_NONE, "a part fits into a byte");

struct latdb *latdb_new(void)
{
	return x_new(struct latdb);
}

static void row_clear(struct row *r)
{
	free(r->cell);
	free(r->least);
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
	free(db->out_part);
	free(db);
}

/* Grows an array with elements of `size` bytes to `want` elements; new elements are zero. */
static void *grow(void *array, uint32_t *n, uint32_t want, size_t size)
{
	uint32_t n_new = (want + ROW_GROWTH - 1) / ROW_GROWTH * ROW_GROWTH;

	if (want <= *n)
		return array;
	array = x_realloc(array, n_new, size);
	memset((char *)array + *n * size, 0, (n_new - *n) * size);
	*n = n_new;
	return array;
}

static struct row *row_at(struct latdb *db, uint16_t from)
{
	db->row = grow(db->row, &db->n_rows, from + 1u, sizeof(struct row));
	return &db->row[from];
}

static struct cell *cell_at(struct row *r, uint16_t to)
{
	uint32_t n = r->n_least;

	r->cell = grow(r->cell, &r->n_cells, to + 1u, sizeof(struct cell));
	r->least = grow(r->least, &r->n_least, to + 1u, sizeof(uint32_t));
	for (; n < r->n_least; n++)
		r->least[n] = LEAST_DOWN;
	return &r->cell[to];
}

static struct cell cell_of(const struct lat_entry *e)
{
	return (struct cell){
		.rtt_up = min_of(e->rtt_us, CELL_US_MAX) | (e->up ? CELL_UP : 0) |
			  (e->up && e->silent ? CELL_SILENT : 0),
		.long_term_us = min_of(e->long_term_us, CELL_US_MAX),
		.var_us = min_of(e->var_us, CELL_US_MAX),
		.loss_pm = e->loss_pm,
		.mtu = e->mtu,
	};
}

static bool cell_is_up(struct cell c)
{
	return c.rtt_up & CELL_UP;
}

/* Returns the cell if it exists. */
static void put(struct row *r, uint32_t to, struct cell c)
{
	r->cell[to] = c;
	r->least[to] = cell_is_up(c) ? min_of(c.rtt_up & CELL_US_MAX, c.long_term_us) : LEAST_DOWN;
}

static bool cell_is_known(struct cell c)
{
	return c.rtt_up || c.var_us || c.loss_pm || c.mtu;
}

static bool cell_same(struct cell a, struct cell b)
{
	return a.rtt_up == b.rtt_up && a.long_term_us == b.long_term_us && a.var_us == b.var_us &&
	       a.loss_pm == b.loss_pm && a.mtu == b.mtu;
}

/* Returns true if a change of the cell may change a computed path. A link that is and stays down
 * changes none. */
static bool cell_moves_paths(struct cell before, struct cell after)
{
	return (cell_is_up(before) || cell_is_up(after)) && !cell_same(before, after);
}

bool lat_is_asymmetric(const struct lat_entry *a, const struct lat_entry *b)
{
	uint64_t low = min_of(a->rtt_us, b->rtt_us), high = max_of(a->rtt_us, b->rtt_us);

	return a->up && b->up && low && high > ASYMMETRY_FACTOR * low + ASYMMETRY_US;
}

struct lat_entry latdb_get(const struct latdb *db, uint16_t from, uint16_t to)
{
	if (from >= db->n_rows || to >= db->row[from].n_cells)
		return (struct lat_entry){ 0 };
	return cell_entry(&db->row[from].cell[to]);
}

const struct cell *latdb_row(const struct latdb *db, uint16_t from, uint32_t *n)
{
	*n = from < db->n_rows ? db->row[from].n_cells : 0;
	return *n ? db->row[from].cell : NULL;
}

const uint32_t *latdb_least(const struct latdb *db, uint16_t from)
{
	return from < db->n_rows ? db->row[from].least : NULL;
}

uint32_t latdb_row_seq(const struct latdb *db, uint16_t from)
{
	return from < db->n_rows ? db->row[from].seq : 0;
}

uint64_t latdb_row_incarnation(const struct latdb *db, uint16_t from)
{
	return from < db->n_rows ? db->row[from].incarnation : 0;
}

static bool is_dirty(const struct latdb *db, uint16_t to)
{
	return to < db->n_changed_at && db->changed_at[to] == latdb_row_seq(db, SLOT_SELF) + 1;
}

void latdb_forget(struct latdb *db, uint16_t slot)
{
	if (slot == SLOT_SELF)
		return;
	latdb_forget_row(db, slot);
	for (uint32_t i = 0; i < db->n_rows; i++) {
		if (slot >= db->row[i].n_cells)
			continue;
		db->row[i].lacks |= cell_is_up(db->row[i].cell[slot]);
		put(&db->row[i], slot, (struct cell){ 0 });
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
		    m->base == r->in.base && m->parts == r->in.parts && r->in.mask;

	if (same)
		return;
	/* The cells of an earlier incarnation stay in use until the new row is complete. */
	if (m->incarnation != r->incarnation)
		r->seq = 0;
	r->incarnation = m->incarnation;
	r->in.seq = m->seq;
	r->in.base = m->base;
	r->in.parts = m->parts;
	r->in.mask = 0;
	if (m->base == 0)
		r->lacks = false;
	free(r->in.seen);
	r->in.seen = NULL;
	r->in.n_seen = 0;
}

static bool row_saw(const struct row *r, uint32_t slot)
{
	return slot / 8 < r->in.n_seen && (r->in.seen[slot / 8] >> slot % 8 & 1);
}

/* Applies the entries; returns true if a path may change. */
static bool row_take_entries(struct row *r, uint16_t from, const struct msg_row *m,
			     uint16_t (*slot_of)(void *arg, node_id_t id), void *arg)
{
	bool moves = false;

	for (uint16_t i = 0; i < m->n; i++) {
		const struct row_entry *e = &m->entry[i];
		struct lat_entry is = { .rtt_us = e->rtt_us,
					.long_term_us = e->long_term_us,
					.var_us = e->var_us,
					.loss_pm = e->loss_pm,
					.mtu = e->mtu,
					.up = e->up,
					.silent = e->silent };
		struct cell c = cell_of(&is);
		uint16_t slot = slot_of(arg, e->node);
		struct cell *cell;

		if (slot == SLOT_NONE) {
			/* An unknown link counts as down, so an entry "down" is not missing. */
			r->lacks |= e->up;
			continue;
		}
		if (slot == from)
			continue;
		cell = cell_at(r, slot);
		moves |= cell_moves_paths(*cell, c);
		put(r, slot, c);
		if (m->base == 0) {
			r->in.seen = grow(r->in.seen, &r->in.n_seen, slot / 8 + 1u, 1);
			r->in.seen[slot / 8] |= (uint8_t)(1u << slot % 8);
		}
	}
	return moves;
}

/* All parts have arrived. Links that a complete row does not name are removed. */
static bool row_complete(struct row *r)
{
	bool moves = false;

	for (uint32_t i = 0; r->in.base == 0 && i < r->n_cells; i++) {
		if (row_saw(r, i))
			continue;
		moves |= cell_is_up(r->cell[i]);
		put(r, i, (struct cell){ 0 });
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
	r = row_at(db, from);
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

/* --- own row --- */

static bool moved_more(uint32_t before, uint32_t after)
{
	uint32_t by = before > after ? before - after : after - before;

	return by > 300 && (uint64_t)by * 20 > before;
}

static bool is_significant(struct cell before, struct cell after)
{
	if (cell_is_up(before) != cell_is_up(after))
		return true;
	if (!cell_is_up(after))
		return false;
	return before.mtu != after.mtu || ((before.rtt_up ^ after.rtt_up) & CELL_SILENT) ||
	       moved_more(before.rtt_up & CELL_US_MAX, after.rtt_up & CELL_US_MAX) ||
	       moved_more(before.long_term_us, after.long_term_us) ||
	       moved_more(before.var_us, after.var_us) ||
	       abs((int)before.loss_pm - (int)after.loss_pm) > 5;
}

bool latdb_set(struct latdb *db, uint16_t to, const struct lat_entry *e)
{
	struct cell c = cell_of(e);
	struct row *own = row_at(db, SLOT_SELF);
	struct cell *cell;

	if (to == SLOT_SELF)
		return false;
	cell = cell_at(own, to);
	if (!is_significant(*cell, c))
		return false;
	put(own, to, c);
	if (!is_dirty(db, to)) {
		db->changed_at = grow(db->changed_at, &db->n_changed_at, to + 1u, sizeof(uint32_t));
		db->changed_at[to] = own->seq + 1;
		db->n_dirty++;
	}
	return true;
}

bool latdb_own_dirty(const struct latdb *db)
{
	return db->n_dirty > 0;
}

/* --- splitting a row into messages --- */

/* Selects the cells of a row to send. */
struct slice {
	const struct row *r;
	struct nodedb *nodes;
	const struct latdb *changes; /* only changes of its current announcement; NULL: all cells */
};

/* Returns the node-id of the far end, or NODE_ID_NONE if the cell is not selected. The own row
 * omits nodes without a known record, because other nodes most likely lack the record too. Rows
 * of others are forwarded completely: without a cell it would no longer be the row of that
 * sequence. */
static node_id_t slice_node(const struct slice *s, uint32_t slot)
{
	const struct node *n = nodedb_at(s->nodes, (uint16_t)slot);

	if (!n || !n->has_record || n->state == NODE_LEFT)
		return NODE_ID_NONE;
	if (!s->changes)
		return cell_is_known(s->r->cell[slot]) ? n->id : NODE_ID_NONE;
	if (slot >= s->changes->n_changed_at || s->changes->changed_at[slot] != s->r->seq)
		return NODE_ID_NONE;
	return n->id;
}

/*
 * The part of a cell depends on its node-id and the number of parts only, not on the order of
 * slots. Two nodes that answer a fetch for a row split it equally, so a receiver may combine parts
 * of both answers. Only with the maximum number of parts does a full part overflow into the next
 * one. `used` counts the entries of each part.
 */
static uint32_t part_for(node_id_t id, uint32_t parts, uint16_t *used, bool *spilled)
{
	uint32_t part = (uint32_t)(hash_mix64(id) % parts);

	while (used[part] >= MSG_ROW_MAX) {
		*spilled = true;
		part = (part + 1) % parts;
	}
	used[part]++;
	return part;
}

/* Assigns each selected cell to one of `parts`; returns false if a part would overflow. */
static bool place(struct latdb *db, const struct slice *s, uint32_t parts)
{
	uint16_t used[MSG_PARTS_MAX] = { 0 };
	bool spilled = false;

	for (uint32_t i = 0; i < s->r->n_cells && (!spilled || parts == MSG_PARTS_MAX); i++)
		if (db->out_part[i] != PART_NONE)
			db->out_part[i] = (uint8_t)part_for(nodedb_at(s->nodes, (uint16_t)i)->id,
							    parts, used, &spilled);
	return !spilled;
}

/* Splits the selection once for all its messages: with hundreds of nodes a row has several, and
 * each joining node receives it. */
static void plan_parts(struct latdb *db, const struct slice *s)
{
	uint32_t n = 0, parts;

	db->out_part = grow(db->out_part, &db->n_out_part, s->r->n_cells, 1);
	for (uint32_t i = 0; i < s->r->n_cells; i++) {
		/* CONF_NODES_LIMIT entries fit MSG_PARTS_MAX parts; n is checked nevertheless. */
		bool sent = n < MSG_PARTS_MAX * MSG_ROW_MAX && slice_node(s, i) != NODE_ID_NONE;

		db->out_part[i] = sent ? 0 : PART_NONE;
		n += sent;
	}
	parts = max_of((n + MSG_ROW_MAX - 1) / MSG_ROW_MAX, 1u);
	while (!place(db, s, parts) && parts < MSG_PARTS_MAX)
		parts++;
	db->out_parts = parts;
}

/* Writes part number *iter of the selection; returns false behind the last. */
static bool slice_next(const struct latdb *db, const struct slice *s, uint32_t *iter,
		       struct msg_row *out)
{
	if (*iter >= db->out_parts)
		return false;
	out->incarnation = s->r->incarnation;
	out->seq = s->r->seq;
	out->part = (uint16_t)*iter;
	out->parts = (uint16_t)db->out_parts;
	out->n = 0;
	for (uint32_t i = 0; i < min_of(s->r->n_cells, db->n_out_part); i++) {
		struct cell c = s->r->cell[i];

		if (db->out_part[i] != *iter)
			continue;
		out->entry[out->n++] = (struct row_entry){
			.node = nodedb_at(s->nodes, (uint16_t)i)->id,
			.up = cell_is_up(c),
			.rtt_us = c.rtt_up & CELL_US_MAX,
			.long_term_us = c.long_term_us,
			.var_us = c.var_us,
			.loss_pm = c.loss_pm,
			.mtu = c.mtu,
			.silent = c.rtt_up & CELL_SILENT,
		};
	}
	++*iter;
	return true;
}

/* Opens a new sequence of the own row. Changes that cannot be sent yet move to the following
 * one. */
static void own_advance(struct latdb *db, struct nodedb *nodes)
{
	struct row *own = &db->row[SLOT_SELF];
	struct slice changes = { .r = own, .nodes = nodes, .changes = db };

	own->seq++;
	db->n_dirty = 0;
	for (uint32_t i = 0; i < db->n_changed_at; i++) {
		if (db->changed_at[i] != own->seq || slice_node(&changes, i) != NODE_ID_NONE)
			continue;
		db->changed_at[i]++;
		db->n_dirty++;
	}
}

static bool own_has_changes(const struct latdb *db, struct nodedb *nodes)
{
	for (uint32_t i = 0; i < db->n_changed_at; i++) {
		const struct node *n = nodedb_at(nodes, (uint16_t)i);

		if (is_dirty(db, (uint16_t)i) && n && n->has_record && n->state != NODE_LEFT)
			return true;
	}
	return false;
}

/* Selects the content of a new announcement; returns false if there is nothing to announce. */
static bool own_begin(struct latdb *db, struct nodedb *nodes, uint64_t incarnation, bool whole)
{
	struct row *own = row_at(db, SLOT_SELF);
	/* Sequences of another incarnation are no valid base. */
	bool rebase = own->seq && own->incarnation != incarnation;
	bool changes = own_has_changes(db, nodes);

	if (!rebase && !(whole && own->seq) && !changes)
		return false;
	db->out_whole = whole || rebase || own->seq == 0;
	db->out_base = db->out_whole ? 0 : own->seq;
	if (rebase || own->seq == 0 || !whole)
		own_advance(db, nodes);
	own->incarnation = incarnation;
	return true;
}

bool latdb_own_next(struct latdb *db, struct nodedb *nodes, uint64_t incarnation, bool whole,
		    uint32_t *iter, struct msg_row *out)
{
	struct slice s = { .nodes = nodes };

	if (*iter == 0 && !own_begin(db, nodes, incarnation, whole))
		return false;
	s.r = &db->row[SLOT_SELF];
	s.changes = db->out_whole ? NULL : db;
	out->origin = nodedb_at(nodes, SLOT_SELF)->id;
	out->base = db->out_base;
	if (*iter == 0)
		plan_parts(db, &s);
	return slice_next(db, &s, iter, out);
}
