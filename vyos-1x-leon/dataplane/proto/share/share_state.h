// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * States of the modules of share/, per peer and per overlay. Only the files that
 * tests/lint/floors.py lists for a struct may access it. Types only.
 */
#pragma once

#include "base/bucket.h"
#include "proto/types.h"

/* sync.c: comparison of the peer's records with ours. */
struct sync_peer {
	mono_t mismatch_since; /* time since its digest differs from ours */
	uint64_t digest;       /* last digest of the peer */
	bool wanted_some;      /* the last requested summary contained something to fetch */
	uint64_t parts;	       /* received parts of that summary */
	/* Two digests with a summary that brought nothing new. No request is needed until a digest
	 * changes, or until this time. */
	uint64_t settled_own, settled_its;
	mono_t settled_until;
	mono_t request_at; /* earliest next summary request */
	mono_t answer_at;  /* earliest next summary */
	mono_t fetch_at;   /* earliest next fetch of this origin */
};

struct fetch_mark {
	node_id_t origin;
	mono_t at;
};
#define FETCH_MARKS 1024

/* sync.c */
struct sync_state {
	mono_t request_at;
	mono_t random_request_at;
	struct bucket answering;
	struct fetch_mark fetched[FETCH_MARKS];
	mono_t claim_at; /* next check of a claim of our node-id */
};

struct answer {
	node_id_t to, origin;
};
#define ANSWERS_MAX 8192 /* queue of origins to send, a power of two */

/* serve.c */
struct answers {
	struct answer *queue; /* ring buffer of ANSWERS_MAX */
	uint32_t in, out;
};

/* rows.c: missing latency rows, of the peer and of this node. */
struct rows_peer {
	bool whole_due;	     /* the next announcement sends our complete row to it */
	uint32_t whole_seq;  /* sequence of the last complete row sent to it; 0: none */
	mono_t whole_at;     /* time of its transmission */
	uint32_t behind_seq; /* announced row sequence that we do not have; 0 none */
	mono_t behind_since;
};

/* multicast.c: announcements of groups, from and to the peer. */
struct multicast_peer {
	uint32_t seq;	   /* announcement in use; 0: none */
	uint32_t next_seq; /* announcement of which parts arrive; 0: none */
	uint64_t parts;	   /* its parts that arrived */
	uint64_t *entry;   /* its entries so far */
	unsigned n;
	uint32_t acked;	   /* own announcement that the peer has */
	uint32_t retry_ms; /* interval to the next transmission */
};

/* multicast.c: the own announcement. */
struct multicast_state {
	uint32_t seq; /* 0: none yet */
	unsigned n;
	uint64_t *entry;
	bool changed; /* since the last announcement */
	mono_t announced;
};
