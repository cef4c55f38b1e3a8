// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control messages: the payload of LEON_CONTROL after opening. A table with one row per type
 * {minimum, maximum length, read, write} drives decoding and encoding. A message is parsed
 * completely before any state changes. Pure; control thread. doc/protocol.md section 4 describes
 * the same table.
 *
 * All integers are big-endian. Every message is type (8) and body. Bytes behind the body are
 * padding and ignored; PING uses padding to probe the path MTU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/vlan_set.h"
#include "wire/flow_capture.h"

/* Largest message: type and body. With IPv6, UDP, the LEON header with the most hops, link value,
 * envelope and seal it fits the smallest link MTU of IPv6 (1280 bytes). */
#define MSG_LEN_MAX	   (1280 - 40 - 8 - 26 - 8 - 16 - 16)
#define MSG_HELLO_LEN	   191 /* HELLOs are padded to the longest */
#define MSG_SECRETS_MAX	   4
#define MSG_SIGNATURE_LEN  64
#define MSG_KEY_LEN	   32
#define MSG_KEY_NAME_LEN   7 /* prefix of an identity key that names it in a SUMMARY */
#define MSG_NAME_MAX	   32
#define MSG_LOCATORS_MAX   8
#define MSG_OVERLAY_MAX	   4
#define MSG_PREFIXES_MAX   32
#define MSG_SEGMENTS_MAX   26 /* ranges */
#define MSG_LAN_NODES_MAX  8
#define MSG_ATTRIBUTES_MAX 128 /* bytes of the attributes of a record */
#define MSG_SUMMARY_MAX	   48  /* entries of one message */
#define MSG_FETCH_MAX	   128
#define MSG_ROW_MAX	   64
#define MSG_SHORT_ROW_MAX  128
#define SHORT_ROW_ROOM	   (MSG_LEN_MAX - 28) /* bytes of entries */
#define SHORT_ENTRY_MAX	   15
#define MSG_GROUPS_MAX	   140
#define MSG_CAPTURE_MAX	   1024 /* bytes of records */
#define MSG_CLOCKS_MAX	   9
#define MSG_LOOKUP_MAX	   96
#define MSG_PARTS_MAX	   64 /* messages of one row or summary */
/* Upper bound of incarnations: microseconds since 1970 until the year 2255, exact in JSON. No clock
 * reaches it, so a higher value always exists for a node that must exceed an earlier incarnation of
 * its own. */
#define MSG_INCARNATION_MAX ((1ULL << 53) - 1)

enum msg_type {
	/* opens a session between two nodes, in both directions (protocol 3.2) */
	MSG_HELLO = 1,
	MSG_SUMMARY_REQ = 2, /* requests the list of nodes */
	MSG_SUMMARY = 3,     /* list of known records with their versions and keys */
	MSG_FETCH = 4,	     /* requests the records and rows of some origins */
	/* facts of one origin; the own record to all: join, with LEFT: leave */
	MSG_RECORD = 5,
	MSG_ROW = 6, /* latency row of one origin, complete or incremental */
	MSG_PING = 7,
	MSG_PONG = 8,
	MSG_NOTICE = 9,	   /* path error: a relay could not forward */
	MSG_SECRETS = 10,  /* the secrets of the sender have changed */
	MSG_CONFLICT = 11, /* another node uses the node-id of the receiver */
	MSG_GROUPS = 12,   /* multicast groups that the sender wants to receive */
	MSG_GROUPS_ACK = 13,
	MSG_SHORT_ROW = 14, /* MSG_ROW with short entries, for RECORD_TAKES_SHORT_ROWS */
	/* A capture of one flow on the receiver, for the sender. doc/decisions/084. */
	MSG_CAPTURE_START = 15,	 /* starts or ends */
	MSG_CAPTURE_READ = 16,	 /* requests the records from an offset on */
	MSG_CAPTURE_DATA = 17,	 /* answer to both */
	MSG_CAPTURE_LOOKUP = 18, /* requests the times of relayed datagrams */
	MSG_CAPTURE_SEEN = 19,	 /* answer to it */
	MSG_TYPES,		 /* number of types; 0 is invalid */
};

