// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configuration: JSON text to one validated, immutable struct conf, and the difference between
 * two of them. Words are those of the VyOS CLI (design.md section 6), units are in the comments.
 * Pure (no file access); control thread. Every refusal is one sentence with the key's path.
 *
 * {
 *   "version": 1, "interface": "leon0",
 *   "mac": "..", "mtu": 1500,                      absent: chosen / follows the path MTU
 *   "source-address": ["192.0.2.1", "2001:db8::1"],  at most one of each family
 *   "source-interface": "eth0", "port": 5366, "vni": 1,
 *   "parameters": { "ip": { "tos": 184, "ttl": 64, "df": "set" },
 *                   "ipv6": { "tclass": 184, "hoplimit": 64 } }, "fwmark": 7,
 *   "node-id": "192.0.2.1", "node-name": "fujisawa",
 *   "transit": { "disable": true },
 *   "peer": { "seoul": { "address": "198.51.100.7", "port": 5366,       IP address or DNS name
 *                        "disable": true, "description": ".." } },
 *   "measurement": { "interval": 1000, "fast-interval": 100, "dead-multiplier": 3, "lasting-time": 1800 },
 *   "path": { "threshold": 10, "threshold-minimum": 2000, "noise-margin": 60,
 *             "lasting-threshold": 5, "hold-time": 10, "maximum-relays": 3, "relay-cost": 500 },
 *   "fdb": { "aging": 300, "maximum": 16384 },
 *   "storm-control": { "broadcast": 1000, "multicast": 5000, "unknown-unicast": 1000 },
 *   "suppression": { "arp": true, "nd": true },
 *   "mss-clamp": { "disable": true },
 *   "loop-guard": { "disable": true, "interval": 1000 },
 *   "authentication": { "pre-shared-secret": "..", "accept-secret": [".."],
 *                       "trusted-identity": ["<64 hexadecimal digits>"] },  absent: whoever has the secret
 *   "identity-file": "/var/lib/leon/leon0.identity",
 *   "encryption": { "rekey-time": 3600, "cipher": "auto", "disable": true },   aes256gcm, chacha20poly1305
 *   "overlay-address": ["10.99.0.1"],               announced: next-hops of this node
 *   "export": { "next-hop": { "threshold": 10, "threshold-minimum": 500, "interval": 1000 },
 *               "prefix": ["10.1.0.0/16"],       the object next-hop, even empty, switches it on
 *               "unconditional": {} },                   an object, even empty: without a look for own routes
 *   "import": { "address": ["10.99.0.0/24"],       absent: private networks
 *               "distance": 90,
 *               "prefix": { "10.0.0.0/8": { "node": ["<64 hexadecimal digits>", "192.0.2.3"],
 *                                           "ge": 16, "le": 24 } } },
 *   "member": { "maximum": 1024, "forget-time": 3600 },
 *   "system": { "workers": 2, "busy-poll": 50, "control-socket": "/run/leon/leon0.sock", "log-level": "info" }
 * }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/log.h"
#include "crypto/seal.h"
#include "wire/msg.h"

#define CONF_PEERS_MAX	     256
#define CONF_IFNAME_MAX	     15
#define CONF_HOST_MAX	     253
#define CONF_DESCRIPTION_MAX 255
#define CONF_ACCEPT_MAX	     3
#define CONF_TRUSTED_MAX     1024
#define CONF_NODES_LIMIT     4096

#define CONF_IMPORTS_MAX	  256
#define CONF_IMPORT_DISTANCE_MAX  254 /* FRR uses no route of 255 */
#define CONF_IMPORT_NODES_MAX	  16
#define CONF_IMPORT_ADDRESSES_MAX 16

struct conf_peer {
	char name[64];
	char host[CONF_HOST_MAX + 1]; /* address or DNS name, as written */
	bool is_ip;
	struct endpoint ep; /* port always; ip where is_ip */
	bool disable;	    /* as if it were not there, but it is shown */
	char description[CONF_DESCRIPTION_MAX + 1];
};

/* A node that a rule speaks of: by its identity key, or by its node-id. Not by its name, which every
 * node gives itself. */
struct conf_node {
	node_id_t id; /* NODE_ID_NONE: by key */
	uint8_t key[MSG_KEY_LEN];
};

/* Which prefixes of others are accepted. */
struct conf_import {
	struct prefix prefix;
	uint8_t ge, le;	 /* lengths accepted, in bits */
	uint8_t n_nodes; /* 0: of any node */
	struct conf_node node[CONF_IMPORT_NODES_MAX];
};

struct conf {
	char interface[CONF_IFNAME_MAX + 1];
	bool has_mac;
	struct mac mac;
	uint32_t mtu; /* bytes, 68..9000; 0: automatic */

	struct ip_addr source4, source6; /* family 0: any */
	char source_interface[CONF_IFNAME_MAX + 1];
	uint16_t port;
	/* Of the datagrams that this node sends; 0: as the host has it. */
	uint8_t tos, ttl, tclass, hoplimit;
	bool df_unset;	   /* IPv4 routers may fragment them */
	uint32_t fwmark;   /* for policy routing and filters of this host */
	uint32_t vni;	   /* 0..2^24-1 */
	node_id_t node_id; /* NODE_ID_NONE: from the IPv4 source address, decided by the daemon */
	char node_name[MSG_NAME_MAX + 1];
	bool transit_disable;

