// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all of proto/ speaks of: limits that several modules share, alarms, token buckets, ways to a
 * peer. Types only.
 */
#pragma once

#include "proto/overlay.h"
#include "wire/leon.h"

struct overlay;
struct peer;

#define LOG_TOKEN "overlay"

#define DATAGRAM_MAX	9216
#define PENDING_MAX	64	     /* peers that said HELLO and proved nothing yet */
#define PENDING_MS	10000	     /* and how long they are kept; also of a value on offer */
#define REKEY_AFTER	(1ULL << 32) /* datagrams; AES-GCM allows that many */
#define ALIVE_MS	3000	     /* a session that heard nothing for so long may be lost */
#define BACKOFF_MAX_MS	10000u	     /* retries of what does not answer */
#define PROBES_OUT	32	     /* unanswered probes remembered for each link */
#define MTU_BASE	1200 /* datagram that is assumed to pass anywhere (RFC 8899 BASE_PLPMTU) */
#define MTU_MIN		548  /* what is tried below it: 576-byte IPv4 packets */
#define NOTICES_MAX	64
#define STRETCH_MEMBERS 100 /* above so many members, periodic work is spread over more time */

/* A timer with the time it is armed for. */
struct alarm {
	struct timer *timer;
	mono_t at; /* never: not armed */
};

/* Token bucket in units of time: each pass costs `cost_ns` of what has gone by. */
struct bucket {
	mono_t last;
	int64_t credit_ns;
};

/* How a datagram gets to its destination. */
struct via {
	struct endpoint to; /* of the first hop */
	uint8_t n_hops;
	node_id_t hop[LEON_HOPS_MAX];
};
