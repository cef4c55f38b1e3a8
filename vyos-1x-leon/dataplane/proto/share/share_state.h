// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the modules of share/ keep of a peer and of the overlay. Each struct is touched by the files
 * that tests/lint/floors.py names beside it, and by nobody else. Types only.
 */
#pragma once

#include "proto/types.h"

/* sync.c: how the records that a peer has compare with ours. */
struct sync_peer {
	mono_t mismatch_since; /* its digest differs from ours */
	uint64_t digest;       /* as it said last */
	bool wanted_some;      /* there was something to fetch in the summary asked for last */
	uint64_t parts;	       /* received of that summary */
	/* Two digests that differ, and the summary between them brought nothing: until one of them
	 * changes, or that time has come, there is no need to ask again. */
	uint64_t settled_own, settled_its;
	mono_t settled_until;
	mono_t ask_at;	  /* no summary is asked for before */
	mono_t answer_at; /* no summary is sent before */
	mono_t fetch_at;  /* no fetch of this origin before */
};

struct fetch_mark {
	node_id_t origin;
	mono_t at;
};
#define FETCH_MARKS 1024

/* sync.c */
struct sync_state {
	mono_t ask_at;
	mono_t random_ask_at;
	struct bucket answering;
	struct fetch_mark fetched[FETCH_MARKS];
	mono_t claim_at; /* next look at a claim of our node-id */
};

struct answer {
	node_id_t to, origin;
};
#define ANSWERS_MAX 8192 /* queue of origins to be sent, a power of two */

/* answer.c */
struct answers {
	struct answer *queue; /* ring of ANSWERS_MAX */
	uint32_t in, out;
};

/* rows.c: latency rows that a peer lacks, and that we lack of it. */
struct rows_peer {
	bool whole_due;	     /* our whole row goes to it with the next announcement */
	uint32_t behind_seq; /* row sequence it told us that we do not have; 0 none */
	mono_t behind_since;
};