struct msg_hello {
	/* incarnation of the sender: microseconds since 1970 at its start, or later */
	uint64_t incarnation;
	uint64_t session_mine;	/* session value for messages to the sender; never 0 */
	uint64_t session_yours; /* last session_mine received from the receiver; 0 unknown */
	uint32_t secret[MSG_SECRETS_MAX];     /* names of the sender's secrets; 0 none */
	uint8_t data_offer;		      /* ciphers and curve, crypto/seal.h */
	uint8_t public[MSG_KEY_LEN];	      /* key offered with session_mine; all zero: none */
	uint8_t identity[MSG_KEY_LEN];	      /* Ed25519 key of the sender */
	uint8_t signature[MSG_SIGNATURE_LEN]; /* protocol 3.4 */
	/* address of the receiver as the sender sees it; family 0 unknown */
	struct endpoint observed;
	uint16_t port_hint; /* sender's configured port; 0 unknown */
};

struct msg_summary_entry {
	node_id_t origin;
	uint64_t incarnation;
	uint32_t seq;
	bool left; /* the record marks the node as left */
	uint8_t key[MSG_KEY_NAME_LEN];
};
struct msg_summary {
	uint16_t part, parts; /* 0-based; parts 1..MSG_PARTS_MAX */
	uint16_t n;
	struct msg_summary_entry entry[MSG_SUMMARY_MAX];
};

struct msg_fetch {
	uint16_t n;
	node_id_t origin[MSG_FETCH_MAX];
};

enum record_flags {
	RECORD_LEFT = 0x0001,		  /* the node has left: forget it, keep the tombstone */
	RECORD_TRANSIT_DISABLED = 0x0002, /* no paths through this node */
	RECORD_BEHIND_NAT = 0x0004, /* observed address differs from all addresses of its host */
	/* Another node shares its LAN, and the loop guard blocks this one in all or some VLANs. */
	RECORD_LAN_BLOCKED = 0x0008,
	RECORD_LAN_SHARED = 0x0010,
	/* It accepts and relays LEON_COPY. Other nodes receive every frame once. */
	RECORD_TAKES_COPIES = 0x0020,
	/* It serves only the listed segments. A node without the flag serves all VLANs and maps
	 * none. */
	RECORD_SEGMENTS = 0x0040,
	/* It has an accelerator and accepts LEON_ACCEL. */
	RECORD_ACCELERATES = 0x0080,
	/* It sends multicast to nodes with listeners only, and accepts MSG_GROUPS. */
	RECORD_SNOOPS = 0x0100,
	/* It restores frames from parities of LEON_COPY. */
	RECORD_TAKES_PARITY = 0x0200,
	/* It accepts datagrams of a node from several addresses, by the attribute LINE of PING. */
	RECORD_TAKES_LINES = 0x0400,
	RECORD_LAN = 0x0800,		  /* struct record_lan is present */
	RECORD_LAN_DOWN = 0x1000,	  /* its LAN interface has no link, so it shares no LAN */
	RECORD_HAS_LINES = 0x2000,	  /* it has two lines */
	RECORD_TAKES_SHORT_ROWS = 0x4000, /* it accepts MSG_SHORT_ROW */
	RECORD_LAN_MASK = 0x1818,
};
/* Loop-guard state for nodes at other sites. Segments form 64 classes by their id modulo 64.
 * Each class has a counter of two bits: one in `low`, one in `high`. A change of the counter
 * makes receivers relearn the hosts of these segments behind this node or behind another node on
 * its LAN. */
struct record_lan {
	uint64_t low, high;
	uint8_t n; /* number of other nodes on the LAN */
	node_id_t node[MSG_LAN_NODES_MAX];
};
static inline uint64_t lan_class(uint32_t segment)
{
	return 1ULL << segment % 64;
}
static inline void record_lan_count(struct record_lan *l, uint64_t classes)
{
	l->high ^= l->low & classes;
	l->low ^= classes;
}
static inline uint64_t record_lan_changed(const struct record_lan *a, const struct record_lan *b)
{
	return (a->low ^ b->low) | (a->high ^ b->high);
}
bool record_lan_names(const struct record_lan *l, node_id_t node);

