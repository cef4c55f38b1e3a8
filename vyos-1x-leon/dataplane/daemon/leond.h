// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * struct leond owns all state of one overlay interface: loop, device and sockets of the kernel,
 * tables, protocol, workers and control socket. There is one per process; it is passed down, and
 * there is no global. states.h has the private states of modules. All functions here run on the
 * control thread.
 *
 * Each module has its own header, except in life. A module may use modules of its own folder and of
 * later folders, in this order. First life: start, reload, stop, reports of the protocol and the
 * workers. Control: commands of the control socket. Device: leon0 with MAC, MTU and offloads. LAN:
 * loop guard and VLANs at the kernel. Underlay: sockets, peers, rate limits. Routes: kernel routes,
 * announced prefixes. Accel: leon-accel. Then guard (state machine of the loop guard) and identity.
 * Last report: event log, clocks.
 */
#pragma once

#include "base/addr.h"
#include "base/loop.h"
#include "base/mono.h"
#include "daemon/device/device.h"

struct apply_verdict;
struct leond;

/* Calls of lower folders to higher ones. */
struct leond_ops {
	void (*publish)(struct leond *d); /* builds and publishes the snapshot for workers */
	void (*reload)(struct leond *d, struct apply_verdict *v);
	/* The TCP endpoint of the other end of a stream; NULL: unknown. */
	const struct endpoint *(*stream_remote)(const struct leond *d, const struct endpoint *ep);
	/* Reallocates *ip for the far ends of TLS connections and the addresses of the proxy.
	 * Strangers, who must not withdraw a route, are left out. Returns the number. */
	unsigned (*stream_ends)(const struct leond *d, struct ip_addr **ip);
};

struct leond {
	const struct leond_ops *ops;
	struct loop *loop;
	struct conf *conf;
	struct states *states;
	node_id_t self;
	mono_t started;

	struct nl *nl;
	struct tap *tap;
	struct udp *udp;
	struct device device;

	struct fdb *fdb; /* published; owned here until retired */
	struct neigh *neigh;
	struct listeners *listeners;
	struct fwd *fwd;
	struct overlay *overlay;
	struct events *events;
	struct vlans *vlans;
	struct guard *guard;

	struct ipsec_report *ipsec;
	struct ctl_server *ctl;
};

/* Returns a zeroed object with its parts, for free(). */
struct leond *leond_new(void);
/* Zeroed memory and a timer of a module, both in use until leond_release(). */
void *leond_memory(struct leond *d, size_t size);
struct timer *leond_timer(struct leond *d, timer_fn fn, void *arg);
void leond_release(struct leond *d);
