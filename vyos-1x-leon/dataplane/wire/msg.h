// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control messages: what LEON_CONTROL carries once opened. A table of one row per type
 * {minimum, maximum length, read, write} drives decode and encode; a message is parsed whole
 * before anybody acts on it. Pure; control thread. doc/protocol.md section 4 is the same list.
 *
 * All integers big-endian. Every message: type (8) and its body; bytes behind the body are
 * padding and ignored (PING uses them to probe the path MTU).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/id_range.h"

/* Type and body. With all that goes around it, this fits the smallest link that IPv6 permits
 * (1280 bytes): IPv6 and UDP, the LEON header with the most hops, the link value, the envelope
 * and the seal. */
#define MSG_LEN_MAX	  (1280 - 40 - 8 - 26 - 8 - 16 - 16)
#define MSG_HELLO_LEN	  191 /* all HELLOs are padded to the longest */
#define MSG_SECRETS_MAX	  4
#define MSG_SIGNATURE_LEN 64
#define MSG_KEY_LEN	  32
#define MSG_KEY_NAME_LEN  7 /* first bytes of an identity key that name it in a SUMMARY */
#define MSG_NAME_MAX	  32
#define MSG_LOCATORS_MAX  8
#define MSG_OVERLAY_MAX	  4
#define MSG_PREFIXES_MAX  32
#define MSG_SEGMENTS_MAX  26 /* ranges */
#define MSG_LAN_NODES_MAX 8
#define MSG_SUMMARY_MAX	  48 /* entries in one message */
#define MSG_FETCH_MAX	  128
#define MSG_ROW_MAX	  64
#define MSG_PARTS_MAX	  64 /* messages that make up one row or summary */
/* Microseconds since 1970 until the year 2255, and what JSON can say exactly. No clock reaches it,
 * so there is always a higher one for a node that has to outbid an earlier run of its own. */
#define MSG_INCARNATION_MAX ((1ULL << 53) - 1)

enum msg_type {
	MSG_HELLO = 1,	     /* opens a session between two nodes; both ways, see protocol 3.2 */
	MSG_SUMMARY_REQ = 2, /* asks for the list of nodes: "what do you know" */
	MSG_SUMMARY = 3,     /* the list: whose records, in which versions, under which keys */
	MSG_FETCH = 4,	     /* asks for the records and rows of some origins */
	MSG_RECORD = 5,	     /* facts of one origin; one's own to all: join, with LEFT: leave */
	MSG_ROW = 6,	     /* the latency row of one origin, whole or what changed */
	MSG_PING = 7,
	MSG_PONG = 8,
	MSG_NOTICE = 9,	   /* a relay could not forward */
	MSG_SECRETS = 10,  /* the secrets of the sender are others than before */
	MSG_CONFLICT = 11, /* another node uses the node-id of the receiver */
};

struct msg_hello {
	uint64_t incarnation;	/* of the sender: microseconds since 1970 at its start, or later */
	uint64_t session_mine;	/* value the sender wants to see on messages to it; never 0 */
	uint64_t session_yours; /* last session_mine seen from the receiver; 0 unknown */
	uint32_t secret[MSG_SECRETS_MAX]; /* names of the secrets it has; 0 none */
	uint8_t data_offer;		  /* what it wants for data, crypto/seal.h */
	uint8_t public[MSG_KEY_LEN];	  /* X25519 key offered with session_mine; all zero: none */
	uint8_t identity[MSG_KEY_LEN];	  /* Ed25519 key of the sender */
	uint8_t signature[MSG_SIGNATURE_LEN]; /* protocol 3.4 */
	struct endpoint observed; /* where the sender sees the receiver; family 0 unknown */
	uint16_t port_hint;	  /* sender's configured port; 0 unknown */
};

struct msg_summary_entry {
	node_id_t origin;
	uint64_t incarnation;
	uint32_t seq;
	bool left; /* the record says that it left */
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
	RECORD_TRANSIT_DISABLED = 0x0002, /* never relay through it */
	RECORD_BEHIND_NAT = 0x0004, /* others see it at an address that its host does not have */
	/* Another node is on its LAN, and the loop guard stops this one in all VLANs, or lets it go
	 * on in some. */
	RECORD_LAN_BLOCKED = 0x0008,
	RECORD_LAN_SHARED = 0x0010,
	/* It takes and relays LEON_COPY; a node that does not gets every frame once. */
	RECORD_TAKES_COPIES = 0x0020,
	/* It serves the segments named alone; a node without the flag serves all VLANs, and maps
	 * none of them. */
	RECORD_SEGMENTS = 0x0040,
	/* It has an accelerator, which takes LEON_ACCEL; nobody else is sent one. */
	RECORD_ACCELERATES = 0x0080,
	RECORD_LAN = 0x0800,	  /* struct record_lan is there */
	RECORD_LAN_DOWN = 0x1000, /* its LAN has no link: it is on nobody's LAN any more */
	RECORD_LAN_MASK = 0x1818,
};
/* What the loop guard has to say to nodes elsewhere. Segments are told apart by their id modulo
 * 64: each such class has a counter of two bits, one of `low` and one of `high`. When it changes,
 * hosts in those segments, behind this node or behind another on its LAN, are to be learned
 * anew. */
