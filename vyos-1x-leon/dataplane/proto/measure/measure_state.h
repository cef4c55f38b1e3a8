// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the modules of measure/ keep of a peer and of the overlay. Each struct is touched by the
 * files that tests/lint/floors.py names beside it, and by nobody else. Types only.
 */
#pragma once

#include "proto/tally.h"
#include "proto/types.h"
#include "state/shares.h"

struct probe {
	uint32_t id;	  /* 0: free */
	uint16_t size;	  /* of an MTU probe; 0: plain */
	uint32_t data_tx; /* what its answer's counter is compared with, loss.c */
	bool missed;	  /* counted as lost already; a late answer still counts as an answer */
	mono_t sent, deadline;
};

struct probing {
	struct probe out[PROBES_OUT];
	uint32_t next_out;
	mono_t used_until;    /* data flows: probe fast */
	mono_t sent_at;	      /* last plain probe */
	mono_t missing;	      /* when the first of those now missed in a row was sent */
	mono_t answered_sent; /* when the latest probe that was answered was sent */
	int64_t late_us;      /* > 0: answers are missing, and what the round trip counts as */
	bool silent;	      /* and that is unusual for the link */
	uint32_t misses;      /* in a row */
	uint32_t loss_before; /* smoothed loss before the first of them, 1/1000 */
	uint32_t answers;     /* in a row, while the link is down */
	mono_t held_since; /* it says of all its answers since then that they were held for long */
	uint32_t burst;	   /* fast probes left that settle the filter of a fresh link */
	uint32_t wait_ms;  /* while down */
	bool up, was_up;
	mono_t up_since;
	uint64_t tx, lost, silences;
	struct link_filter filter;
	struct link_load load;
	struct one_way ways; /* of the direct link */
};

struct pmtu {
	uint16_t mtu;	  /* confirmed, or MTU_BASE assumed */
	uint16_t fails;	  /* smallest size that did not pass; 0 none known */
	uint16_t size;	  /* under test; 0 none */
	uint8_t tries;	  /* of `size` that got no answer */
	bool keepalive;	  /* the test is of `mtu` itself: black-hole detection */
	mono_t search_at; /* search upward again */
};

/* PINGs along the path in use, where that has relays. */
#define ALONG_OUT 16
struct along {
	struct along_ping {
		uint32_t id; /* 0: free */
		uint32_t data_tx;
		mono_t sent;
	} out[ALONG_OUT];
	uint32_t next_out;
	struct path path; /* that they are about */
	struct one_way ways;
	bool start;	  /* it is new: the first one is due whatever flows */
	uint32_t seen_tx; /* data sent to the node until the last look */
	unsigned n_unanswered;
	mono_t unanswered_since;
};

/* Data that is lost, loss.c. */
#define LOSS_RELAYS_MAX 8
struct loss {
	uint32_t epoch; /* names the run of our counters of the peer */
	struct tally link, path;
	uint16_t link_pm;  /* of the direct link while it counts for paths; 0: it does not */
	mono_t link_asked; /* when the PING was sent of which the answer was looked at last */
	struct tally_hold link_hold, path_hold;
	/* Relays that are not taken on the way to the peer while path_hold lasts. */
	uint16_t distrusted[LOSS_RELAYS_MAX];
	unsigned n_distrusted;
};

/* Shares of a receiver's line, inward.c. */
struct inward {
	uint32_t share_kbits;	  /* what we ask the peer to keep below; 0: nothing */
	struct share_asked asked; /* what it asks of us */
};

/* A link about which its two ends disagree. */
struct doubt {
	uint16_t a, b; /* slots, a > b */
	bool reported;
	mono_t since; /* never: unused */
};
#define DOUBTS_MAX 64

/* doubt.c */
struct doubts {
	struct doubt link[DOUBTS_MAX];
	struct bucket event;
	mono_t at; /* next look */
};

struct ping_job; /* ping.c */
