// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show fdb` and `reset fdb`: the node behind each MAC. Control thread.
 */
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/leond.h"
#include "io/clock.h"
#include "proto/view.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"

/* Bounds the answer, and the time of the control thread for it. */
#define ROWS_MAX 65536

static void write_entry(struct command *c, const struct fdb_entry *e)
{
	const struct node *n = nodedb_at(overlay_nodes(c->overlay), e->slot);
	node_id_t id = n ? n->id : NODE_ID_NONE;
	uint32_t now_s = now_s_of(c->now);

	jsonw_object(c->w, NULL);
	answer_mac(c->w, "mac", e->mac);
	jsonw_u64(c->w, "vlan", e->vlan);
	answer_node(c->w, "node_id", c->d, id);
	jsonw_bool(c->w, "local", e->slot == SLOT_SELF);
	/* A worker's clock may be one tick ahead. */
	jsonw_u64(c->w, "age_seconds", now_s > e->seen_s ? now_s - e->seen_s : 0);
	jsonw_u64(c->w, "moves", e->n_moves);
	jsonw_bool(c->w, "frozen", e->frozen);
	jsonw_end(c->w);
}

enum command_result show_fdb(struct command *c)
{
	struct fdb_entry e;
	uint32_t iter = 0;

	jsonw_array(c->w, "entries");
	for (unsigned n = 0; n < ROWS_MAX && fdb_next(c->d->fdb, &iter, &e); n++)
		write_entry(c, &e);
	jsonw_end(c->w);
	jsonw_u64(c->w, "count", fdb_count(c->d->fdb));
	jsonw_u64(c->w, "maximum", fdb_maximum(c->d->fdb));
	return CMD_DONE;
}

enum command_result reset_fdb(struct command *c)
{
	struct slot_set all = { 0 };

	slot_set_add_range(&all, 0, nodedb_slots(overlay_nodes(c->overlay)));
	jsonw_u64(c->w, "removed", fdb_flush(c->d->fdb));
	neigh_forget_slots(c->d->neigh, &all, NULL);
	return CMD_DONE;
}