	uint32_t n_peers;
	struct conf_peer *peer;

	uint32_t interval_ms;	   /* 100..60000, probes of an idle link */
	uint32_t fast_interval_ms; /* 20..interval, probes of a link in use */
	uint32_t lasting_s;	   /* 60..86400, time scale of the long run */
	uint32_t dead_multiplier;  /* 2..20 unanswered probes: silent, state/latdb.h */

	uint32_t threshold_percent; /* 0..90 */
	uint32_t threshold_min_us;  /* 0..10000000 */
	uint32_t noise_percent;	    /* 0..1000, of the variation of both paths */
	uint32_t lasting_percent;   /* 0..90, threshold in the long run */
	uint32_t hold_time_ms;	    /* 0..3600000; JSON in seconds (number, may be 0) */
	uint32_t maximum_relays;    /* 0..3 */
	uint32_t relay_cost_us;	    /* 0..10000000, added for each relay */

	uint32_t fdb_aging_s; /* 10..1000000 */
	uint32_t fdb_maximum; /* 16..1048576 entries */

	uint32_t storm_broadcast, storm_multicast,
		storm_unknown; /* frames per second, 0: no limit */
	uint32_t busy_poll_us; /* 0: workers sleep at once */
	bool suppress_arp, suppress_nd;
	bool mss_clamp;
	bool guard;
	uint32_t guard_interval_ms; /* 100..60000 */

	char *secret; /* NULL: none */
	uint8_t n_accept;
	char *accept[CONF_ACCEPT_MAX];	 /* secrets of others that are accepted besides */
	uint32_t n_trusted;		 /* 0: every identity that comes under a secret */
	uint8_t (*trusted)[MSG_KEY_LEN]; /* sorted */
	char identity_file[108];
	uint32_t rekey_ms; /* JSON in seconds, 1..86400 */
	enum seal_choice cipher;
	bool encryption_disable; /* data is not sealed; control is */

	uint8_t n_overlay;
	struct ip_addr overlay[MSG_OVERLAY_MAX];

	bool export_next_hop;
	uint32_t export_threshold_percent; /* 0..90: smaller changes of latency move no metric */
	uint32_t export_threshold_min_us;  /* 0..10000000: nor do these */
	uint32_t export_interval_ms;	   /* 1000..60000 between two metrics of one node */
	bool export_unconditional;	   /* prefixes are announced without own routes to them */
	uint8_t n_prefixes;		   /* sorted */
	struct prefix prefix[MSG_PREFIXES_MAX];
	uint8_t n_import_addresses; /* 0: the private networks */
	struct prefix import_address[CONF_IMPORT_ADDRESSES_MAX];
	uint32_t import_distance; /* 0..254, of prefixes: FRR's administrative distance */
	uint32_t n_imports;	  /* sorted */
	struct conf_import *import;

	uint32_t nodes_maximum; /* 2..CONF_NODES_LIMIT */
	uint32_t forget_ms;	/* JSON in seconds */

	uint32_t workers; /* 0: one per core, at most 8 */
	char control_socket[108];
	enum log_level log_level;
};

/* Never NULL error on failure: returns NULL and one sentence in err. */
struct conf *conf_parse(const char *text, size_t len, char *err, size_t err_len);
void conf_free(struct conf *c); /* NULL ok; wipes the secret */

/* May a node with this identity key be a member, as far as the configuration goes? */
bool conf_trusts(const struct conf *c, const uint8_t key[MSG_KEY_LEN]);
/* Is there one among them that begins with these bytes? */
bool conf_may_trust(const struct conf *c, const uint8_t *key, size_t len);

/* What a change from one configuration to another touches, as bits. */
enum conf_change {
	CONF_SAME = 0,
	CONF_PEERS = 1 << 0,
	CONF_PROBING = 1 << 1, /* measurement */
	CONF_PATHS = 1 << 2,   /* path */
	CONF_FDB = 1 << 3,
	CONF_FRAMES = 1 << 4, /* storm-control, suppression, mss-clamp, loop-guard, busy-poll */
	CONF_DEVICE = 1 << 5, /* mac, mtu */
	/* node-name, transit, overlay-address, export prefix: a new record is announced */
	CONF_RECORD = 1 << 6,
	CONF_LOG = 1 << 7,
	CONF_MEMBERS = 1 << 8, /* member */
	CONF_ROUTES = 1 << 9,  /* overlay-address, export, import: what the kernel is told */
	/* secrets, where both have one; trusted-identity; rekey-time, cipher, disable */
	CONF_KEYS = 1 << 10,
	CONF_DATAGRAMS = 1 << 11, /* parameters, fwmark */
	/* Cannot be applied to a running daemon: interface, vni, node-id, port, source-*, whether
	 * there is a secret, workers, control-socket. */
	CONF_RESTART = 1 << 15,
};
unsigned conf_diff(const struct conf *a, const struct conf *b);
/* Comma-separated keys that differ and need a restart, for the answer to `reload`. */
void conf_restart_keys(const struct conf *a, const struct conf *b, char *out, size_t len);
