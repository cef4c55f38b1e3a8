// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * States of the modules of session/, per peer and per overlay. Only the files that
 * tests/lint/floors.py lists for a struct may access it. Types only.
 */
#pragma once

#include "base/bucket.h"
#include "crypto/keys.h"
#include "proto/overlay_seeds.h"
#include "proto/types.h"
#include "wire/message/msg.h"

/* A received, authentic HELLO. */
struct rx_hello {
	const struct msg_hello *m;
	uint32_t secret; /* name of its secret */
	node_id_t to;	 /* its destination: this node or NODE_ID_ANY */
	const struct endpoint *from;
	const struct endpoint *direct; /* source if received directly, else NULL */
	bool proved;		       /* a message arrived in the session that it opens */
	bool returned; /* our value in it was sent to `direct` only: the peer receives there */
	struct via back;
};

/* Keys of data to and from a peer, data.c. All NULL in the clear mode. */
struct data_keys {
	struct seal *tx, *rx, *rx_before; /* references */
	bool received;			  /* a message arrived in the session of rx */
};

/*
 * A session value on offer, its key, and the HELLO of the peer that the value answers. A session is
 * created when the peer has shown the value.
 */
struct handshake {
	uint64_t value; /* 0: none */
	struct ephemeral key;
	mono_t at;
	struct endpoint sent_to;  /* family 0: not sent yet */
	bool sent_elsewhere;	  /* also sent elsewhere or along relays: it proves no address */
	struct msg_hello answers; /* session_mine 0: none */
	uint32_t secret;	  /* name of the secret of `answers` */
	node_id_t to;		  /* destination of `answers` */
	mono_t answered;	  /* time of the last answer */
	struct session *session;  /* created when a datagram first names the value */
};

/* rekey.c: lifetime of the session in use. */
struct rekey_state {
	mono_t prev_until;     /* end of reception in the previous session */
	mono_t prev_received;  /* last message in the previous session */
	mono_t at;	       /* time of the next request for new keys */
	mono_t expires;	       /* expiry of the session in use */
	uint32_t tries;	       /* number of requests for new keys */
	bool no_common_secret; /* no common secret: the session will end */
	mono_t ends;	       /* time of this end; never: unknown */
	mono_t sent_at;	       /* last transmission of our secret names to the peer */
};

/* initiator.c: HELLOs to a peer. */
struct initiator_state {
	mono_t sent_at;
	uint32_t wait_ms;   /* interval to the next one without an answer */
	uint32_t tries;	    /* number of HELLOs without an answer, for secret_for() */
	mono_t observed_at; /* last HELLO that only reports the observed endpoint */
};

/* Counts events within a minute of the first. */
struct minute_count {
	mono_t since;
	uint32_t n;
};

/* hello.c: HELLOs of a peer. */
struct hello_state {
	struct minute_count restarts; /* sessions replaced by another incarnation */
	struct minute_count attempts; /* HELLOs of another incarnation during a session */
	struct bucket observing;      /* limits signature checks for observed endpoints */
};

/* A claimed, unproved address of the peer, move.c. */
struct moving {
	struct endpoint to;
	uint32_t id; /* id of the PING sent only there; 0: none */
	mono_t since, requested;
};

/* move.c: endpoint of a peer. */
struct move_state {
	struct moving now;	/* claimed address */
	struct bucket asking;	/* limits PINGs to claimed addresses */
	uint64_t counter;	/* counter of the message that set its endpoint */
	mono_t received_direct; /* last message received directly */
	bool unreported;	/* the peer does not know that this node sees it at p->ep */
};

/* Another node with a node-id in use. */
struct duplicate {
	mono_t at; /* last evidence; never: none */
	struct endpoint ep;
	bool same_identity;
	node_id_t by; /* reporting node; NODE_ID_NONE: own observation */
};

/* duplicate.c: duplicates of a peer's node-id, or of this node's. */
struct duplicate_state {
	struct duplicate seen;
	mono_t sent_at; /* last CONFLICT sent to the peer */
	uint64_t value; /* value to be echoed; 0 none */
	mono_t value_at;
	struct bucket event;
	struct bucket checks; /* signatures of HELLOs that may be replays */
};

/* State of one address of a configured peer. */
struct diagnosis {
	enum seed_diagnosis what;
	int error; /* errno, or the wire version, of some diagnoses */
	mono_t at;
	uint64_t requested;
	mono_t requested_at;
};

struct seed {
	struct endpoint ep[SEED_ENDPOINTS];
	struct diagnosis found[SEED_ENDPOINTS];
	uint64_t value[SEED_ENDPOINTS]; /* values on offer to any node there; 0 none */
	struct ephemeral key;		/* key pair of all of them */
	mono_t value_at;
	unsigned n;
	node_id_t reached; /* node that answered last */
	bool alive;	   /* a session exists */
	mono_t next_at;
	uint32_t wait_ms;
};

/* seed.c, diagnosis.c: the configured peers, in their order. */
struct seeds {
	struct seed *seed;
	unsigned n;
};

/* own.c: the own record. */
struct own_state {
	bool prefixes_are_given; /* false: the configured prefixes are announced */
	uint8_t n_prefixes;
	struct prefix prefix[MSG_PREFIXES_MAX];
	bool serves_some; /* false: all segments */
	uint8_t n_segments;
	struct id_range segment[MSG_SEGMENTS_MAX];
	uint16_t lan_flags; /* flags of the loop guard */
	struct record_lan lan;
	bool accelerates;
	mono_t refresh_at; /* time of the next refresh */
	struct minute_count supersedes;
	mono_t supersede_at;
};

/* Budget of one address. If two addresses share an entry, the later one replaces the earlier with a
 * full bucket, so no address can exhaust the budget of another. */
struct limit_source {
	uint64_t name; /* hash of the address */
	struct bucket bucket;
};

/* limit.c: budgets for opening and answering HELLOs, in total and per address. */
struct limit_state {
	struct bucket opened[2], answered[2]; /* total; index 1: of known addresses */
	struct limit_source answered_to[256], opened_from[256];
	uint64_t known[1024]; /* bitmap of the hashes of the peers' addresses */
	mono_t known_at;      /* time of the bitmap */
};
