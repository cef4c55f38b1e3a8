// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configuration: JSON text to a validated, immutable struct conf, and the difference between two
 * configurations. Words are those of the VyOS CLI (design.md section 6), units are in the comments.
 * Pure (no file access); control thread. Every refusal is a sentence with the path of the key.
 *
 * conf.def lists the leaves, their ranges and defaults, and the parts that a change of each
 * touches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/log.h"
#include "crypto/seal.h"
#include "state/tables/policy.h"
#include "state/tables/segments.h"
#include "ipc/accel_settings.h"
#include "wire/message/msg.h"

/* Limits of conf.def: CONF_PEERS_MAX, CONF_PEER_PORT_DEFAULT, CONF_SECRET_MIN and others. */
enum conf_limit {
#define ITEM(name, path, low, high, initial, ...)                                                  \
	CONF_##name##_MIN = low, CONF_##name##_MAX = high, CONF_##name##_DEFAULT = initial,
#define TEXT(name, path, low, high, ...) CONF_##name##_MIN = low, CONF_##name##_MAX = high,
#define LIST(name, path, high, ...)	 CONF_##name##_MAX = high,
#define TABLE(name, path, high, ...)	 CONF_##name##_MAX = high,
#include "state/conf/conf.def"
	CONF_NODES_LIMIT = 3072, /* upper limit of `member maximum` */
	CONF_VLAN_MAX = 4094,
	CONF_DSCP_NONE = 255,
};

/* system offload tap-segmentation */
enum tap_segmentation {
	TAP_SEGMENTATION_AUTOMATIC,
	TAP_SEGMENTATION_TCP_ONLY,
	TAP_SEGMENTATION_DISABLE,
};

struct conf_peer {
	char name[64];
	char host[CONF_HOST_MAX + 1]; /* address or DNS name as configured */
	bool is_ip;
	struct endpoint ep; /* port always valid; ip valid if is_ip */
	uint16_t tls_port;  /* TCP port of TLS, or 0 */
	bool disable;	    /* ignored by the protocol, but shown */
	char description[CONF_DESCRIPTION_MAX + 1];
};

/* A node named by a rule: by identity key or node-id. Never by a name, which each node chooses
 * itself. */
struct conf_node {
	node_id_t id; /* NODE_ID_NONE: named by key */
	uint8_t key[MSG_KEY_LEN];
};

/* An Internet line of this site. */
#define CONF_LINE_NAME_MAX 15
struct conf_line {
	char name[CONF_LINE_NAME_MAX + 1];
	struct ip_addr ip;			     /* family 0: any */
	char interface[CONF_LINE_INTERFACE_MAX + 1]; /* empty: none */
};

/* Rate limit for traffic sent directly to a node. */
struct conf_rate {
	node_id_t id;
	uint32_t kbits; /* 0: no limit */
};

/* Accepted prefixes of other nodes. */
struct conf_import {
	struct prefix prefix;
	uint8_t ge, le;	 /* range of accepted prefix lengths in bits */
	uint8_t n_nodes; /* 0: any node */
	struct conf_node node[CONF_IMPORT_NODES_MAX];
};

/* Nodes that may capture here. */
struct conf_capture {
	bool all;
	uint8_t n;
	struct conf_node node[CONF_CAPTURE_PERMIT_MAX];
};

struct conf {
	const char *file; /* its path */
	/* Leaves of conf.def: numbers, flags, switches and choices. Names end in their unit. */
#define NUMBER(field, path, type, ...) type field;
#define FLAG(field, ...)	       bool field;
#define OBJECT(field, ...)	       bool field;
#define CHOICE(field, path, type, ...) type field;
#include "state/conf/conf.def"

	char interface[CONF_IFNAME_MAX + 1];
	bool has_mac;
	struct mac mac;
	uint8_t n_addresses; /* sorted, with host bits */
	struct prefix address[CONF_ADDRESSES_MAX];
	char bridge[CONF_BRIDGE_MAX + 1]; /* empty: none */

	uint8_t dscp_set, dscp_control; /* CONF_DSCP_NONE: no change of the socket's value */

	struct ip_addr source4, source6; /* family 0: any address */
	char source_interface[CONF_SOURCE_INTERFACE_MAX + 1];
	uint8_t n_lines; /* by name, ascending; 0: the source-* above are the only line */
	struct conf_line line[LINES_MAX];
	node_id_t node_id; /* NODE_ID_NONE: the daemon derives it from the IPv4 source address */
	char node_name[CONF_NODE_NAME_MAX + 1];

	uint32_t n_peers;
	uint32_t n_configured_peers; /* n_peers without those of the member cache, which follow */
	struct conf_peer *peer;

