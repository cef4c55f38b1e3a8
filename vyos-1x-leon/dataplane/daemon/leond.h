// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * struct leond owns everything of one overlay interface: the loop, the kernel's device and
 * sockets, the tables, the protocol, the workers and the control socket. One exists per process;
 * it is passed down, there is no global. All functions here run on the control thread.
 *
 * What the modules offer is in their own headers, in three folders: life/ starts, stops, reloads
 * and takes in what the protocol and the workers report; control/ answers the control socket; host/
 * watches the host and sets what is the interface's there, one thing a file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "crypto/keys.h"
#include "daemon/host/loop_guard.h"
#include "daemon/host/ipsec.h"
#include "daemon/life/members.h"
#include "daemon/host/mtu.h"
#include "daemon/host/resolve.h"
#include "daemon/host/vlans.h"
#include "fwd/fwd.h"
#include "io/ctlsock.h"
#include "io/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "state/conf.h"
#include "state/fdb.h"
#include "state/neigh.h"

/* Each is its module's alone. */
struct accel_queues;
struct accel_reports;
struct accelerator;
struct announcer;
struct cache;
struct counters_reset;
struct guard_io;
struct housekeeping;
struct line;
struct locators;
struct probe_job;
struct routes;
struct senders;
struct source_state;
struct ask_hosts;
struct takeover;
struct usage;

/* One configured or cached peer, by index in conf->peer. */
struct seed_host {
	mono_t ask_at;	    /* next resolution not before */
	uint32_t backoff_s; /* wait after the next one */
	bool asking;	    /* an answer is outstanding */
	bool failing;	    /* the failure was reported */
	unsigned n;	    /* addresses of the last resolution */
	struct endpoint ep[RESOLVE_ADDRS_MAX];
	mono_t resolved_at; /* last answer with addresses */
	char error[128];    /* of the last answer; empty: there was none */
	/* reach.c */
	uint64_t name; /* hash of what makes it this peer: survives a reload */
	bool reached;  /* as seen last */
	bool reported; /* that it is not reached */
	mono_t since;  /* of `reached` */
};

struct device {
	int master;	  /* ifindex of the bridge, bond or VRF; 0 none */
	bool bridge_port; /* the master is a bridge */
	bool is_port;	  /* the master is no VRF: addresses and routes belong to the master */
	bool up;	  /* and with carrier, as reported last */
	uint32_t table;	  /* of routes: the VRF's, or the main one */
	uint32_t kernel_mtu;
	struct mac mac;
	bool lan_heard;	 /* a host of a LAN, while no port: somebody bridges it in another way */
	bool ports_down; /* the bridge has other ports, and none of them has a carrier */
	unsigned ports_running;
	struct mtu_rule rule;
};

struct leond {
	const char *config_path;
	struct loop *loop;
	struct conf *conf;
	node_id_t self;
	mono_t started;
	uint8_t identity[DH_KEY_LEN]; /* secret, until the overlay has it */

	struct nl *nl;
	struct nl_monitor *monitor;
	bool tap_is_open, udp_is_open, workers_run, realtime;
	struct tap tap;
	struct udp udp;
	struct device device;

	struct fdb *fdb; /* published; owned here until retired */
	struct neigh *neigh;
	struct fwd *fwd;
	struct overlay *overlay;
	struct stretcher *stretcher;
	struct events *events;
	struct vlans vlans;
	struct guard guard;

	struct resolver *resolver;
	uint32_t n_seeds;
	struct seed_host *seed;
	uint32_t seed_generation; /* answers about an older list of peers are ignored */
	mono_t reach_at;	  /* events of reach.c are paced */

	uint32_t n_configured_peers;
	struct timer *drain_timer, *ports_timer;
	bool gso_refused; /* and said so */

	struct announcer *announcer;
	struct cache *cache;
	struct counters_reset *counters_reset; /* NULL: they never were */
	struct guard_io *guard_io;
	struct housekeeping *housekeeping;
	struct line *line;
	struct locators *locators;
	struct routes *routes;
	struct senders *senders;
	struct source_state *source;
	struct takeover *takeover;
	struct ask_hosts *ask_hosts;
	struct usage *usage;
	struct accel_queues *accel_queues;
	struct accelerator *accelerator;
	struct accel_reports *accel_reports;

	struct timer *leave_timer, *give_back_timer;
	mono_t stop_at;
	unsigned leaves_sent;

	struct ipsec_report ipsec;

	struct ctl_server *ctl;
	struct probe_job *jobs; /* trace and ping under way */
};
