// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface in the kernel: MAC, MTU (rule in mtu.c), bridge and master; the addresses are in
 * addresses.c. Follows changes by other programs, for example bridge membership. Control thread.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "daemon/device/device.h"
#include "daemon/identity/own_identity.h"
#include "daemon/lan/local_lan.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "fwd/fwd.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "proto/view.h"
#include "state/latency/choice.h"

/* Docker loads br_netfilter, and its FORWARD chain drops bridged IP packets but no ARP. */
static void note_netfilter(const struct leond *d)
{
	FILE *f = fopen("/proc/sys/net/bridge/bridge-nf-call-iptables", "re");

	if (!f)
		return;
	if (fgetc(f) == '1')
		log_notice("device",
			   "IP packets in the bridge pass the FORWARD chain of the host "
			   "(net.bridge.bridge-nf-call-iptables=1) interface=%s",
			   d->tap->name);
	fclose(f);
}

static void note_master(struct leond *d, int master)
{
	struct nl_link link = { 0 };
	int r = master ? nl_link_by_index(d->nl, master, &link) : 0;

	/* The kernel has no memory for its answer. The next event of the interface tries again. */
	if (r < 0 && r != -ENODEV)
		return;
	if (r < 0)
		link = (struct nl_link){ 0 };
	d->device.master = master;
	d->device.bridge_port = strcmp(link.kind, "bridge") == 0;
	if (d->device.bridge_port)
		note_netfilter(d);
	d->device.is_port = master && !link.vrf_table;
	d->device.lan_received = false;
	d->device.ports_down = false;
	d->device.ports_running = 0;
	d->device.table = link.vrf_table ? link.vrf_table : NL_TABLE_MAIN;
	routes_device_changed(d);
}

/* Inputs of routes: state of the interface, and routing table of its VRF. */
static void note_link(struct leond *d, const struct nl_link *link)
{
	bool changed = d->device.up != (link->up && link->running);
	bool grew = d->device.kernel_mtu < MTU_MIN && link->mtu >= MTU_MIN;

	d->device.up = link->up && link->running;
	d->device.kernel_mtu = link->mtu;
	/* The kernel drops IPv6 addresses of an interface that goes down, or has a smaller MTU. */
	if (d->device.up && (changed || grew))
		addresses_apply(d);
	if (!changed)
		return;
	routes_device_changed(d);
	guard_lan_changed(d);
}

/* --- bridge --- */

/* A bridge that another program chose stays. */
static void leave_bridge(struct leond *d, int master)
{
	if (d->device.bridge && master == d->device.bridge)
		nl_link_set_master(d->nl, d->tap->ifindex, 0);
	d->device.bridge = 0;
}

static void bridge_is_missing(struct leond *d, const char *reason)
{
	if (!d->device.bridge_missing)
		report_event(d, FACTS(EV_BRIDGE_MISSING), "%s is no port of bridge %s: %s",
			     d->tap->name, d->conf->bridge, reason);
	d->device.bridge_missing = true;
	leave_bridge(d, d->device.master);
}

static void join_bridge(struct leond *d)
{
	struct nl_link bridge;
	int r = nl_link_by_name(d->nl, d->conf->bridge, &bridge);

	if (r < 0) {
		bridge_is_missing(d, "the bridge does not exist; it is joined when it appears");
		return;
	}
	if (strcmp(bridge.kind, "bridge") != 0) {
		bridge_is_missing(d, "the interface of this name is no bridge");
		return;
	}
	r = nl_link_set_master(d->nl, d->tap->ifindex, bridge.index);
	if (r < 0) {
		bridge_is_missing(d, strerror(-r));
		return;
	}
	d->device.bridge_missing = false;
	d->device.bridge = bridge.index;
	report_event(d, FACTS(EV_BRIDGE_JOINED), "%s is a port of bridge %s", d->tap->name,
		     bridge.name);
}

/* An interface that left the bridge by another program's hand stays out until a reload. */
static void apply_bridge(struct leond *d)
{
	struct nl_link own;

	if (nl_link_by_index(d->nl, d->tap->ifindex, &own) < 0)
		return;
	d->device.bridge_missing = false;
	if (d->conf->bridge[0]) {
		struct nl_link bridge;

		if (!own.master || nl_link_by_index(d->nl, own.master, &bridge) < 0 ||
		    strcmp(bridge.name, d->conf->bridge) != 0)
			join_bridge(d);
		else
			d->device.bridge = own.master;
		return;
	}
	leave_bridge(d, own.master);
}

static bool bridge_is_gone(struct leond *d, const struct nl_event *ev)
{
	struct nl_link link;

	if (ev->change == NL_OVERRUN)
		return nl_link_by_index(d->nl, d->device.bridge, &link) == -ENODEV;
	return ev->change == NL_LINK_GONE && ev->link.index == d->device.bridge;
}

static void bridge_changed(struct leond *d, const struct nl_event *ev)
{
	bool overrun = ev->change == NL_OVERRUN;
	bool gone = d->device.bridge && bridge_is_gone(d, ev);

	if (gone)
		bridge_is_missing(d, "the bridge was deleted; it is joined when it appears again");
	/* The notification of a new bridge may be lost too. */
	if (d->device.bridge_missing &&
	    (overrun || (!gone && strcmp(ev->link.name, d->conf->bridge) == 0)))
		join_bridge(d);
}

