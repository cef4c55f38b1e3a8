// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which VLANs this node serves, as the kernel has it: leon0 as port of a bridge that filters VLANs
 * is a member of some; leon0 by itself has VLAN interfaces on it. Anything else carries whatever it
 * likes. The loop guard listens to them before their first frame. Control thread.
 */
#include "daemon/host/vlans.h"

#include <string.h>

#include "base/loop.h"
#include "daemon/host/loop_guard_io.h"
#include "daemon/leond.h"
#include "daemon/life/event_text.h"

/* `bridge vlan add` of many is one message each. */
#define GATHER_MS 50

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

/* --- asking the kernel --- */

struct stack {
	struct leond *d;
	struct vlan_set set;
	bool devices; /* VLAN interfaces are on leon0 */
	bool others;  /* and what may send frames of any VLAN, such as a macvlan */
	bool is_port; /* one of them belongs to a bridge or bond */
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
	struct stack s = { .d = d, .lower = d->tap.ifindex };

	if (nl_links(d->nl, note_stacked, &s) < 0)
		s.others = true;
	if (s.is_port)
		guard_lan_found(d);
	if (!s.devices || s.others || d->vlans.hidden)
		return VLANS_ANY;
	/* The host itself takes what has no tag. */
	vlan_set_add(&s.set, 0);
	*out = s.set;
	return VLANS_DEVICES;
}

static enum vlans_source of_kernel(struct leond *d, struct vlan_set *out)
{
	struct nl_link master;

	if (!d->device.is_port)
		return of_stack(d, out);
	if (!d->device.bridge_port || nl_link_by_index(d->nl, d->device.master, &master) < 0 ||
	    !master.vlan_filtering || nl_port_vlans(d->nl, d->tap.ifindex, out) < 0)
		return VLANS_ANY;
	return VLANS_BRIDGE;
}

static enum vlans_source find(struct leond *d, struct vlan_set *out)
{
	enum vlans_source source = of_kernel(d, out);

	if (!d->conf->has_vlans)
		return source;
	*out = d->conf->vlans;
	return VLANS_CONFIGURED;
}

/* --- what follows --- */

static void report(struct leond *d)
{
	const struct event_facts n = { .kind = EV_VLANS };
	char which[160];

	if (d->vlans.source == VLANS_ANY) {
		report_event(d, &n, "frames of all VLANs are carried");
		return;
	}
	vlan_set_format(&d->vlans.set, which, sizeof(which));
	report_event(d, &n, "frames of %s are carried, as the %s has it",
		     *which ? which : "no VLAN", vlans_source_name(d->vlans.source));
}

static void update(struct leond *d)
{
	struct vlan_set set = { 0 };
	enum vlans_source source = find(d, &set);

	if (source == d->vlans.source && vlan_set_equal(&set, &d->vlans.set))
		return;
	d->vlans.source = source;
	d->vlans.set = set;
	report(d);
	overlay_set_vlans(d->overlay, vlans_served(&d->vlans));
	guard_vlans_changed(d);
}

static void on_gathered(void *arg, mono_t now)
{
	(void)now;
	update(arg);
}

static bool is_about_us(const struct leond *d, const struct nl_link *link)
{
	return link->index == d->tap.ifindex || link->lower == d->tap.ifindex ||
	       (d->device.master && link->index == d->device.master);
}

void vlans_changed(struct leond *d, const struct nl_event *ev)
{
	if (ev->change != NL_OVERRUN && !is_about_us(d, &ev->link))
		return;
	if (ev->link.lower)
		d->vlans.hidden = false;
	if (!timer_is_set(d->vlans.timer))
		timer_set(d->vlans.timer, mono_add_ms(loop_now(d->loop), GATHER_MS));
}

void vlans_frame_seen(struct leond *d, uint16_t vlan)
{
	const struct vlan_set *served = vlans_served(&d->vlans);

	/* What the bridge filters is only late. */
	if (served && !vlan_set_has(served, vlan) && d->vlans.source == VLANS_DEVICES) {
		d->vlans.hidden = true;
		update(d);
	}
	guard_vlan_seen(d, vlan);
}

void vlans_start(struct leond *d)
{
	d->vlans.timer = timer_new(d->loop, on_gathered, d);
	update(d);
}

void vlans_stop(struct leond *d)
{
	timer_free(d->vlans.timer);
}

void vlans_apply_conf(struct leond *d)
{
	update(d);
}
