// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show segments`: the served VLANs with the reason, their segments and forwarders between LAN and
 * overlay, flood counters, and the segments of other nodes. Control thread.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/vlans.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "proto/view.h"

static void write_ranges(struct jsonw *w, const char *key, const struct id_range *range, unsigned n)
{
	jsonw_array(w, key);
	for (unsigned i = 0; i < n; i++) {
		jsonw_object(w, NULL);
		jsonw_u64(w, "first", range[i].first);
		jsonw_u64(w, "last", range[i].last);
		jsonw_end(w);
	}
	jsonw_end(w);
}

static void write_served(struct command *c)
{
	const struct vlan_set *served = vlans_served(c->d->vlans);
	struct id_range range[VLAN_RANGES_MAX];

	jsonw_str(c->w, "source", vlans_source_name(c->d->vlans->source));
	if (served)
		write_ranges(c->w, "vlans", range, vlan_set_ranges(served, range));
	else
		jsonw_null(c->w, "vlans");
}

/* Other nodes that receive flooded frames. */
static unsigned count_members(const struct snap *s, uint16_t vlan)
{
	unsigned n = 0;

	if (!s->members)
		return s->n_flood;
	for (uint16_t slot = snap_flood_next(s->members, vlan, 0); slot != SLOT_NONE;
	     slot = snap_flood_next(s->members, vlan, slot + 1u))
		n++;
	return n;
}

static void write_segment(struct command *c, uint16_t vlan, const struct fwd_vlan *counted)
{
	const struct guard *g = c->d->guard;
	const struct segment *mapped = segments_of(c->d->vlans->map, vlan);

	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "vlan", vlan);
	jsonw_u64(c->w, "segment", segments_id(c->d->vlans->map, vlan));
	jsonw_str(c->w, "name", mapped ? mapped->name : NULL);
	jsonw_str(c->w, "state", guard_state_name(guard_vlan_state(g, vlan)));
	answer_forwarder(c->w, c->d, vlan);
	jsonw_u64(c->w, "nodes", count_members(fwd_snap(c->d->fwd), vlan));
	jsonw_u64(c->w, "macs", fdb_count_in(c->d->fdb, vlan));
	jsonw_u64(c->w, "flooded", counted->flooded);
	jsonw_u64(c->w, "pruned", counted->pruned);
	jsonw_u64(c->w, "limited", counted->limited);
	jsonw_end(c->w);
}

/* All served VLANs if they are known, else the VLANs in use. */
static bool is_shown(const struct leond *d, uint16_t vlan)
{
	const struct vlan_set *served = vlans_served(d->vlans);

	if (served)
		return vlan_set_has(served, vlan);
	return d->guard->vlan[vlan] || segments_of(d->vlans->map, vlan) ||
	       fdb_count_in(d->fdb, vlan);
}

static void write_node(struct command *c, const struct node *n)
{
	jsonw_object(c->w, NULL);
	answer_node(c->w, "node_id", c->d, n->id);
	if (n->rec.flags & RECORD_SEGMENTS)
		write_ranges(c->w, "segments", n->rec.segment, n->rec.n_segments);
	else
		jsonw_null(c->w, "segments");
	jsonw_end(c->w);
}

enum command_result show_segments(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	struct fwd_vlan *counted = x_calloc(VLAN_IDS, sizeof(*counted));

	fwd_vlans(c->d->fwd, counted);
	write_served(c);
	jsonw_array(c->w, "segments");
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++)
		if (is_shown(c->d, vlan))
			write_segment(c, vlan, &counted[vlan]);
	free(counted);
	jsonw_end(c->w);
	jsonw_array(c->w, "nodes");
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		if (n->has_record)
			write_node(c, n);
	jsonw_end(c->w);
	return CMD_DONE;
}
