// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events about the VLANs of the loop guard, see local_lan.h. Control thread.
 */
#include "daemon/lan/local_lan.h"

#include "daemon/guard/loop_guard.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"

/* Sets *out to the changed VLANs in the given state. Returns the first other node on the LANs of
 * these VLANs. */
static node_id_t changed_into(const struct leond *d, const struct vlan_set *changed,
			      enum guard_state state, struct vlan_set *out)
{
	const struct guard *g = d->guard;
	node_id_t other = NODE_ID_NONE;

	*out = (struct vlan_set){ 0 };
	for (unsigned i = 0; i < g->n_used; i++) {
		const struct guard_vlan *v = g->vlan[g->used[i]];

		if (v->state != state || !vlan_set_has(changed, v->id))
			continue;
		vlan_set_add(out, v->id);
		if (other == NODE_ID_NONE && v->n_received)
			other = v->received[0].node;
	}
	return other;
}

static void report_state(struct leond *d, const struct vlan_set *changed, enum guard_state state,
			 enum event_kind kind, const char *what)
{
	struct vlan_set vlans;
	node_id_t node = changed_into(d, changed, state, &vlans);
	char which[160];

	if (vlan_set_is_empty(&vlans))
		return;
	vlan_set_format(&vlans, which, sizeof(which));
	if (node == NODE_ID_NONE)
		report_event(d, FACTS(kind), "%s (%s)", what, which);
	else
		report_event(d, FACTS(kind, .node = node), "node %s is on the same LAN (%s): %s",
			     NODE_LABEL(d, node), which, what);
}

void guard_report_states(struct leond *d, const struct vlan_set *changed)
{
	if (!d->guard->conf.enabled) {
		report_event(d, FACTS(EV_LOOP_GUARD_OFF), "the loop guard is switched off");
		return;
	}
	if (!d->guard->lan)
		return;
	report_state(d, changed, GUARD_LISTENING, EV_LOOP_GUARD_LISTENING,
		     "listening for other nodes on the local LAN before anything is forwarded");
	report_state(d, changed, GUARD_BLOCKED, EV_LOOP_GUARD_BLOCKED,
		     "this node does not forward");
	report_state(d, changed, GUARD_SHARED, EV_LOOP_GUARD_SHARED, "this node forwards");
	report_state(d, changed, GUARD_CLEAR, EV_LOOP_GUARD_CLEAR,
		     "no other node is on the local LAN: forwarding");
}

/* Another node on the LAN of a VLAN, with another name of that VLAN. */
static const struct guard_neighbor *received_other_segment(const struct leond *d,
							   const struct guard_vlan *v)
{
	uint32_t own = segments_id(d->vlans->map, v->id);

	for (unsigned i = 0; i < v->n_received; i++)
		if (v->received[i].segment != own)
			return &v->received[i];
	return NULL;
}

void guard_report_mismatch(struct leond *d, struct vlan_set *reported)
{
	const struct guard_neighbor *first = NULL;
	struct vlan_set found = { 0 };
	char which[160];

	for (unsigned i = 0; i < d->guard->n_used; i++) {
		const struct guard_vlan *v = d->guard->vlan[d->guard->used[i]];
		const struct guard_neighbor *h = received_other_segment(d, v);

		if (!h) {
			vlan_set_remove(reported, v->id);
		} else if (!vlan_set_has(reported, v->id)) {
			vlan_set_add(&found, v->id);
			first = first ? first : h;
		}
	}
	if (!first)
		return;
	vlan_set_add_all(reported, &found);
	vlan_set_format(&found, which, sizeof(which));
	report_event(
		d, FACTS(EV_SEGMENT_MISMATCH, .node = first->node, .value = first->segment),
		"node %s on the same LAN has another segment id for %s (%u for the first VLAN): "
		"configure the same segment ids on both nodes",
		NODE_LABEL(d, first->node), which, first->segment);
}
