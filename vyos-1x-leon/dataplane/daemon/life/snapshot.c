// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the forwarding snapshot from overlay, configuration and tables, and publishes it. Control
 * thread; called when paths change, when the loop guard blocks or unblocks, and at reload.
 */
#include "daemon/accel/leon_accel.h"
#include "daemon/capture/captures.h"
#include "daemon/device/device.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/life/life.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "proto/view.h"
#include "state/conf/conf.h"

static void fill_vlan(struct leond *d, const struct guard_vlan *v, struct snap *s)
{
	if (v->state == GUARD_CLEAR || v->state == GUARD_SHARED)
		vlan_set_add(&s->lan->open, v->id);
	else if (v->state == GUARD_BLOCKED)
		vlan_set_add(&s->lan->blocked, v->id);
	for (unsigned i = 0; i < v->n_received; i++) {
		const struct node *n = nodedb_find(overlay_nodes(d->overlay), v->received[i].node);

		uint16_t vlan = segments_vlan(d->vlans->map, v->received[i].segment);

		if (n && vlan != VLAN_NONE)
			snap_add_same_lan(s, n->slot, vlan);
	}
}

static void fill_lan(struct leond *d, struct snap *s)
{
	const struct vlan_set *served = vlans_served(d->vlans);
	const struct guard *g = d->guard;
	bool guarded = g->conf.enabled && g->lan;

	if (!guarded && !served && !d->vlans->map)
		return;
	snap_add_lan(s);
	if (served)
		s->lan->served = *served;
	segments_limit(d->vlans->map, &s->lan->served);
	s->lan->guarded = guarded;
	s->lan->tag = d->vlans->tag;
	if (!guarded)
		s->lan->open = s->lan->served;
	for (unsigned i = 0; guarded && i < g->n_used; i++)
		fill_vlan(d, g->vlan[g->used[i]], s);
}

static void fill_marking(const struct conf *c, struct snap_marking *m)
{
	*m = (struct snap_marking){ .tos = c->tos,
				    .tclass = c->tclass,
				    .dscp_set = c->dscp_set,
				    .control_has_dscp = c->dscp_control != CONF_DSCP_NONE,
				    .dscp_control = c->dscp_control,
				    .ecn_disable = c->ecn_disable };
	if (c->dscp_copy)
		m->dscp = SNAP_DSCP_COPY;
	else if (c->dscp_set != CONF_DSCP_NONE)
		m->dscp = SNAP_DSCP_SET;
}

void snapshot_publish(struct leond *d)
{
	const struct conf *c = d->conf;
	struct snap *s;

	if (!d->fwd)
		return;
	s = snap_new(nodedb_slots(overlay_nodes(d->overlay)));
	s->self = d->self;
	s->vni = c->vni;
	s->transit_disable = c->transit_disable && mono_is_never(d->states->relays_until);
	s->mss_clamp = c->mss_clamp;
	s->busy_poll_us = scheduling_busy_poll_us(c);
	s->flow_sampling = c->flow_collector.family ? c->flow_sampling : 0;
	capture_fill_snap(d, &s->capture);
	s->shape_kbits = c->shaper_egress_kbits;
	s->no_offload = offload_disabled(d);
	fill_marking(c, &s->marking);
	s->suppress_arp = c->suppress_arp;
	s->suppress_nd = c->suppress_nd;
	s->storm_broadcast = c->storm_broadcast;
	s->storm_multicast = c->storm_multicast;
	s->storm_unknown = c->storm_unknown;
	s->storm_per_vlan = c->storm_per_vlan;
	s->fdb = d->fdb;
	s->neigh = d->neigh;
	s->listeners = c->multicast_snooping ? d->listeners : NULL;
	s->segments = d->vlans->map;
	if (policy_uses_pairs(&c->policy))
		snap_set_policy(s, &c->policy);
	overlay_fill_snap(d->overlay, s);
	fill_lan(d, s);
	accel_queues_fill_snap(d, s);
	snap_finish(s);
	bottleneck_notify_peers(d);
	fwd_publish(d->fwd, s);
	fwd_reclaim(d->fwd);
}

void snapshot_replace_fdb(struct leond *d, uint32_t maximum)
{
	struct fdb *old = d->fdb;

	d->fdb = fdb_copy(old, maximum);
	/* Publish first: a retired pointer must not be in the current snapshot. */
	snapshot_publish(d);
	fwd_retire(d->fwd, old, fdb_free);
	fwd_reclaim(d->fwd);
}

void snapshot_replace_neigh(struct leond *d, uint32_t maximum)
{
	struct neigh *old = d->neigh, *copy = neigh_new(maximum);
	struct neigh_entry e;

	for (uint32_t i = 0; neigh_next(old, &i, &e);) {
		neigh_learn(copy, e.vlan, &e.ip, e.mac, e.slot, e.role, e.confirmed_s);
		if (e.stale)
			neigh_mark_stale(copy, e.vlan, &e.ip);
	}
	d->neigh = copy;
	snapshot_publish(d);
	fwd_retire(d->fwd, old, neigh_free);
	fwd_reclaim(d->fwd);
}
