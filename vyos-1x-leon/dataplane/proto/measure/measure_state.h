// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * States of the modules of measure/, per peer and per overlay. Only the files that
 * tests/lint/floors.py lists for a struct may access it. Types only.
 */
#pragma once

#include "proto/gso_trial.h"
#include "proto/loss_meas.h"
#include "proto/types.h"
#include "state/latency/one_way.h"
#include "state/latency/path.h"
#include "state/rates/line_rate.h"
#include "state/rates/link_load.h"
#include "state/rates/shares.h"

struct probe {
	uint32_t id;			  /* 0: free */
	uint16_t size;			  /* length of an MTU probe; 0: plain */
	uint32_t data_tx;		  /* own counter to compare with the answer, loss.c */
	uint32_t phase, data_now, trains; /* of struct gso_reading; phase 0: none */
	bool missed; /* already counted as lost; a late answer is still a valid answer */
	mono_t sent, deadline;
	int64_t backlog_us; /* line_rates_mark() */
};

/* Interval of PINGs on a lazy link: with jitter, less than the shortest usual lifetime of a UDP
 * mapping, 30 s. */
#define LAZY_MS 25000

struct probing {
	struct probe out[PROBES_OUT];
	uint32_t next_out;
	mono_t used_until;    /* data flows: fast probe interval */
	mono_t sent_at;	      /* last plain probe */
	mono_t missing;	      /* transmission time of the first unanswered probe in a row */
	mono_t answered_sent; /* transmission time of the latest answered probe */
	int64_t late_us;      /* > 0: answers are missing; round-trip time assumed for them */
	bool silent;	      /* unresponsive: the missing answers are unusual for the link */
	uint32_t misses;      /* unanswered in a row */
	uint32_t loss_before; /* smoothed loss before the first unanswered one, 1/1000 */
	uint32_t answers;     /* answered in a row while the link is down */
	mono_t held_since;    /* since then all answers report a long held time */
	uint32_t burst;	      /* remaining fast probes to settle the filter of a new link */
	uint32_t wait_ms;     /* probe interval while down */
	bool up, was_up;
	mono_t up_since;
	bool lazy;	/* few PINGs, lazy.c */
	mono_t lazy_at; /* last time of that state without a missing answer */
	uint64_t tx, lost, silences;
	struct link_filter filter;
	/* measurements of the other transport; used: there are some */
	struct other_transport {
		bool used;
		struct link_filter filter;
		uint16_t mtu;
	} other;
	struct link_load load;
	struct one_way ways; /* one-way values of the direct link */
};

struct pmtu {
	uint16_t mtu;	  /* confirmed size, or MTU_BASE by assumption */
	uint16_t fails;	  /* smallest failed size, or 0 */
	uint16_t size;	  /* size under test, or 0 */
	uint8_t tries;	  /* unanswered tests of `size` */
	bool keepalive;	  /* the test verifies `mtu`: black-hole detection */
	bool in_flight;	  /* neither an answer nor a timeout of the test */
	mono_t search_at; /* time of the next upward search */
};

/* PINGs along a path in use with relays. */
#define PATH_PROBES_OUT 16
struct path_probe {
	struct path_probe_ping {
		uint32_t id; /* 0: free */
		uint32_t data_tx;
		mono_t sent;
	} out[PATH_PROBES_OUT];
	uint32_t next_out;
	struct path path; /* the measured path */
	struct one_way ways;
	bool start;	  /* a new path: the first PING is due without data */
	uint32_t seen_tx; /* data sent to the node at the last check */
	bool data;	  /* sent since the last answer */
	bool idle;	  /* neither data nor an answer is missing: no PING is due */
	unsigned n_unanswered;
	mono_t unanswered_since;
};

/* Data loss, loss.c. */
#define LOSS_RELAYS_MAX 8
struct loss {
	uint32_t epoch; /* identifies the current run of our counters for the peer */
	struct loss_meas link, path;
	uint16_t link_pm;      /* loss of the direct link that counts for paths, or 0 */
	mono_t link_requested; /* transmission time of the PING of the last evaluated answer */
	struct loss_meas_hold link_hold, path_hold;
	/* Relays excluded on the path to the peer during path_hold. */
	uint16_t distrusted[LOSS_RELAYS_MAX];
	unsigned n_distrusted;
	node_id_t relay; /* first relay of the last event */
};

/* segmentation.c */
struct segmentation {
	struct gso_trial trial;
	bool off;	   /* as the host knows it */
	uint64_t compared; /* datagrams of the latest comparison */
	uint32_t trains;   /* trains sent until then */
};

/* Rate limits of ingress shaping, ingress.c. */
struct ingress {
	uint32_t share_kbits;		/* limit requested from the peer, or 0 */
	struct share_request requested; /* limit requested by the peer */
};

/* proto/lines/: pairs of lines, except the pair in use. */
#define LINE_PROBES_OUT 8
/* Time for which a pair that lost data is not used. */
#define LINE_AVOID_MS	60000
#define LINE_MISSES_MAX 2 /* a pair with as many misses carries no distributed data */

struct line_probe {
	uint32_t id; /* 0: free */
	bool missed;
	uint16_t size; /* tests this size; 0: plain */
	mono_t sent, deadline;
	int64_t backlog_us; /* line_rates_mark() */
};
struct line_pair {
	struct endpoint ep; /* family 0: unknown */
	bool verified;	    /* the peer answered there */
	uint64_t counter;   /* highest counter of a PING of the peer */
	struct link_filter filter;
	uint16_t mtu;	 /* of the last use, or 0 */
	uint16_t passed; /* size of a PING that arrived */
	uint8_t size_misses;
	struct line_rate rate;
	struct line_probe out[LINE_PROBES_OUT];
	uint32_t next_out;
	uint32_t misses;      /* unanswered in a row */
	uint32_t loss_before; /* loss before the misses, 1/1000 */
	uint32_t wait_ms;     /* interval of a silent pair */
	mono_t due, answered_sent, better_since, avoid_until;
	uint64_t tx, lost;
};
struct peer_lines {
	struct line_pair *pair; /* LINE_PAIRS, by line_pair_index(); NULL: none */
	uint8_t in_use;
	bool distributes; /* bulk data uses the pair `second` too */
	uint8_t second;
	bool hurried; /* the others got a PING because the pair in use is silent */
	uint64_t incarnation;
	mono_t locators_at, since;
	uint64_t changes;
	uint32_t failures; /* changes because the pair in use failed */
	mono_t failed;	   /* the last datagram that certainly arrived on it was sent then */
	uint8_t reported;  /* event: number of the second pair plus 1, or 0 without distribution */
	mono_t reported_at;
};

static inline unsigned line_pair_index(unsigned own, unsigned theirs)
{
	return own * LINES_MAX + theirs;
}

static inline unsigned own_line(unsigned pair)
{
	return pair / LINES_MAX;
}

static inline bool is_second_pair(const struct peer_lines *l, unsigned pair)
{
	return l->distributes && pair == l->second;
}

struct ping_job; /* ping.c */
