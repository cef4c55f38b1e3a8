// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configuration: JSON text to one validated, immutable struct conf, and the difference between
 * two of them. Words are those of the VyOS CLI (design.md section 6), units are in the comments.
 * Pure (no file access); control thread. Every refusal is one sentence with the key's path.
 *
 * The leaves, their ranges, defaults and what a change of each touches are in conf.def.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/log.h"
#include "crypto/seal.h"
#include "state/policy.h"
#include "state/segments.h"
#include "wire/accel_settings.h"
#include "wire/msg.h"

/* CONF_PEERS_MAX, CONF_PEER_PORT_DEFAULT, CONF_SECRET_MIN and so on. */
enum conf_limit {
#define ITEM(name, path, low, high, initial, ...)                                                  \
	CONF_##name##_MIN = low, CONF_##name##_MAX = high, CONF_##name##_DEFAULT = initial,
#define TEXT(name, path, low, high, ...) CONF_##name##_MIN = low, CONF_##name##_MAX = high,
#define LIST(name, path, high, ...)	 CONF_##name##_MAX = high,
#define TABLE(name, path, high, ...)	 CONF_##name##_MAX = high,
#include "state/conf.def"
	CONF_NODES_LIMIT = 4096, /* of member maximum */
	CONF_VLAN_MAX = 4094,
	CONF_DSCP_NONE = 255,
};

struct conf_peer {
	char name[64];
	char host[CONF_HOST_MAX + 1]; /* address or DNS name, as written */
	bool is_ip;
	struct endpoint ep; /* port always; ip where is_ip */
	bool disable;	    /* as if it were not there, but it is shown */
	char description[CONF_DESCRIPTION_MAX + 1];
};

/* A node that a rule speaks of: by its identity key, or by its node-id. Not by its name, which
 * every node gives itself. */
struct conf_node {
	node_id_t id; /* NODE_ID_NONE: by key */
	uint8_t key[MSG_KEY_LEN];
};

/* What is sent straight to a node. */
struct conf_rate {
	node_id_t id;
	uint32_t kbits; /* 0: no limit */
};

/* Which prefixes of others are accepted. */
struct conf_import {
	struct prefix prefix;
	uint8_t ge, le;	 /* lengths accepted, in bits */
	uint8_t n_nodes; /* 0: of any node */
	struct conf_node node[CONF_IMPORT_NODES_MAX];
};

struct conf {
	/* Numbers, flags, objects that are switches, and choices, each with its unit
	 * in its name. */
#define NUMBER(field, path, type, ...) type field;
#define FLAG(field, ...)	       bool field;
#define OBJECT(field, ...)	       bool field;
#define CHOICE(field, path, type, ...) type field;
#include "state/conf.def"

	char interface[CONF_IFNAME_MAX + 1];
	bool has_mac;
	struct mac mac;

	uint8_t dscp_set, dscp_control; /* CONF_DSCP_NONE: as the socket */

	struct ip_addr source4, source6; /* family 0: any */
	char source_interface[CONF_SOURCE_INTERFACE_MAX + 1];
	node_id_t node_id; /* NODE_ID_NONE: from the IPv4 source address, decided by the daemon */
	char node_name[CONF_NODE_NAME_MAX + 1];

	uint32_t n_peers;
	struct conf_peer *peer;

	struct policy policy;
	struct accel_settings accel; /* `acceleration`, put together */

	char *secret; /* NULL: none */
	uint8_t n_accept;
	char *accept[CONF_ACCEPT_MAX];	 /* secrets of others that are accepted besides */
	uint32_t n_trusted;		 /* 0: every identity that comes under a secret */
	uint8_t (*trusted)[MSG_KEY_LEN]; /* sorted */
	char identity_file[CONF_IDENTITY_FILE_MAX + 1];

	uint32_t n_rates;
	struct conf_rate *rate; /* by node-id, ascending */

	bool has_vlans; /* false: as the kernel says, or all */
	struct vlan_set vlans;
	uint32_t n_segments;
	struct segment *segment; /* by id, ascending */

	uint8_t n_overlay;
	struct ip_addr overlay[CONF_OVERLAY_MAX];

	uint8_t n_prefixes; /* sorted */
	struct prefix prefix[CONF_PREFIXES_MAX];
	uint8_t n_import_addresses; /* 0: the private networks */
	struct prefix import_address[CONF_IMPORT_ADDRESSES_MAX];
	uint32_t n_imports; /* sorted */
	struct conf_import *import;

	char control_socket[CONF_CONTROL_SOCKET_MAX + 1];
};

/* Never NULL error on failure: returns NULL and one sentence in err. */
struct conf *conf_parse(const char *text, size_t len, char *err, size_t err_len);
void conf_free(struct conf *c); /* NULL ok; wipes the secret */

/* As in a record (wire/msg.h), because that is where the name goes. */
bool conf_is_node_name(const char *s);

/* May a node with this identity key be a member, as far as the configuration goes? */
bool conf_trusts(const struct conf *c, const uint8_t key[MSG_KEY_LEN]);
/* Is there one among them that begins with these bytes? */
bool conf_may_trust(const struct conf *c, const uint8_t *key, size_t len);

/* The rate of what is sent straight to this node, 0: no limit. */
uint32_t conf_rate_to(const struct conf *c, node_id_t id);
/* The lowest of all such rates, 0: there is none. */
uint32_t conf_lowest_rate(const struct conf *c);

/* The numbers of a section, such as "path", in the unit that the document has: the key of the
 * next one from *at on (0 at first) and its value, NULL past the last. */
const char *conf_next_number(const struct conf *c, const char *section, size_t *at,
			     uint32_t *value);

/* What a change from one configuration to another touches, as bits. */
enum conf_change {
	CONF_SAME = 0,
	CONF_PEERS = 1 << 0,
	CONF_PROBING = 1 << 1, /* measurement */
	CONF_PATHS = 1 << 2,   /* path */
	CONF_FDB = 1 << 3,
	/* storm-control, suppression, mss-clamp, loop-guard, vlan, shaper, busy-poll */
	CONF_FRAMES = 1 << 4,
	CONF_DEVICE = 1 << 5, /* mac, mtu */
	/* node-name, transit, overlay-address, export prefix: a new record is announced */
	CONF_RECORD = 1 << 6,
	CONF_LOG = 1 << 7,
	CONF_MEMBERS = 1 << 8, /* member */
	CONF_ROUTES = 1 << 9,  /* overlay-address, export, import: what the kernel is told */
	/* secrets, where both have one; trusted-identity; rekey-time, cipher, disable */
	CONF_KEYS = 1 << 10,
	CONF_DATAGRAMS = 1 << 11,    /* parameters, dscp, ecn, fwmark */
	CONF_POLICY = 1 << 12,	     /* policy */
	CONF_ACCELERATION = 1 << 13, /* acceleration */
	CONF_SCHEDULING = 1 << 14,   /* system scheduling */
	/* Cannot be applied to a running daemon: interface, vni, node-id, port, source-*, whether
	 * there is a secret, workers, control-socket. */
	CONF_RESTART = 1 << 15,
};
unsigned conf_diff(const struct conf *a, const struct conf *b);
/* Comma-separated keys that differ and need a restart, for the answer to `reload`. */
void conf_restart_keys(const struct conf *a, const struct conf *b, char *out, size_t len);
