// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The own row of the latency database: changes, and the split of a row into messages. See latdb.h.
 * Pure; control thread.
 */
#include <stdlib.h>

#include "base/defs.h"
#include "state/latency/latdb_core.h"

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
	struct row *own = latdb_row_at(db, SLOT_SELF);
	struct cell *cell;

	if (to == SLOT_SELF)
		return false;
	cell = latdb_cell_at(own, to);
	if (!is_significant(*cell, c))
		return false;
	latdb_put(own, to, c);
	if (!is_dirty(db, to)) {
		db->changed_at =
			latdb_grow(db->changed_at, &db->n_changed_at, to + 1u, sizeof(uint32_t));
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

	db->out_part = latdb_grow(db->out_part, &db->n_out_part, s->r->n_cells, 1);
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
	struct row *own = latdb_row_at(db, SLOT_SELF);
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