struct msg_record {
	node_id_t origin;
	uint64_t incarnation;
	uint32_t seq; /* starts at 1 */
	uint16_t flags;
	char name[MSG_NAME_MAX + 1]; /* printable ASCII without spaces, may be empty */
	uint8_t n_locators, n_overlay, n_prefixes, n_segments;
	struct endpoint locator[MSG_LOCATORS_MAX];
	struct ip_addr overlay[MSG_OVERLAY_MAX]; /* overlay addresses, for next-hop export */
	struct prefix prefix[MSG_PREFIXES_MAX];
	struct id_range
		/* present with RECORD_SEGMENTS; sorted, disjoint, not adjacent */
		segment[MSG_SEGMENTS_MAX];
	struct record_lan lan;	       /* present with RECORD_LAN, else zero */
	uint8_t identity[MSG_KEY_LEN]; /* Ed25519 key of the origin */
	uint8_t signature[MSG_SIGNATURE_LEN];
	/* Facts for newer nodes: a list of type (8), length (8), value. This release has no type,
	 * and keeps and forwards the list. The list has a signature of its own, because older nodes
	 * verify and forward a record without it. */
	uint8_t n_attributes; /* bytes */
	uint8_t attributes[MSG_ATTRIBUTES_MAX];
	uint8_t attributes_signature[MSG_SIGNATURE_LEN];
};

/* Latency of a direct link. The latencies have 24 bits on the wire and saturate. */
struct lat_entry {
	uint32_t rtt_us;       /* short-term average of the RTT */
	uint32_t long_term_us; /* long-term average of the RTT */
	uint32_t var_us;       /* mean deviation of the short-term from the long-term average */
	uint16_t loss_pm;      /* smoothed loss in 1/1000, 0..1000 */
	uint16_t mtu; /* largest LEON datagram (UDP payload) that passes, bytes; 0 unknown */
	bool up;      /* last known state of the link */
	/* unresponsive: up, but its last probes are unanswered; rtt_us is an estimate */
	bool silent;
};
/* The link from the row's origin to `node`. */
struct row_entry {
	node_id_t node;
	struct lat_entry link;
};
struct msg_row {
	node_id_t origin;
	uint64_t incarnation;
	uint32_t seq;  /* sequence of this row, from 1, independent of the record's */
	uint32_t base; /* the entries are the changes since this sequence; 0: complete row */
	uint16_t part, parts;
	uint16_t n;
	/* SHORT-ROW only. It has times with an error of 0.4 %, variations with one of 3 % or 8 us,
	 * and entries in ascending order of node-ids. */
	uint16_t set; /* name of the set of nodes in all parts */
	uint16_t mtu; /* the usual MTU */
	struct row_entry entry[MSG_SHORT_ROW_MAX];
};
/* Length of the entry in a SHORT-ROW behind the entry of the node `before`, or 0. */
unsigned short_row_entry_len(const struct row_entry *e, node_id_t before, uint16_t mtu);

#define MSG_PING_LEN	  27 /* type included, without attributes */
#define MSG_PING_LINE_LEN 3  /* the attribute LINE */
struct msg_ping {
	uint32_t id;	  /* echoed by the PONG */
	uint64_t digest;  /* digest of all records of the sender (state/tables/nodedb.h) */
	uint32_t row_seq; /* sequence of the sender's own row */
	uint16_t size;	  /* UDP payload length of this PING, which reveals truncation */
	uint64_t guard;	  /* sequence of the sender's last loop-guard frame */
	uint8_t line;	  /* attribute LINE: number of the sender's line plus 1; 0: absent */
};
#define MSG_PONG_LEN 43 /* type included, without attributes */
struct msg_pong {
	uint32_t id;
	uint64_t digest;
	uint32_t row_seq;
	uint16_t size;	  /* UDP payload length of the PING on arrival */
	uint32_t held_ns; /* time between arrival of the ping and departure of the pong */
	/* Received data datagrams since the counter reset that `epoch` identifies. */
	uint32_t epoch;
	uint32_t link_rx; /* received directly from the sender of the PING */
	uint32_t path_rx; /* received with the sender of the PING as their source */
	/* Arrival time of the PING by the clock of the answering node, us, modulo 2^32. */
	uint32_t arrived_us;
	/* Rate limit for IP packets sent directly to the answering node; 0: no limit. */
	uint32_t limit_kbits;
	/* Attribute RECEIVED: bytes of IP packets with data that arrived on the pair of lines of
	 * the PING. Its presence announces that the node restores the order of distributed data. */
	bool has_received;
	uint64_t received;
};

struct msg_notice {
	node_id_t next;	       /* hop that the sender of the path error cannot reach */
	node_id_t destination; /* destination of the dropped datagram */
};

