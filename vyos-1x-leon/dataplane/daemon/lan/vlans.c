// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VLANs that this node serves, from the kernel: the VLANs of leon0 as port of a VLAN-filtering
 * bridge, or the VLAN interfaces on leon0. Any other configuration may carry all VLANs. The loop
 * guard listens to them before their first frame. Control thread.
 */

#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "io/tap.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"

/* Debounce: `bridge vlan add` of many VLANs sends one message each. */
#define GATHER_MS 50
#define RETRY_MS  1000 /* after a failed dump */

const char *vlans_source_name(enum vlans_source s)
{
	static const char *const name[] = {
		[VLANS_ANY] = "any",
		[VLANS_BRIDGE] = "bridge",
		[VLANS_DEVICES] = "interfaces",
		[VLANS_CONFIGURED] = "configuration",
	};

	return name[s];
}

/* --- kernel queries --- */

struct stack {
	struct leond *d;
	struct vlan_set set;
	bool devices; /* VLAN interfaces exist on leon0 */
	bool others;  /* other interfaces exist that may send any VLAN, such as a macvlan */
	bool is_port; /* one of them is a port of a bridge or bond */
	int lower;
};

static void note_stacked(void *arg, const struct nl_link *link)
{
	struct stack *s = arg;

	if (link->lower != s->lower)
		return;
	if (!link->vlan_id) {
		s->others = true;
		return;
	}
	s->devices = true;
	vlan_set_add(&s->set, link->vlan_id);
	s->is_port |= link->master && !link->in_vrf;
}

static enum vlans_source of_stack(struct leond *d, struct vlan_set *out)
{
	struct stack s = { .d = d, .lower = d->tap->ifindex };

	if (nl_links(d->nl, note_stacked, &s) < 0)
		return VLANS_UNREAD;
	if (s.is_port)
		guard_lan_found(d);
	if (!s.devices || s.others || d->vlans->hidden)
		return VLANS_ANY;
	/* The host receives untagged frames. */
	vlan_set_add(&s.set, 0);
	*out = s.set;
	return VLANS_DEVICES;
}

static enum vlans_source of_kernel(struct leond *d, struct vlan_set *out, uint16_t *tag)
{
	struct nl_link master;

	if (!d->device.is_port)
		return of_stack(d, out);
	if (!d->device.bridge_port || nl_link_by_index(d->nl, d->device.master, &master) < 0 ||
	    !master.vlan_filtering)
		return VLANS_ANY;
	*tag = master.vlan_protocol;
	return nl_port_vlans(d->nl, d->tap->ifindex, out) < 0 ? VLANS_UNREAD : VLANS_BRIDGE;
}

static enum vlans_source find(struct leond *d, struct vlan_set *out, uint16_t *tag)
{
	enum vlans_source source = of_kernel(d, out, tag);

	if (d->conf->has_vlans) {
		*out = d->conf->vlans;
		source = VLANS_CONFIGURED;
	}
	segments_limit(d->vlans->map, out);
	return source;
}

/* --- consequences --- */

static void report(struct leond *d)
{
	char which[160];

	if (d->vlans->source == VLANS_ANY) {
		report_event(d, FACTS(EV_VLANS), "frames of all VLANs are carried");
		return;
	}
	vlan_set_format(&d->vlans->set, which, sizeof(which));
	report_event(d, FACTS(EV_VLANS), "frames of %s are carried (source: %s)",
		     *which ? which : "no VLAN", vlans_source_name(d->vlans->source));
}

static void announce(struct leond *d)
{
	const struct vlan_set *served = vlans_served(d->vlans);
	struct id_range range[MSG_SEGMENTS_MAX];
	unsigned n;

	if (!served && !d->vlans->map) {
		overlay_set_segments(d->overlay, NULL, 0);
		return;
	}
	n = segments_ranges(d->vlans->map, served, range, MSG_SEGMENTS_MAX);
	overlay_set_segments(d->overlay, range, n);
}

static void update(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct vlan_set set = { 0 };
	uint16_t tag = 0;
	enum vlans_source source = find(d, &set, &tag);

	/* The VLANs remain until a dump succeeds. */
	if (source == VLANS_UNREAD) {
		if (!d->vlans->failed)
			log_warn("vlans", "the VLANs of the interface cannot be read, and remain: "
					  "leond tries again each second");
		d->vlans->failed = d->vlans->retries = true;
		timer_set(d->vlans->timer, mono_add_ms(now, RETRY_MS));
		return;
	}
	d->vlans->failed = d->vlans->retries = false;
	if (source == d->vlans->source && tag == d->vlans->tag &&
	    vlan_set_equal(&set, &d->vlans->set))
		return;
	d->vlans->source = source;
	d->vlans->tag = tag;
	d->vlans->set = set;
	report(d);
	announce(d);
	guard_vlans_changed(d);
}

