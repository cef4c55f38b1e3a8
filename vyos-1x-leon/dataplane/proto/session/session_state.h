// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the modules of session/ keep of a peer and of the overlay. Each struct is touched by the
 * files that tests/lint/floors.py names beside it, and by nobody else. Types only.
 */
#pragma once

#include "proto/types.h"

/* A HELLO that arrived, authentic. */
struct rx_hello {
	const struct msg_hello *m;
	uint32_t secret; /* that it came under */
	node_id_t to;	 /* as it was addressed: ourselves or NODE_ID_ANY */
	const struct endpoint *from;
	const struct endpoint *direct; /* from, where it came straight from the peer; else NULL */
	bool proved;		       /* a message came in the session it stands for */
	bool returned; /* its value of ours was sent to `direct` only: the peer receives there */
	struct via back;
};

/* Keys of data to and from a peer, data.c. All NULL in the clear mode. */
struct data_keys {
	struct seal *tx, *rx, *rx_before; /* references */
	bool heard;			  /* a message arrived in the session of rx */
};

/*
 * A value on offer, with the key that belongs to it, and the HELLO of the peer that it answers.
 * Both go into a session once the peer has shown the value.
 */
struct offer {
	uint64_t value; /* 0: nothing is on offer */
	struct ephemeral key;
	mono_t at;
	struct endpoint sent_to; /* family 0: nowhere yet */
	bool sent_elsewhere;	 /* too, or along relays: whoever shows the value may be anywhere */
	struct msg_hello answers; /* session_mine 0: none */
	uint32_t secret;	  /* that it came under */
	node_id_t to;		  /* and how it was addressed */
	struct session *session;  /* made of the two when a datagram first named the value */
};

/* rekey.c: a session in use, and the end of it. */
struct rekey_state {
	mono_t prev_until; /* the session before receives until then */
	mono_t prev_heard; /* the peer was last heard in that one */
	mono_t at;	   /* new keys are asked for */
	mono_t expires;	   /* the session in use is not used any longer */
	uint32_t tries;	   /* how often new keys were asked for */
	bool estranged;	   /* none of its secrets is one of ours: the session will end */
	mono_t ends;	   /* and when; never where that is not known */
	mono_t sent_at;	   /* our secrets were sent to the peer last */
};

/* greet.c: HELLOs to a peer. */
struct greet_state {
	mono_t sent_at;
	uint32_t wait_ms;   /* until the next one, where none is answered */
	mono_t observed_at; /* the last one that only says where we see the peer */
};

/* Counts what happened since the first time, for a minute. */
struct minute_count {
	mono_t since;
	uint32_t n;
};

/* hello.c: HELLOs of a peer. */
struct hello_state {
	struct minute_count restarts; /* another run of it took the session over */
	struct minute_count knocks;   /* another run of it asked while this one was in session */
	struct bucket observing;      /* signatures verified for where it sees us */
};

/* An address that the peer has yet to show to be at, move.c. */
struct moving {
	struct endpoint to;
	uint32_t id; /* of the PING that was sent there only; 0: none */
	mono_t since, asked;
};

/* move.c: where a peer is. */
struct move_state {
	struct moving now;    /* where it says to be */
	struct bucket asking; /* PINGs to such addresses */
	uint64_t counter;     /* of the message that its address was taken from */
	mono_t heard_direct;  /* the last message that came straight from it */
};

/* Somebody who uses a node-id that is taken. */
struct rival {
	mono_t at; /* last sign of it; never: there is none */
	struct endpoint ep;
	bool same_identity;
	node_id_t by; /* who says so; NODE_ID_NONE: we have seen it ourselves */
};

/* rival.c: another node that uses the node-id of a peer, or this node's. */
struct rival_state {
	struct rival seen;
	mono_t sent_at; /* the last CONFLICT to the peer */
	uint64_t value; /* that the other one is to echo; 0 none */
	mono_t value_at;
	struct bucket event;
};

/* Of one address of a configured peer. */
struct finding {
	enum seed_finding what;
	int error; /* errno, with some */
	mono_t at;
	uint64_t asked;
	mono_t asked_at;
};

struct seed {
	struct endpoint ep[SEED_ENDPOINTS];
	struct finding found[SEED_ENDPOINTS];
	uint64_t value[SEED_ENDPOINTS]; /* on offer to whoever answers there; 0 none */
	struct ephemeral key;		/* offered with all of them */
	mono_t value_at;
	unsigned n;
	node_id_t reached; /* node that answered last */
	bool alive;	   /* it is in session now */
	mono_t next_at;
	uint32_t wait_ms;
};

/* seed.c, finding.c: the configured peers, in their order. */
struct seeds {
	struct seed *seed;
	unsigned n;
};

/* own.c: the own record. */
struct own_state {
	bool prefixes_are_given; /* false: those of the configuration are announced */
	uint8_t n_prefixes;
	struct prefix prefix[MSG_PREFIXES_MAX];
	bool serves_some; /* false: all */
	uint8_t n_segments;
	struct id_range segment[MSG_SEGMENTS_MAX];
	uint16_t lan_flags; /* and this from the loop guard */
	struct record_lan lan;
	bool accelerates;
	mono_t refresh_at;  /* it is announced anew */
	uint32_t n_outbids; /* since outbid_since */
	mono_t outbid_since, outbid_at;
};

/* What one address may do. Where two addresses fall on one place, the later one takes it with a
 * full bucket: so nobody can use up the budget of another. */
struct limit_source {
	uint64_t name; /* hash of it */
	struct bucket bucket;
};

/* limit.c: HELLOs opened and answered, in total and for each address. */
struct limit_state {
	struct bucket opened, opened_known, answered;
	struct limit_source answered_to[256], opened_from[256];
};