	/* transport tls: files of the server, empty: none; proxy, empty host: none. */
	char tls_certificate[CONF_TLS_FILE_MAX + 1], tls_key[CONF_TLS_KEY_MAX + 1];
	struct conf_proxy {
		char host[CONF_HOST_MAX + 1];
		struct endpoint ep;		    /* ip of family 0: host is a name */
		char login[CONF_TLS_PROXY_MAX + 1]; /* "user:password", or empty */
	} proxy;

	struct conf_capture capture;
	struct ip_addr flow_collector; /* family 0: no export of flows */

	struct policy policy;
	struct accel_settings accel; /* settings of `acceleration` for leon-accel */

	char *secret; /* NULL: none */
	uint8_t n_accept;
	char *accept[CONF_ACCEPT_MAX];	 /* additionally accepted secrets */
	uint32_t n_trusted;		 /* 0: every identity with an accepted secret */
	uint8_t (*trusted)[MSG_KEY_LEN]; /* sorted */
	char identity_file[CONF_IDENTITY_FILE_MAX + 1];

	uint32_t n_rates;
	struct conf_rate *rate; /* by node-id, ascending */

	bool has_vlans; /* false: the VLANs of the kernel's configuration, or all */
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

/* Name of a line of this node, or NULL. */
const char *conf_line_name(const struct conf *c, uint8_t line);
/* Returns NULL on failure, with one sentence in err, which is never NULL. */
struct conf *conf_parse(const char *text, size_t len, char *err, size_t err_len);
void conf_free(struct conf *c); /* NULL ok; wipes the secret */

/* Returns true if the node, with this identity (NULL: unknown), may capture here. */
bool conf_permits_capture(const struct conf *c, node_id_t node, const uint8_t *identity);
/* Reads an identity or a node-id. */
bool conf_parse_node(const char *s, struct conf_node *out);

/* Checks a node name by the rules of a record (wire/message/msg.h). */
bool conf_is_node_name(const char *s);

/* Returns true if the configuration permits a member with this identity key. */
bool conf_trusts(const struct conf *c, const uint8_t key[MSG_KEY_LEN]);
/* Returns true if a permitted identity key begins with the bytes. */
bool conf_may_trust(const struct conf *c, const uint8_t *key, size_t len);

/* Rate limit for traffic sent directly to this node; 0: no limit. */
uint32_t conf_rate_to(const struct conf *c, node_id_t id);
/* Lowest rate limit of any node, or 0. */
uint32_t conf_lowest_rate(const struct conf *c);

/* Iterates the numbers of a section, such as "path", in the unit of the document. Returns the next
 * key from *at on (initially 0) and its value; NULL behind the last. */
const char *conf_next_number(const struct conf *c, const char *section, size_t *at,
			     uint32_t *value);

/* Parts of the daemon that a configuration change touches, as bits. */
enum conf_change {
	CONF_SAME = 0,
	CONF_PEERS = 1 << 0,
	CONF_PROBING = 1 << 1, /* measurement */
	CONF_PATHS = 1 << 2,   /* path */
	CONF_FDB = 1 << 3,
	/* storm-control, suppression, mss-clamp, loop-guard, vlan, shaper, busy-poll */
	CONF_FRAMES = 1 << 4,
	CONF_DEVICE = 1 << 5, /* mac, mtu, address, bridge, system offload */
	/* node-name, transit, overlay-address, export prefix: a new record is announced. */
	CONF_RECORD = 1 << 6,
	CONF_LOG = 1 << 7,
	CONF_MEMBERS = 1 << 8, /* member */
	CONF_ROUTES = 1 << 9,  /* overlay-address, export, import: kernel routes */
	/* Secrets (if both configurations have one); trusted-identity; rekey-time, cipher,
	 * disable; cipher-library. */
	CONF_KEYS = 1 << 10,
	CONF_DATAGRAMS = 1 << 11,    /* parameters, dscp, ecn, fwmark */
	CONF_POLICY = 1 << 12,	     /* policy */
	CONF_ACCELERATION = 1 << 13, /* acceleration */
	CONF_SCHEDULING = 1 << 14,   /* system scheduling */
	CONF_TRANSPORT = 1 << 15,    /* transport */
	CONF_PORT_MAPPING = 1 << 16, /* port-mapping */
	CONF_FLOWS = 1 << 17,	     /* flow-export */
	CONF_CAPTURE = 1 << 18,	     /* capture */
	/* Requires a restart: interface, vni, node-id, port, source-*, presence of a secret,
	 * workers, control-socket, presence of `transport tls`. */
	CONF_RESTART = 1 << 19,
};
unsigned conf_diff(const struct conf *a, const struct conf *b);
/* Lists the changed keys that need a restart, separated by commas, for the answer to `reload`. */
void conf_restart_keys(const struct conf *a, const struct conf *b, char *out, size_t len);