static bool is_about_us(const struct leond *d, const struct nl_link *link)
{
	return link->index == d->tap->ifindex || link->lower == d->tap->ifindex ||
	       (d->device.master && link->index == d->device.master);
}

void vlans_changed(struct leond *d, const struct nl_event *ev)
{
	if (ev->change != NL_OVERRUN && !is_about_us(d, &ev->link))
		return;
	if (ev->link.lower)
		d->vlans->hidden = false;
	if (!timer_is_set(d->vlans->timer) || d->vlans->retries)
		timer_set(d->vlans->timer, mono_add_ms(loop_now(d->loop), GATHER_MS));
	d->vlans->retries = false;
}

void vlans_frame_seen(struct leond *d, uint16_t vlan)
{
	const struct vlan_set *served = vlans_served(d->vlans);

	/* The VLAN may be a recent addition to the bridge's filter. */
	if (served && !vlan_set_has(served, vlan) && d->vlans->source == VLANS_DEVICES) {
		d->vlans->hidden = true;
		update(d, loop_now(d->loop));
	}
	guard_vlan_used(d, vlan, true);
}

void vlans_second(struct leond *d, mono_t now attr_unused)
{
	/* A full table does not learn the hosts of all VLANs. */
	bool full = fdb_count(d->fdb) >= fdb_maximum(d->fdb);

	for (uint16_t vlan = 1; vlan < VLAN_IDS; vlan++)
		if (d->guard->vlan[vlan])
			guard_vlan_used(d, vlan, full || fdb_count_in(d->fdb, vlan));
}

void vlans_open(struct leond *d)
{
	d->vlans->map = segments_new(d->conf->segment, d->conf->n_segments);
}

void vlans_start(struct leond *d)
{
	announce(d);
	d->vlans->timer = leond_timer(d, update, d);
	update(d, loop_now(d->loop));
}

/* --- change of the segment map --- */

static bool is_as_configured(const struct segments *m, const struct conf *c)
{
	if (!m || m->n != c->n_segments)
		return !m && !c->n_segments;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->mapped[i].id != c->segment[i].id ||
		    m->mapped[i].vlan != c->segment[i].vlan ||
		    strcmp(m->mapped[i].name, c->segment[i].name) != 0)
			return false;
	return true;
}

/* VLANs with a changed segment, and the classes of their old and new segments. */
static uint64_t difference(const struct segments *a, const struct segments *b, struct vlan_set *out)
{
	for (uint16_t vlan = 0; vlan < VLAN_IDS; vlan++)
		if (segments_id(a, vlan) != segments_id(b, vlan))
			vlan_set_add(out, vlan);
	return segments_classes(a, out) | segments_classes(b, out);
}

/* This and other nodes have learned hosts of these VLANs in the previous segments of the VLANs. */
static void replace_map(struct leond *d)
{
	struct segments *old = d->vlans->map;
	struct vlan_set changed = { 0 };
	struct slot_set others = { 0 };
	uint64_t classes;

	d->vlans->map = segments_new(d->conf->segment, d->conf->n_segments);
	classes = difference(old, d->vlans->map, &changed);
	guard_apply_conf(d);
	announce(d);
	guard_hosts_moved(d, classes);
	/* Publish first: a retired pointer must not be in the current snapshot. */
	d->ops->publish(d);
	/* With the previous map, a worker would report each forgotten host again. Neighbors are
	 * first, because workers answer with them. */
	slot_set_add_range(&others, SLOT_SELF + 1, nodedb_slots(overlay_nodes(d->overlay)));
	neigh_forget_slots(d->neigh, &others, &changed);
	fdb_forget_slots(d->fdb, &others, &changed, now_s_of(loop_now(d->loop)));
	if (old)
		fwd_retire(d->fwd, old, segments_free);
	fwd_reclaim(d->fwd);
}

void vlans_apply_conf(struct leond *d)
{
	if (!is_as_configured(d->vlans->map, d->conf))
		replace_map(d);
	update(d, loop_now(d->loop));
}
