// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Private states of the modules of the daemon. Only the module of a member may access the member.
 * Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "daemon/leond.h"

struct states {
	/* underlay */
	mono_t reach_at; /* pacing of reach.c's events */
	struct bottleneck *bottleneck;
	struct cache *cache;
	struct line_states *lines;
	struct locators *locators;
	struct seed_hosts *seeds;
	struct senders *senders;
	struct source_state *source;
	struct usage *usage;

	/* transport */
	struct fallback *fallback;
	struct portmap *portmap;      /* NULL: no `port-mapping` */
	struct stream_relay *streams; /* NULL: no `transport tls` */

	/* lan */
	struct timer *ports_timer;
	struct failover *failover;
	struct guard_io *guard_io;
	struct host_probes *host_probes;
	struct snooping *snooping;

	/* accel */
	struct accel_queues *accel_queues;
	struct accel_relay *accel_relays; /* requests without an answer */
	struct accel_reports *accel_reports;
	struct accelerator *accelerator;

	/* other folders */
	struct announcer *announcer;
	struct routes *routes;
	struct probe_job *jobs;		       /* trace and ping in progress */
	struct flow_export *flow_export;       /* NULL: no `flow-export` */
	struct provide *provide;	       /* capture on this node, or NULL */
	struct collect *collect;	       /* capture of this node's operator, or NULL */
	struct counters_reset *counters_reset; /* NULL: no reset yet */
	const char *cipher_library;	       /* as in the log; NULL before the first choice */
	bool gso_refused;		       /* a refusal of GSO was reported */
	uint8_t identity[32];		       /* secret key, until the overlay has it */

	/* life */
	bool tap_is_open, udp_is_open, workers_run;
	struct owned *owned; /* leond_memory() and leond_timer() */
	struct housekeeping *housekeeping;
	struct nl *monitor;	     /* of netlink */
	struct stretcher *stretcher; /* overlay_glue.c; NULL before the first use */
	struct timer *drain_timer, *leave_timer, *release_timer;
	mono_t stop_at;
	mono_t relays_until; /* despite `transit disable`, after a reload */
	unsigned leaves_sent;
	mono_t fdb_full_at;  /* last event `fdb-full` */
	uint64_t moved_macs; /* neigh_moved_bit() of the moves since walked_at */
	mono_t walked_at;    /* last neigh_forget_moved() */
};
