// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * struct leond owns everything of one overlay interface: the loop, the kernel's device and
 * sockets, the tables, the protocol, the workers and the control socket. One exists per process;
 * it is passed down, there is no global. All functions here run on the control thread.
 *
 * Who does what: start.c starts and stops; apply.c applies a changed configuration; snapshot.c
 * tells the workers; frames.c takes in what the workers report; overlay_glue.c what the protocol
 * reports; guard_io.c, device.c, locators.c, routes.c, announce.c, seeds.c, cache.c, usage.c and
 * reach.c,
 * housekeeping.c watch one thing each; cmds.c answers the control socket.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "crypto/keys.h"
#include "daemon/life/clock.h"
#include "daemon/life/event_log.h"
#include "daemon/host/loop_guard.h"
#include "daemon/host/ipsec.h"
#include "daemon/life/members.h"
#include "daemon/host/mtu.h"
#include "daemon/host/resolve.h"
#include "fwd/fwd.h"
#include "fwd/stats.h"
#include "io/ctlsock.h"
#include "io/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "state/announce.h"
#include "state/conf.h"
#include "state/export.h"
#include "state/fdb.h"
#include "state/neigh.h"

struct announcer;
struct probe_job;
struct routes;

/* One configured or cached peer, by index in conf->peer. */
struct seed {
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
	bool told;     /* that it is not reached */
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
	bool lan_heard; /* a host of a LAN, while no port: somebody bridges it in another way */
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
	bool tap_is_open, udp_is_open, workers_run;
	struct tap tap;
	struct udp udp;
	struct device device;

	struct fdb *fdb; /* published; owned here until retired */
	struct neigh *neigh;
	struct fwd *fwd;
	struct overlay *overlay;
	struct stretcher *stretcher;
	struct events *events;
	struct guard guard;
	struct timer *guard_timer;

	struct resolver *resolver;
	uint32_t n_seeds;
	struct seed *seed;
	uint32_t seed_generation; /* answers about an older list of peers are ignored */
	mono_t reach_at;	  /* events of reach.c are paced */

	char cache_path[160];
	struct member_list cached; /* as read at the start; appended to every configuration */
	uint32_t n_configured_peers;
	char *saved;	 /* text of the file as written last */
	bool save_fails; /* it could not be written, which was said */
	mono_t saved_at;

	int source_index;    /* of source-interface; 0 none */
	bool source_lost[2]; /* source-address of IPv4, IPv6 */

	unsigned n_locators;
	struct endpoint locator[MSG_LOCATORS_MAX];
	struct timer *locators_timer; /* gathers bursts of netlink changes */

	struct timer *second_timer, *usage_timer, *drain_timer;
	uint64_t *link_tx; /* by slot, as of the last look of usage.c */
	uint16_t n_link_tx;
	bool gso_refused; /* and said so */

	struct routes *routes;
	struct announcer *announcer;

	struct timer *leave_timer;
	unsigned leaves_sent;

	struct ipsec_report ipsec;

	struct ctl_server *ctl;
	uint64_t
		no_descriptors; /* connections to it that were closed for that, as of the last look */
	struct probe_job *jobs;		   /* trace and ping under way */
	uint64_t counter_base[N_COUNTERS]; /* subtracted in `show statistics` */
	uint64_t drop_base[N_DROPS];
	mono_t statistics_since;
	char status[128]; /* as told to the service manager last */
};

/* --- start.c --- */
/* 0, or -errno with the reason logged; leond_free() in both cases. */
int leond_start(struct leond *d, const char *config_path, struct conf *conf);
/* Until a signal asks it to stop and leave was said, or the loop fails: 0 or -errno. Either is logged. */
int leond_run(struct leond *d);
void leond_free(struct leond *d); /* half-started too */

/* --- confread.c: the file; NULL and one sentence in err --- */
struct conf *conf_read_file(const char *path, char *err, size_t err_len);

/* --- identity.c --- */
/* node-id from the configuration or the host's addresses; -EADDRNOTAVAIL with a sentence. */
int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len);
/* A MAC that stays the same over restarts. */
struct mac identity_mac(const struct conf *c, node_id_t self);

/* --- identity_file.c --- */
/* Reads the identity key, or makes one where there is none. 0, or -errno with the reason logged:
 * there is no running without it. */
int identity_load(struct leond *d);
/* Makes a key in a file that is not there yet; text, with room for it: its public half in hexadecimal.
 * 0 or -errno. */
int identity_generate(const char *path, char *text);
void identity_hand_over(struct leond *d); /* to the overlay */

/* --- apply.c --- */
struct apply_verdict {
	bool ok;		/* false: nothing was changed, see text */
	unsigned changes;	/* enum conf_change bits that were applied */
	char restart_keys[256]; /* not empty: nothing was applied, a restart is needed */
	char warning[512];	/* of what was applied; empty: none */
	char text[512];		/* "applied", "restart needed: KEYS", or the error */
};
void leond_reload(struct leond *d, struct apply_verdict *v);

/* --- snapshot.c --- */
void snapshot_publish(struct leond *d);
/* Replaces the FDB by one of this capacity and publishes. */
void snapshot_replace_fdb(struct leond *d, uint32_t maximum);

/* --- overlay_glue.c --- */
/* What the protocol calls; arg is struct leond. */
const struct overlay_ops *overlay_glue_ops(void);

