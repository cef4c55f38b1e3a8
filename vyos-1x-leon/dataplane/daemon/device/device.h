// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface: MTU, MAC, state, master. Control thread.
 */
#pragma once

#include "base/addr.h"
#include "base/mono.h"
#include "daemon/device/mtu.h"

struct leond;
struct nl_event;

struct device {
	int master;	     /* ifindex of the bridge, bond or VRF; 0 none */
	bool bridge_port;    /* the master is a bridge */
	int bridge;	     /* ifindex of the configured bridge after joining; 0 none */
	bool bridge_missing; /* reported: the configured bridge is absent */
	bool is_port;	     /* the master is no VRF: addresses and routes belong to it */
	bool up;	     /* up and with carrier by the last notification */
	uint32_t table;	     /* routing table: of the VRF, or the main one */
	uint32_t kernel_mtu;
	struct mtu_rule mtu;
	bool realtime; /* scheduling of this process */
	struct mac mac;
	/* a LAN host sent a frame although leon0 is no port: another kind of bridging */
	bool lan_received;
	bool ports_down; /* the bridge has other ports, all without carrier */
	unsigned ports_running;
};

/* Returns 0, or -errno after logging. */
int device_set_mac(struct leond *d);
int device_start(struct leond *d);
void device_look(struct leond *d); /* for changes between device_start() and the monitor */
void device_apply_conf(struct leond *d);
/* Restores bridge and addresses at each reload: another program may have removed them. */
void device_renew(struct leond *d);
void device_run_mtu(struct leond *d, mono_t now);
void device_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
