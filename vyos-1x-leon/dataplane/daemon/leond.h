// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * struct leond owns all state of one overlay interface: the loop, the kernel's device and sockets,
 * the tables, the protocol, the workers and the control socket. There is one per process; it is
 * passed down, and there is no global. states.h has the private states of modules. All functions
 * here run on the control thread.
 *
 * Each module has its own header. A module may use modules of its own folder and of later folders,
 * in this order. First life: start, reload, stop, reports of the protocol and the workers. Control:
 * commands of the control socket. Device: leon0 with MAC, MTU and offloads. LAN: loop guard and
 * VLANs at the kernel. Underlay: sockets, peers, rate limits. Routes: kernel routes, announced
 * prefixes. Accel: leon-accel. Then guard (state machine of the loop guard) and identity. Last
 * report: event log, clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

struct apply_verdict;
struct conf;
struct ctl_server;
struct events;
struct fdb;
struct fwd;
struct guard;
struct ipsec_report;
struct leond;
struct listeners;
struct loop;
struct mtu_rule;
struct neigh;
struct nl;
struct overlay;
struct resolve_answer;
struct seed_host;
struct states;
struct stretcher;
struct tap;
struct udp;
struct vlans;

/* A TLS connection that carries datagrams (transport/streams.h). */
struct stream_link {
	uint32_t id;		/* ipc/stream_control.h */
	struct endpoint local;	/* the stream, as workers and the protocol see it */
	struct endpoint remote; /* the TCP endpoint of the other end */
	mono_t since, used;	/* used: last time at which a node was there */
	bool kept;		/* leon-tls knows that a node is there */
};

/* An Internet line of this site (underlay/lines.h). */
struct line {
	int index;	  /* of its interface; 0: none, or missing */
	int bind_error;	  /* errno of the last request or bind; 0: none */
	const char *lost; /* reason why it cannot be used; NULL: none */
};

struct device {
	int master;	     /* ifindex of the bridge, bond or VRF; 0 none */
	bool bridge_port;    /* the master is a bridge */
	int bridge;	     /* ifindex of the configured bridge after joining; 0 none */
	bool bridge_missing; /* reported: the configured bridge is absent */
	bool is_port;	     /* the master is no VRF: addresses and routes belong to it */
	bool up;	     /* up and with carrier by the last notification */
	uint32_t table;	     /* routing table: of the VRF, or the main one */
	uint32_t kernel_mtu;
	struct mac mac;
	/* a LAN host sent a frame although leon0 is no port: another kind of bridging */
	bool lan_received;
	bool ports_down; /* the bridge has other ports, all without carrier */
	unsigned ports_running;
};

/* Calls of lower folders to life. */
struct leond_ops {
	void (*publish)(struct leond *d); /* builds and publishes the snapshot for workers */
	void (*reload)(struct leond *d, struct apply_verdict *v);
};

struct leond {
	const struct leond_ops *ops;
	struct loop *loop;
	struct conf *conf;
	struct states *states;
	node_id_t self;
	mono_t started;

	struct nl *nl;
	bool realtime;
	struct tap *tap;
	struct udp *udp;
	struct udp *stream_udp; /* sockets to leon-tls; n 0: none */
	struct udp *second_udp; /* sockets of the second line; n 0: none */
	struct line line[LINES_MAX];
	struct device device;
	struct mtu_rule *mtu;

	struct fdb *fdb; /* published; owned here until retired */
	struct neigh *neigh;
	struct listeners *listeners;
	struct fwd *fwd;
	struct overlay *overlay;
	struct stretcher *stretcher;
	struct events *events;
	struct vlans *vlans;
	struct guard *guard;

	uint32_t n_seeds;
	struct seed_host *seed;
	uint32_t n_stream_links;
	struct stream_link *stream_link;
	const struct resolve_answer *proxy; /* of TLS; NULL: no `transport tls` */
	struct ipsec_report *ipsec;
	struct ctl_server *ctl;
};

/* Returns a zeroed object with its parts, for free(). */
struct leond *leond_new(void);
