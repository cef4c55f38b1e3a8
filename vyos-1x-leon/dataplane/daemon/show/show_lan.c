// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands about the LAN: hosts, segments, and multicast groups. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"
#include "state/tables/listeners.h"
#include "state/tables/neigh.h"
#include "wire/frame/mcast.h"

/* `show fdb` and `reset fdb`: the node behind each MAC. */

/* Bounds the answer, and the time of the control thread for it. */
#define MACS_MAX 65536

static void write_entry(struct command *c, const struct fdb_entry *e)
{
	uint32_t now_s = now_s_of(c->now);

	jsonw_object(c->w, NULL);
	answer_mac(c->w, "mac", e->mac);
	jsonw_u64(c->w, "vlan", e->vlan);
	answer_node(c->w, "node_id", c->d, node_id_at(c->d, e->slot));
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
	for (unsigned n = 0; n < MACS_MAX && fdb_next(c->d->fdb, &iter, &e); n++)
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

/* `show segments`: the served VLANs with the reason, their segments and forwarders between LAN and
 * overlay, flood counters, and the segments of other nodes. */

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

static void write_node_segments(struct command *c, const struct node *n)
{
	if (!n->has_record)
		return;
	answer_begin_node(c->w, "node_id", c->d, n->id);
	if (n->rec.flags & RECORD_SEGMENTS)
		write_ranges(c->w, "segments", n->rec.segment, n->rec.n_segments);
	else
		jsonw_null(c->w, "segments");
	jsonw_end(c->w);
}

enum command_result show_segments(struct command *c)
{
	struct fwd_vlan *counted = x_calloc(VLAN_IDS, sizeof(*counted));

	fwd_vlans(c->d->fwd, counted);
	write_served(c);
	jsonw_array(c->w, "segments");
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++)
		if (is_shown(c->d, vlan))
			write_segment(c, vlan, &counted[vlan]);
	free(counted);
	jsonw_end(c->w);
	answer_nodes(c, "nodes", write_node_segments);
	return CMD_DONE;
}

/* `show multicast`: the VLANs in which hosts report groups, the groups with listeners at this and
 * other nodes, and the announcements of other nodes. */

/* Bounds the answer. A site has at most GROUPS_MAX groups. */
#define LISTENERS_SHOWN 8192

/* A group with one listener: here (SLOT_SELF), or a node. */
struct shown_listener {
	uint64_t entry;
	uint16_t slot;
	const struct group *here; /* NULL: at another node */
};
struct shown_listeners {
	struct shown_listener *row;
	unsigned n, left_out;
};

static void add(struct shown_listeners *r, const struct shown_listener *row)
{
	if (r->n == LISTENERS_SHOWN)
		r->left_out++;
	else
		r->row[r->n++] = *row;
}

static int compare(const void *a, const void *b)
{
	const struct shown_listener *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return x->slot - y->slot;
}

static const char *family_name(uint8_t family)
{
	return family == 6 ? "ipv6" : "ipv4";
}

/* --- collecting --- */

static void collect_here(struct command *c, struct shown_listeners *r)
{
	const struct groups *g = snooping_groups(c->d);
	const struct groups_domain *domain;

	for (uint32_t i = 0; g && (domain = groups_next(g, &i));)
		for (uint32_t k = 0; k < domain->n; k++) {
			const struct group *group = &domain->group[k];
			uint32_t segment = segments_id(c->d->vlans->map, domain->vlan);

			add(r, &(struct shown_listener){ listener_entry(segment, domain->family,
									mcast_low(&group->ip)),
							 SLOT_SELF, group });
		}
}

static void collect_of(struct command *c, const struct node *n, struct shown_listeners *r)
{
	const struct listener_set *s = listeners_of(c->d->listeners, n->slot);
	const uint64_t *entry;
	unsigned count = 0;

	entry = s ? listener_set_entries(s, &count) : NULL;
	for (unsigned i = 0; i < count; i++)
		if (listener_group(entry[i]))
			add(r, &(struct shown_listener){ entry[i], n->slot, NULL });
}

/* --- writing --- */

