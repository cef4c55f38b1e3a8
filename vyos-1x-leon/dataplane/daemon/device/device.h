// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface, and what the process gets from the kernel for it. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

struct conf;
struct leond;
struct nl_event;

/* --- mtu.c --- */
/*
 * Rule of the interface MTU. A configured value has precedence. A bridge port has 1500, because
 * hosts behind the bridge do not know the overlay; LEON splits larger frames. Otherwise the MTU
 * follows the smallest path MTU. No I/O, no clock; control thread (daemon/device/device.c).
 *
 * A large MTU loses no frames (LEON splits), so even a decrease waits until path MTU probing has
 * settled. An increase waits longer, so that the MTU does not flap.
 */
#define MTU_MIN		   1280 /* minimum link MTU of IPv6 (RFC 8200 section 5) */
#define MTU_ETHERNET	   1500
#define MTU_LOWER_AFTER_MS 3000
#define MTU_RAISE_AFTER_MS 20000

enum mtu_source { MTU_NO_PATH, MTU_CONFIGURED, MTU_BRIDGE_PORT, MTU_PATH };
const char *mtu_source_name(enum mtu_source s); /* "configured", "bridge-port", "path", "default" */

struct mtu_input {
	uint32_t configured; /* 0: automatic */
	bool bridge_port;
	uint32_t smallest_path_mtu; /* smallest LEON datagram size of all routed nodes; 0 unknown */
	uint32_t header_len;	    /* encapsulation overhead on the longest permitted path */
};

struct mtu_rule {
	uint32_t mtu; /* MTU in force; 0 before the first run */
	enum mtu_source source;
	uint32_t wanted;     /* pending value, differs from mtu until stable */
	mono_t wanted_since; /* never: nothing pending */
};

/* Runs the rule; returns true if `mtu` changed. Called at every change of input and once a
 * second. */
bool mtu_rule_run(struct mtu_rule *r, const struct mtu_input *in, mono_t now);

/* --- device.c: MTU, MAC, state, master --- */
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

/* --- addresses.c: the addresses of the interface --- */
/* Makes the kernel's addresses those of the configuration, see addresses.c. */
void addresses_apply(struct leond *d);

/* --- system.c --- */
/* Offloads of the device and the sockets (system offload). */
enum offload {
	OFFLOAD_UDP_GSO,
	OFFLOAD_UDP_GRO,
	OFFLOAD_TSO,
	OFFLOAD_USO,
	OFFLOAD_CHECKSUM,
	N_OFFLOADS,
};

/* Called after device and sockets are open, and after a reload. */
void offload_apply_conf(struct leond *d);
/* Offloads that the workers must not use. */
struct snap_offload offload_disabled(const struct leond *d);
void offload_look(struct leond *d, mono_t now); /* called once a second */

/* Word in JSON and metrics. */
const char *offload_name(enum offload o);
/* Reason for which an offload is not used; NULL: it is used. */
const char *offload_unused(const struct leond *d, enum offload o);

/* Real-time scheduling of the threads (decisions/037). */
/* Called after the workers were started and after a reload; a refusal is logged once with its
 * reason. */
void scheduling_apply_conf(struct leond *d);

/* The limit of busy polling, us. 0 on a single processor, where polling would only delay the
 * program that sends the next frame. */
uint32_t scheduling_busy_poll_us(const struct conf *c);

/* The library for AES-256-GCM (system cipher-library, decisions/073). */
/* Called at the start, before any key and any worker exists, and after a reload. Present contexts
 * keep the library. Logs a change with the reason. */
void cipher_library_apply_conf(struct leond *d);