struct msg_secrets {
	uint32_t name[MSG_SECRETS_MAX]; /* names as in HELLO: the own one first; 0 none */
};

struct msg_conflict {
	uint64_t mine;	      /* value for `yours` of the answer; 0: no answer expected */
	uint64_t yours;	      /* `mine` of the answered HELLO or CONFLICT; 0 in a session */
	uint64_t incarnation; /* incarnation of the other node */
	bool same_identity;   /* the other node has the identity of the receiver: a clone */
	struct endpoint at;   /* address of the other node; family 0 unknown */
	uint8_t identity[MSG_KEY_LEN]; /* identity of the sender; zero in a session */
	uint8_t signature[MSG_SIGNATURE_LEN];
};

struct msg_groups {
	uint32_t seq; /* of the announcement, from 1 in each run of the sender */
	uint16_t part, parts;
	uint16_t n;
	uint64_t entry[MSG_GROUPS_MAX]; /* state/tables/listeners.h */
};

struct msg_groups_ack {
	uint32_t seq; /* of an announcement of which all parts arrived */
};

struct msg_capture_start {
	uint32_t id;	  /* random name of the capture, not 0 */
	uint16_t seconds; /* 0: ends the capture */
	uint32_t bytes;	  /* limit of the stream of records */
	uint16_t snap;	  /* bytes of each frame */
	struct capture_filter filter;
};

struct msg_capture_read {
	uint32_t id;
	uint32_t offset; /* in the stream of records */
};

enum capture_status {
	CAPTURE_RUNS = 0,
	CAPTURE_ENDED = 1,   /* by time, by bytes or by a request; the records stay readable */
	CAPTURE_REFUSED = 2, /* the configuration of the node does not permit it */
	CAPTURE_BUSY = 3,    /* another capture runs */
	CAPTURE_UNKNOWN = 4, /* no such capture, for example after a restart */
};
/* The clock of a node less the clock of the sender, as the link between them measures. */
struct msg_clock {
	node_id_t node;
	uint32_t offset_us; /* modulo 2^32 */
	uint32_t rtt_us;    /* smallest round-trip time; half of it bounds the error */
};
struct msg_capture_data {
	uint32_t id;
	uint8_t status;	 /* enum capture_status; only the first two have more than `by` */
	node_id_t by;	 /* CAPTURE_BUSY: node that captures, else NODE_ID_NONE */
	uint32_t offset; /* of the first byte here */
	uint32_t total;	 /* bytes of the stream at present */
	uint32_t frames; /* matching frames */
	uint32_t lost;	 /* matching frames without a record */
	uint8_t n_clocks;
	struct msg_clock clock[MSG_CLOCKS_MAX]; /* in answers to CAPTURE-START */
	uint16_t n;
	uint8_t bytes[MSG_CAPTURE_MAX];
};

/* The answer is without the datagrams that were not relayed here. */
struct msg_capture_lookup {
	uint32_t id;
	node_id_t source, destination;
	uint8_t n;
	uint64_t nonce[MSG_LOOKUP_MAX];
	uint32_t at_us[MSG_LOOKUP_MAX]; /* CAPTURE-SEEN: as in struct capture_record */
};

struct msg {
	uint8_t type;
	union {
		struct msg_hello hello;
		struct msg_summary summary;
		struct msg_fetch fetch;
		struct msg_record record;
		struct msg_row row;
		struct msg_ping ping;
		struct msg_pong pong;
		struct msg_notice notice;
		struct msg_secrets secrets;
		struct msg_conflict conflict;
		struct msg_groups groups;
		struct msg_groups_ack groups_ack;
		struct msg_capture_start capture_start;
		struct msg_capture_read capture_read;
		struct msg_capture_data capture_data;
		struct msg_capture_lookup capture_lookup, capture_seen;
	};
};

/* Returns 0; -ENOMSG: unknown type, to be ignored because a newer node may send it; -EBADMSG:
 * malformed. */
int msg_decode(const void *data, size_t len, struct msg *m);
/* Returns the length, at most MSG_LEN_MAX; -ENOSPC; -EINVAL: a field is out of range. */
int msg_encode(const struct msg *m, void *out, size_t out_len);
const char *msg_type_name(uint8_t type); /* "hello" ... or "unknown" */