/* --- notes.c: events --- */
struct note {
	enum event_kind kind;
	node_id_t node, other;
	uint64_t value;
	const char *detail; /* NULL none */
};
void note_event(struct leond *d, const struct note *n, const char *fmt, ...) attr_printf(3, 4);
void note_overlay_event(struct leond *d, const struct overlay_event *e);
/* "seoul (192.0.2.3)" or "192.0.2.3". */
#define NODE_LABEL_LEN (MSG_NAME_MAX + NODE_ID_STRLEN + 4)
char *node_label(struct leond *d, node_id_t id, char *buf, size_t len);
/* node-name of a node in the table, "" where unknown. */
const char *node_name_of(struct leond *d, node_id_t id);

/* --- frames.c --- */
int frames_start(struct leond *d);

/* --- guard_io.c --- */
/* Forgets what may be wrong now that the LAN behind the node is another. */
void lan_changed(struct leond *d, uint16_t slot);
void guard_start(struct leond *d);
void guard_apply_conf(struct leond *d);
void guard_frame_heard(struct leond *d, const uint8_t *frame, size_t len);
/* A host on the local segment: there is a LAN, though leon0 be no port of anything. */
void guard_local_host(struct leond *d, struct mac mac);
/* Something about the device changed: tell the segment at once. */
void guard_send_now(struct leond *d);

/* --- device.c --- */
int device_start(struct leond *d);
void device_apply_conf(struct leond *d);
void device_run_mtu(struct leond *d, mono_t now);

/* --- locators.c: also the netlink monitor --- */
int monitor_start(struct leond *d);
void locators_update(struct leond *d);
void device_link_event(struct leond *d, const struct nl_event *ev); /* device.c */

/* --- routes.c --- */
#define ROUTE_PROTOCOL 76
int routes_start(struct leond *d);
/* Takes them all back; the daemon stops. */
void routes_stop(struct leond *d);
void routes_free(struct leond *d);
void routes_soon(struct leond *d); /* paths, members, configuration or the loop guard changed */
void routes_device_changed(struct leond *d);
void routes_addresses_changed(struct leond *d);
/* Would a datagram to this address go into the overlay? Counted as withheld where it would. */
bool routes_withhold(struct leond *d, const struct ip_addr *to);
/* Is the address inside what this node announces? */
bool routes_announces(const struct conf *c, const struct ip_addr *ip);
struct routes_view {
	const struct export *plan;
	const struct export_installed *installed; /* sorted */
	unsigned n_installed;
	bool usable;	    /* false: there are none, and `reason` says why */
	const char *reason; /* static */
	uint64_t added, changed, withdrawn, repaired, failed, withheld; /* since the start */
};
void routes_view(const struct leond *d, struct routes_view *v);

/* --- announce.c: prefixes that this node has routes to --- */
void announcer_start(struct leond *d); /* before others hear of this node */
void announcer_free(struct leond *d);
void announcer_soon(struct leond *d); /* links or addresses of the host changed */
void announcer_apply_conf(struct leond *d);
const struct announce *announcer_view(const struct leond *d);

/* --- datagrams.c: header fields and mark of what is sent. 0 or -errno, logged --- */
int datagrams_apply_conf(struct leond *d);

/* --- source.c: the address or interface that is sent from goes, or comes back --- */
void source_start(struct leond *d);
void source_changed(struct leond *d, const struct nl_event *ev);

/* --- seeds.c --- */
int seeds_start(struct leond *d);
/* The list of peers changed. */
void seeds_reset(struct leond *d);
void seeds_run(struct leond *d, mono_t now); /* once a second */

/* --- reach.c: which configured peers are reached, and why others are not --- */
struct reach {
	const struct conf_peer *peer;
	struct overlay_seed seed;
	const char *state; /* "reached", "trying", "unresolved", "self", "disabled" */
	mono_t since;
	enum seed_finding best; /* what is known of that of its addresses of which most is known */
	int error;
};
void reach_look(struct leond *d, uint32_t i, struct reach *out);
const char *reach_finding_name(enum seed_finding f);
const char *reach_finding_text(enum seed_finding f, int error);
/* A sentence; NULL where it is reached or not asked for. */
const char *reach_reason(const struct leond *d, uint32_t i, const struct reach *r, char *buf,
			 size_t len);
void reach_run(struct leond *d, mono_t now); /* once a second */

/* --- advice.c: what will not work, one sentence each --- */
typedef void (*advice_fn)(void *arg, const char *text);
void advice_of(const struct conf *c, advice_fn fn, void *arg);

/* --- cache.c --- */
void cache_load(struct leond *d);
void cache_append_to(const struct leond *d, struct conf *c);
void cache_save(struct leond *d, mono_t now);

/* --- offload.c --- */
/* Turns off what the environment says; after the device and the sockets were opened. */
void offload_limit(struct leond *d);
void offload_look(struct leond *d); /* once a second */

/* --- usage.c, housekeeping.c --- */
void usage_start(struct leond *d);
void housekeeping_start(struct leond *d);

/* --- cmds.c --- */
int cmds_start(struct leond *d);
/* --- probes.c --- */
void probe_jobs_drop(struct leond *d);

/* --- counters.c: packet-path counters --- */
void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS]);
uint64_t resident_bytes(void);