static uint32_t smallest_path_mtu(struct leond *d)
{
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));
	uint32_t smallest = 0;

	for (uint16_t slot = SLOT_SELF + 1; slot < n; slot++) {
		const struct choice *c = overlay_choice(d->overlay, slot);

		if (!c || c->path.n_hops == 0 || c->path.mtu == 0)
			continue;
		if (smallest == 0 || c->path.mtu < smallest)
			smallest = c->path.mtu;
	}
	return smallest;
}

/* Encapsulation overhead on the longest permitted path. */
static uint32_t header_len(const struct leond *d)
{
	const struct snap *s = d->fwd ? fwd_snap(d->fwd) : NULL;
	unsigned n_hops = d->conf->maximum_relays + 1;
	/* Data is sealed if the other node requires sealing, independent of this node's
	 * configuration. */
	bool sealed = !d->conf->encryption_disable || (s && s->any_sealed);

	return (uint32_t)(LEON_HDR_LEN(n_hops) +
			  snap_overhead(d->conf->secret != NULL, sealed, n_hops));
}

void device_run_mtu(struct leond *d, mono_t now)
{
	struct mtu_input in = {
		.configured = d->conf->mtu,
		.bridge_port = d->device.bridge_port,
		.smallest_path_mtu = smallest_path_mtu(d),
		.header_len = header_len(d),
	};
	int r;

	if (!mtu_rule_run(&d->device.mtu, &in, now))
		return;
	report_event(d,
		     FACTS(EV_INTERFACE_MTU, .value = d->device.mtu.mtu,
			   .detail = mtu_source_name(d->device.mtu.source)),
		     "interface MTU is %u bytes", d->device.mtu.mtu);
	r = nl_link_set_mtu(d->nl, d->tap->ifindex, d->device.mtu.mtu);
	if (r < 0)
		log_warn("device", "MTU cannot be set: %s interface=%s mtu=%u", strerror(-r),
			 d->tap->name, d->device.mtu.mtu);
}

/* A kept device has the MAC. Setting the same MAC again would delete the neighbor entries of the
 * kernel, and the next packet to each neighbor would wait for an answer. */
int device_set_mac(struct leond *d)
{
	struct mac wanted = identity_mac(d->conf, d->self);
	struct nl_link link = { 0 };
	int r = 0;

	nl_link_by_index(d->nl, d->tap->ifindex, &link);
	if (mac_to_u64(link.mac) != mac_to_u64(wanted))
		r = nl_link_set_mac(d->nl, d->tap->ifindex, wanted);
	if (r < 0)
		log_error("device", "MAC cannot be set: %s interface=%s", strerror(-r),
			  d->tap->name);
	else
		d->device.mac = wanted;
	return r;
}

int device_start(struct leond *d)
{
	struct nl_link link;
	int r = device_set_mac(d);

	if (r < 0)
		return r;
	d->device.table = NL_TABLE_MAIN;
	apply_bridge(d);
	if (nl_link_by_index(d->nl, d->tap->ifindex, &link) == 0)
		note_master(d, link.master);
	device_run_mtu(d, loop_now(d->loop));
	r = nl_link_set_up(d->nl, d->tap->ifindex, true);
	if (r < 0)
		log_error("device", "interface cannot be brought up: %s interface=%s", strerror(-r),
			  d->tap->name);
	else if (nl_link_by_index(d->nl, d->tap->ifindex, &link) == 0)
		note_link(d, &link);
	return r;
}

void device_apply_conf(struct leond *d)
{
	device_set_mac(d); /* logged */
	device_run_mtu(d, loop_now(d->loop));
}

void device_renew(struct leond *d)
{
	apply_bridge(d);
	addresses_apply(d);
}

static void on_link(struct leond *d, const struct nl_link *link)
{
	/* Another program (VyOS) may set the MAC; guard frames must contain the current one. */
	d->device.mac = link->mac;
	note_link(d, link);
	if (link->master == d->device.master)
		return;
	note_master(d, link->master);
	addresses_apply(d);
	bridge_ports_look(d);
	device_run_mtu(d, loop_now(d->loop));
	guard_lan_changed(d);
}

void device_look(struct leond *d)
{
	const struct nl_event missed = { .change = NL_OVERRUN };
	struct nl_link link;

	bridge_changed(d, &missed);
	if (nl_link_by_index(d->nl, d->tap->ifindex, &link) == 0)
		on_link(d, &link);
}

void device_changed(struct leond *d, const struct nl_event *ev)
{
	struct nl_link link = ev->link;
	int r = ev->change == NL_LINK_GONE ? -ENODEV : 0;

	bridge_changed(d, ev);
	if (ev->change == NL_OVERRUN)
		r = nl_link_by_index(d->nl, d->tap->ifindex, &link);
	else if (link.index != d->tap->ifindex)
		return;
	if (r == -ENODEV) {
		log_error("device",
			  "another program deleted the interface: leond ends interface=%s",
			  d->tap->name);
		loop_quit(d->loop, 1);
	} else if (r == 0) {
		on_link(d, &link);
	}
	/* The interface may have been down in between, see note_link(). */
	if (r == 0 && ev->change == NL_OVERRUN && d->device.up)
		addresses_apply(d);
}