static void write_domain(struct command *c, const struct groups_domain *g)
{
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "vlan", g->vlan);
	answer_known(c->w, "segment", segments_id(c->d->vlans->map, g->vlan) != SEGMENT_ID_NONE,
		     segments_id(c->d->vlans->map, g->vlan));
	jsonw_str(c->w, "family", family_name(g->family));
	jsonw_str(c->w, "state", groups_state_name(groups_state(g, c->now)));
	answer_ip(c->w, "querier", &g->querier);
	answer_left(c->w, "querier_expires_s", c->now, g->querier_until);
	jsonw_u64(c->w, "groups", g->n);
	jsonw_end(c->w);
}

/* Nodes announce the low bits of a group: the whole address of IPv4, the MAC address of IPv6. */
static void write_group_name(struct command *c, const struct shown_listener *row)
{
	uint32_t low = listener_group(row->entry);
	uint8_t b[4] = { (uint8_t)(low >> 24), (uint8_t)(low >> 16), (uint8_t)(low >> 8),
			 (uint8_t)low };
	char text[IP_STRLEN];

	if (row->here) {
		answer_ip(c->w, "group", &row->here->ip);
		return;
	}
	if (listener_family(row->entry) == 4)
		snprintf(text, sizeof(text), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	else
		snprintf(text, sizeof(text), "33:33:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3]);
	jsonw_str(c->w, "group", text);
}

/* Writes the group of the first row with all its listeners. Returns the number of rows used. */
static unsigned write_group(struct command *c, const struct shown_listener *row, unsigned n)
{
	uint32_t segment = listener_segment(row->entry);
	uint16_t vlan = segments_vlan(c->d->vlans->map, segment);
	unsigned used = 0;

	jsonw_object(c->w, NULL);
	answer_known(c->w, "vlan", vlan < VLAN_IDS, vlan);
	jsonw_u64(c->w, "segment", segment);
	jsonw_str(c->w, "family", family_name(listener_family(row->entry)));
	write_group_name(c, row);
	jsonw_bool(c->w, "here", row->here != NULL);
	answer_left(c->w, "expires_s", c->now, row->here ? row->here->until : MONO_NEVER);
	jsonw_array(c->w, "nodes");
	for (; used < n && row[used].entry == row->entry; used++) {
		node_id_t id = node_id_at(c->d, row[used].slot);

		if (id == NODE_ID_NONE || id == c->self)
			continue;
		answer_begin_node(c->w, "node_id", c->d, id);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
	jsonw_end(c->w);
	return used;
}

static void write_groups(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	struct shown_listeners r = { .row = x_calloc(LISTENERS_SHOWN, sizeof(*r.row)) };

	collect_here(c, &r);
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		collect_of(c, n, &r);
	qsort(r.row, r.n, sizeof(*r.row), compare);
	jsonw_array(c->w, "groups");
	for (unsigned i = 0; i < r.n;)
		i += write_group(c, r.row + i, r.n - i);
	jsonw_end(c->w);
	jsonw_u64(c->w, "left_out", r.left_out);
	free(r.row);
}

static void write_node_groups(struct command *c, const struct node *n)
{
	const struct listener_set *s = listeners_of(c->d->listeners, n->slot);
	unsigned lists = 0, count = 0;
	const uint64_t *entry = s ? listener_set_entries(s, &count) : NULL;

	if (!n->has_record)
		return;
	for (unsigned i = 0; i < count; i++)
		lists += !listener_group(entry[i]);
	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_bool(c->w, "snooping", n->rec.flags & RECORD_SNOOPS);
	jsonw_u64(c->w, "limited", lists);
	jsonw_u64(c->w, "groups", count - lists);
	jsonw_end(c->w);
}

enum command_result show_multicast(struct command *c)
{
	const struct groups *g = snooping_groups(c->d);
	const struct groups_domain *domain;

	jsonw_bool(c->w, "snooping", g != NULL);
	jsonw_bool(c->w, "querier", c->d->conf->multicast_querier);
	jsonw_u64(c->w, "queries", snooping_queries(c->d));
	jsonw_array(c->w, "vlans");
	for (uint32_t i = 0; g && (domain = groups_next(g, &i));)
		write_domain(c, domain);
	jsonw_end(c->w);
	write_groups(c);
	answer_nodes(c, "nodes", write_node_groups);
	return CMD_DONE;
}
