// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The own row of the latency database: changes, and the split of a row into messages. See latdb.h.
 * Pure; control thread.
 */
#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "state/latency/latdb_core.h"

static bool moved_more(uint32_t before, uint32_t after)
{
	uint32_t by = before > after ? before - after : after - before;

	return by > 300 && (uint64_t)by * 20 > before;
}

/* The cost of the link without its loss. */
static uint32_t present_us(const struct lat_entry *e)
{
	return e->rtt_us + e->var_us / VARIATION_DIVISOR;
}

#define LOSS_LITTLE_PM 5
#define LOSS_OF_ONE_PM ((1000 + LOSS_GAIN - 1) / LOSS_GAIN)

/* A rise counts at once, because traffic leaves a failing link by it. The slow fall after one
 * unanswered probe counts at its end. The announced loss is then 1/LOSS_GAIN for about LOSS_GAIN
 * probes, so its average is the share of unanswered probes. */
static bool loss_moved(uint16_t before, uint16_t after)
{
	if (abs((int)before - (int)after) <= LOSS_LITTLE_PM)
		return false;
	return after > before || before - after > LOSS_OF_ONE_PM || after <= LOSS_LITTLE_PM;
}

bool latdb_loss_is_of_one(uint16_t before, uint16_t after)
{
	return before <= LOSS_LITTLE_PM && after <= LOSS_LITTLE_PM + LOSS_OF_ONE_PM;
}

static bool is_significant(struct cell before, struct cell after)
{
	struct lat_entry was = cell_entry(before), is = cell_entry(after);

	if (was.up != is.up)
		return true;
	if (!is.up)
		return false;
	return was.mtu != is.mtu || was.silent != is.silent || moved_more(was.rtt_us, is.rtt_us) ||
	       moved_more(was.long_term_us, is.long_term_us) ||
	       moved_more(present_us(&was), present_us(&is)) || loss_moved(was.loss_pm, is.loss_pm);
}

bool latdb_set(struct latdb *db, uint16_t to, const struct lat_entry *e)
{
	struct cell c = cell_of(e);
	struct row *own = latdb_row_at(db, SLOT_SELF);

	if (to == SLOT_SELF)
		return false;
	if (!is_significant(latdb_cell_at(own, to), c))
		return false;
	latdb_put(own, to, c);
	if (!is_dirty(db, to)) {
		db->changed_at =
			x_grow(db->changed_at, &db->n_changed_at, to + 1u, sizeof(uint32_t));
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
		return cell_is_known(cells_at(&s->r->cells, slot)) ? n->id : NODE_ID_NONE;
	if (slot >= s->changes->n_changed_at || s->changes->changed_at[slot] != s->r->seq)
		return NODE_ID_NONE;
	return n->id;
}

static int by_node(const void *a, const void *b)
{
	const struct out_cell *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

/* The entry of the next message for a cell. */
static struct row_entry entry_of(const struct slice *s, const struct out_cell *out)
{
	return (struct row_entry){ out->node, cell_entry(cells_at(&s->r->cells, out->slot)) };
}

/* Returns the MTU of most cells, or any MTU if no MTU has a majority. */
static uint16_t usual_mtu(const struct latdb *db, const struct slice *s)
{
	uint32_t votes = 0;
	uint16_t mtu = 0;

	for (uint32_t i = 0; i < db->out.n; i++) {
		uint16_t is = cell_entry(cells_at(&s->r->cells, db->out.cell[i].slot)).mtu;

		if (!votes)
			mtu = is;
		votes += is == mtu ? 1 : UINT32_MAX;
	}
	return mtu;
}

/* Returns the end of the message that begins at cell `from`. */
static uint32_t part_end(const struct latdb *db, const struct slice *s, bool is_short,
			 uint32_t from)
{
	uint32_t end = min_of(from + (is_short ? MSG_SHORT_ROW_MAX : MSG_ROW_MAX), db->out.n);
	node_id_t before = 0;
	size_t len = 0;

	for (uint32_t i = from; i < end; i++) {
		struct row_entry e = entry_of(s, &db->out.cell[i]);

		len += short_row_entry_len(&e, before, db->out.mtu);
		if (len > SHORT_ROW_ROOM)
			return i;
		before = e.node;
	}
	return end;
}

/* Splits the selection once for all its messages: with hundreds of nodes a row has several, and
 * each joining node receives it. */
static void plan_parts(struct latdb *db, const struct slice *s, bool is_short)
{
	uint64_t set = 0;
	uint32_t end = 0;

	db->out.cell = x_grow(db->out.cell, &db->out.room, s->r->n_cells, sizeof(struct out_cell));
	db->out.n = 0;
	for (uint32_t i = 0; i < s->r->n_cells; i++) {
		node_id_t node = slice_node(s, i);

		if (node == NODE_ID_NONE)
			continue;
		db->out.cell[db->out.n++] = (struct out_cell){ node, (uint16_t)i };
		set += hash_mix64(node);
	}
	if (db->out.n)
		qsort(db->out.cell, db->out.n, sizeof(struct out_cell), by_node);
	db->out.mtu = usual_mtu(db, s);
	db->out.set = (uint16_t)hash_mix64(set);
	db->out.parts = 0;
	/* CONF_NODES_LIMIT entries fit MSG_PARTS_MAX parts; the number is checked nevertheless. */
	do {
		end = part_end(db, s, is_short, end);
		db->out.end[db->out.parts++] = end;
	} while (end < db->out.n && db->out.parts < MSG_PARTS_MAX);
}

/* Writes part number *iter of the selection; returns false behind the last. */
static bool slice_next(const struct latdb *db, const struct slice *s, uint32_t *iter,
		       struct msg_row *out)
{
	if (*iter >= db->out.parts)
		return false;
	out->incarnation = s->r->incarnation;
	out->seq = s->r->seq;
	out->part = (uint16_t)*iter;
	out->parts = (uint16_t)db->out.parts;
	out->set = db->out.set;
	out->mtu = db->out.mtu;
	out->n = 0;
	for (uint32_t i = *iter ? db->out.end[*iter - 1] : 0; i < db->out.end[*iter]; i++)
		out->entry[out->n++] = entry_of(s, &db->out.cell[i]);
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
	struct row *own = latdb_row_at(db, SLOT_SELF);
	/* Sequences of another incarnation are no valid base. */
	bool rebase = own->seq && own->incarnation != incarnation;
	bool changes = own_has_changes(db, nodes);

	if (!rebase && !(whole && own->seq) && !changes)
		return false;
	db->out.whole = whole || rebase || own->seq == 0;
	db->out.base = db->out.whole ? 0 : own->seq;
	if (rebase || own->seq == 0 || !whole)
		own_advance(db, nodes);
	own->incarnation = incarnation;
	return true;
}

bool latdb_own_next(struct latdb *db, struct nodedb *nodes, uint64_t incarnation,
		    enum row_form form, uint32_t *iter, struct msg_row *out)
{
	struct slice s = { .nodes = nodes };

	if (*iter == 0 && !own_begin(db, nodes, incarnation, form & ROW_WHOLE))
		return false;
	s.r = &db->row[SLOT_SELF];
	s.changes = db->out.whole ? NULL : db;
	out->origin = nodedb_at(nodes, SLOT_SELF)->id;
	out->base = db->out.base;
	if (*iter == 0)
		plan_parts(db, &s, form & ROW_SHORT);
	return slice_next(db, &s, iter, out);
}