struct record_lan {
	uint64_t low, high;
	uint8_t n; /* other nodes on the LAN */
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
	uint32_t seq; /* from 1 */
	uint16_t flags;
	char name[MSG_NAME_MAX + 1]; /* printable ASCII without spaces, may be empty */
	uint8_t n_locators, n_overlay, n_prefixes, n_segments;
	struct endpoint locator[MSG_LOCATORS_MAX];
	struct ip_addr overlay[MSG_OVERLAY_MAX]; /* overlay addresses, for next-hop export */
	struct prefix prefix[MSG_PREFIXES_MAX];
	struct id_range
		segment[MSG_SEGMENTS_MAX]; /* with RECORD_SEGMENTS; sorted, with gaps between */
	struct record_lan lan;		   /* with RECORD_LAN, else zero */
	uint8_t identity[MSG_KEY_LEN];	   /* Ed25519 key of the origin */
	uint8_t signature[MSG_SIGNATURE_LEN];
};

/* Latency of the direct link from the row's origin to `node`. */
struct row_entry {
	node_id_t node;
	bool up; /* it works as far as is known */
	/* 24 bits on the wire, saturating */
	uint32_t rtt_us;     /* round-trip time now */
	uint32_t lasting_us; /* and in the long run */
	uint32_t var_us;     /* mean deviation from that */
	uint16_t loss_pm;    /* smoothed loss in 1/1000, 0..1000 */
	uint16_t mtu;	     /* largest LEON datagram (UDP payload) that passes, bytes */
	bool silent;	     /* up, but the last probes are unanswered */
};
struct msg_row {
	node_id_t origin;
	uint64_t incarnation;
	uint32_t seq;  /* of this row, from 1, independent of the record's */
	uint32_t base; /* entries are what changed after this sequence; 0: the whole row */
	uint16_t part, parts;
	uint16_t n;
	struct row_entry entry[MSG_ROW_MAX];
};

struct msg_ping {
	uint32_t id;	  /* matched by the answer */
	uint64_t digest;  /* of all records the sender knows (state/nodedb.h) */
	uint32_t row_seq; /* of the sender's own row */
	uint16_t size;	  /* whole UDP payload of this ping, so that a truncated path shows */
};
struct msg_pong {
	uint32_t id;
	uint64_t digest;
	uint32_t row_seq;
	uint16_t size;	  /* UDP payload of the ping as it arrived */
	uint32_t held_ns; /* time between arrival of the ping and departure of the pong */
	/* Datagrams with data, counted since the run of counters that `epoch` names began. */
	uint32_t epoch;
	uint32_t link_rx; /* that came straight from the asker */
	uint32_t path_rx; /* of which the asker is the source */
	/* When the ping arrived by the clock of the answering node, us, modulo 2^32. */
	uint32_t arrived_us;
	/* Straight to the answering node no more than so much, IP packets; 0: no limit. */
	uint32_t limit_kbits;
};

struct msg_notice {
	node_id_t next;	       /* hop that the sender of the notice cannot reach */
	node_id_t destination; /* of the datagram it had to drop */
};

struct msg_secrets {
	uint32_t name[MSG_SECRETS_MAX]; /* as in HELLO: its own first; 0 none */
};

struct msg_conflict {
	uint64_t mine;	      /* to be echoed in `yours` of an answer; 0: none is wanted */
	uint64_t yours;	      /* `mine` of the HELLO or CONFLICT that it answers; 0 in a session */
	uint64_t incarnation; /* of the other node */
	bool same_identity;   /* which has the identity of the receiver: a clone */
	struct endpoint at;   /* where it is; family 0 unknown */
	uint8_t identity[MSG_KEY_LEN]; /* of the sender; zero in a session */
	uint8_t signature[MSG_SIGNATURE_LEN];
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
	};
};

/* 0; -ENOMSG unknown type (ignore, a newer node may send it); -EBADMSG malformed. */
int msg_decode(const void *data, size_t len, struct msg *m);
/* Length written, at most MSG_LEN_MAX; -ENOSPC, or -EINVAL where a field is out of its range. */
int msg_encode(const struct msg *m, void *out, size_t out_len);
const char *msg_type_name(uint8_t type); /* "hello" ... or "unknown" */
